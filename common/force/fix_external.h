/* fix external: adds the forces that the program around the library gives, as a function or as an array (external.h).
 * Reference: the LAMMPS manual, fix external.
 *
 * Numbers of the fix: k0 Ncall, or 0 for pf/array, k1 Napply. State: external.h. Of its action: k0 1 if it acts at this
 * step.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(external, "external")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(external)

#elif defined MD_FIX_HOST

static md_status parse_steps(const char *word, const char *what, double *steps)
{
  int64_t n;
  MD_TRY(md_word_int64(word, what, 1, INT64_C(1) << 53, &n));
  *steps = (double)n;
  return MD_OK;
}

static md_status external_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  const char *mode = words->n > 0 ? words->word[0] : "";
  const bool calls = strcmp(mode, "pf/callback") == 0;
  if (!calls && strcmp(mode, "pf/array") != 0)
    return md_error(
        MD_USAGE,
        "fix external: '%.64s' is no way to give forces; accepted are pf/callback NCALL NAPPLY and "
        "pf/array NAPPLY",
        mode);
  MD_TRY(md_fix_takes(fix, words, calls ? 3 : 2));
  if (calls) MD_TRY(parse_steps(words->word[1], "NCALL of fix external", &fix->k[MD_EXTERNAL_CALLS]));
  MD_TRY(parse_steps(words->word[words->n - 1], "NAPPLY of fix external", &fix->k[MD_EXTERNAL_APPLIES]));
  fix->energy = fix->virial = true;
  return MD_OK;
}

static bool are_steps(double k, double least) { return k >= least && k <= 0x1p53 && k == floor(k); }

static md_status external_join(const md_fix *fix, md_model *model)
{
  if (!are_steps(fix->k[MD_EXTERNAL_CALLS], 0.0) || !are_steps(fix->k[MD_EXTERNAL_APPLIES], 1.0))
    return md_error(MD_USAGE, "fix external: its numbers are not valid");
  if (&model->fix[md_fixes_external(model)] == fix) return MD_OK;
  return md_error(
      MD_USAGE,
      "fix external: there is one already; let its function or array give the forces on all groups");
}

static md_status external_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                  int *count)
{
  (void)count;
  action->k[0] = md_external_acts(fix, model->step) ? 1.0 : 0.0;
  return MD_OK;
}

static bool external_asks(const md_fix *fix)
{
  return fix->k[MD_EXTERNAL_CALLS] > 0.0 || fix->k[MD_EXTERNAL_APPLIES] > 1.0;
}

static bool external_reverses(const md_fix *fix) { return fix->k[MD_EXTERNAL_CALLS] <= 1.0; }

static double external_energy(const md_fix *fix) { return fix->state[MD_EXTERNAL_ENERGY]; }

static const md_fix_style external_style = {
    .name = "external",
    .usage = "external pf/callback NCALL NAPPLY|pf/array NAPPLY",
    .help =
        "adds forces that a program gives, which uses Myriad as a library (docs/python.md): by a function\n"
        "that is called at every step that is a multiple of NCALL, or as an array. They act at multiples of\n"
        "NAPPLY. f_ID: the energy that it gives, which counts as potential energy, as does its virial for\n"
        "the pressure, unless fix_modify says energy no or virial no. One such fix",
    .forgets = "with an NCALL above 1 its forces are those of an earlier step",
    .conserves_energy = true,
    .reversible = true,
    .reverses = external_reverses,
    .parse = external_parse,
    .join = external_join,
    .prepare_force = external_prepare,
    .external = true,
    .asks = external_asks,
    .nstate = MD_EXTERNAL_KEPT,
    .scalar = external_energy,
    .extensive = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_external_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)p;
  for (int d = 0; d < 3 && n->external && a->k[0] != 0.0; ++d) md_net_force_add(n, d, n->external[d]);
}

#endif
