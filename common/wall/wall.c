/* The host's part of fixes with flat walls; see wall.h. */
#include "common/wall/wall.h"

#include <stdio.h>
#include <string.h>

bool md_wall_read_face(const char *word, int *axis, int *side)
{
  if (word[0] < 'x' || word[0] > 'z') return false;
  *axis = word[0] - 'x';
  *side = strcmp(word + 1, "hi") == 0;
  return *side == 1 || strcmp(word + 1, "lo") == 0;
}

md_status md_fix_read_units(const char *fix, const char *word, bool *in_lattice)
{
  *in_lattice = strcmp(word, "lattice") == 0;
  if (*in_lattice || strcmp(word, "box") == 0) return MD_OK;
  return md_error(MD_USAGE, "fix %s units '%.64s' is unknown; accepted are box and lattice", fix, word);
}

/* Reads the keywords after the walls, from word w on. */
static md_status read_keywords(const char *name, const md_words *words, int w, bool *in_lattice)
{
  for (; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    const bool units = strcmp(keyword, "units") == 0;
    if (!units && strcmp(keyword, "fld") != 0 && strcmp(keyword, "pbc") != 0)
      return md_error(
          MD_USAGE,
          "fix %s: unknown word '%.64s'; accepted are walls, FACE PLACE EPSILON SIGMA CUTOFF with the faces "
          "xlo xhi ylo yhi zlo zhi, and after them units box|lattice, fld no and pbc no",
          name, keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "fix %s %s: its value is missing", name, keyword);
    bool yes = false;
    if (units)
      MD_TRY(md_fix_read_units(name, words->word[w + 1], in_lattice));
    else
      MD_TRY(md_word_bool(words->word[w + 1], keyword, &yes));
    if (yes) return md_error(MD_USAGE, "fix %s: only '%s no' is accepted", name, keyword);
  }
  return MD_OK;
}

md_status md_wall_edge_stays(const md_box *box, const char *name, const char *face, int axis, int side)
{
  if (!md_box_face_follows(box, axis, side)) return MD_OK;
  return md_error(
      MD_USAGE,
      "fix %s %s EDGE: this face of the box follows the particles (boundary s or m); give the place of "
      "the wall as a number, or use boundary f there",
      name, face);
}

static md_status check_face(const md_fix *fix, const md_box *box, const char *face, int axis, double kind)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  if (axis >= box->dim) return md_error(MD_USAGE, "fix %s %s: two dimensions have no z walls", name, face);
  if (box->periodic[axis])
    return md_error(MD_USAGE, "fix %s %s: the box is periodic along %c; use boundary f there", name, face,
                    "xyz"[axis]);
  for (int m = 0; m < MD_FORCES_EACH; ++m)
    if (fix->k[MD_WALL_K * m] == kind || fix->k[MD_WALL_K * m] == kind + 6.0)
      return md_error(MD_USAGE, "fix %s %s: there is a wall on that side already", name, face);
  return MD_OK;
}

/* Reads wall m: words[0] is its face, and four numbers follow. */
static md_status read_wall(md_fix *fix, int m, char *const *words, const md_fix_scope *scope, bool in_lattice)
{
  const char *face = words[0], *name = md_fix_style_of(fix->kind)->name;
  int axis = 0, side = 0;
  if (!md_wall_read_face(face, &axis, &side))
    return md_error(MD_USAGE, "fix %s: '%.64s' is no face", name, face);
  const double kind = 1.0 + 2.0 * axis + side;
  double *k = &fix->k[MD_WALL_K * m];
  char what[96];
  MD_TRY(check_face(fix, scope->box, face, axis, kind));
  const bool edge = strcmp(words[1], "EDGE") == 0;
  if (edge) MD_TRY(md_wall_edge_stays(scope->box, name, face, axis, side));
  if (!edge && md_fix_read_varied(fix, words[1], face, &k[1]) != MD_OK)
    return md_error(MD_USAGE, "fix %s %s: '%.64s' is neither EDGE nor a number nor v_NAME", name, face,
                    words[1]);
  k[0] = kind + (edge ? 6.0 : 0.0);
  if (in_lattice) md_fix_scale(fix, MD_WALL_K * m + 1, scope->lattice[axis]);
  snprintf(what, sizeof what, "epsilon of fix %s %s", name, face);
  MD_TRY(md_fix_read_varied(fix, words[2], what, &k[2]));
  snprintf(what, sizeof what, "sigma of fix %s %s", name, face);
  /* A harmonic wall has no sigma, and decks write 0. */
  const bool none = strcmp(name, "wall/harmonic") == 0 && md_word_double(words[3], what, &k[3]) == MD_OK;
  MD_TRY(md_fix_read_varied_positive(fix, none ? "1" : words[3], what, &k[3]));
  snprintf(what, sizeof what, "the cutoff of fix %s %s", name, face);
  return md_word_positive(words[4], what, &k[4]);
}

md_status md_wall_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  int axis, side, walls = 0, end = 0;
  for (; end < words->n && md_wall_read_face(words->word[end], &axis, &side); end += MD_WALL_K) ++walls;
  if (walls == 0)
    return md_error(
        MD_USAGE,
        "fix %s needs a wall: xlo, xhi, ylo, yhi, zlo or zhi, then PLACE EPSILON SIGMA CUTOFF%s%.64s", name,
        words->n > 0 ? ", not " : "", words->n > 0 ? words->word[0] : "");
  if (end > words->n)
    return md_error(MD_USAGE, "fix %s %s needs PLACE EPSILON SIGMA CUTOFF", name,
                    words->word[end - MD_WALL_K]);
  bool in_lattice = true;
  MD_TRY(read_keywords(name, words, end, &in_lattice));
  if (walls > MD_FORCES_EACH)
    return md_error(MD_USAGE, "fix %s: there is a wall on every side already", name);
  for (int m = 0; m < walls; ++m) MD_TRY(read_wall(fix, m, words->word + MD_WALL_K * m, scope, in_lattice));
  return MD_OK;
}

md_status md_wall_join(const md_fix *fix, md_model *model)
{
  for (int m = 0; m < MD_FORCES_EACH && fix->k[MD_WALL_K * m] != 0.0; ++m) {
    const double *k = &fix->k[MD_WALL_K * m];
    const bool face = k[0] >= 1.0 && k[0] <= 12.0 && k[0] == rint(k[0]);
    const int axis = face ? ((int)k[0] - 1) % 6 / 2 : 0;
    if (!face || axis >= model->box.dim || !(k[3] > 0.0 && k[4] > 0.0))
      return md_error(MD_USAGE, "fix %s: the numbers of its wall %d are not valid",
                      md_fix_style_of(fix->kind)->name, m + 1);
  }
  return MD_OK;
}

double md_wall_largest(const md_fix *fix, double (*force)(const double *wall))
{
  double most = 0.0;
  for (int m = 0; m < MD_FORCES_EACH && fix->k[MD_WALL_K * m] != 0.0; ++m)
    most = md_max(most, fabs(force(&fix->k[MD_WALL_K * m])));
  return most;
}

static double at_sigma(const double *wall) { return wall[2] / wall[3]; }

double md_wall_usual_force(const md_fix *fix, const md_model *model, double mass)
{
  (void)model;
  (void)mass;
  return md_wall_largest(fix, at_sigma);
}

md_status md_wall_prepare(const md_fix *fix, const md_model *model, md_wall_potential potential,
                          md_force_action *action, int *count)
{
  for (*count = 0; *count < MD_FORCES_EACH && fix->k[MD_WALL_K * *count] != 0.0; ++*count) {
    const double *k = &fix->k[MD_WALL_K * *count];
    const int face = ((int)k[0] - 1) % 6, axis = face / 2, side = face % 2;
    double *to = action[*count].k;
    if (model->box.periodic[axis])
      return md_error(MD_USAGE, "fix %s: the box is periodic along %c", md_fix_style_of(fix->kind)->name,
                      "xyz"[axis]);
    if (k[0] > 6.0)
      MD_TRY(
          md_wall_edge_stays(&model->box, md_fix_style_of(fix->kind)->name, side ? "hi" : "lo", axis, side));
    const double edge = side ? model->box.hi[axis] : model->box.lo[axis];
    to[0] = axis;
    to[1] = side ? 1.0 : -1.0;
    to[2] = k[0] > 6.0 ? edge : k[1];
    to[3] = k[4];
    potential(k[2], k[3], k[4], to + MD_WALL_POTENTIAL);
  }
  return MD_OK;
}
