/* The arrays of particles in a restart; see particles.h. */
#include "src/restart/particles.h"
#include "common/base/memory.h"
#include "common/base/mix.h"
#include "common/ranks/reductions.h"
#include "src/restart/restart_check.h"

#include <stdlib.h>

/* Particles that are read at a time. */
enum { BLOCK = 1 << 20 };

typedef struct field {
  const char *name, *meaning;
  md_h5_type type;
  int components;
  bool vector;
  void *array[MD_BONDS_MAX];
} field;

#define TYPE_OF(type)                                                                                        \
  _Generic((type)0, int64_t                                                                                  \
           : MD_H5_INT64, uint32_t                                                                           \
           : MD_H5_UINT32, uint16_t                                                                          \
           : MD_H5_UINT16, double                                                                            \
           : MD_H5_DOUBLE)

static int fields(md_particles *p, field out[MD_RESTART_FIELDS])
{
  int n = 0;
#define MD_FIELD(label, type_, components_, meaning_)                                                        \
  out[n] = (field){.name = "particles/" #label, .meaning = meaning_, .type = TYPE_OF(type_)};                \
  out[n].components = (components_);                                                                         \
  out[n].vector = out[n].components > 1;                                                                     \
  for (int d = 0; d < (components_); ++d) out[n].array[d] = ((void **)&p->label)[d];                         \
  n += out[n].components > 0;
#define MD_FIELD_OF_RUN(label, type_, components_, meaning_)
#include "common/particle_fields.def"
  return n;
}

static size_t bytes_of(const field *f)
{
  return f->type == MD_H5_UINT16   ? sizeof(uint16_t)
         : f->type == MD_H5_UINT32 ? sizeof(uint32_t)
                                   : sizeof(int64_t);
}

/* Value k of an array with elements of `bytes` bytes. */
static inline uint64_t element(const void *array, size_t bytes, int64_t k)
{
  if (bytes == sizeof(uint16_t)) return ((const uint16_t *)array)[k];
  return bytes == sizeof(uint32_t) ? ((const uint32_t *)array)[k] : ((const uint64_t *)array)[k];
}

/* The sum of hashes over values [first, first + n) of one component. The ids are those of the same particles. */
static uint64_t hash_values(const field *f, int index, int d, const int64_t *id, int64_t first, int64_t n)
{
  const uint64_t spread = UINT64_C(0x9e3779b97f4a7c15), salt = md_mix(3 * (uint64_t)index + (uint64_t)d + 1);
  const size_t bytes = bytes_of(f);
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t k = first; k < first + n; ++k)
    sum += md_mix(element(f->array[d], bytes, k) + (uint64_t)id[k] * spread + salt);
  return sum;
}

/* The values of fixes as a field, without its name; value: its array. */
static field field_of_column(double *value)
{
  return (field){.meaning = "a value that a fix keeps for each particle",
                 .type = MD_H5_DOUBLE,
                 .components = 1,
                 .array = {value}};
}

md_status md_restart_sum_columns(md_comm *comm, const md_particles *p, md_restart *r)
{
  for (int k = 0; k < r->ncolumn; ++k) {
    const field f = field_of_column(r->column[k].value);
    r->column_checksum[k] = hash_values(&f, MD_RESTART_FIELDS + k, 0, p->id, 0, p->n);
  }
  return r->ncolumn > 0 ? md_checksums_sum(comm, r->ncolumn, r->column_checksum) : MD_OK;
}

void md_restart_name_column(int k, const char *item, char name[64])
{
  snprintf(name, 64, "particles/column_%d%s", k + 1, item);
}

md_status md_restart_checksums(md_comm *comm, const md_particles *particles,
                               uint64_t checksum[MD_RESTART_FIELDS])
{
  md_particles view = *particles;
  field f[MD_RESTART_FIELDS] = {{0}};
  const int n = fields(&view, f);
  memset(checksum, 0, MD_RESTART_FIELDS * sizeof *checksum);
  for (int k = 0; k < n; ++k)
    for (int d = 0; d < f[k].components; ++d) checksum[k] += hash_values(&f[k], k, d, view.id, 0, view.n);
  return md_checksums_sum(comm, MD_RESTART_FIELDS, checksum);
}

md_status md_restart_beginning(md_comm *comm, const md_particles *particles, uint64_t *beginning)
{
  uint64_t checksum[MD_RESTART_FIELDS];
  MD_TRY(md_restart_checksums(comm, particles, checksum));
  *beginning = 0;
  for (int f = 0; f < MD_RESTART_FIELDS; ++f) *beginning = 31 * *beginning + checksum[f];
  return MD_OK;
}

md_status md_restart_make_arrays(md_h5_file *file, const md_restart *r, const md_particles *particles)
{
  md_particles view = *particles;
  field f[MD_RESTART_FIELDS] = {{0}};
  const int n = fields(&view, f);
  for (int k = 0; k < n; ++k) {
    md_h5_shape shape = {.n = 1, .size = {r->model.natoms}};
    if (f[k].vector) shape = (md_h5_shape){.n = 2, .size = {f[k].components, r->model.natoms}};
    MD_TRY(md_h5->array(file, f[k].name, f[k].type, &shape));
    MD_TRY(md_h5->note_text(file, f[k].name, "meaning", 0, &f[k].meaning));
    MD_TRY(md_h5->note(file, f[k].name, "checksum", MD_H5_INT64, 0, &r->checksum[k]));
  }
  for (int k = 0; k < r->ncolumn; ++k) {
    const field column = field_of_column(NULL);
    char name[64];
    md_restart_name_column(k, "", name);
    MD_TRY(md_h5->array(file, name, column.type, &(md_h5_shape){.n = 1, .size = {r->model.natoms}}));
    MD_TRY(md_h5->note_text(file, name, "meaning", 0, &column.meaning));
  }
  return MD_OK;
}

md_status md_restart_write_share(md_h5_file *file, const md_restart *r, const md_particles *particles,
                                 int64_t first)
{
  md_particles view = *particles;
  field f[MD_RESTART_FIELDS] = {{0}};
  const int n = fields(&view, f);
  for (int k = 0; k < n; ++k)
    for (int d = 0; d < f[k].components; ++d) {
      const int64_t vector_start[2] = {d, first}, vector_count[2] = {1, view.n};
      const int skip = f[k].vector ? 0 : 1;
      MD_TRY(md_h5->write(file, f[k].name, f[k].type, 2 - skip, vector_start + skip, vector_count + skip,
                          f[k].array[d]));
    }
  for (int k = 0; k < r->ncolumn; ++k) {
    char name[64];
    md_restart_name_column(k, "", name);
    MD_TRY(md_h5->write(file, name, MD_H5_DOUBLE, 1, &first, &view.n, r->column[k].value));
  }
  return MD_OK;
}

md_status md_restart_check_arrays(md_h5_file *file, const char *path, const md_restart *r)
{
  md_particles none = md_model_fields(&r->model);
  field f[MD_RESTART_FIELDS] = {{0}};
  const int n = fields(&none, f);
  for (int k = 0; k < n; ++k) {
    md_h5_shape shape;
    MD_TRY(md_h5->shape(file, f[k].name, &shape));
    const bool good =
        f[k].vector ? shape.n == 2 && shape.size[0] == f[k].components && shape.size[1] == r->model.natoms
                    : shape.n == 1 && shape.size[0] == r->model.natoms;
    if (!good)
      return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, /%s is not of %lld particles", path,
                      f[k].name, (long long)r->model.natoms);
  }
  for (int k = 0; k < r->ncolumn; ++k) {
    md_h5_shape shape;
    char name[64];
    md_restart_name_column(k, "", name);
    MD_TRY(md_h5->shape(file, name, &shape));
    if (shape.n != 1 || shape.size[0] != r->model.natoms)
      return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, /%s is not of %lld particles", path,
                      name, (long long)r->model.natoms);
  }
  return MD_OK;
}

/* Reads particles from rows [first, first + n) of the file into [at, at + n) of *p, and adds their hashes. */
static md_status read_block(md_h5_file *file, md_particles *p, int64_t first, int64_t at, int64_t n,
                            uint64_t checksum[MD_RESTART_FIELDS])
{
  field f[MD_RESTART_FIELDS] = {{0}};
  const int count = fields(p, f);
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < f[k].components; ++d) {
      const int64_t vector_start[2] = {d, first}, vector_count[2] = {1, n};
      const int skip = f[k].vector ? 0 : 1;
      MD_TRY(md_h5->read(file, f[k].name, f[k].type, 2 - skip, vector_start + skip, vector_count + skip,
                         (char *)f[k].array[d] + (size_t)at * bytes_of(&f[k])));
      checksum[k] += hash_values(&f[k], k, d, p->id, at, n);
    }
  return MD_OK;
}

/* Makes room for the values of fixes for n particles. */
static md_status reserve_columns(md_restart *r, int64_t n)
{
  for (int k = 0; k < r->ncolumn; ++k) {
    free(r->column[k].value);
    MD_TRY(md_array_new(&r->column[k].value, n + 1, sizeof(double), "values of fixes"));
  }
  return MD_OK;
}

/* The same as read_block, for the values of fixes. */
static md_status read_columns(md_h5_file *file, md_restart *r, const md_particles *p, int64_t first,
                              int64_t at, int64_t n, uint64_t *checksum)
{
  for (int k = 0; k < r->ncolumn; ++k) {
    char name[64];
    const field f = field_of_column(r->column[k].value);
    md_restart_name_column(k, "", name);
    MD_TRY(md_h5->read(file, name, MD_H5_DOUBLE, 1, &first, &n, r->column[k].value + at));
    checksum[k] += hash_values(&f, MD_RESTART_FIELDS + k, 0, p->id, at, n);
  }
  return MD_OK;
}

/* Reads this rank's share. keep: into *p; otherwise only to check it, block by block. checksum: of the fields;
 * column_checksum: of the values of fixes. */
static md_status read_share(md_h5_file *file, const char *path, md_restart *r, int64_t first, int64_t n,
                            bool keep, md_particles *p, uint64_t checksum[MD_RESTART_FIELDS],
                            uint64_t *column_checksum)
{
  const int64_t room = keep ? n : n < BLOCK ? n : BLOCK;
  p->n = p->nghost = 0;
  MD_TRY(md_particles_reserve(p, room));
  MD_TRY(reserve_columns(r, room));
  for (int64_t done = 0; done < n; done += BLOCK) {
    const int64_t some = n - done < BLOCK ? n - done : BLOCK;
    MD_TRY(read_block(file, p, first + done, keep ? done : 0, some, checksum));
    MD_TRY(read_columns(file, r, p, first + done, keep ? done : 0, some, column_checksum));
    p->n = keep ? done + some : some;
    if (!keep) MD_TRY(md_restart_check_particles(r, p, path));
  }
  return keep ? md_restart_check_particles(r, p, path) : MD_OK;
}

/* MD_RUNTIME: a checksum of the particles that were read, summed over ranks, is not that of the file. */
static md_status compare_checksums(const char *path, const md_restart *r,
                                   const uint64_t checksum[MD_RESTART_FIELDS],
                                   const uint64_t *column_checksum)
{
  md_particles none = md_model_fields(&r->model);
  field f[MD_RESTART_FIELDS] = {{0}};
  const int count = fields(&none, f);
  for (int k = 0; k < count; ++k)
    if (checksum[k] != r->checksum[k])
      return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, the checksum of /%s is wrong", path,
                      f[k].name);
  for (int k = 0; k < r->ncolumn; ++k)
    if (column_checksum[k] != r->column_checksum[k])
      return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, the checksum of '%.95s' is wrong", path,
                      r->column[k].name);
  return MD_OK;
}

md_status md_restart_particles(md_comm *comm, md_h5_file *file, const char *path, md_restart *r,
                               md_particles *particles)
{
  const int64_t natoms = r->model.natoms, ranks = comm->size;
  const int64_t first =
      natoms / ranks * comm->rank + (comm->rank < natoms % ranks ? comm->rank : natoms % ranks);
  const int64_t n = natoms / ranks + (comm->rank < natoms % ranks);
  if (particles) MD_TRY(md_comm_agree(comm, md_memory_for_particles(comm, particles, n - particles->n)));
  uint64_t checksum[MD_RESTART_FIELDS] = {0}, columns[MD_RESTART_COLUMNS] = {0};
  md_particles scratch, *p = particles ? particles : &scratch;
  md_particles_init(&scratch, r->model.box.dim);
  md_status status = md_particles_widen(p, r->model.wide);
  if (status == MD_OK) status = md_particles_make_v_pair(p, r->model.has_v_pair);
  if (status == MD_OK && r->model.groups.n > 1) status = md_particles_make_groups(p);
  if (status == MD_OK && r->model.massed) status = md_particles_make_masses(p);
  if (status == MD_OK) status = md_particles_make_anchors(p, r->model.anchored);
  if (status == MD_OK) status = md_particles_make_external(p, r->model.pushed);
  if (status == MD_OK && r->model.bonded) status = md_particles_make_bonds(p, r->model.bonds.slots);
  p->v_low_unit = r->model.wide ? r->model.grids.v * r->model.mass_reference : 0.0;
  if (status == MD_OK) status = read_share(file, path, r, first, n, particles != NULL, p, checksum, columns);
  md_particles_free(&scratch);
  MD_TRY(md_comm_agree(comm, status));
  MD_TRY(md_checksums_sum(comm, MD_RESTART_FIELDS, checksum));
  if (r->ncolumn > 0) MD_TRY(md_checksums_sum(comm, r->ncolumn, columns));
  MD_TRY(compare_checksums(path, r, checksum, columns));
  return particles ? md_restart_check_ids(comm, particles, path) : MD_OK;
}
