/* The command `displace_atoms`: moves the particles of a group.
 *
 * Particles that leave a periodic face come in at the other one. Random displacements depend on seed and id. Sine and
 * cosine of a rotation are found in extended precision and rounded, so that they have the same bits with any C library.
 * Nothing is moved if a particle would leave a fixed face: the message names it, and the deck ends.
 *
 * Units: those of the lattice, unless units box is given; degrees. Reference: the LAMMPS manual, command
 * displace_atoms.
 */
#include "common/arithmetic/rng.h"
#include "src/create/lattice.h"
#include "src/edit/edit.h"
#include "src/group/groups.h"

#include <stdlib.h>
#include <string.h>

typedef struct displacement {
  md_sim *sim;
  char *const *word; /* after the style */
  bool in_lattice_units;
  uint32_t bit;
  const struct style *style;
} displacement;

static double unit_of(const displacement *c, int d)
{
  return c->in_lattice_units ? md_lattice_unit(c->sim, d) : 1.0;
}

/* Reads three lengths. In two dimensions the third must be 0. */
static md_status read_lengths(const displacement *c, const char *what, double length[3])
{
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_edit_number(c->sim, c->word[d], what, &length[d]));
    length[d] *= unit_of(c, d);
  }
  if (c->sim->model.box.dim == 2 && length[2] != 0.0)
    return md_error(MD_USAGE, "displace_atoms: in two dimensions the z component must be 0, not %s",
                    c->word[2]);
  return MD_OK;
}

static void move_along(const displacement *c, int d, const md_formula_value *by)
{
  md_particles *p = &c->sim->particles;
  const double unit = unit_of(c, d);
  for (int64_t i = 0; i < p->n; ++i)
    if (md_particles_in_group(p, c->bit, i)) p->x[d][i] += unit * md_edit_value(by, i);
}

/* All lengths are read before a particle moves: they may be formulas of positions. */
static md_status move(const displacement *c)
{
  const int dim = c->sim->model.box.dim;
  md_formula_value by[3] = {{.one = 0.0}};
  md_status status = MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_edit_values(c->sim, c->word[d], "displacement", &by[d]);
  if (status == MD_OK && dim == 2 && (by[2].one != 0.0 || by[2].each))
    status =
        md_error(MD_USAGE, "displace_atoms: in two dimensions the z component must be 0, not %s", c->word[2]);
  for (int d = 0; d < dim && status == MD_OK; ++d) move_along(c, d, &by[d]);
  for (int d = 0; d < 3; ++d) free(by[d].each);
  return status;
}

/* ramp x|y|z DLO DHI x|y|z CLO CHI */
static md_status ramp(const displacement *c)
{
  md_particles *p = &c->sim->particles;
  int of, along;
  double by[2], at[2];
  MD_TRY(md_edit_axis(c->sim, "displace_atoms ramp", c->word[0], &of));
  MD_TRY(md_edit_axis(c->sim, "displace_atoms ramp", c->word[3], &along));
  for (int k = 0; k < 2; ++k) {
    MD_TRY(md_word_double(c->word[1 + k], "displacement", &by[k]));
    MD_TRY(md_word_double(c->word[4 + k], "coordinate", &at[k]));
    by[k] *= unit_of(c, of);
    at[k] *= unit_of(c, along);
  }
  if (!(at[0] < at[1]))
    return md_error(MD_USAGE, "displace_atoms ramp: the coordinates from %s to %s do not increase",
                    c->word[4], c->word[5]);
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, c->bit, i)) continue;
    const double part = md_min(md_max((p->x[along][i] - at[0]) / (at[1] - at[0]), 0.0), 1.0);
    p->x[of][i] += by[0] + part * (by[1] - by[0]);
  }
  return MD_OK;
}

/* random DX DY DZ SEED: each component uniform between -D and D */
static md_status shake(const displacement *c)
{
  md_particles *p = &c->sim->particles;
  double most[3];
  int64_t seed;
  MD_TRY(read_lengths(c, "displacement", most));
  MD_TRY(md_word_int64(c->word[3], "seed", 1, INT64_MAX, &seed));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, c->bit, i)) continue;
    const md_random a = md_random_at((uint64_t)seed, (uint64_t)p->id[i], 0, MD_STREAM_DISPLACE);
    const md_random b = md_random_at((uint64_t)seed, (uint64_t)p->id[i], 1, MD_STREAM_DISPLACE);
    const double u[3] = {md_random_unit53(a.word[0], a.word[1]), md_random_unit53(a.word[2], a.word[3]),
                         md_random_unit53(b.word[0], b.word[1])};
    for (int d = 0; d < 3 && d < p->dim; ++d) p->x[d][i] += most[d] * 2.0 * (u[d] - 0.5);
  }
  return MD_OK;
}

/* A rotation about the axis r, a unit vector, through the point q. */
typedef struct rotation {
  double q[3], r[3], sine, cosine;
} rotation;

/* rotate PX PY PZ RX RY RZ THETA */
static md_status read_rotation(const displacement *c, rotation *t)
{
  double square = 0.0, degrees;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_edit_number(c->sim, c->word[d], "point of a rotation", &t->q[d]));
    MD_TRY(md_edit_number(c->sim, c->word[3 + d], "axis of a rotation", &t->r[d]));
    t->q[d] *= unit_of(c, d);
    square += t->r[d] * t->r[d];
  }
  MD_TRY(md_edit_number(c->sim, c->word[6], "angle of a rotation", &degrees));
  if (!isnormal(square))
    return md_error(MD_USAGE, "displace_atoms rotate: the axis %s %s %s has no direction", c->word[3],
                    c->word[4], c->word[5]);
  for (int d = 0; d < 3; ++d) t->r[d] /= sqrt(square);
  if (c->sim->model.box.dim == 2 && (t->r[0] != 0.0 || t->r[1] != 0.0))
    return md_error(MD_USAGE, "displace_atoms rotate: in two dimensions the axis must be 0 0 1 or 0 0 -1");
  const long double angle = (long double)degrees * (3.14159265358979323846264338327950288L / 180.0L);
  t->sine = (double)sinl(angle);
  t->cosine = (double)cosl(angle);
  return MD_OK;
}

/* Splits x - q into a part along the axis and one across, and turns the latter. */
static md_status rotate(const displacement *c)
{
  md_particles *p = &c->sim->particles;
  rotation t;
  MD_TRY(read_rotation(c, &t));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double from[3] = {0.0}, across[3], along = 0.0;
    if (!md_particles_in_group(p, c->bit, i)) continue;
    for (int d = 0; d < p->dim; ++d) from[d] = p->x[d][i] - t.q[d];
    for (int d = 0; d < 3; ++d) along += from[d] * t.r[d];
    for (int d = 0; d < 3; ++d) across[d] = from[d] - along * t.r[d];
    for (int d = 0; d < p->dim; ++d) {
      const double turned = t.r[(d + 1) % 3] * across[(d + 2) % 3] - t.r[(d + 2) % 3] * across[(d + 1) % 3];
      p->x[d][i] = t.q[d] + along * t.r[d] + across[d] * t.cosine + turned * t.sine;
    }
  }
  return MD_OK;
}

static const struct style {
  const char *name;
  int words;
  const char *usage;
  md_status (*apply)(const displacement *);
} styles[] = {{"move", 3, "DX DY DZ", move},
              {"ramp", 6, "x|y|z DLO DHI x|y|z CLO CHI", ramp},
              {"random", 4, "DX DY DZ SEED", shake},
              {"rotate", 7, "PX PY PZ RX RY RZ THETA", rotate}};
enum { STYLES = sizeof styles / sizeof styles[0] };

static md_status read_keywords(const md_words *words, int at, displacement *c)
{
  for (; at < words->n; at += 2) {
    if (strcmp(words->word[at], "units") != 0)
      return md_error(MD_USAGE, "displace_atoms: unknown keyword '%s'; accepted is units lattice|box",
                      words->word[at]);
    if (at + 1 == words->n) return md_error(MD_USAGE, "displace_atoms units needs lattice or box");
    MD_TRY(md_edit_units("displace_atoms", words->word[at + 1], &c->in_lattice_units));
  }
  return MD_OK;
}

static md_status apply(void *context)
{
  const displacement *c = context;
  return c->style->apply(c);
}

md_status md_do_displace_atoms(md_sim *sim, const md_words *words)
{
  const char *style = words->word[1];
  int s = 0, group;
  MD_TRY(md_sim_need_box(sim, "displace_atoms"));
  MD_TRY(md_group_find(sim, words->word[0], &group));
  while (s < STYLES && strcmp(styles[s].name, style) != 0) ++s;
  if (s == STYLES)
    return md_error(MD_USAGE, "displace_atoms: unknown style '%s'; accepted are move, ramp, random, rotate",
                    style);
  if (words->n < 2 + styles[s].words)
    return md_error(MD_USAGE, "displace_atoms %s needs %s", style, styles[s].usage);
  displacement c = {sim, words->word + 2, true, md_group_bit(group), &styles[s]};
  MD_TRY(read_keywords(words, 2 + styles[s].words, &c));
  MD_TRY(md_edit_move(sim, "displace_atoms", c.bit, apply, &c));
  md_log_print(sim->log, "Displacing atoms ...\n");
  return MD_OK;
}
