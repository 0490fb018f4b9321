/* fix drag: a force of constant size that drags each particle to a point, while it is farther than DELTA from it.
 *
 * A component NULL of the point does not count in the distance, and has no force. Distances are those of the nearest
 * image. Cost: a root for each particle. Reference: the LAMMPS manual, fix drag.
 *
 * Numbers of the fix: for axis d, k[2 d] is 1 if the component counts, 0 for NULL, and k[2 d + 1] the point; k6 the
 * force, k7 DELTA. Of its action: the same; from k8 on the numbers of md_force_nearest, and k17 to k19 the point.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(drag, "drag")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(drag)

#elif defined MD_FIX_HOST

static md_status drag_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const md_words point = {3, words->word};
  MD_TRY(md_fix_takes(fix, words, 5));
  MD_TRY(parse_components(fix, &point, scope));
  MD_TRY(parse_varied(fix, words->word[3], &fix->k[6]));
  MD_TRY(parse_varied(fix, words->word[4], &fix->k[7]));
  return MD_OK;
}

static md_status drag_prepare(const md_fix *fix, const md_model *model, md_force_action *action, int *count)
{
  MD_TRY(copy_numbers(fix, model, action, count));
  bool counts[3];
  MD_TRY(fill_force_box(fix, model, action->k + 8));
  for (int d = 0; d < 3; ++d) {
    if (d >= model->box.dim) action->k[2 * d] = 0.0;
    counts[d] = action->k[2 * d] != 0.0;
    if (!counts[d]) action->k[8 + 3 + d] = 0.0;
    if (!model->float_drift) action->k[2 * d + 1] = md_round_to(fix->k[2 * d + 1], model->grids.x);
    action->k[17 + d] = action->k[2 * d + 1];
  }
  return check_slant(fix, model, counts);
}

static const md_fix_style drag_style = {
    .name = "drag",
    .usage = "drag X Y Z F DELTA",
    .help =
        "drags each particle to the point X Y Z by a force of size F, while it is farther than DELTA "
        "from it.\n"
        "NULL: a component that does not count. A number may be v_NAME. f_ID[1] to f_ID[3]: the force on\n"
        "the group by this fix",
    .reversible = true,
    .parse = drag_parse,
    .join = join_force,
    .prepare_force = drag_prepare,
    .vector = MD_VECTOR_GIVEN,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_drag_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double delta[3], r2 = 0.0;
  md_force_nearest(a->k + 8, p->x, a->k + 17, delta);
  for (int d = 0; d < 3; ++d) {
    if (a->k[2 * d] == 0.0) delta[d] = 0.0;
    r2 = fma(delta[d], delta[d], r2);
  }
  const double r = sqrt(r2);
  if (!(r > a->k[7]) || r == 0.0) return;
  for (int d = 0; d < 3; ++d) md_net_force_add(n, d, -a->k[6] * (delta[d] / r));
}

#endif
