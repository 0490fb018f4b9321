/* compute property/atom: attributes of particles by name, for what takes a compute.
 *
 * Names that formulas know have their values (src/formula/particle_values.h), image flags and unwrapped positions those
 * of src/follow/images.h. Others are made here: scaled positions, and the rank that owns a particle. Cost: a pass.
 * Reference: the LAMMPS manual, compute property/atom. */
#include "src/computes/host_compute.h"
#include "src/follow/images.h"
#include "src/formula/particle_values.h"
#include "src/properties/property.h"

#include <stdlib.h>
#include <string.h>

typedef struct compute_property {
  md_host_compute base;
  char (*name)[64]; /* [columns] */
} compute_property;

static const char *const formulas_know[] = {"id", "type", "mass", "x",  "y",  "z",
                                            "vx", "vy",   "vz",   "fx", "fy", "fz"};
static const char *const others[] = {"xs", "ys", "zs", "proc", "procp1"};

static bool is_among(const char *name, int n, const char *const *list)
{
  for (int k = 0; k < n; ++k)
    if (strcmp(name, list[k]) == 0) return true;
  return false;
}

#define IS_AMONG(name, list) is_among(name, (int)(sizeof(list) / sizeof(list)[0]), list)

static md_status check_name(md_sim *sim, const char *name)
{
  md_property property;
  if (sim->model.bonded && strcmp(name, "mol") == 0) return MD_OK;
  if (md_property_is_name(name)) return md_property_need(sim, "compute property/atom", name, &property);
  if (md_images_has(name)) return md_images_begin(sim);
  if (IS_AMONG(name, formulas_know) || IS_AMONG(name, others)) return MD_OK;
  return md_error(MD_USAGE,
                  "compute property/atom: unknown attribute '%.64s'; accepted are id type mass x y z xs ys "
                  "zs " MD_IMAGE_NAMES
                  " vx vy vz fx fy fz proc procp1, and i_NAME d_NAME mol of fix property/atom",
                  name);
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
  return MD_OK;
}

/* The values of an attribute that formulas do not know. */
static void fill_other(const md_sim *sim, const char *name, double *value)
{
  for (int64_t i = 0; i < sim->particles.n; ++i)
    value[i] = name[1] == 's' ? md_particle_scaled(&sim->particles, &sim->model.box, name[0] - 'x', i)
                              : sim->comm->rank + (strcmp(name, "procp1") == 0);
}

static md_status find(md_host_compute *base, md_view *view)
{
  const compute_property *c = (const compute_property *)base;
  md_sim *sim = view->sim;
  const md_particles *p = &sim->particles;
  const uint32_t bit = md_group_bit(base->group);
  double *value;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value, p->n + 1, sizeof *value, "attributes of particles")));
  md_status status = MD_OK;
  for (int k = 0; k < base->columns && status == MD_OK; ++k) {
    if (IS_AMONG(c->name[k], others))
      fill_other(sim, c->name[k], value);
    else
      status = md_images_or_values(sim, c->name[k], value);
    for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
      base->each[i * base->columns + k] = md_particles_in_group(p, bit, i) ? value[i] : 0.0;
  }
  free(value);
  return status;
}

static void free_all(md_host_compute *base) { free(((compute_property *)base)->name); }

const md_host_compute_style md_compute_property_atom_style = {
    .name = "property/atom",
    .usage = "property/atom ATTRIBUTE ...",
    .help = "attributes of each particle, as c_ID, or c_ID[K] if there are several: id type mass x y z xs ys "
            "zs vx vy\n"
            "vz fx fy fz, proc (the rank that has the particle), procp1, xu yu zu and xsu ysu zsu "
            "(through periodic\n"
            "faces), ix iy iz (how often), and i_NAME d_NAME mol of fix property/atom",
    .size = sizeof(compute_property),
    .parse = parse,
    .find = find,
    .between = true,
    .free = free_all,
};
