/* fix ehex: the heat exchange algorithm, as fix heat. Only its form `hex` is here: the enhanced algorithm also moves
 * the particles, and positions do not change behind a step.
 *
 * Reference: Wirnsberger, Frenkel and Dellago, J. Chem. Phys. 143 (2015) 124104.
 * Numbers of the fix and of its action: those of fix heat.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(ehex, "ehex")

#elif defined MD_FIX_END

MD_FIX_END(ehex)

#elif defined MD_FIX_HOST

static md_status ehex_parse(md_fix *fix, const md_words *words, const md_fix_place *place)
{
  int at;
  bool hex = false;
  MD_TRY(read_heat(fix, words, place, &at));
  for (; at < words->n; ++at) {
    if (strcmp(words->word[at], "hex") != 0)
      return md_error(MD_USAGE, "fix ehex: '%.64s' is not available; accepted are region ID, then hex",
                      words->word[at]);
    hex = true;
  }
  if (hex) return MD_OK;
  return md_error(MD_USAGE,
                  "fix ehex moves the particles behind a step, which is not available; with the keyword hex "
                  "it changes velocities alone");
}

static const md_fix_style ehex_style = {
    .name = "ehex",
    .usage = "ehex N F [region ID] hex",
    .help = "as heat: the heat exchange algorithm, without the correction of positions, which LAMMPS makes\n"
            "unless hex is given",
    .conserves_momentum = true,
    .parse = ehex_parse,
    .join = heat_join,
    .prepare = heat_prepare,
    .every = heat_every,
    .measures = MD_COMPUTE_temp_com,
    .end = heat_end,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_ehex_end(const md_action *a, const md_step *s, md_particle *p) { md_heat_end(a, s, p); }

#endif
