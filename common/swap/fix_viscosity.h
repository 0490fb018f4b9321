/* fix viscosity: swaps one component of the momenta of particles that move forwards in the lowest slab and backwards in
 * the middle slab, every N steps, so that momentum flows back through the system. f_ID is the momentum that was moved.
 *
 * See swaps.h for the method, its reference, and the numbers. */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(viscosity, "viscosity")

#elif defined MD_FIX_END

MD_FIX_END(viscosity)

#elif defined MD_FIX_HOST

static md_status viscosity_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  return md_swaps_parse(fix, words, scope->box->dim, 2, true);
}

static md_status viscosity_join(const md_fix *fix, md_model *model) { return md_swaps_check(fix, model); }

static int64_t viscosity_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static double viscosity_scalar(const md_fix *fix) { return fix->state[0]; }

static const md_fix_style viscosity_style = {
    .name = "viscosity",
    .usage = "viscosity N x|y|z x|y|z SLABS [swap n] [vtarget V|INF]",
    .help = "every N steps n (1) particles of the lowest of SLABS slabs along the second axis and n of the\n"
            "slab above the middle swap their velocities along the first axis, or with unequal masses\n"
            "collide elastically: those whose velocity is nearest to V below and to -V in the middle, or\n"
            "the fastest ones with INF, the default; f_ID is the momentum moved to the middle since the fix\n"
            "was defined",
    .forgets = "which particles it swapped is not kept",
    .conserves_momentum = true,
    .conserves_energy = true,
    .parse = viscosity_parse,
    .join = viscosity_join,
    .every = viscosity_every,
    .measures = MD_COMPUTE_momentum,
    .choose = md_swaps_choose,
    .nstate = 1,
    .scalar = viscosity_scalar,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_viscosity_end(const md_action *a, const md_step *s, md_particle *p)
{
  if (p->id != (uint64_t)a->k[0]) return;
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = a->k[1 + d];
}

#endif
