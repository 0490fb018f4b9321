/* fix momentum: takes the velocity of the centre of mass of its group away, along some axes, behind every step whose
 * number is a multiple of N.
 *
 *   v' = v - (sum of m v)/(sum of m)
 *
 * Each velocity is rounded to its grid, so that a momentum of that size remains.
 * Cost: that of two passes over the particles, see fix.h.
 *
 * Numbers of the fix: k0 N, k1 to k3 whether it acts along an axis. Of its action: k0 to k2 the velocity.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(momentum, "momentum")

#elif defined MD_FIX_END

MD_FIX_END(momentum)

#elif defined MD_FIX_HOST

static md_status momentum_parse(md_fix *fix, const md_words *words, const md_fix_place *place)
{
  (void)place;
  int64_t every, yes;
  if (words->n > 1 && strcmp(words->word[1], "linear") != 0)
    return md_error(MD_USAGE, "fix momentum: unknown keyword '%.64s'; accepted is linear X Y Z",
                    words->word[1]);
  if (words->n > 5 && (strcmp(words->word[5], "angular") == 0 || strcmp(words->word[5], "rescale") == 0))
    return md_error(MD_USAGE, "fix momentum: '%s' is not available; write linear X Y Z alone",
                    words->word[5]);
  MD_TRY(md_fix_takes(fix, words, 5));
  MD_TRY(md_word_int64(words->word[0], "N of fix momentum", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_word_int64(words->word[2 + d], "an axis of fix momentum linear", 0, 1, &yes));
    fix->k[1 + d] = (double)yes;
  }
  return MD_OK;
}

static md_status momentum_join(const md_fix *fix, md_model *model)
{
  (void)model;
  if (fix->k[0] >= 1.0 && fix->k[0] <= 0x1p53) return MD_OK;
  return md_error(MD_USAGE, "fix momentum: N must be at least 1");
}

static int64_t momentum_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static md_status momentum_end(const md_fix *fix, const md_model *model, const md_step *step,
                              const double *value, md_action *action, bool *acts)
{
  (void)model;
  (void)step;
  *acts = false;
  for (int d = 0; d < 3; ++d) {
    action->k[d] = fix->k[1 + d] != 0.0 ? value[MD_TEMPERATURE_FLOW + d] : 0.0;
    if (action->k[d] != 0.0) *acts = true;
  }
  return MD_OK;
}

static const md_fix_style momentum_style = {
    .name = "momentum",
    .usage = "momentum N linear X Y Z",
    .help =
        "takes the velocity of the centre of mass of the group away behind every N-th step, along the axes\n"
        "with 1; 0 leaves an axis out",
    .parse = momentum_parse,
    .join = momentum_join,
    .every = momentum_every,
    .measures = MD_COMPUTE_temp_com,
    .end = momentum_end,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_momentum_end(const md_action *a, const md_step *s, md_particle *p)
{
  for (int d = 0; d < 3 && d < s->dim; ++d)
    p->v[d] = md_round_to(p->v[d] - a->k[d] / p->velocity_per_v, p->v_step);
}

#endif
