/* Fields of all particles in the order of ids; see fields.h.
 *
 * 1. The place of a particle is the rank of its id among all ids. If the ids are 1 to natoms, it is the id less one.
 *    Otherwise all ranks gather all ids and sort them, and a search finds the place.
 * 2. A rank writes the values of its own particles to their places, and 0 elsewhere.
 * 3. The sum over ranks of the bits of the numbers, as integers, is the array on every rank, to the last bit.
 *
 * Values are found as formulas find them (src/formula/particle_values.h). Cost: arrays of all particles on each rank,
 * which is what the caller asks for. Memory: one array of 8 bytes for each particle more than the caller's. */
#include "src/library/fields.h"
#include "common/ranks/reductions.h"
#include "src/edit/edit.h"
#include "src/formula/particle_values.h"
#include "src/library/present.h"
#include "src/sums/masses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 65536, AXES = 3 };

/* A field with its own name. */
typedef struct field {
  const char *name;
  int columns;
  const char *formula[AXES];
  bool settable;
} field;

static const field fields[] = {
    {"x", 3, {"x", "y", "z"}, true},         {"v", 3, {"vx", "vy", "vz"}, true},
    {"f", 3, {"fx", "fy", "fz"}, false},     {"type", 1, {"type", NULL, NULL}, true},
    {"mass", 1, {"mass", NULL, NULL}, true},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* The field with this name, or the formula as a field of one column. */
static field field_of(const char *name)
{
  for (int k = 0; k < FIELDS; ++k)
    if (strcmp(fields[k].name, name) == 0) return fields[k];
  return (field){name, 1, {name, NULL, NULL}, false};
}

static md_status check_columns(const char *name, int columns)
{
  const int wanted = field_of(name).columns;
  if (columns == wanted) return MD_OK;
  return md_error(MD_USAGE, "'%.80s' has %d column%s for each particle, not %d", name, wanted,
                  wanted == 1 ? "" : "s", columns);
}

/* Sums arrays of whole numbers over ranks, in place. */
static md_status sum_over_ranks(md_comm *comm, int64_t *value, int64_t n)
{
  for (int64_t k = 0; k < n && comm->size > 1; k += CHUNK)
    MD_TRY(comm->reduce->sum(comm, value + k, (int)(n - k < CHUNK ? n - k : CHUNK)));
  return MD_OK;
}

/* The same for the bits of numbers, of which all ranks but one have 0. */
static md_status merge_ranks(md_comm *comm, double *value, int64_t n)
{
  int64_t bits[CHUNK / 16];
  const int64_t most = CHUNK / 16;
  for (int64_t k = 0; k < n && comm->size > 1; k += most) {
    const int64_t here = n - k < most ? n - k : most;
    memcpy(bits, value + k, (size_t)here * sizeof *bits);
    MD_TRY(comm->reduce->sum(comm, bits, (int)here));
    memcpy(value + k, bits, (size_t)here * sizeof *bits);
  }
  return MD_OK;
}

static int compare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

md_status md_fields_ids(md_sim *sim, int64_t *id)
{
  const md_particles *p = &sim->particles;
  int64_t first = p->n;
  MD_TRY(sim->comm->reduce->exclusive_sum(sim->comm, &first));
  memset(id, 0, (size_t)sim->model.natoms * sizeof *id);
  if (p->n > 0) memcpy(id + first, p->id, (size_t)p->n * sizeof *id);
  MD_TRY(sum_over_ranks(sim->comm, id, sim->model.natoms));
  qsort(id, (size_t)sim->model.natoms, sizeof *id, compare);
  return MD_OK;
}

/* Makes place[i] of each own particle. The caller frees *place. */
static md_status find_places(md_sim *sim, int64_t **place)
{
  const md_particles *p = &sim->particles;
  int64_t *id = NULL;
  *place = NULL;
  const int64_t natoms = sim->model.natoms;
  const bool dense = sim->max_id == natoms;
  md_status status = md_array_new(place, p->n, sizeof **place, "places of particles");
  if (status == MD_OK && !dense) status = md_array_new(&id, natoms, sizeof *id, "ids of all particles");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK && !dense) status = md_fields_ids(sim, id);
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i) {
    const int64_t *at = dense ? NULL : bsearch(&p->id[i], id, (size_t)natoms, sizeof *id, compare);
    (*place)[i] = at ? at - id : p->id[i] - 1;
  }
  free(id);
  return status;
}

/* ---- gathering ---- */

typedef struct gathering {
  field of;
  double *value;
} gathering;

/* Writes the columns of the own particles to their places. own: [n], scratch. */
static md_status put_columns(md_sim *sim, const gathering *g, const int64_t *place, double *own)
{
  const int columns = g->of.columns;
  for (int c = 0; c < columns; ++c) {
    MD_TRY(md_particle_values_of(sim, g->of.formula[c], own));
    for (int64_t i = 0; i < sim->particles.n; ++i) g->value[place[i] * columns + c] = own[i];
  }
  return MD_OK;
}

static md_status gather(md_sim *sim, void *context)
{
  const gathering *g = context;
  int64_t *place;
  double *own = NULL;
  md_status status = find_places(sim, &place);
  const int64_t n = sim->model.natoms * g->of.columns;
  if (status == MD_OK)
    status =
        md_comm_agree(sim->comm, md_array_new(&own, sim->particles.n, sizeof *own, "values of particles"));
  if (status == MD_OK) {
    memset(g->value, 0, (size_t)n * sizeof *g->value);
    status = put_columns(sim, g, place, own);
  }
  if (status == MD_OK) status = merge_ranks(sim->comm, g->value, n);
  free(own);
  free(place);
  return status;
}

md_status md_fields_gather(md_sim *sim, const char *name, int columns, double *value)
{
  gathering g = {field_of(name), value};
  MD_TRY(md_sim_need_box(sim, "a field of particles"));
  MD_TRY(check_columns(name, columns));
  return md_present_find(sim, gather, &g);
}

/* ---- scattering ---- */

/* Faces that follow the particles let them be anywhere. */
static bool is_inside(const md_box *box, int d, double x)
{
  /* Further away, doubles lie too far apart for a place in the box. */
  if (box->periodic[d]) return fabs(x) < 0x1p40 * box->length[d];
  if (box->face[d][0] == MD_FACE_FIXED && x < box->lo[d]) return false;
  return box->face[d][1] != MD_FACE_FIXED || x <= box->hi[d];
}

/* In two dimensions particles have no z: the third number of a vector must be 0. */
static md_status check_flat(const md_sim *sim, const char *name, const double *row, int64_t id)
{
  if (sim->model.box.dim == 3 || row[2] == 0.0) return MD_OK;
  return md_error(MD_USAGE, "%s of particle %lld: in two dimensions z must be 0, not %g", name, (long long)id,
                  row[2]);
}

/* May the particle with this id have these values? */
static md_status check_row(const md_sim *sim, const char *name, const double *row, int64_t id)
{
  const md_box *box = &sim->model.box;
  const bool type = *name == 't', mass = *name == 'm';
  const int columns = type || mass ? 1 : box->dim;
  for (int c = 0; c < columns; ++c) {
    const bool wrong = !isfinite(row[c]) || (mass && !(row[c] > 0.0)) ||
                       (type && (row[c] < 1.0 || row[c] > sim->model.ntypes || row[c] != floor(row[c])));
    if (wrong)
      return md_error(MD_USAGE, "%s of particle %lld: %g is no %s", name, (long long)id, row[c],
                      type   ? "type of this system"
                      : mass ? "positive number"
                             : "finite number");
    if (*name == 'x' && !is_inside(box, c, row[c]))
      return md_error(MD_USAGE, "particle %lld would be at %c = %g, %s the box, %g to %g", (long long)id,
                      'x' + c, row[c], box->periodic[c] ? "too far from" : "outside of", box->lo[c],
                      box->hi[c]);
  }
  return type || mass ? MD_OK : check_flat(sim, name, row, id);
}

static md_status check_rows(const md_sim *sim, const field *f, const int64_t *place, const double *value)
{
  const md_particles *p = &sim->particles;
  int64_t least = INT64_MAX, at = -1;
  for (int64_t i = 0; i < p->n; ++i)
    if (p->id[i] < least && check_row(sim, f->name, value + place[i] * f->columns, p->id[i]) != MD_OK) {
      least = p->id[i];
      at = place[i];
    }
  if (at < 0) return MD_OK;
  const md_status status = check_row(sim, f->name, value + at * f->columns, least);
  md_error_about(least, least);
  return status;
}

static md_status set_row(md_sim *sim, const char *name, int64_t i, const double *row)
{
  md_particles *p = &sim->particles;
  switch (*name) {
  case 't': p->type[i] = (uint16_t)row[0]; return MD_OK;
  case 'm': return md_particles_set_mass(p, i, row[0] * sim->model.units->mvv2e);
  default: break;
  }
  for (int d = 0; d < p->dim; ++d) {
    if (*name == 'x') p->x[d][i] = row[d];
    if (*name == 'v') p->v[d][i] = row[d];
    if (*name == 'v' && p->wide) p->v_low[d][i] = 0;
  }
  return MD_OK;
}

static md_status set_rows(md_sim *sim, const field *f, const int64_t *place, const double *value)
{
  for (int64_t i = 0; i < sim->particles.n; ++i)
    MD_TRY(set_row(sim, f->name, i, value + place[i] * f->columns));
  return MD_OK;
}

/* What md_edit_move is to write. */
typedef struct scattering {
  md_sim *sim;
  const field *of;
  const int64_t *place;
  const double *value;
} scattering;

static md_status set_places(void *context)
{
  const scattering *s = context;
  return set_rows(s->sim, s->of, s->place, s->value);
}

/* Checks the values and sets them. */
static md_status set(md_sim *sim, const field *f, const int64_t *place, const double *value)
{
  scattering s = {sim, f, place, value};
  MD_TRY(md_comm_agree(sim->comm, check_rows(sim, f, place, value)));
  if (*f->name == 'x') return md_edit_move(sim, "scatter", MD_GROUP_ALL, set_places, &s);
  return md_comm_agree(sim->comm, set_rows(sim, f, place, value));
}

md_status md_fields_scatter(md_sim *sim, const char *name, int columns, const double *value)
{
  const field f = field_of(name);
  int64_t *place;
  MD_TRY(md_sim_need_box(sim, "a field of particles"));
  if (!f.settable) return md_error(MD_USAGE, "'%.80s' cannot be set; accepted are x, v, type and mass", name);
  MD_TRY(check_columns(name, columns));
  if (strcmp(name, "mass") == 0) MD_TRY(md_masses_need(sim, "setting masses of particles"));
  md_status status = find_places(sim, &place);
  if (status == MD_OK) status = set(sim, &f, place, value);
  if (status == MD_OK) ++sim->history.edits; /* no restart before has this course */
  free(place);
  return status;
}

/* ---- external forces ---- */

static md_status check_force(const md_sim *sim, const double *f, int64_t id)
{
  for (int d = 0; d < sim->particles.dim; ++d)
    if (!isfinite(f[d]))
      return md_error(MD_USAGE, "the force on particle %lld is no finite number", (long long)id);
  return check_flat(sim, "the force", f, id);
}

static md_status check_forces(const md_sim *sim, const int64_t *place, const double *force)
{
  const md_particles *p = &sim->particles;
  int64_t least = INT64_MAX;
  md_status status = MD_OK;
  for (int64_t i = 0; i < p->n; ++i) {
    if (p->id[i] >= least) continue;
    const md_status found = check_force(sim, force + AXES * place[i], p->id[i]);
    if (found == MD_OK) continue;
    least = p->id[i];
    status = found; /* the message is that of this particle */
  }
  if (status != MD_OK) md_error_about(least, least);
  return status;
}

md_status md_fields_push(md_sim *sim, const double *force)
{
  md_particles *p = &sim->particles;
  int64_t *place;
  md_status status = find_places(sim, &place);
  if (status == MD_OK) status = md_comm_agree(sim->comm, check_forces(sim, place, force));
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
    for (int d = 0; d < p->dim; ++d) p->external[d][i] = force[AXES * place[i] + d];
  if (status == MD_OK) ++sim->history.edits; /* no restart before has this course */
  free(place);
  return status;
}
