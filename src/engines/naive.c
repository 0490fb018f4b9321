/* The naive engine: all pairs on one thread. It is the oracle with which the other engines are compared.
 *
 * In every step a double loop computes the distance of every pair of particles, at its minimum image, and the
 * impulse of each pair within the cutoff by the formulas of common/. Impulses are whole numbers of quanta
 * (common/arithmetic/exact.h), so that the order of the loop does not change a sum.
 *
 * In a small box, with a side below two cutoffs, other images may be within the cutoff too, also those of the particle
 * itself. Then the minimum image is shifted by each vector of a list: by all sums of edges of the box that can bring a
 * pair into the cutoff. The forces of a particle's own images cancel, and their energies count.
 *
 * Trade-off: the engine is short, and one can see that it is right. It is only fast enough for small systems.
 * Bonds have indices, which stay the same, because the particles stay where they are in memory.
 * Cost: n^2/2 distances of pairs a step; 16 bytes for each particle and dimension.
 */
#include "src/engines/naive.h"
#include "common/bond/partners.h"
#include "common/compute/impulse_virial.h"
#include "common/compute/measure.h"
#include "common/faults.h"
#include "common/force/forces.h"
#include "common/pair/all_pairs.h"
#include "common/pair/formulas.h"
#include "common/pair/hybrid/hybrid.h"
#include "common/pair/tables/density.h"
#include "common/pair/three_body/three_force.h"
#include "common/step/host_step.h"

#include <stdlib.h>

struct md_engine {
  md_model *model;
  md_particles *p;
  md_comm *comm;
  int64_t *impulse[3]; /* of the pair forces, in quanta of grids.v */
  double softening2;   /* of a style without a cutoff (common/pair/pair.h), else 0 */
  double far2;         /* a squared distance that is beyond every cutoff; infinite without a cutoff */
  /* Coefficients of unit masses for impulses and for output, of a style without a cutoff. */
  double unit_impulse_k[MD_PAIR_K], unit_force_k[MD_PAIR_K];
  double *slope, *embedding; /* of each particle, for a style with a density */
  double *kept; /* of a three-body style: MD_THREE_SUMS numbers of each, and energies in `embedding` */
  md_dissipation dissipation; /* of a dissipative style, at the present positions */
  md_partners partners;       /* of bonds */
  bool current;               /* the impulses are those at the present positions */
  double (*shift)[3];         /* from the minimum image of a pair to all its images; the first is 0 */
  int64_t shifts, shift_capacity;
  md_timers timers;
  int64_t steps;
};

static void destroy(md_engine *e)
{
  for (int d = 0; d < 3; ++d) free(e->impulse[d]);
  free(e->shift);
  free(e->slope);
  free(e->kept);
  free(e->embedding);
  md_partners_free(&e->partners);
  free(e);
}

static md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                        const md_engine_options *options)
{
  (void)options;
  if (comm->size > 1) return md_error(MD_USAGE, "the naive engine runs on one rank; use --engine openmp");
  md_engine *e = calloc(1, sizeof *e);
  if (!e) return md_error(MD_RUNTIME, "out of memory: the naive engine");
  e->model = model;
  e->p = p;
  e->comm = comm;
  e->softening2 = md_pair_softening2(&model->pair);
  e->far2 = model->cutoff * model->cutoff * (1.0 + 0x1p-40);
  if (md_pair_is_all(&model->pair)) {
    e->far2 = (double)INFINITY;
    md_pair_unit_coefficients(&model->pair, model->impulse_scale, e->unit_impulse_k);
    md_pair_unit_coefficients(&model->pair, model->force_scale, e->unit_force_k);
  }
  md_status status = MD_OK;
  for (int d = 0; d < p->dim && status == MD_OK; ++d)
    status = md_array_new(&e->impulse[d], p->n, sizeof(int64_t), "impulses");
  if (status == MD_OK && md_pair_has_density(&model->pair)) {
    status = md_array_new(&e->slope, p->n, sizeof(double), "slopes");
    if (status == MD_OK) status = md_array_new(&e->embedding, p->n, sizeof(double), "energies");
  }
  if (status == MD_OK && md_pair_is_three_body(&model->pair)) {
    status = md_array_new(&e->kept, p->n * MD_THREE_SUMS, sizeof(double), "sums over angles");
    if (status == MD_OK) status = md_array_new(&e->embedding, p->n, sizeof(double), "energies");
  }
  if (status == MD_OK && model->bonds.ntypes > 0) status = md_partners_find(&e->partners, p, 1);
  if (status != MD_OK) {
    destroy(e);
    return status;
  }
  *engine = e;
  return MD_OK;
}

/* How many edges along an axis, in both directions, may take a pair from its minimum image into the cutoff. `later`: of
 * the edges along the later axes, which shift by up to half a side in a tilted box. */
static int edges_along(const md_engine *e, int axis, int later)
{
  const md_box *box = &e->model->box;
  if (axis >= box->dim || !box->periodic[axis] || !md_box_is_small(box, e->model->cutoff)) return 0;
  return (int)floor((e->model->cutoff / box->length[axis] + 0.5 + 0.5 * later) * (1.0 + 0x1p-40));
}

/* Makes the list of shifts for the present box. */
static md_status find_shifts(md_engine *e)
{
  const md_box *box = &e->model->box;
  const int z = edges_along(e, 2, 0), y = edges_along(e, 1, box->triclinic ? z : 0);
  const int x = edges_along(e, 0, box->triclinic ? z + y : 0);
  const int64_t all = (2 * (int64_t)x + 1) * (2 * y + 1) * (2 * z + 1);
  if (all > e->shift_capacity) {
    free(e->shift);
    e->shift = NULL;
    e->shift_capacity = all;
    MD_TRY(md_array_new(&e->shift, all, sizeof *e->shift, "images"));
  }
  memset(e->shift[0], 0, sizeof e->shift[0]);
  e->shifts = 1;
  for (int64_t k = 0; k < all; ++k) {
    const int n[3] = {(int)(k % (2 * x + 1)) - x, (int)(k / (2 * x + 1) % (2 * y + 1)) - y,
                      (int)(k / (2 * x + 1) / (2 * y + 1)) - z};
    double *shift = e->shift[e->shifts];
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) continue;
    ++e->shifts;
    for (int d = 0; d < 3; ++d) shift[d] = 0.0;
    for (int d = 0; d < box->dim; ++d) md_lattice_shift(box->length, box->offset, d, n[d], shift);
  }
  return MD_OK;
}

/* Computes the vector from j to i at the minimum image, shifted by shift s. Returns its square, softened; beyond all
 * cutoffs, as most pairs are, a square that is not quite exact. */
static double separation(const md_engine *e, int64_t i, int64_t j, int64_t s, double delta[3])
{
  const md_box *box = &e->model->box;
  double r2 = e->softening2, roughly = 0.0;
  for (int d = 0; d < box->dim; ++d) delta[d] = e->p->x[d][i] - e->p->x[d][j];
  md_box_image(box, delta);
  for (int d = 0; d < box->dim; ++d) {
    delta[d] += e->shift[s][d];
    roughly += delta[d] * delta[d];
  }
  /* fma is a call of a function where the processor need not have it. */
  if (roughly > e->far2) return roughly;
  for (int d = 0; d < box->dim; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

/* A particle has no pair with itself, but with its images. */
static int64_t first_shift(int64_t i, int64_t j) { return i == j; }

static size_t pair_index(const md_engine *e, int64_t i, int64_t j)
{
  const md_model *model = e->model;
  return (size_t)md_subtype_of(model, e->p, i) * (size_t)md_model_subtypes(model) +
         (size_t)md_subtype_of(model, e->p, j);
}

/* The coefficients of a pair: a row of the table, or, without a cutoff, those of the two masses, in own[MD_PAIR_K]. */
static const double *coefficients(const md_engine *e, const double *table, const double *unit, int64_t i,
                                  int64_t j, double *own)
{
  const md_model *model = e->model;
  if (!md_pair_is_all(&model->pair)) return table + pair_index(e, i, j) * MD_PAIR_K;
  md_all_coefficients_of_masses(unit, md_mass_of(model, e->p, i), md_mass_of(model, e->p, j), own);
  return own;
}

/* The element of a particle, for a style with a density. */
static int element_of(const md_engine *e, int64_t i)
{
  return md_model_pair(e->model)->eam->element[md_subtype_of(e->model, e->p, i)];
}

/* Is the pair within the cutoff left out, because of its molecules, or because bonds connect the particles? */
static bool is_excluded(const md_engine *e, int64_t i, int64_t j, double r2)
{
  const double cutoff = e->model->cutoff;
  const md_molecules *molecules = &e->model->exclusions.molecules;
  int64_t *const *ids;
  if (!(e->model->bonds.ntypes > 0 || molecules->n > 0) || !(r2 < cutoff * cutoff)) return false;
  if (molecules->n > 0) {
    const uint32_t groups = e->p->group ? (e->p->group[i] & e->p->group[j]) | MD_GROUP_ALL : MD_GROUP_ALL;
    if (md_molecules_exclude(molecules, groups, e->p->molecule[i] == e->p->molecule[j])) return true;
  }
  if (e->model->bonds.ntypes == 0) return false;
  const int n = md_excluded_ids(e->model, e->p, &ids);
  int k = 0;
  while (k < n && ids[k][i] != e->p->id[j]) ++k;
  return k < n;
}

/* Pass 1 of a style with a density: slope and embedding of each particle. */
static void find_slopes(md_engine *e)
{
  const md_eam *eam = md_model_pair(e->model)->eam;
  for (int64_t i = 0; i < e->p->n; ++i) {
    int64_t count = 0;
    for (int64_t j = 0; j < e->p->n; ++j)
      for (int64_t s = first_shift(i, j); s < e->shifts; ++s) {
        double delta[3];
        const double r2 = separation(e, i, j, s, delta);
        if (!is_excluded(e, i, j, r2)) count += md_density_term(eam, element_of(e, i), element_of(e, j), r2);
      }
    e->embedding[i] = md_eam_embedding(eam, element_of(e, i), count, &e->slope[i]);
  }
}

/* The vector from j to i with three components, of which the third is 0 in two dimensions. Returns its square. */
static double separation3(const md_engine *e, int64_t i, int64_t j, int64_t s, double delta[3])
{
  delta[2] = 0.0;
  return separation(e, i, j, s, delta);
}

static int three_element_of(const md_engine *e, int64_t i)
{
  return md_model_pair(e->model)->three->element[md_subtype_of(e->model, e->p, i)];
}

/* Pass 1 of a three-body style: the energy of each centre, and what it keeps. */
static void sum_legs(md_engine *e)
{
  const md_three_body *three = md_model_pair(e->model)->three;
  for (int64_t i = 0; i < e->p->n; ++i) {
    int64_t sum[MD_THREE_SUMS] = {0};
    const int a = three_element_of(e, i);
    for (int64_t j = 0; j < e->p->n; ++j)
      for (int64_t s = first_shift(i, j); s < e->shifts; ++s) {
        double delta[3];
        const double r2 = separation3(e, i, j, s, delta);
        if (is_excluded(e, i, j, r2)) continue;
        md_three_add(three, three->leg + (a * three->nelement + three_element_of(e, j)), delta, r2, sum);
      }
    e->embedding[i] = md_three_centre(three, a, sum, e->kept + i * MD_THREE_SUMS);
  }
}

/* The term of image s of a pair of a three-body style. Returns false if there is none, as term_of_image. */
static bool vector_term(const md_engine *e, int64_t i, int64_t j, int64_t s, bool output, double delta[3],
                        double *r2, md_vector_term *term, md_overlap *overlap)
{
  const md_model *model = e->model;
  const double *k = (output ? model->force_k : model->impulse_k) + pair_index(e, i, j) * MD_PAIR_K;
  *r2 = separation3(e, i, j, s, delta);
  if (is_excluded(e, i, j, *r2)) return false;
  *term = md_three_force(md_model_pair(model)->three, model->pair.kind, k, three_element_of(e, i),
                         three_element_of(e, j), e->kept + i * MD_THREE_SUMS, e->kept + j * MD_THREE_SUMS,
                         delta, *r2);
  if (term->overlap) md_overlap_add(overlap, e->p->id[i], e->p->id[j], *r2);
  return !term->overlap;
}

/* What the terms of pairs need besides positions. step: the one after which these are. */
static md_status prepare_terms(md_engine *e, int64_t step)
{
  MD_TRY(find_shifts(e));
  if (md_pair_has_density(&e->model->pair)) find_slopes(e);
  if (md_pair_is_three_body(&e->model->pair)) sum_legs(e);
  if (md_pair_is_dissipative(&e->model->pair)) e->dissipation = md_model_dissipation(e->model, step);
  return MD_OK;
}

/* A pair of a style whose force needs more than the distance. output: for output, else impulses. */
static md_pair_term pair_term(const md_engine *e, int64_t i, int64_t j, const double *delta, double r2,
                              bool output)
{
  const md_model *model = e->model;
  const md_particles *p = e->p;
  const double *k = (output ? model->force_k : model->impulse_k) + pair_index(e, i, j) * MD_PAIR_K;
  double u[3];
  if (md_pair_has_density(&model->pair))
    return md_density_force(md_model_pair(model)->eam, element_of(e, i), element_of(e, j), e->slope[i],
                            e->slope[j], delta, p->dim, r2,
                            output ? model->force_scale : model->impulse_scale);
  for (int d = 0; d < p->dim; ++d) u[d] = p->v_pair[d][i] - p->v_pair[d][j];
  if (model->pair.nsub == 0)
    return md_dissipative_force(&e->dissipation, k, p->id[i], p->id[j], delta, u, p->dim, r2);
  md_pair_term pair = md_hybrid_term(&e->dissipation, k, p->id[i], p->id[j], delta, u, p->dim, r2);
  pair.overlap = pair.overlap || r2 < model->overlap2[pair_index(e, i, j)];
  return pair;
}

/* The term of image s of such a pair. Returns false if the pair has none: it is excluded, or it overlaps, which is
 * noted. */
static bool term_of_image(const md_engine *e, int64_t i, int64_t j, int64_t s, bool output, double delta[3],
                          double *r2, md_pair_term *pair, md_overlap *overlap)
{
  *r2 = separation(e, i, j, s, delta);
  if (is_excluded(e, i, j, *r2)) return false;
  *pair = pair_term(e, i, j, delta, *r2, output);
  if (pair->overlap) md_overlap_add(overlap, e->p->id[i], e->p->id[j], *r2);
  return !pair->overlap;
}

/* Adds the impulses of a pair. */
static void add_impulses(md_engine *e, int64_t i, int64_t j, double f, const double delta[3])
{
  for (int d = 0; d < e->p->dim; ++d) {
    const int64_t quanta = (int64_t)md_round_product(f, delta[d]);
    e->impulse[d][i] += quanta;
    e->impulse[d][j] -= quanta;
  }
}

/* Adds the impulses of one image of a pair of such a style, or notes that it overlaps. */
static void add_terms(md_engine *e, int64_t i, int64_t j, int64_t s, md_overlap *overlap)
{
  double delta[3], r2;
  md_pair_term pair;
  if (term_of_image(e, i, j, s, false, delta, &r2, &pair, overlap)) add_impulses(e, i, j, pair.f, delta);
}

/* The same of a three-body style. */
static void add_vectors(md_engine *e, int64_t i, int64_t j, int64_t s, md_overlap *overlap)
{
  double delta[3], r2;
  md_vector_term term;
  if (!vector_term(e, i, j, s, false, delta, &r2, &term, overlap)) return;
  for (int d = 0; d < e->p->dim; ++d) {
    const int64_t quanta = md_vector_count(term.f[d]);
    e->impulse[d][i] += quanta;
    e->impulse[d][j] -= quanta;
  }
}

/* The same for the other styles. */
static void add_pair(md_engine *e, int64_t i, int64_t j, int64_t s, md_overlap *overlap)
{
  const md_model *model = e->model;
  double delta[3], own[MD_PAIR_K];
  const double r2 = separation(e, i, j, s, delta);
  if (r2 > e->far2 || is_excluded(e, i, j, r2)) return;
  if (r2 < model->overlap2[pair_index(e, i, j)]) {
    md_overlap_add(overlap, e->p->id[i], e->p->id[j], r2);
    return; /* the impulse would be out of range */
  }
  const double *k = coefficients(e, model->impulse_k, e->unit_impulse_k, i, j, own);
  if (!(r2 < k[0])) return;
  const double f = md_pair_force(model->pair.kind, r2, k);
  const double range = md_all_range(model->wide);
  if (md_pair_is_all(&model->pair) && md_all_overlaps(f, delta, e->p->dim, r2, range))
    md_overlap_add(overlap, e->p->id[i], e->p->id[j], r2);
  else
    add_impulses(e, i, j, f, delta);
}

/* Adds the impulses of all bonds, each particle's for itself. */
static void sum_bond_impulses(md_engine *e, md_overlap *overlap)
{
  for (int64_t i = 0; i < e->p->n && e->model->bonds.ntypes > 0; ++i) {
    int64_t sum[3] = {0};
    md_partners_impulse(&e->partners, e->model, e->p, &e->model->box, i, sum, overlap);
    for (int d = 0; d < e->p->dim; ++d) e->impulse[d][i] += sum[d];
  }
}

/* Sums the impulses of all pairs and bonds in e->impulse. Then the fixes act on the sums. step: the one
 * after which the positions are. */
static md_status sum_impulses(md_engine *e, int64_t step)
{
  const md_model *model = e->model;
  const int dim = model->box.dim;
  for (int d = 0; d < dim; ++d) memset(e->impulse[d], 0, (size_t)e->p->n * sizeof(int64_t));
  const bool none = model->pair.kind == MD_PAIR_NONE, more = md_pair_needs_more(&model->pair);
  const bool three_body = md_pair_is_three_body(&model->pair);
  md_overlap overlap = md_overlap_none();
  MD_TRY(prepare_terms(e, step));
  for (int64_t i = 0; i < e->p->n && !none; ++i)
    for (int64_t j = i; j < e->p->n; ++j)
      for (int64_t s = first_shift(i, j); s < e->shifts; ++s)
        (three_body ? add_vectors : more ? add_terms : add_pair)(e, i, j, s, &overlap);
  sum_bond_impulses(e, &overlap);
  MD_TRY(md_forces_on_impulses(e->model, e->comm, e->p, step, 0, (md_impulses){.whole = e->impulse}, 1,
                               &overlap));
  return md_overlap_status(&overlap, model);
}

/* Points 1 and 2 of the step, or 4 and 5: sums the impulses at the present positions unless they are known, and
 * kicks. */
static md_status push(md_engine *e, int kicks, int64_t step, double *mark)
{
  if (kicks == 0) return MD_OK;
  if (!e->current) MD_TRY(sum_impulses(e, step));
  e->current = true;
  md_timers_lap(&e->timers, MD_PHASE_FORCE, mark);
  md_host_kick(e->model, e->p, e->impulse, kicks, 1);
  md_timers_lap(&e->timers, MD_PHASE_MOVE, mark);
  return MD_OK;
}

static md_status take_step(md_engine *e)
{
  const md_step step = md_step_of(e->model);
  double mark = md_time();
  MD_TRY(push(e, step.kicks_before, e->model->step, &mark));
  if (step.moves) {
    MD_TRY(md_host_drift(e->model, e->p, &step, e->impulse, 1));
    md_model_take_box(e->model);
    md_box_shorten(&e->model->box);
    e->current = false;
  }
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return push(e, step.kicks_after, md_model_step_after(e->model, 1), &mark);
}

static md_status run(md_engine *e, int64_t n)
{
  for (int64_t s = 0; s < n; ++s) {
    MD_TRY(take_step(e));
    e->model->step = md_model_step_after(e->model, 1);
    ++e->steps;
  }
  return MD_OK;
}

/* For a style without a cutoff: is the pair an overlap? */
static bool out_of_range(const md_model *model, const double delta[3], double r2, const double *k)
{
  const double f = md_pair_force(model->pair.kind, r2, k);
  return md_all_overlaps(f, delta, model->box.dim, r2, model->force_range);
}

/* For output: visit_partners calls this for every image of a partner j of i within the cutoff. delta: from j to i. f:
 * force over distance, in coarse quanta of f. Overlaps are noted instead. */
typedef void (*pair_visitor)(const md_model *, const double delta[3], double r2, double f, double energy,
                             void *to);

/* For a style whose force needs more than the distance. */
static void visit_terms(const md_engine *e, int64_t i, int64_t j, int64_t s, pair_visitor visit, void *to,
                        md_overlap *overlap)
{
  double delta[3], r2;
  md_pair_term pair;
  if (term_of_image(e, i, j, s, true, delta, &r2, &pair, overlap))
    visit(e->model, delta, r2, pair.f, pair.energy, to);
}

static void visit_pair(const md_engine *e, int64_t i, int64_t j, int64_t s, pair_visitor visit, void *to,
                       md_overlap *overlap)
{
  const md_model *model = e->model;
  double delta[3], own[MD_PAIR_K];
  const double r2 = separation(e, i, j, s, delta);
  if (r2 > e->far2 || is_excluded(e, i, j, r2)) return;
  const double *k = coefficients(e, model->force_k, e->unit_force_k, i, j, own);
  if (r2 < model->overlap2[pair_index(e, i, j)] ||
      (md_pair_is_all(&model->pair) && out_of_range(model, delta, r2, k)))
    md_overlap_add(overlap, e->p->id[i], e->p->id[j], r2);
  else if (r2 < k[0])
    visit(model, delta, r2, md_pair_force(model->pair.kind, r2, k), md_pair_energy(model->pair.kind, r2, k),
          to);
}

/* Of a three-body style, whose forces are vectors: what visit_vectors calls instead. */
typedef void (*vector_visitor)(const md_model *, const double delta[3], const md_vector_term *, void *to);

static void visit_vectors(const md_engine *e, int64_t i, vector_visitor visit, void *to, md_overlap *overlap)
{
  for (int64_t j = 0; j < e->p->n; ++j)
    for (int64_t s = first_shift(i, j); s < e->shifts; ++s) {
      double delta[3], r2;
      md_vector_term term;
      if (vector_term(e, i, j, s, true, delta, &r2, &term, overlap)) visit(e->model, delta, &term, to);
    }
}

static void visit_partners(const md_engine *e, int64_t i, pair_visitor visit, void *to, md_overlap *overlap)
{
  const bool none = e->model->pair.kind == MD_PAIR_NONE, more = md_pair_needs_more(&e->model->pair);
  for (int64_t j = 0; j < e->p->n && !none; ++j)
    for (int64_t s = first_shift(i, j); s < e->shifts; ++s)
      (more ? visit_terms : visit_pair)(e, i, j, s, visit, to, overlap);
}

static void measure_pair(const md_model *model, const double delta[3], double r2, double f, double u,
                         void *to)
{
  md_measure *m = to;
  md_fine energy = {0, 0}, virial = {0, 0};
  (void)delta;
  md_fine_add(&energy, u / (model->grids.e * MD_FINE));
  md_fine_add(&virial, f * (r2 - md_pair_softening2(&model->pair)) * (model->grids.f / model->grids.w));
  md_wide_add(&m->pair_energy2, md_fine_count(energy));
  md_wide_add(&m->virial2, md_fine_count(virial));
}

static void measure_tensor(const md_model *model, const double delta[3], double r2, double f, double u,
                           void *to)
{
  md_measure *m = to;
  const double per_w = model->grids.f / model->grids.w;
  (void)r2;
  (void)u;
  for (int c = 0; c < MD_TENSOR; ++c) {
    const int a = md_tensor_row(c), b = md_tensor_column(c);
    md_fine term = {0, 0};
    if (b >= model->box.dim) continue;
    md_fine_add(&term, f * delta[a] * delta[b] * per_w);
    md_wide_add(&m->tensor2[c], md_fine_count(term));
  }
}

static void measure_vector(const md_model *model, const double delta[3], const md_vector_term *term, void *to)
{
  md_measure *m = to;
  md_fine energy = {0, 0}, virial = {0, 0};
  md_fine_add(&energy, term->energy / (model->grids.e * MD_FINE));
  md_fine_add(&virial, md_vector_virial(term, delta, model->box.dim) * (model->grids.f / model->grids.w));
  md_wide_add(&m->pair_energy2, md_fine_count(energy));
  md_wide_add(&m->virial2, md_fine_count(virial));
}

static void measure_vector_tensor(const md_model *model, const double delta[3], const md_vector_term *term,
                                  void *to)
{
  md_measure *m = to;
  const double per_w = model->grids.f / model->grids.w;
  for (int c = 0; c < MD_TENSOR; ++c) {
    md_fine part = {0, 0};
    if (md_tensor_column(c) >= model->box.dim) continue;
    md_fine_add(&part, term->f[md_tensor_row(c)] * delta[md_tensor_column(c)] * per_w);
    md_wide_add(&m->tensor2[c], md_fine_count(part));
  }
}

/* Adds the pairs of particle i to a measure. */
static void measure_pairs(const md_engine *e, int64_t i, bool tensor, md_measure *m, md_overlap *overlap)
{
  if (md_pair_is_three_body(&e->model->pair))
    visit_vectors(e, i, tensor ? measure_vector_tensor : measure_vector, m, overlap);
  else
    visit_partners(e, i, tensor ? measure_tensor : measure_pair, m, overlap);
}

/* Adds the virial of the impulses on particle i, and its components along the axes. */
static void measure_impulses(const md_engine *e, int64_t i, md_measure *m, md_overlap *overlap)
{
  const md_model *model = e->model;
  const double rounder = md_impulse_virial_rounder(model);
  md_fine trace = {0, 0}, axis[3] = {{0, 0}};
  for (int64_t j = 0; j < e->p->n; ++j)
    for (int64_t s = first_shift(i, j); s < e->shifts; ++s) {
      double delta[3];
      const double r2 = separation(e, i, j, s, delta);
      const size_t pair = pair_index(e, i, j);
      const double *k = model->impulse_k + pair * MD_PAIR_K;
      if (is_excluded(e, i, j, r2) || !(r2 < k[0])) continue;
      if (r2 < model->overlap2[pair]) {
        md_overlap_add(overlap, e->p->id[i], e->p->id[j], r2);
        continue;
      }
      const double f = md_pair_force(model->pair.kind, r2, k);
      trace.coarse += md_odd_count(f, r2, rounder);
      for (int d = 0; d < model->box.dim; ++d)
        axis[d].coarse += md_odd_count(f * delta[d], delta[d], rounder);
    }
  md_wide_add(&m->virial2, md_fine_count(trace));
  for (int d = 0; d < model->box.dim; ++d) md_wide_add(&m->tensor2[d], md_fine_count(axis[d]));
}

static md_status measure(md_engine *e, md_wanted wanted, md_measure *m)
{
  md_overlap overlap = md_overlap_none();
  *m = (md_measure){.count = e->p->n};
  const bool passes = md_pair_has_density(&e->model->pair) || md_pair_is_three_body(&e->model->pair);
  if (md_wants_virial(wanted) || wanted.tensor) MD_TRY(prepare_terms(e, e->model->step));
  for (int64_t i = 0; i < e->p->n; ++i) {
    md_measure_particle(e->model, wanted.summands, e->p, i, m);
    if (wanted.impulses) {
      measure_impulses(e, i, m, &overlap);
      continue;
    }
    if (md_wants_virial(wanted)) measure_pairs(e, i, false, m, &overlap);
    if (wanted.pairs && passes)
      md_wide_add(&m->pair_energy2,
                  md_fine_count(md_embedding_twice(e->embedding[i], 1.0 / (e->model->grids.e * MD_FINE))));
    if (wanted.tensor) measure_pairs(e, i, true, m, &overlap);
    if (e->model->bonds.ntypes == 0) continue;
    const md_box *box = &e->model->box;
    if (md_wants_virial(wanted))
      md_partners_measure(&e->partners, e->model, e->p, box, false, i, m, &overlap);
    if (wanted.tensor) md_partners_measure(&e->partners, e->model, e->p, box, true, i, m, &overlap);
  }
  return md_overlap_status(&overlap, e->model);
}

static md_status act(md_engine *e, const md_action *action)
{
  double mark = md_time();
  md_host_act(e->model, e->p, action, 1);
  md_timers_lap(&e->timers, MD_PHASE_MOVE, &mark);
  return MD_OK;
}

static void add_force(const md_model *model, const double delta[3], double r2, double f, double u, void *to)
{
  md_fine *sum = to;
  (void)r2;
  (void)u;
  for (int d = 0; d < model->box.dim; ++d) md_fine_add(&sum[d], f * delta[d]);
}

static void add_vector(const md_model *model, const double delta[3], const md_vector_term *term, void *to)
{
  md_fine *sum = to;
  (void)delta;
  for (int d = 0; d < model->box.dim; ++d) md_fine_add(&sum[d], term->f[d]);
}

static md_status download(md_engine *e, double *const force[3])
{
  if (!force) return MD_OK;
  md_overlap overlap = md_overlap_none();
  MD_TRY(prepare_terms(e, e->model->step));
  for (int64_t i = 0; i < e->p->n; ++i) {
    md_fine sum[3] = {{0, 0}};
    double of_bonds[3] = {0.0};
    if (md_pair_is_three_body(&e->model->pair))
      visit_vectors(e, i, add_vector, sum, &overlap);
    else
      visit_partners(e, i, add_force, sum, &overlap);
    if (e->model->bonds.ntypes > 0)
      md_partners_force(&e->partners, e->model, e->p, &e->model->box, i, of_bonds, &overlap);
    for (int d = 0; d < e->p->dim; ++d) force[d][i] = md_fine_value(sum[d]) * e->model->grids.f + of_bonds[d];
  }
  return md_overlap_status(&overlap, e->model);
}

static void report(const md_engine *e, md_engine_report *r)
{
  *r = (md_engine_report){.timers = e->timers,
                          .steps = e->steps,
                          .neighbours = e->p->n > 0 ? (double)(e->p->n - 1) : 0.0,
                          .bytes = e->p->n * (md_particles_bytes(e->p) + e->p->dim * (int64_t)sizeof(double)),
                          .isa = "plain",
                          .threads = 1};
}

const md_engine_kind md_engine_naive = {
    .name = "naive",
    .summary = "all pairs on one thread: the oracle, for small systems",
    .create = create,
    .run = run,
    .measure = measure,
    .act = act,
    .download = download,
    .report = report,
    .destroy = destroy,
};
