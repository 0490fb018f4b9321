/* compute lagrange/radii: the Lagrangian radii of a cluster, which show how its core and its halo change.
 *
 * The radius of a fraction F is the distance from the centre of mass within which this part of the mass is. The values
 * come from the places of all particles (src/sums/lagrange.c).
 *
 * Numbers of the compute: k[n] is fraction number n; 0: there is none.
 * Reference: Aarseth, Henon and Wielen, Astron. Astrophys. 37 (1974) 183.
 */
#if defined MD_COMPUTE_STYLE

MD_COMPUTE_STYLE(lagrange, "lagrange/radii")

#elif defined MD_COMPUTE_HOST

static md_status lagrange_parse(md_compute *compute, const md_words *words, const md_compute_scope *scope)
{
  (void)scope;
  if (words->n < 1 || words->n > MD_COMPUTE_K)
    return md_error(MD_USAGE, "compute lagrange/radii needs 1 to %d fractions, not %d", MD_COMPUTE_K,
                    words->n);
  for (int n = 0; n < words->n; ++n) {
    MD_TRY(md_word_positive(words->word[n], "a fraction of compute lagrange/radii", &compute->k[n]));
    if (compute->k[n] > 1.0)
      return md_error(MD_USAGE, "compute lagrange/radii: the fraction %s is above 1", words->word[n]);
  }
  return MD_OK;
}

static const md_compute_style lagrange_style = {
    .name = "lagrange/radii",
    .usage = "lagrange/radii F ...",
    .help = "Lagrangian radii of the group: a value for each of 1 to 6 fractions F, the distance from the\n"
            "group's centre of mass within which F of its mass is; in a box without periodic axes",
    .nvalue = MD_COMPUTE_K,
    .of_places = true,
    .terms_of = MD_COMPUTE_KINDS,
    .parse = lagrange_parse,
};

#endif
