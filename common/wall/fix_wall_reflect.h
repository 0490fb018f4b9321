/* fix wall/reflect: walls at which particles are reflected elastically (md_reflect, common/step/motion.h).
 *
 * Numbers: k[4 d + 2 side] is 1 if there is a wall below (side 0) or above (side 1) along axis d, 2 if it is on the
 * face of the box (EDGE), wherever that is when a run begins, and 0 if there is none. The next number is its place,
 * sigma. Reference: the LAMMPS manual, fix wall/reflect.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_reflect, "wall/reflect")

#elif defined MD_FIX_HOST

static md_status wall_check_face(const md_fix *fix, const md_box *box, const char *face, int axis, int side)
{
  if (axis >= box->dim)
    return md_error(MD_USAGE, "fix wall/reflect %s: two dimensions have no z walls", face);
  if (box->periodic[axis])
    return md_error(MD_USAGE, "fix wall/reflect %s: the box is periodic along %c; use boundary f there", face,
                    "xyz"[axis]);
  if (fix->k[4 * axis + 2 * side] != 0.0)
    return md_error(MD_USAGE, "fix wall/reflect %s: there is a wall on that side already", face);
  return MD_OK;
}

/* Finds the unit of the positions: the lattice unless `units box` is given. This is a pass of its own, because `units`
 * may stand after the numbers, as in LAMMPS. */
static md_status wall_read_units(const md_words *words, bool *in_lattice)
{
  *in_lattice = true;
  for (int k = 0; k + 1 < words->n; k += 2) {
    if (strcmp(words->word[k], "units") != 0) continue;
    MD_TRY(md_fix_read_units("wall/reflect", words->word[k + 1], in_lattice));
  }
  return MD_OK;
}

static md_status wall_read(const md_box *box, const char *face, const char *word, int axis, double unit,
                           double *at)
{
  if (md_word_double(word, face, at) != MD_OK)
    return md_error(MD_USAGE, "fix wall/reflect %s: '%.64s' is neither EDGE nor a number", face, word);
  *at *= unit;
  const bool above = *at > box->lo[axis];
  if (!(*at >= box->lo[axis] && *at <= box->hi[axis]) && !md_box_face_follows(box, axis, above))
    return md_error(
        MD_USAGE,
        "fix wall/reflect %s: the wall at %g (sigma) lies outside the box, which reaches from %g to %g; "
        "numbers are in lattice units unless `units box` is given",
        face, *at, box->lo[axis], box->hi[axis]);
  return MD_OK;
}

/* A particle that is not in the group would leave a box whose faces stay, where the wall is on its face, and end the
 * run. So this wall may reflect all particles. */
static md_status wall_check_group(const md_fix *fix, const md_box *box, const char *face, int axis, int side,
                                  bool edge)
{
  if (fix->group == 0 || (edge && !md_box_face_follows(box, axis, side))) return MD_OK;
  return md_error(MD_USAGE,
                  "fix wall/reflect %s: a wall of another group than all must be at EDGE of a face that "
                  "stays (boundary f); any other wall would be in the way of all particles",
                  face);
}

static md_status wall_reflect_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  if (words->n == 0)
    return md_error(MD_USAGE, "fix wall/reflect needs at least one face: xlo, xhi, ylo, yhi, zlo or zhi");
  bool in_lattice;
  MD_TRY(wall_read_units(words, &in_lattice));
  for (int k = 0; k < words->n; k += 2) {
    const char *face = words->word[k];
    int axis, side;
    const bool units = strcmp(face, "units") == 0;
    if (!units && !md_wall_read_face(face, &axis, &side))
      return md_error(MD_USAGE,
                      "fix wall/reflect: unknown face '%.64s'; accepted are xlo xhi ylo yhi zlo zhi, and "
                      "units box|lattice",
                      face);
    if (k + 1 == words->n)
      return md_error(MD_USAGE, "fix wall/reflect %s needs %s", face,
                      units ? "box or lattice" : "EDGE or a number");
    if (units) continue;
    MD_TRY(wall_check_face(fix, scope->box, face, axis, side));
    double *wall = &fix->k[4 * axis + 2 * side];
    wall[0] = strcmp(words->word[k + 1], "EDGE") == 0 ? 2.0 : 1.0;
    MD_TRY(wall_check_group(fix, scope->box, face, axis, side, wall[0] == 2.0));
    if (wall[0] == 2.0) MD_TRY(md_wall_edge_stays(scope->box, "wall/reflect", face, axis, side));
    if (wall[0] == 1.0)
      MD_TRY(wall_read(scope->box, face, words->word[k + 1], axis, in_lattice ? scope->lattice[axis] : 1.0,
                       &wall[1]));
  }
  return MD_OK;
}

static md_status wall_reflect_join(const md_fix *fix, md_model *model)
{
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      const double *wall = &fix->k[4 * d + 2 * side];
      if (wall[0] == 0.0) continue;
      if (model->wall[d][side])
        return md_error(MD_USAGE, "fix wall/reflect %c%s: there is a wall on that side already", "xyz"[d],
                        side ? "hi" : "lo");
      if (!(wall[0] == 1.0 || wall[0] == 2.0) || !isfinite(wall[1]))
        return md_error(MD_USAGE, "fix wall/reflect %c%s: its place is not a number", "xyz"[d],
                        side ? "hi" : "lo");
      model->wall[d][side] = true;
      const double face = side ? model->box.hi[d] : model->box.lo[d];
      model->wall_at[d][side] = wall[0] == 1.0 ? wall[1] : face;
    }
  return MD_OK;
}

static const md_fix_style wall_reflect_style = {
    .name = "wall/reflect",
    .usage = "wall/reflect FACE EDGE|POSITION ... [units box|lattice]",
    .help = "FACE: xlo xhi ylo yhi zlo zhi, on axes that are not periodic. POSITION is in lattice units\n"
            "unless units box is given, as in LAMMPS; EDGE is the face of the box. Walls of another group\n"
            "than all must be at EDGE of a face that stays; they reflect the other particles too, which\n"
            "would leave the box",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = wall_reflect_parse,
    .join = wall_reflect_join,
};

#endif
