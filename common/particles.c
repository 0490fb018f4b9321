/* Allocation, wrapping, extent, permutation and order by id of the particle arrays; see particles.h.
 *
 * The functions iterate over particle_fields.def through `fields`, which shows the structure as a list of (array,
 * element size). So a new field needs no line here.
 */
#include "common/particles.h"
#include "common/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 72 };

typedef struct field {
  void **array;
  size_t element;
} field;

/* Fills out[] with all arrays of fields, and returns their number. */
static int fields(md_particles *p, field *out)
{
  int n = 0;
#define MD_FIELD(name, type, components, meaning)                                                            \
  for (int d = 0; d < (components); ++d) out[n++] = (field){(void **)&p->name + d, sizeof(type)};
#define MD_FIELD_OF_RUN MD_FIELD
#include "common/particle_fields.def"
  return n;
}

void md_particles_init(md_particles *p, int dim) { *p = (md_particles){.dim = dim}; }

void md_particles_free(md_particles *p)
{
  field f[FIELDS_MAX];
  const int n = fields(p, f);
  for (int k = 0; k < n; ++k) free(*f[k].array);
  for (int d = 0; d < 3; ++d) free(p->spare[d]);
  md_particles_init(p, p->dim);
}

static void copy(void *to, const void *from, int64_t n, size_t element)
{
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < n; block += 65536) {
    const int64_t size = n - block < 65536 ? n - block : 65536;
    memcpy((char *)to + (size_t)block * element, (const char *)from + (size_t)block * element,
           (size_t)size * element);
  }
}

md_status md_particles_reserve(md_particles *p, int64_t capacity)
{
  if (capacity <= p->capacity) return MD_OK;
  if (capacity > MD_PARTICLES_MAX)
    return md_error(MD_RUNTIME, "one rank holds at most %lld particles and ghosts, not %lld; use more ranks",
                    (long long)MD_PARTICLES_MAX, (long long)capacity);
  if (p->capacity > 0 && capacity < p->capacity + p->capacity / 8) capacity = p->capacity + p->capacity / 8;
  if (capacity > MD_PARTICLES_MAX) capacity = MD_PARTICLES_MAX;
  field f[FIELDS_MAX];
  const int n = fields(p, f);
  for (int k = 0; k < n; ++k) {
    void *larger;
    MD_TRY(md_array_new(&larger, capacity, f[k].element, "particles"));
    copy(larger, *f[k].array, p->n + p->nghost, f[k].element);
    free(*f[k].array);
    *f[k].array = larger;
  }
  p->capacity = capacity;
  return MD_OK;
}

md_status md_particles_copy(md_particles *to, const md_particles *from)
{
  md_particles source = *from;
  field f[FIELDS_MAX], g[FIELDS_MAX];
  to->n = to->nghost = 0;
  MD_TRY(md_particles_widen(to, from->wide));
  MD_TRY(md_particles_make_v_pair(to, from->has_v_pair));
  if (from->grouped) MD_TRY(md_particles_make_groups(to));
  if (from->massed) MD_TRY(md_particles_make_masses(to));
  MD_TRY(md_particles_make_anchors(to, from->anchored));
  MD_TRY(md_particles_make_external(to, from->pushed));
  if (from->bonded) MD_TRY(md_particles_make_bonds(to, from->bonds));
  MD_TRY(md_particles_make_specials(to, from->specials));
  MD_TRY(md_particles_reserve(to, from->n));
  const int n = fields(&source, f);
  fields(to, g);
  for (int k = 0; k < n; ++k) copy(*g[k].array, *f[k].array, from->n, f[k].element);
  to->n = from->n;
  to->v_low_unit = from->v_low_unit;
  return MD_OK;
}

md_status md_particles_widen(md_particles *p, bool wide)
{
  if (p->wide == wide) return MD_OK;
  p->wide = true; /* so that after an error md_particles_free frees the arrays made so far */
  for (int d = 0; d < p->dim; ++d) {
    free(p->v_low[d]);
    p->v_low[d] = NULL;
    if (wide && p->capacity > 0)
      MD_TRY(md_array_new_zero(&p->v_low[d], p->capacity, sizeof *p->v_low[d], "wide momenta"));
  }
  p->wide = wide;
  p->v_low_unit = 0.0;
  return MD_OK;
}

/* Makes, or frees, the arrays of a field with a number along each axis. *there: are they there? */
static md_status make_components(md_particles *p, double *component[3], bool *there, bool wanted,
                                 const char *what)
{
  if (*there == wanted) return MD_OK;
  *there = true; /* so that after an error md_particles_free frees the arrays made so far */
  for (int d = 0; d < p->dim; ++d) {
    free(component[d]);
    component[d] = NULL;
    if (wanted && p->capacity > 0)
      MD_TRY(md_array_new_zero(&component[d], p->capacity, sizeof *component[d], what));
  }
  *there = wanted;
  return MD_OK;
}

void md_particles_forget_v_pair(md_particles *p)
{
  for (int d = 0; d < p->dim; ++d) {
    free(p->v_pair[d]);
    p->v_pair[d] = NULL;
  }
  p->has_v_pair = false;
}

md_status md_particles_make_v_pair(md_particles *p, bool there)
{
  return make_components(p, p->v_pair, &p->has_v_pair, there, "velocities of pair forces");
}

md_status md_particles_make_groups(md_particles *p)
{
  if (p->grouped) return MD_OK;
  if (p->capacity > 0) MD_TRY(md_array_new(&p->group, p->capacity, sizeof *p->group, "groups of particles"));
  for (int64_t i = 0; i < p->n; ++i) p->group[i] = MD_GROUP_ALL;
  p->grouped = true;
  return MD_OK;
}

md_status md_particles_make_masses(md_particles *p)
{
  if (p->massed) return MD_OK;
  if (p->capacity > 0)
    MD_TRY(md_array_new_zero(&p->mass, p->capacity, sizeof *p->mass, "masses of particles"));
  p->massed = true;
  return MD_OK;
}

md_status md_particles_make_anchors(md_particles *p, bool anchored)
{
  if (p->anchored == anchored) return MD_OK;
  MD_TRY(make_components(p, p->anchor, &p->anchored, anchored, "anchors of particles"));
  for (int d = 0; d < p->dim && anchored; ++d)
    for (int64_t i = 0; p->anchor[d] && i < p->n; ++i) p->anchor[d][i] = (double)NAN;
  return MD_OK;
}

md_status md_particles_make_external(md_particles *p, bool pushed)
{
  return make_components(p, p->external, &p->pushed, pushed, "external forces");
}

static md_status add_slot(md_particles *p)
{
  const int k = p->bonds;
  if (p->capacity > 0) {
    MD_TRY(md_array_new_zero(&p->bond[k], p->capacity, sizeof *p->bond[k], "bonds of particles"));
    p->bond_type[k] = NULL;
    const md_status status =
        md_array_new_zero(&p->bond_type[k], p->capacity, sizeof *p->bond_type[k], "bonds of particles");
    if (status != MD_OK) {
      free(p->bond[k]);
      p->bond[k] = NULL;
      return status;
    }
  }
  ++p->bonds;
  return MD_OK;
}

md_status md_particles_make_bonds(md_particles *p, int bonds)
{
  if (!p->bonded && p->capacity > 0)
    MD_TRY(md_array_new_zero(&p->molecule, p->capacity, sizeof *p->molecule, "molecules"));
  p->bonded = true;
  while (p->bonds < bonds) MD_TRY(add_slot(p));
  return MD_OK;
}

md_status md_particles_make_specials(md_particles *p, int specials)
{
  while (p->specials > specials) {
    free(p->special[--p->specials]);
    p->special[p->specials] = NULL;
  }
  while (p->specials < specials) {
    int64_t **slot = &p->special[p->specials];
    if (p->capacity > 0)
      MD_TRY(md_array_new_zero(slot, p->capacity, sizeof **slot, "particles without a force"));
    ++p->specials;
  }
  return MD_OK;
}

/* Wraps a tilted box's particles: a shift along one axis also shifts the axes before it. */
static void wrap_tilted(md_particles *p, const md_box *box)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3];
    for (int d = 0; d < box->dim; ++d) x[d] = p->x[d][i];
    md_box_wrap(box, x);
    for (int d = 0; d < box->dim; ++d) p->x[d][i] = x[d];
  }
}

void md_particles_show(md_particles *p, const md_box *box)
{
  if (!box->triclinic) return;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3];
    md_particle_shown(p, box, i, x);
    for (int d = 0; d < p->dim; ++d) p->x[d][i] = x[d];
  }
}

double md_particle_scaled(const md_particles *p, const md_box *box, int axis, int64_t i)
{
  double x[3], fraction[3];
  const bool along = box->triclinic && axis < p->dim;
  if (!along) return ((axis < p->dim ? p->x[axis][i] : 0.0) - box->lo[axis]) / box->length[axis];
  md_particle_shown(p, box, i, x);
  md_box_fractions(box, x, fraction);
  return fraction[axis];
}

void md_particles_wrap(md_particles *p, const md_box *box)
{
  if (box->triclinic) {
    wrap_tilted(p, box);
    return;
  }
#pragma omp parallel
  for (int d = 0; d < box->dim; ++d) {
    if (!box->periodic[d]) continue;
    const double lo = box->lo[d], hi = box->hi[d], length = box->length[d];
    double *x = p->x[d];
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i)
      if (x[i] < lo || x[i] >= hi) x[i] = md_wrap(x[i], lo, hi, length);
  }
}

void md_particles_extent(const double *x, int64_t n, double *lo, double *hi)
{
  double least = (double)INFINITY, most = -(double)INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
  for (int64_t i = 0; i < n; ++i) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  *lo = least;
  *hi = most;
}

md_status md_particles_spare(md_particles *p)
{
  if (p->spare_capacity == p->capacity) return MD_OK;
  p->spare_capacity = 0;
  for (int d = 0; d < p->dim; ++d) {
    free(p->spare[d]);
    p->spare[d] = NULL;
    MD_TRY(md_array_new(&p->spare[d], p->capacity, sizeof(int64_t), "spare arrays"));
  }
  p->spare_capacity = p->capacity;
  return MD_OK;
}

/* to[f][k] = from[f][order[k]] for several fields. Goes through `order` in pieces that stay in the first-level cache
 * while all fields use them. */
static void gather_wide(int nfield, void *const *to, void *const *from, const int32_t *order, int64_t n)
{
#pragma omp parallel for schedule(static)
  for (int64_t piece = 0; piece < n; piece += 2048)
    for (int f = 0; f < nfield; ++f) {
      const int64_t *restrict old = from[f], last = piece + 2048 < n ? piece + 2048 : n;
      int64_t *restrict sorted = to[f];
      for (int64_t k = piece; k < last; ++k) sorted[k] = old[order[k]];
    }
}

/* Permutes a field of narrow elements, unless all values agree, as types and groups often do. No arrays change places
 * here: that would make a spare array that is too small for the other fields. */
#define PERMUTE_NARROW(type)                                                                                 \
  static void permute_##type(type *value, const int32_t *order, int64_t n, type *scratch)                    \
  {                                                                                                          \
    uint64_t varying = 0;                                                                                    \
    _Pragma("omp parallel for simd schedule(static) reduction(| : varying)") for (int64_t k = 0; k < n; ++k) \
        varying |= (uint64_t)(value[k] ^ value[0]);                                                          \
    if (varying == 0) return;                                                                                \
    _Pragma("omp parallel for schedule(static)") for (int64_t k = 0; k < n; ++k) scratch[k] =                \
        value[order[k]];                                                                                     \
    copy(value, scratch, n, sizeof *value);                                                                  \
  }
PERMUTE_NARROW(uint16_t)
PERMUTE_NARROW(uint32_t)

void md_particles_remove(md_particles *p, const uint8_t *gone)
{
  field f[FIELDS_MAX];
  const int n = fields(p, f);
  int64_t kept = 0;
  for (int64_t i = 0; i < p->n; ++i) {
    if (gone[i]) continue;
    for (int k = 0; k < n && kept < i; ++k) {
      char *at = *f[k].array;
      memcpy(at + (size_t)kept * f[k].element, at + (size_t)i * f[k].element, f[k].element);
    }
    ++kept;
  }
  p->n = kept;
  p->nghost = 0;
}

md_status md_particles_permute(md_particles *p, const int32_t *order)
{
  field f[FIELDS_MAX];
  void *wide[FIELDS_MAX];
  const int nfield = fields(p, f);
  MD_TRY(md_particles_spare(p));
  for (int k = 0; k < nfield;) {
    int group = 0, first = k;
    for (; k < nfield && group < p->dim; ++k)
      if (f[k].element == sizeof(int64_t)) wide[group++] = *f[k].array;
    gather_wide(group, p->spare, wide, order, p->n);
    for (int at = 0; first < k; ++first)
      if (f[first].element == sizeof(int64_t)) {
        *f[first].array = p->spare[at];
        p->spare[at] = wide[at];
        ++at;
      }
  }
  for (int k = 0; k < nfield; ++k) {
    if (f[k].element == sizeof(uint16_t)) permute_uint16_t(*f[k].array, order, p->n, p->spare[0]);
    if (f[k].element == sizeof(uint32_t)) permute_uint32_t(*f[k].array, order, p->n, p->spare[0]);
  }
  return MD_OK;
}

/* Where the ids are n numbers that follow one another, each says its place. false: they do not. */
static bool order_dense_ids(const md_particles *p, int32_t *order)
{
  const int64_t n = p->n;
  int64_t least = INT64_MAX, most = INT64_MIN;
  bool dense = true;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
  for (int64_t i = 0; i < n; ++i) {
    least = p->id[i] < least ? p->id[i] : least;
    most = p->id[i] > most ? p->id[i] : most;
  }
  if ((uint64_t)most - (uint64_t)least != (uint64_t)n - 1) return false;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < n; ++k) order[k] = -1;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    /* Two particles may have one id: then another id has no particle. */
#pragma omp atomic write
    order[p->id[i] - least] = (int32_t)i;
  }
#pragma omp parallel for schedule(static) reduction(&& : dense)
  for (int64_t k = 0; k < n; ++k) dense = dense && order[k] >= 0;
  return dense;
}

/* A radix sort of (id, index) from the least significant digit on. Each pass sorts by 11 bits. Digits that are the same
 * in all ids have no pass. Returns the one of the two arrays that has the order. */
static int32_t *order_by_digits(const md_particles *p, int32_t *from, int32_t *to)
{
  enum { DIGIT = 11, BUCKETS = 1 << DIGIT };
  const int64_t n = p->n;
  uint64_t varying = 0;
#pragma omp parallel for schedule(static) reduction(| : varying)
  for (int64_t k = 0; k < n; ++k) {
    from[k] = (int32_t)k;
    varying |= (uint64_t)(p->id[k] ^ p->id[0]);
  }
  for (int shift = 0; shift < 64; shift += DIGIT) {
    if (((varying >> shift) & (BUCKETS - 1)) == 0) continue;
    int64_t start[BUCKETS + 1] = {0};
    for (int64_t k = 0; k < n; ++k) ++start[(((uint64_t)p->id[k] >> shift) & (BUCKETS - 1)) + 1];
    for (int b = 0; b < BUCKETS; ++b) start[b + 1] += start[b];
    for (int64_t k = 0; k < n; ++k)
      to[start[((uint64_t)p->id[from[k]] >> shift) & (BUCKETS - 1)]++] = from[k];
    int32_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

md_status md_particles_order_by_id(const md_particles *p, int32_t **order)
{
  int32_t *one, *other;
  MD_TRY(md_array_new(&one, p->n, sizeof *one, "sorting by id"));
  if (order_dense_ids(p, one)) {
    *order = one;
    return MD_OK;
  }
  const md_status status = md_array_new(&other, p->n, sizeof *other, "sorting by id");
  if (status != MD_OK) {
    free(one);
    return status;
  }
  *order = order_by_digits(p, one, other);
  free(*order == one ? other : one);
  return MD_OK;
}

int md_particles_bytes(const md_particles *like)
{
  md_particles p = *like;
  field f[FIELDS_MAX];
  const int n = fields(&p, f);
  int bytes = 0;
  for (int k = 0; k < n; ++k) bytes += (int)f[k].element;
  return bytes;
}

void md_particles_pack(const md_particles *p, int64_t i, void *record)
{
  md_particles view = *p;
  field f[FIELDS_MAX];
  const int n = fields(&view, f);
  char *at = record;
  for (int k = 0; k < n; at += f[k++].element)
    memcpy(at, (const char *)*f[k].array + (size_t)i * f[k].element, f[k].element);
}

void md_particles_unpack(md_particles *p, int64_t i, const void *record)
{
  field f[FIELDS_MAX];
  const int n = fields(p, f);
  const char *at = record;
  for (int k = 0; k < n; at += f[k++].element)
    memcpy((char *)*f[k].array + (size_t)i * f[k].element, at, f[k].element);
}
