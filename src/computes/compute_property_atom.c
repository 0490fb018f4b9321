/* compute property/atom: attributes of particles by name, for what takes a compute.
 *
 * Names that formulas know have their values (src/formula/particle_values.h). Others are made here: scaled positions,
 * the rank that owns a particle, and image flags and unwrapped positions:
 *
 *      xu = x + ix a + iy b + iz c,   a, b, c: the edges of the box
 *
 * A particle's image flags are 0 when the compute is defined, because engines keep none: the run follows the particles
 * from then on. Cost: a pass; that of following for the latter (src/follow/followed.h). Reference: the LAMMPS manual,
 * compute property/atom. */
#include "src/computes/host_compute.h"
#include "src/follow/followed.h"
#include "src/formula/particle_values.h"
#include "src/properties/property.h"

#include <stdlib.h>
#include <string.h>

typedef struct compute_property {
  md_host_compute base;
  char (*name)[64];      /* [columns] */
  md_followed *followed; /* NULL: no name needs the ways of particles */
} compute_property;

static const char *const formulas_know[] = {"id", "type", "mass", "x",  "y",  "z",
                                            "vx", "vy",   "vz",   "fx", "fy", "fz"};
static const char *const others[] = {"xs", "ys", "zs", "proc", "procp1"};
static const char *const unwrapped[] = {"xu", "yu", "zu", "ix", "iy", "iz"};

static bool is_among(const char *name, int n, const char *const *list)
{
  for (int k = 0; k < n; ++k)
    if (strcmp(name, list[k]) == 0) return true;
  return false;
}

#define IS_AMONG(name, list) is_among(name, (int)(sizeof(list) / sizeof(list)[0]), list)

static md_status check_name(const md_sim *sim, const char *name)
{
  md_property property;
  if (sim->model.bonded && strcmp(name, "mol") == 0) return MD_OK;
  if (md_property_is_name(name)) return md_property_need(sim, "compute property/atom", name, &property);
  if (IS_AMONG(name, formulas_know) || IS_AMONG(name, others) || IS_AMONG(name, unwrapped)) return MD_OK;
  return md_error(
      MD_USAGE,
      "compute property/atom: unknown attribute '%.64s'; accepted are id type mass x y z xs ys zs xu yu zu "
      "ix iy iz vx vy vz fx fy fz proc procp1, and i_NAME d_NAME mol of fix property/atom",
      name);
}

/* Begins to follow the particles if one of the attributes needs that. In a tilted box the image that output shows is
 * not the one that is followed. */
static md_status follow(compute_property *c, md_sim *sim)
{
  bool needs = false;
  for (int w = 0; w < c->base.columns; ++w) needs = needs || IS_AMONG(c->name[w], unwrapped);
  if (!needs) return MD_OK;
  if (sim->model.box.triclinic)
    return md_error(
        MD_USAGE,
        "compute property/atom: a tilted box has no xu yu zu ix iy iz; compute displace/atom follows "
        "particles through its faces");
  return md_followed_begin(sim, "compute property/atom", c->base.group, MD_FOLLOWED_EACH, &c->followed);
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_property *c = (compute_property *)base;
  MD_TRY(md_sim_need_box(sim, "compute property/atom"));
  if (words->n == 0) return md_error(MD_USAGE, "compute property/atom takes names of attributes, such as vx");
  base->columns = words->n;
  base->vector = words->n > 1;
  MD_TRY(md_array_new_zero(&c->name, words->n, sizeof *c->name, "names of attributes"));
  for (int w = 0; w < words->n; ++w) {
    MD_TRY(check_name(sim, words->word[w]));
    memcpy(c->name[w], words->word[w], strlen(words->word[w]) + 1);
  }
  return follow(c, sim);
}

/* The values of an attribute that formulas do not know. */
static void fill_other(const md_sim *sim, const char *name, double *value)
{
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = name[1] == 's' ? md_particle_scaled(&sim->particles, &sim->model.box, name[0] - 'x', i)
                              : sim->comm->rank + (strcmp(name, "procp1") == 0);
}

/* The image flags of the particles, or their unwrapped positions. Those of particles beyond the group are 0. */
static void fill_unwrapped(const compute_property *c, const md_sim *sim, const char *name,
                           const md_follow_record *now, double *value)
{
  const int axis = name[*name == 'i'] - 'x';
  for (int64_t i = 0; i < sim->particles.n; ++i) {
    double moved[3];
    md_followed_displacement(c->followed, &now[i], moved);
    value[i] = *name == 'i' ? now[i].through[axis] : now[i].first[axis] + moved[axis];
  }
}

/* now: the records of the particles, if one of the names needs them. */
static md_status fill(const compute_property *c, md_sim *sim, const md_follow_record *now)
{
  const md_host_compute *base = &c->base;
  const md_particles *p = &sim->particles;
  const uint32_t bit = md_group_bit(base->group);
  double *value;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value, p->n + 1, sizeof *value, "attributes of particles")));
  md_status status = MD_OK;
  for (int k = 0; k < base->columns && status == MD_OK; ++k) {
    if (now && IS_AMONG(c->name[k], unwrapped))
      fill_unwrapped(c, sim, c->name[k], now, value);
    else if (IS_AMONG(c->name[k], others))
      fill_other(sim, c->name[k], value);
    else
      status = md_particle_values_of(sim, c->name[k], value);
    for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
      base->each[i * base->columns + k] = md_particles_in_group(p, bit, i) ? value[i] : 0.0;
  }
  free(value);
  return status;
}

static md_status find(md_host_compute *base, md_view *view)
{
  const compute_property *c = (const compute_property *)base;
  md_follow_record *now = NULL;
  md_status status = c->followed ? md_followed_find(c->followed, &now) : MD_OK;
  if (status == MD_OK) status = fill(c, view->sim, now);
  free(now);
  return status;
}

static void free_all(md_host_compute *base)
{
  md_followed_end(((compute_property *)base)->followed);
  free(((compute_property *)base)->name);
}

const md_host_compute_style md_compute_property_atom_style = {
    .name = "property/atom",
    .usage = "property/atom ATTRIBUTE ...",
    .help = "attributes of each particle, as c_ID, or c_ID[K] if there are several: id type mass x y z xs ys "
            "zs vx vy\n"
            "vz fx fy fz, proc (the rank that has the particle), procp1, xu yu zu (through periodic faces) "
            "and ix iy iz\n"
            "(how often), from the definition of the compute on, and i_NAME d_NAME mol of fix property/atom",
    .size = sizeof(compute_property),
    .parse = parse,
    .find = find,
    .between = true,
    .free = free_all,
};
