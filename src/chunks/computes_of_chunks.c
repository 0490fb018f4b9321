/* Computes with a row for each chunk (compute_chunk_atom.c), such as a molecule: com/chunk, vcm/chunk, gyration/chunk,
 * inertia/chunk, angmom/chunk, omega/chunk, torque/chunk and property/chunk.
 *
 * Of the particles of the group in a chunk, with d = x - X from their centre of mass X, and M their mass:
 *
 *      com       X = sum m x / M                    gyration  sqrt(sum m d.d / M), or its tensor sum m d_a d_b / M
 *      vcm       V = sum m v / M                    inertia   sum m (d.d - d_a d_b), as xx yy zz xy yz xz
 *      angmom    L = sum m d x v                    torque    sum d x f
 *      omega     the solution of I omega = L        property  the number of particles, or coordinates of a bin
 *
 * x are unwrapped positions (src/follow/images.h). A chunk without particles has zeros. Sums are integers
 * (md_chunk_sums), so that rows have the same bits everywhere.
 * Cost: one or two passes over the particles and reductions. Reference: the LAMMPS manual, compute com/chunk and so on.
 */
#include "common/ranks/reductions.h"
#include "common/rotation.h"
#include "src/chunks/chunks.h"
#include "src/edit/group_motion.h"
#include "src/follow/images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum quantity { COM, VCM, GYRATION, TENSOR, INERTIA, ANGMOM, OMEGA, TORQUE, PROPERTY } quantity;

/* The most sums of a chunk: a tensor and a vector. Columns of compute property/chunk. */
enum { SUMS_MAX = 9, COLUMNS_MAX = 6 };
enum { COUNT = -1 };

typedef struct compute_chunks {
  md_host_compute base;
  char chunks[64]; /* ID of the compute chunk/atom */
  quantity what;
  int columns;
  int property[COLUMNS_MAX]; /* COUNT, or an axis of the bins */
  double *row;               /* [rows][columns] */
} compute_chunks;

/* What is at hand while rows are made. */
typedef struct making {
  compute_chunks *c;
  md_sim *sim;
  md_chunks chunks;
  double *x[3];          /* unwrapped positions */
  double *chunk;         /* of each particle in the group, or 0 */
  double *mass, *centre; /* [chunk], [chunk][3] */
} making;

/* ---- words ---- */

/* As many rows as there are chunks, which may change. */
static md_status set_rows(compute_chunks *c, int64_t rows)
{
  md_values *v = &c->base.values;
  if (rows != (v->columns > 0 ? v->rows : v->nvector) || !c->row) {
    free(c->row);
    c->row = NULL;
    MD_TRY(md_array_new_zero(&c->row, rows * c->columns + 1, sizeof *c->row, "chunks"));
  }
  if (c->columns == 1)
    *v = (md_values){.has_vector = true, .nvector = rows, .vector = c->row};
  else
    *v = (md_values){.rows = rows, .columns = c->columns, .array = c->row};
  return MD_OK;
}

static bool needs_places(quantity what) { return what != VCM && what != PROPERTY; }

/* Reads the ID of the chunks. */
static md_status begin(compute_chunks *c, md_sim *sim, const md_words *words, quantity what, int columns)
{
  const char *style = c->base.style->name;
  md_host_compute *chunks;
  if (words->n < 1) return md_error(MD_USAGE, "compute %s takes the ID of a compute chunk/atom", style);
  MD_TRY(md_chunks_find(sim, style, words->word[0], &chunks));
  memcpy(c->chunks, chunks->id, sizeof c->chunks);
  c->what = what;
  c->columns = columns;
  if (needs_places(what) && md_images_can_be(&sim->model.box)) MD_TRY(md_images_begin(sim));
  const int64_t known = md_chunks_known(chunks);
  if (known > 0) return set_rows(c, known);
  c->base.values = (md_values){.has_vector = columns == 1, .columns = columns == 1 ? 0 : columns};
  return MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  static const struct {
    const md_host_compute_style *style;
    quantity what;
    int columns;
  } plain[] = {{&md_compute_com_chunk_style, COM, 3},         {&md_compute_vcm_chunk_style, VCM, 3},
               {&md_compute_inertia_chunk_style, INERTIA, 6}, {&md_compute_angmom_chunk_style, ANGMOM, 3},
               {&md_compute_omega_chunk_style, OMEGA, 3},     {&md_compute_torque_chunk_style, TORQUE, 3}};
  size_t k = 0;
  while (plain[k].style != base->style) ++k;
  if (words->n > 1)
    return md_error(MD_USAGE, "compute %s: unexpected '%.64s'", base->style->name, words->word[1]);
  return begin((compute_chunks *)base, sim, words, plain[k].what, plain[k].columns);
}

static md_status parse_gyration(md_host_compute *base, md_sim *sim, const md_words *words)
{
  const bool tensor = words->n > 1;
  if (tensor && (strcmp(words->word[1], "tensor") != 0 || words->n > 2))
    return md_error(MD_USAGE, "compute gyration/chunk: unexpected '%.64s'; accepted is tensor",
                    words->word[words->n > 2 ? 2 : 1]);
  return begin((compute_chunks *)base, sim, words, tensor ? TENSOR : GYRATION, tensor ? 6 : 1);
}

static md_status parse_property(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_chunks *c = (compute_chunks *)base;
  md_host_compute *chunks;
  if (words->n < 2 || words->n > 1 + COLUMNS_MAX)
    return md_error(MD_USAGE,
                    "compute property/chunk takes the ID of a compute chunk/atom, and 1 to %d of count, "
                    "coord1, coord2, coord3",
                    COLUMNS_MAX);
  MD_TRY(md_chunks_find(sim, "property/chunk", words->word[0], &chunks));
  for (int k = 1; k < words->n; ++k) {
    const char *word = words->word[k];
    const bool coordinate = strncmp(word, "coord", 5) == 0 && word[5] >= '1' && word[5] <= '3' && !word[6];
    if (!coordinate && strcmp(word, "count") != 0)
      return md_error(MD_USAGE, "compute property/chunk: '%.64s' is none of count, coord1, coord2, coord3",
                      word);
    c->property[k - 1] = coordinate ? word[5] - '1' : COUNT;
    if (coordinate && c->property[k - 1] >= md_chunks_coordinates(chunks))
      return md_error(MD_USAGE, "compute property/chunk: chunks of %s have %d coordinates, and no %s",
                      chunks->id, md_chunks_coordinates(chunks), word);
  }
  return begin(c, sim, words, PROPERTY, words->n - 1);
}

/* ---- sums ---- */

static md_status sum(const making *m, int n, double *value, double *sums)
{
  return md_chunk_sums(m->sim, m->chunks.n, n, m->chunk, value, sums);
}

static double mass_of(const making *m, int64_t i)
{
  return md_mass_of(&m->sim->model, &m->sim->particles, i) / m->sim->model.units->mvv2e;
}

static void velocity_of(const making *m, int64_t i, double v[3])
{
  const md_particles *p = &m->sim->particles;
  for (int d = 0; d < 3; ++d) v[d] = d < p->dim ? md_model_velocity(&m->sim->model, p, d, i) : 0.0;
}

/* The centre of each chunk: of its places, or of its velocities. value, sums: room for 4 numbers of each. */
static md_status find_centres(making *m, double *value, double *sums)
{
  const md_particles *p = &m->sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double of[3];
    if (m->c->what == VCM) velocity_of(m, i, of);
    for (int d = 0; d < 3 && m->c->what != VCM; ++d) of[d] = m->x[d][i];
    value[4 * i] = mass_of(m, i);
    for (int d = 0; d < 3; ++d) value[4 * i + 1 + d] = value[4 * i] * of[d];
  }
  MD_TRY(sum(m, 4, value, sums));
  for (int64_t k = 0; k < m->chunks.n; ++k) {
    m->mass[k] = sums[4 * k];
    for (int d = 0; d < 3; ++d)
      m->centre[3 * k + d] = m->mass[k] > 0.0 ? sums[4 * k + 1 + d] / m->mass[k] : 0.0;
  }
  return MD_OK;
}

static int terms_of(quantity what)
{
  return what == GYRATION ? 1 : what == OMEGA ? SUMS_MAX : what == ANGMOM || what == TORQUE ? 3 : 6;
}

static void cross(const double a[3], const double b[3], double scale, double to[3])
{
  for (int k = 0; k < 3; ++k)
    to[k] = scale * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
}

/* The terms of particle i, at d from the centre of its chunk. Tensors are xx yy zz xy xz yz. */
static void fill_terms(const making *m, int64_t i, const double d[3], double *term)
{
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const quantity what = m->c->what;
  const double mass = mass_of(m, i), d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  double v[3], f[3] = {0.0, 0.0, 0.0};
  velocity_of(m, i, v);
  if (what == GYRATION) term[0] = mass * d2;
  for (int k = 0; k < 6 && (what == TENSOR || what == INERTIA || what == OMEGA); ++k) {
    const double product = d[row[k]] * d[column[k]];
    term[k] = mass * (what == TENSOR ? product : (row[k] == column[k] ? d2 : 0.0) - product);
  }
  if (what == OMEGA || what == ANGMOM) cross(d, v, mass, term + (what == OMEGA ? 6 : 0));
  for (int k = 0; k < m->sim->particles.dim && what == TORQUE; ++k) f[k] = m->sim->view->force[k][i];
  if (what == TORQUE) cross(d, f, 1.0, term);
}

static void finish_row(const making *m, int64_t k, const double *sums, double *row)
{
  static const int lammps[6] = {0, 1, 2, 3, 5, 4}; /* xx yy zz xy yz xz */
  const double mass = m->mass[k];
  switch (m->c->what) {
  case GYRATION: row[0] = mass > 0.0 ? sqrt(sums[0] / mass) : 0.0; break;
  case TENSOR:
    for (int t = 0; t < 6; ++t) row[t] = mass > 0.0 ? sums[t] / mass : 0.0;
    break;
  case INERTIA:
    for (int t = 0; t < 6; ++t) row[t] = sums[lammps[t]];
    break;
  case OMEGA: md_rotation_of(sums, sums + 6, row); break;
  default:
    for (int t = 0; t < 3; ++t) row[t] = sums[t];
  }
}

/* Makes rows of what is about the centre. value, sums: room for SUMS_MAX numbers of each. */
static md_status find_about_centres(making *m, double *value, double *sums)
{
  const int n = terms_of(m->c->what);
  const md_particles *p = &m->sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    const int64_t k = (int64_t)m->chunk[i] - 1;
    double d[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < 3 && k >= 0; ++a) d[a] = m->x[a][i] - m->centre[3 * k + a];
    fill_terms(m, i, d, value + i * n);
  }
  MD_TRY(sum(m, n, value, sums));
  for (int64_t k = 0; k < m->chunks.n; ++k) finish_row(m, k, sums + k * n, m->c->row + k * m->c->columns);
  return MD_OK;
}

static md_status find_properties(making *m, double *value, double *sums)
{
  for (int64_t i = 0; i < m->sim->particles.n; ++i) value[i] = 1.0;
  MD_TRY(sum(m, 1, value, sums));
  for (int64_t k = 0; k < m->chunks.n; ++k)
    for (int t = 0; t < m->c->columns; ++t) {
      const int which = m->c->property[t];
      m->c->row[k * m->c->columns + t] =
          which == COUNT ? sums[k] : m->chunks.coord[k * m->chunks.ncoord + which];
    }
  return MD_OK;
}

static md_status make_rows(making *m, double *value, double *sums)
{
  compute_chunks *c = m->c;
  if (c->what == PROPERTY) return find_properties(m, value, sums);
  MD_TRY(find_centres(m, value, sums));
  if (c->what != COM && c->what != VCM) return find_about_centres(m, value, sums);
  memcpy(c->row, m->centre, (size_t)(m->chunks.n * 3) * sizeof *c->row);
  return MD_OK;
}

/* ---- values ---- */

static md_status allocate(making *m, double **value, double **sums)
{
  const int64_t n = m->sim->particles.n, rows = m->chunks.n;
  MD_TRY(md_array_new(&m->chunk, n + 1, sizeof *m->chunk, "chunks"));
  MD_TRY(md_array_new_zero(&m->mass, rows + 1, sizeof *m->mass, "chunks"));
  MD_TRY(md_array_new_zero(&m->centre, 3 * rows + 1, sizeof *m->centre, "chunks"));
  MD_TRY(md_array_new(value, SUMS_MAX * n + 1, sizeof **value, "chunks"));
  MD_TRY(md_array_new_zero(sums, SUMS_MAX * rows + 1, sizeof **sums, "chunks"));
  return set_rows(m->c, rows);
}

static md_status fill_places(making *m)
{
  const md_particles *p = &m->sim->particles;
  for (int64_t i = 0; i < p->n; ++i)
    m->chunk[i] = md_particles_in_group(p, md_group_bit(m->c->base.group), i) ? m->chunks.each[i] : 0.0;
  return needs_places(m->c->what) ? md_images_unwrap(m->sim, m->x) : MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  making m = {.c = (compute_chunks *)base, .sim = view->sim};
  md_host_compute *chunks;
  double *value = NULL, *sums = NULL;
  if (m.c->what == TORQUE) MD_TRY(md_view_forces(view));
  MD_TRY(md_chunks_find(view->sim, base->style->name, m.c->chunks, &chunks));
  MD_TRY(md_chunks_update(view->sim, chunks, &m.chunks));
  md_status status = md_comm_agree(view->sim->comm, allocate(&m, &value, &sums));
  if (status == MD_OK) status = fill_places(&m);
  if (status == MD_OK) status = make_rows(&m, value, sums);
  for (int d = 0; d < 3; ++d) free(m.x[d]);
  free(m.chunk);
  free(m.mass);
  free(m.centre);
  free(value);
  free(sums);
  return status;
}

static void free_rows(md_host_compute *base) { free(((compute_chunks *)base)->row); }

#define STYLE(symbol, NAME, READS, USAGE, HELP)                                                              \
  const md_host_compute_style md_compute_##symbol##_style = {.name = NAME,                                   \
                                                             .usage = USAGE,                                 \
                                                             .help = HELP,                                   \
                                                             .size = sizeof(compute_chunks),                 \
                                                             .parse = READS,                                 \
                                                             .find = find,                                   \
                                                             .free = free_rows};

STYLE(
    com_chunk, "com/chunk", parse, "com/chunk CHUNKS",
    "centre of mass of each chunk of a compute chunk/atom, c_ID[N][1] to c_ID[N][3], of unwrapped positions")
STYLE(vcm_chunk, "vcm/chunk", parse, "vcm/chunk CHUNKS", "velocity of the centre of mass of each chunk")
STYLE(gyration_chunk, "gyration/chunk", parse_gyration, "gyration/chunk CHUNKS [tensor]",
      "radius of gyration of each chunk, c_ID[N]; with tensor xx yy zz xy xz yz, c_ID[N][1] to c_ID[N][6]")
STYLE(inertia_chunk, "inertia/chunk", parse, "inertia/chunk CHUNKS",
      "tensor of inertia of each chunk about its centre of mass: xx yy zz xy yz xz")
STYLE(angmom_chunk, "angmom/chunk", parse, "angmom/chunk CHUNKS",
      "angular momentum of each chunk about its centre of mass")
STYLE(omega_chunk, "omega/chunk", parse, "omega/chunk CHUNKS",
      "angular velocity of each chunk, as of a stiff body")
STYLE(torque_chunk, "torque/chunk", parse, "torque/chunk CHUNKS",
      "torque on each chunk about its centre of mass")
STYLE(property_chunk, "property/chunk", parse_property,
      "property/chunk CHUNKS count|coord1|coord2|coord3 ...",
      "the number of particles of each chunk, or the coordinates of its bin")
