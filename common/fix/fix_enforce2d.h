/* fix enforce2d: accepted in two dimensions, without effect. Other programs run a two-dimensional deck in a flat box
 * and need this fix to keep particles at z = 0. Here particles in two dimensions have no z component. */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(enforce2d, "enforce2d")

#elif defined MD_FIX_HOST

static md_status enforce2d_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  MD_TRY(md_fix_takes(fix, words, 0));
  if (scope->box->dim != 2) return md_error(MD_USAGE, "fix enforce2d needs dimension 2");
  return MD_OK;
}

static md_status enforce2d_join(const md_fix *fix, md_model *model)
{
  (void)fix;
  (void)model;
  return MD_OK;
}

static const md_fix_style enforce2d_style = {
    .name = "enforce2d",
    .usage = "enforce2d",
    .help = "accepted in two dimensions; nothing is left for it to do",
    .note = "in two dimensions particles have no z component; the fix has nothing to do",
    .conserves_momentum = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = enforce2d_parse,
    .join = enforce2d_join,
};

#endif
