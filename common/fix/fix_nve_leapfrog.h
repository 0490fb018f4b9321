/* fix nve/leapfrog: a kick by a whole step, then a drift, as in the CS267 homework. With `mirror yes` the drift comes
 * first and the kick second, which is the exact time reversal.
 *
 * Velocities belong to times half a step away from those of the positions. Reference: Allen and Tildesley, ch. 3.
 * Numbers of the fix: k0 is 1 for mirror yes, k1 is 1 for drift float.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nve_leapfrog, "nve/leapfrog")

#elif defined MD_FIX_HOST

static md_status nve_leapfrog_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  bool mirror = false, float_drift = false;
  for (int k = 0; k < words->n; k += 2) {
    const char *keyword = words->word[k], *value = k + 1 < words->n ? words->word[k + 1] : "";
    if (strcmp(keyword, "mirror") == 0) {
      MD_TRY(md_word_bool(value, "mirror", &mirror));
    } else if (strcmp(keyword, "drift") == 0) {
      float_drift = strcmp(value, "float") == 0;
      if (!float_drift && strcmp(value, "grid") != 0)
        return md_error(MD_USAGE, "fix nve/leapfrog drift takes grid or float, not '%.64s'", value);
    } else {
      return md_error(
          MD_USAGE,
          "fix nve/leapfrog: unknown keyword '%.64s'; accepted are mirror yes|no and drift grid|float",
          keyword);
    }
  }
  if (mirror && float_drift)
    return md_error(MD_USAGE, "fix nve/leapfrog: drift float cannot be reversed; use mirror with drift grid");
  fix->k[0] = mirror;
  fix->k[1] = float_drift;
  return MD_OK;
}

static md_status nve_leapfrog_join(const md_fix *fix, md_model *model)
{
  MD_TRY(join_integrator(fix, model, fix->k[0] != 0.0 ? MD_LEAPFROG_MIRROR : MD_LEAPFROG));
  model->float_drift = fix->k[1] != 0.0;
  return MD_OK;
}

static const md_fix_style nve_leapfrog_style = {
    .name = "nve/leapfrog",
    .usage = "nve/leapfrog [mirror yes|no] [drift grid|float]",
    .help =
        "kick, then drift; mirror: drift, then kick, its exact reversal. drift float rounds x + v dt as\n"
        "plain doubles do, for the homework's official frames; that alone is not reversible, and needs axes\n"
        "that are not periodic",
    .conserves_momentum = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = nve_leapfrog_parse,
    .join = nve_leapfrog_join,
};

#endif
