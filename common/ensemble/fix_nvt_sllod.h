/* fix nvt/sllod: the thermostat of fix nvt for a box that fix deform shears, with the SLLOD equations of motion.
 *
 * The thermostat scales the velocity c of a particle relative to the flow u, and the shear adds its force:
 *
 *   c = v - u(x)      dc/dt = F/m - G c - w_1 c      G = d u / d x
 *
 * In each half of a step, v' = u + f c - (dt/2) G c, with the factor f of fix nvt's chain, as LAMMPS does. The flow
 * goes along one axis and depends on one coordinate (compute temp/deform), so that G c has one component. The
 * temperature is one of style temp/deform, and the fix deform must have remap v.
 *
 * References: Evans and Morriss, Phys. Rev. A 30 (1984) 1528; Daivis and Todd, J. Chem. Phys. 124 (2006) 194103; the
 * LAMMPS manual, fix nvt/sllod.
 *
 * Numbers and state: those of fix nvt. Of its action: k0 the factor, k1 (dt/2) d u/d x.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nvt_sllod, "nvt/sllod")

#elif defined MD_FIX_END

MD_FIX_END(nvt_sllod)

#elif defined MD_FIX_HOST

/* As in LAMMPS, one thermostat unless tchain is given. */
static md_status nvt_sllod_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  bool given = false;
  MD_TRY(nvt_parse(fix, words, scope));
  for (int w = 0; w < words->n; ++w) given = given || strcmp(words->word[w], "tchain") == 0;
  if (!given) fix->k[3] = 1.0;
  return MD_OK;
}

static md_status nvt_sllod_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  (void)action;
  if (model->flow.group == 0)
    return md_error(MD_USAGE, "fix nvt/sllod needs a fix deform with remap v, and erate or vel");
  return prepare_scaling(fix, model);
}

static md_status nvt_sllod_half(md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                                double *value, md_action *action, bool *acts)
{
  const double *k = action->bias.k;
  if (action->bias.kind != MD_BIAS_RAMP)
    return md_error(MD_USAGE, "fix nvt/sllod: its temperature must be a compute temp/deform");
  MD_TRY(nvt_half(fix, model, step, done, value, action, acts));
  action->k[1] = 0.5 * model->dt * ((k[3] - k[2]) / (k[5] - k[4]));
  return MD_OK;
}

static const md_fix_style nvt_sllod_style = {
    .name = "nvt/sllod",
    .usage = "nvt/sllod temp TSTART TSTOP TDAMP [tchain N] [tloop N] [drag D]",
    .help = "fix nvt for a box that fix deform shears with remap v: the SLLOD equations of motion; N is 1 "
            "unless given",
    .forgets = "the velocities that its thermostat scales are rounded",
    .takes_temp = true,
    .nstate = MD_FIX_STATE,
    .parse = nvt_sllod_parse,
    .join = nvt_join,
    .prepare = nvt_sllod_prepare,
    .every = nvt_every,
    .measures = MD_COMPUTE_temp_deform,
    .half = nvt_sllod_half,
    .integrates = true,
    .coupled = nvt_coupled,
    .counts_freedom = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_nvt_sllod_end(const md_action *a, const md_step *s, md_particle *p)
{
  const int along = (int)a->bias.k[0], across = (int)a->bias.k[1];
  double thermal[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < 3 && d < s->dim; ++d)
    thermal[d] = p->v[d] - md_bias_of(&a->bias, d, p->x, p->v[d], p->velocity_per_v);
  const double moves = across == 1 ? thermal[1] : thermal[2];
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double b = md_bias_of(&a->bias, d, p->x, p->v[d], p->velocity_per_v);
    double v = b + a->k[0] * thermal[d];
    if (d == along) v = fma(-a->k[1], moves, v);
    p->v[d] = md_round_to(v, p->v_step);
  }
}

#endif
