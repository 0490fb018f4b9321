/* fix heat: adds energy to a group at a constant rate, or takes it away, after every step whose number is a multiple
 * of N. With a region, only particles in this block at the time take part.
 *
 *   v' = V + f (v - V),   f = sqrt(1 + F N dt/K)
 *
 * V is the velocity of the centre of mass of these particles, and K the kinetic energy relative to it: momentum stays.
 *
 * Trade-off: the energy that a step adds is exact but for the rounding of velocities. But particles jump in velocity
 * where they enter the region, so that the total energy of two reservoirs drifts with dt^3.
 * Cost: that of two passes over the particles, see fix.h.
 * Reference: Hafskjold, Ikeshoji and Ratkje, Mol. Phys. 80 (1993) 1389.
 *
 * Numbers of the fix: k0 N, k1 F, k2 1 with a region, k3 to k8 its block as that of a bias (common/temperature/bias.h).
 * Of its action: k0 f, k1 to k3 V.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(heat, "heat")

#elif defined MD_FIX_END

MD_FIX_END(heat)

#elif defined MD_FIX_HOST

static md_status heat_find_region(md_fix *fix, const md_fix_scope *scope)
{
  md_bias block;
  MD_TRY(scope->block(scope->context, fix->region, &block));
  fix->k[2] = 1.0;
  /* Numbers of fixes are finite. */
  for (int b = 0; b < 6; ++b) fix->k[3 + b] = md_min(md_max(block.k[b], -0x1p1000), 0x1p1000);
  return MD_OK;
}

/* Reads `N F`, and perhaps `region ID` at word 2; *at becomes the number of words that were read. */
static md_status read_heat(md_fix *fix, const md_words *words, const md_fix_scope *scope, int *at)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  int64_t every;
  char what[64];
  *at = 2;
  if (words->n < 2) return md_error(MD_USAGE, "fix %s takes N and a rate of energy after its name", name);
  snprintf(what, sizeof what, "N of fix %s", name);
  MD_TRY(md_word_int64(words->word[0], what, 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  MD_TRY(parse_component(fix, words->word[1], &fix->k[1]));
  if (words->n < 3 || strcmp(words->word[2], "region") != 0) return MD_OK;
  if (words->n < 4) return md_error(MD_USAGE, "fix %s region: the ID of a region is missing", name);
  *at = 4;
  return md_fix_take_region(fix, words->word[3], scope);
}

static md_status heat_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  int at;
  MD_TRY(read_heat(fix, words, scope, &at));
  if (at == words->n) return MD_OK;
  return md_error(MD_USAGE, "fix heat: unexpected '%.64s'; accepted is region ID", words->word[at]);
}

static md_status heat_join(const md_fix *fix, md_model *model)
{
  (void)model;
  if (fix->k[0] >= 1.0 && fix->k[0] <= 0x1p53) return MD_OK;
  return md_error(MD_USAGE, "fix %s: N must be at least 1", md_fix_style_of(fix->kind)->name);
}

static md_status heat_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(prepare_scaling(fix, model));
  if (fix->k[2] == 0.0) return MD_OK;
  if (model->box.triclinic)
    return md_error(MD_USAGE,
                    "fix %s region: in a triclinic box the block would hold other images for another engine; "
                    "leave the region out, or give the fix a group",
                    md_fix_style_of(fix->kind)->name);
  action->bias.kind = MD_BIAS_BLOCK;
  memcpy(action->bias.k, &fix->k[3], 6 * sizeof *fix->k);
  md_bias_settle_block(&action->bias, &model->box, md_model_margin(model));
  return MD_OK;
}

static int64_t heat_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static md_status heat_end(const md_fix *fix, const md_model *model, const md_step *step, const double *value,
                          md_action *action, bool *acts)
{
  (void)step;
  (void)acts;
  const double kinetic = value[MD_TEMPERATURE_KINETIC];
  const double square = 1.0 + fix->k[1] * fix->k[0] * model->dt / kinetic;
  if (!(kinetic > 0.0 && square >= 0.0))
    return md_error(MD_PHYSICS,
                    "step %lld: fix %s: the particles have the kinetic energy %g relative to their centre of "
                    "mass, from which the fix cannot take %g",
                    (long long)model->step, md_fix_style_of(fix->kind)->name, kinetic,
                    -fix->k[1] * fix->k[0] * model->dt);
  action->k[0] = sqrt(square);
  for (int d = 0; d < model->box.dim; ++d) action->k[1 + d] = value[MD_TEMPERATURE_FLOW + d];
  return MD_OK;
}

static const md_fix_style heat_style = {
    .name = "heat",
    .usage = "heat N F [region ID]",
    .help =
        "adds the energy F per unit of time to the group by scaling velocities relative to its centre of\n"
        "mass, after every N-th step; with region, to the particles that are in this block then. Together\n"
        "with fix nve. A negative F takes energy away",
    .forgets = "the velocities that it rescales are rounded",
    .conserves_momentum = true,
    .parse = heat_parse,
    .find_region = heat_find_region,
    .join = heat_join,
    .prepare = heat_prepare,
    .every = heat_every,
    .measures = MD_COMPUTE_temp_com,
    .end = heat_end,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_heat_end(const md_action *a, const md_step *s, md_particle *p)
{
  if (!md_bias_counts(&a->bias, p->x)) return;
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double flow = a->k[1 + d] / p->velocity_per_v;
    p->v[d] = md_round_to(flow + a->k[0] * (p->v[d] - flow), p->v_step);
  }
}

#endif
