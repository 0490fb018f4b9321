/* fix thermal/conductivity: swaps the momenta of the hottest particles of the lowest slab and the coldest ones of the
 * middle slab, every N steps, so that heat flows back through the system. f_ID is the energy that was moved.
 *
 * See swaps.h for the method, its reference, and the numbers. */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(thermal_conductivity, "thermal/conductivity")

#elif defined MD_FIX_END

MD_FIX_END(thermal_conductivity)

#elif defined MD_FIX_HOST

static md_status thermal_conductivity_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  return md_swaps_parse(fix, words, scope->box->dim, 1, false);
}

static md_status thermal_conductivity_join(const md_fix *fix, md_model *model)
{
  return md_swaps_check(fix, model);
}

static int64_t thermal_conductivity_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static double thermal_conductivity_scalar(const md_fix *fix) { return fix->state[0]; }

static const md_fix_style thermal_conductivity_style = {
    .name = "thermal/conductivity",
    .usage = "thermal/conductivity N x|y|z SLABS [swap n]",
    .help = "every N steps the n (1) hottest particles of the lowest of SLABS slabs along the axis and the\n"
            "n coldest ones of the slab above the middle swap their velocities, or with unequal masses\n"
            "collide elastically; f_ID is the energy moved to the middle since the fix was defined",
    .forgets = "which particles it swapped is not kept",
    .conserves_momentum = true,
    .conserves_energy = true,
    .parse = thermal_conductivity_parse,
    .join = thermal_conductivity_join,
    .every = thermal_conductivity_every,
    .measures = MD_COMPUTE_momentum,
    .choose = md_swaps_choose,
    .nstate = 1,
    .scalar = thermal_conductivity_scalar,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_thermal_conductivity_end(const md_action *a, const md_step *s, md_particle *p)
{
  if (p->id != (uint64_t)a->k[0]) return;
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = a->k[1 + d];
}

#endif
