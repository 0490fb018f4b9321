/* The command `change_box`: other bounds and boundaries of the box, with or without its particles.
 *
 * The keywords are applied in order. `remap` moves the particles of the group as the box went from the last saved box
 * to the present one; the box is saved before the first keyword, by `set`, and after each `remap`. All keywords first
 * change a copy of the box, so that mistakes are found before a particle moves. At the end particles are wrapped along
 * periodic axes. Along fixed ones all must be inside, and faces that follow the particles move to them.
 *
 * A box becomes triclinic, with tilt factors, by `triclinic`, and by `ortho` one with right angles again, if its tilt
 * factors are 0. `remap` keeps the fractions of the edges at which particles are.
 *
 * Units: those of the lattice, unless units box is given. Reference: the LAMMPS manual, command
 * change_box.
 */
#include "src/box/boundary.h"
#include "src/box/faces.h"
#include "src/create/create.h"
#include "src/create/lattice.h"
#include "src/edit/edit.h"
#include "src/follow/followed.h"
#include "src/follow/images.h"
#include "src/group/groups.h"

#include <string.h>

typedef struct change {
  md_sim *sim;
  const md_words *words;
  bool in_lattice_units;
  uint32_t bit;      /* of the particles that `remap` moves */
  bool move;         /* remap moves them; otherwise words are only checked */
  md_box box, saved; /* the present one, and that of the last `set` or `remap` */
} change;

static md_status set_bounds(change *c, int d, double lo, double hi)
{
  MD_TRY(md_box_check(lo, hi, d));
  c->box.lo[d] = lo;
  c->box.hi[d] = hi;
  c->box.length[d] = hi - lo;
  return MD_OK;
}

static md_status scale_axis(change *c, int d, double factor)
{
  const double middle = 0.5 * (c->box.lo[d] + c->box.hi[d]), half = 0.5 * c->box.length[d] * factor;
  return set_bounds(c, d, middle - half, middle + half);
}

static md_status read_values(const change *c, int at, int n, int d, double *value)
{
  const bool lengths = n == 2;
  if (at + n > c->words->n)
    return md_error(MD_USAGE, "change_box %s needs %s", c->words->word[at - 1],
                    n == 2 ? "two numbers" : "a number");
  for (int k = 0; k < n; ++k) {
    MD_TRY(md_edit_number(c->sim, c->words->word[at + k], "number of change_box", &value[k]));
    if (lengths && c->in_lattice_units) value[k] *= md_lattice_unit(c->sim, d);
  }
  return MD_OK;
}

/* x|y|z final LO HI, delta DLO DHI or scale F. *at: at the axis, and then after the numbers. */
static md_status change_axis(change *c, int d, int *at)
{
  const char *what = c->words->word[*at + 1];
  double v[2];
  if (strcmp(what, "final") == 0) {
    MD_TRY(read_values(c, *at + 2, 2, d, v));
    *at += 4;
    return set_bounds(c, d, v[0], v[1]);
  }
  if (strcmp(what, "delta") == 0) {
    MD_TRY(read_values(c, *at + 2, 2, d, v));
    *at += 4;
    return set_bounds(c, d, c->box.lo[d] + v[0], c->box.hi[d] + v[1]);
  }
  if (strcmp(what, "scale") == 0) {
    MD_TRY(read_values(c, *at + 2, 1, d, v));
    if (!(v[0] > 0.0))
      return md_error(MD_USAGE, "change_box scale: the factor %s is not positive", c->words->word[*at + 2]);
    *at += 3;
    return scale_axis(c, d, v[0]);
  }
  if (strcmp(what, "volume") == 0)
    return md_error(MD_USAGE,
                    "change_box volume: it follows final, delta or scale of another axis, at most twice");
  return md_error(MD_USAGE, "change_box %c: unknown word '%s'; accepted are final, delta, scale, volume",
                  'x' + d, what);
}

static bool is_volume(const change *c, int at)
{
  return at + 1 < c->words->n && strcmp(c->words->word[at + 1], "volume") == 0;
}

static md_status read_axis(const change *c, int at, int *axis)
{
  MD_TRY(md_edit_axis(c->sim, "change_box", c->words->word[at], axis));
  if (at + 1 < c->words->n) return MD_OK;
  return md_error(MD_USAGE, "change_box %s needs final, delta, scale or volume", c->words->word[at]);
}

/* A change of one axis, and of one or two others after it that keep the volume. */
static md_status change_axes(change *c, int *at)
{
  int d, other[2] = {0, 0}, n = 0;
  MD_TRY(read_axis(c, *at, &d));
  const double before = c->box.length[d];
  MD_TRY(change_axis(c, d, at));
  for (; n < 2 && is_volume(c, *at); ++n, *at += 2) {
    MD_TRY(read_axis(c, *at, &other[n]));
    if (other[n] == d || (n == 1 && other[0] == other[1]))
      return md_error(MD_USAGE, "change_box volume: axis %s is named twice", c->words->word[*at]);
  }
  const double factor = before / c->box.length[d];
  for (int k = 0; k < n; ++k) MD_TRY(scale_axis(c, other[k], n == 2 ? sqrt(factor) : factor));
  return MD_OK;
}

/* xy|xz|yz final VALUE or delta VALUE. Moves *at past it and its words. */
static md_status change_tilt(change *c, int k, int *at)
{
  const char *name = c->words->word[*at], *what = *at + 1 < c->words->n ? c->words->word[*at + 1] : "";
  const bool final = strcmp(what, "final") == 0;
  double value;
  if (!final && strcmp(what, "delta") != 0)
    return md_error(MD_USAGE, "change_box %s: '%s' is not final or delta", name, what);
  if (*at + 2 >= c->words->n) return md_error(MD_USAGE, "change_box %s %s needs a number", name, what);
  if (!c->box.triclinic)
    return md_error(MD_USAGE, "change_box %s: the box is orthogonal; write `triclinic` before", name);
  MD_TRY(md_edit_number(c->sim, c->words->word[*at + 2], "number of change_box", &value));
  if (c->in_lattice_units) value *= md_lattice_unit(c->sim, k == MD_YZ ? 1 : 0);
  c->box.tilt[k] = final ? value : c->box.tilt[k] + value;
  *at += 3;
  return MD_OK;
}

/* The place at the same fractions of the edges of the box `to` as x in the box `from`. */
static void remap_tilted(const md_box *from, const md_box *to, double x[3])
{
  const double *l = to->length, *t = to->tilt;
  double f[3];
  md_box_fractions(from, x, f);
  x[0] = to->lo[0] + l[0] * f[0] + t[MD_XY] * f[1] + t[MD_XZ] * f[2];
  x[1] = to->lo[1] + l[1] * f[1] + t[MD_YZ] * f[2];
  x[2] = to->lo[2] + l[2] * f[2];
}

static void remap_all_tilted(const change *c)
{
  md_particles *p = &c->sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    if (!md_particles_in_group(p, c->bit, i)) continue;
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    remap_tilted(&c->saved, &c->box, x);
    for (int d = 0; d < p->dim; ++d) p->x[d][i] = x[d];
  }
}

static void remap(const change *c)
{
  md_particles *p = &c->sim->particles;
  if (c->box.triclinic) {
    if (c->move) remap_all_tilted(c);
    return;
  }
  for (int d = 0; d < p->dim && c->move; ++d) {
    const double ratio = c->box.length[d] / c->saved.length[d], from = c->saved.lo[d], to = c->box.lo[d];
    if (ratio == 1.0 && from == to) continue;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, c->bit, i)) p->x[d][i] = to + (p->x[d][i] - from) * ratio;
  }
}

static md_status change_boundary(change *c, int *at)
{
  if (*at + 3 >= c->words->n) return md_error(MD_USAGE, "change_box boundary needs three words");
  MD_TRY(md_boundary_read(c->words->word + *at + 1, &c->box));
  *at += 4;
  return MD_OK;
}

/* Other kinds of boxes stand in the headers of dumps. */
static md_status change_kind(change *c, bool triclinic)
{
  if (c->box.triclinic == triclinic) return MD_OK;
  if (c->sim->observers && !md_images_are_alone(c->sim))
    return md_error(
        MD_USAGE,
        "change_box %s: the files of dumps and output fixes have another kind of box, and computes that "
        "follow particles too; undump, unfix and uncompute them before",
        triclinic ? "triclinic" : "ortho");
  for (int k = 0; k < 3 && !triclinic; ++k) {
    /* A run has rounded them to the grid of positions, so that `delta` may have led to a last digit. */
    if (fabs(c->box.tilt[k]) > 1e-10 * c->box.length[0])
      return md_error(MD_USAGE, "change_box ortho: the tilt factors must be 0 before, not %g",
                      c->box.tilt[k]);
    c->box.tilt[k] = 0.0;
  }
  c->box.triclinic = triclinic;
  memset(c->box.offset, 0, sizeof c->box.offset);
  return MD_OK;
}

/* Applies the keyword words[*at], and moves *at past it and its words. */
static md_status apply_keyword(change *c, int *at)
{
  static const char *const tilts[] = {"xy", "xz", "yz"};
  const char *word = c->words->word[*at];
  if (strcmp(word, "x") == 0 || strcmp(word, "y") == 0 || strcmp(word, "z") == 0) return change_axes(c, at);
  if (strcmp(word, "boundary") == 0) return change_boundary(c, at);
  for (int k = 0; k < 3; ++k)
    if (strcmp(word, tilts[k]) == 0) return change_tilt(c, k, at);
  if (strcmp(word, "units") == 0) {
    *at += 2;
    return MD_OK;
  }
  ++*at;
  if (strcmp(word, "remap") == 0) {
    remap(c);
    c->saved = c->box;
    return MD_OK;
  }
  if (strcmp(word, "set") == 0) {
    c->saved = c->box;
    return MD_OK;
  }
  if (strcmp(word, "ortho") == 0) return change_kind(c, false);
  if (strcmp(word, "triclinic") == 0) return change_kind(c, true);
  return md_error(MD_USAGE,
                  "change_box: unknown keyword '%s'; accepted are x, y, z, xy, xz, yz, boundary, remap, set, "
                  "triclinic, ortho, units",
                  word);
}

static md_status apply_keywords(change *c, bool move)
{
  c->move = move;
  c->box = c->saved = c->sim->model.box;
  for (int at = 1; at < c->words->n;) MD_TRY(apply_keyword(c, &at));
  return MD_OK;
}

static md_status read_units(change *c)
{
  for (int at = 1; at < c->words->n; ++at) {
    if (strcmp(c->words->word[at], "units") != 0) continue;
    if (at + 1 == c->words->n) return md_error(MD_USAGE, "change_box units needs lattice or box");
    MD_TRY(md_edit_units("change_box", c->words->word[at + 1], &c->in_lattice_units));
  }
  return MD_OK;
}

/* Checks the tilt factors, and makes them those of the box. */
static md_status check_tilt(change *c)
{
  if (!c->box.triclinic) return MD_OK;
  const double tilt[3] = {c->box.tilt[0], c->box.tilt[1], c->box.tilt[2]};
  return md_box_tilt(c->sim, &c->box, tilt);
}

/* The box becomes that of the moved particles, if they are in it. */
static md_status take_box(md_sim *sim, const md_box *box)
{
  const md_box before = sim->model.box;
  sim->model.box = *box;
  const md_status status = md_edit_check_moved(sim, "change_box");
  if (status != MD_OK) sim->model.box = before;
  return status;
}

md_status md_do_change_box(md_sim *sim, const md_words *words)
{
  md_particles *p = &sim->particles;
  change c = {.sim = sim, .words = words, .in_lattice_units = true};
  char text[MD_BOX_TEXT];
  int group;
  MD_TRY(md_sim_need_box(sim, "change_box"));
  MD_TRY(md_edit_need_no_wall(sim, "change_box"));
  MD_TRY(md_group_find(sim, words->word[0], &group));
  c.bit = md_group_bit(group);
  MD_TRY(read_units(&c));
  MD_TRY(apply_keywords(&c, false));
  MD_TRY(check_tilt(&c));
  MD_TRY(md_images_refresh(sim));
  MD_TRY(md_followed_refresh(sim));
  MD_TRY(md_edit_keep(sim, &c.box));
  MD_TRY(apply_keywords(&c, true));
  MD_TRY(check_tilt(&c));
  if (md_box_follows(&c.box)) md_faces_begin(&c.box);
  MD_TRY(take_box(sim, &c.box));
  MD_TRY(md_images_place(sim));
  MD_TRY(md_followed_moved(sim));
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) p->x[d][i] = md_edit_wrap(&c.box, d, p->x[d][i]);
  md_particles_show(p, &c.box);
  MD_TRY(md_edit_follow(sim));
  c.box = sim->model.box;
  md_box_text(&c.box, text);
  md_log_print(sim->log, "Changing box ...\n  %s\n", text);
  return MD_OK;
}
