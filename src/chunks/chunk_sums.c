/* Exact sums over the particles of each chunk; see chunks.h.
 *
 * 1. The largest size of the values of each column, on all ranks, gives the quantum of the column. It is a power of
 *    two, so large that the sum over all particles is less than 2^61 quanta.
 * 2. A value is split into whole quanta and 2^-30 parts of one, both rounded to integers. The integers are added in any
 *    order, by threads and ranks.
 * 3. A sum is rounded to a double once.
 *
 * So results do not depend on the order. Cost: two passes over the particles, two reductions, 16 bytes a sum. */
#include "common/ranks/reductions.h"
#include "common/sums/each_formulas.h"
#include "src/chunks/chunks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes of the largest size of each column, on this rank, its quantum. */
static md_status quanta_of(md_sim *sim, int nvalue, double *quantum)
{
  int64_t bits = 1;
  while (sim->model.natoms >> bits > 0) ++bits;
  MD_TRY(sim->comm->reduce->max(sim->comm, quantum, nvalue));
  for (int k = 0; k < nvalue; ++k) {
    int exponent;
    if (!isfinite(quantum[k])) return md_error(MD_PHYSICS, "a value of a particle is not a finite number");
    (void)frexp(quantum[k], &exponent);
    quantum[k] = ldexp(1.0, (exponent < -900 ? -900 : exponent) + (int)bits - 61);
  }
  return MD_OK;
}

/* Sets quantum[k] of each column. */
static md_status find_quanta(md_sim *sim, int nvalue, const double *chunk, const double *value,
                             double *quantum)
{
  for (int k = 0; k < nvalue; ++k) quantum[k] = 0.0;
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int k = 0; k < nvalue && chunk[i] > 0.0; ++k)
      quantum[k] = md_max(quantum[k], md_each_size(value[i * nvalue + k]));
  return quanta_of(sim, nvalue, quantum);
}

/* Two integers for each sum: whole quanta, and the rest. */
static void add_values(const md_sim *sim, int64_t n, int nvalue, const double *chunk, const double *value,
                       const double *quantum, int64_t *count)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < sim->particles.n; ++i) {
    const int64_t c = (int64_t)chunk[i] - 1;
    for (int k = 0; k < nvalue && c >= 0 && c < n; ++k) {
      int64_t *to = count + 2 * (c * nvalue + k);
      int64_t coarse, rest;
      md_each_terms(value[i * nvalue + k], quantum[k], &coarse, &rest);
#pragma omp atomic
      to[0] += coarse;
#pragma omp atomic
      to[1] += rest;
    }
  }
}

/* Moves what is above half a quantum from the rest to the whole quanta. */
static void carry(int64_t *count)
{
  const int64_t whole = (count[1] + (INT64_C(1) << (MD_EACH_REST_BITS - 1))) >> MD_EACH_REST_BITS;
  count[0] += whole;
  count[1] -= whole * (INT64_C(1) << MD_EACH_REST_BITS);
}

static md_status reduce(md_sim *sim, int64_t n, int64_t *count)
{
  for (int64_t k = 0; k < n; ++k) carry(count + 2 * k);
  for (int64_t k = 0; k < 2 * n; k += 1 << 20)
    MD_TRY(sim->comm->reduce->sum(sim->comm, count + k, (int)(2 * n - k < 1 << 20 ? 2 * n - k : 1 << 20)));
  for (int64_t k = 0; k < n; ++k) carry(count + 2 * k);
  return MD_OK;
}

static double sum_of(const int64_t *count, double quantum)
{
  return fma((double)count[0], MD_EACH_REST, (double)count[1]) * (quantum / MD_EACH_REST);
}

md_status md_chunk_sums(md_sim *sim, int64_t n, int nvalue, const double *chunk, const double *value,
                        double *sums)
{
  int64_t *count = NULL;
  double *quantum = NULL;
  if (nvalue == 0 || n == 0) return MD_OK;
  md_status status = md_array_new_zero(&count, 2 * n * nvalue, sizeof *count, "sums of chunks");
  if (status == MD_OK) status = md_array_new_zero(&quantum, nvalue, sizeof *quantum, "sums of chunks");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_quanta(sim, nvalue, chunk, value, quantum);
  if (status == MD_OK) {
    add_values(sim, n, nvalue, chunk, value, quantum, count);
    status = reduce(sim, n * nvalue, count);
  }
  for (int64_t k = 0; k < n * nvalue && status == MD_OK; ++k)
    sums[k] = sum_of(count + 2 * k, quantum[k % nvalue]);
  free(count);
  free(quantum);
  return status;
}

/* The sums of the bins of all ranks, made of the integers of the engine. number, terms: room for them. */
static md_status finish_in_place(md_sim *sim, const md_bins *bins, const int64_t *made, int64_t *number,
                                 int64_t *terms, double *sums)
{
  const int width = 1 + 2 * bins->nvalue;
  for (int64_t m = 0; m < bins->n; ++m) {
    number[2 * m] = made[m * width];
    memcpy(terms + m * (width - 1), made + m * width + 1, (size_t)(width - 1) * sizeof *terms);
  }
  MD_TRY(reduce(sim, bins->n, number));
  MD_TRY(reduce(sim, bins->n * bins->nvalue, terms));
  for (int64_t m = 0; m < bins->n; ++m) {
    double *to = sums + m * (1 + bins->nvalue);
    to[0] = (double)number[2 * m];
    for (int k = 0; k < bins->nvalue; ++k)
      to[1 + k] = sum_of(terms + 2 * (m * bins->nvalue + k), bins->quantum[k]);
  }
  return MD_OK;
}

/* Makes sum[n][1 + 2 nvalue] with the right quanta. Quanta of 0 are never right. */
static md_status sum_in_place(md_view *view, md_bins *bins, double *quanta, int64_t *sum, bool *made)
{
  const size_t bytes = (size_t)bins->nvalue * sizeof *quanta;
  md_sim *sim = view->sim;
  double found[MD_BINS_VALUES];
  bool known = true;
  for (int k = 0; k < bins->nvalue; ++k) known = known && quanta[k] > 0.0;
  memcpy(bins->quantum, quanta, bytes);
  MD_TRY(md_comm_agree(sim->comm, view->kind->bin_sums(view->engine, bins, found, known ? sum : NULL, made)));
  if (!*made) return MD_OK;
  MD_TRY(quanta_of(sim, bins->nvalue, found));
  if (known && memcmp(found, quanta, bytes) == 0) return MD_OK;
  memcpy(quanta, found, bytes);
  memcpy(bins->quantum, found, bytes);
  memset(sum, 0, (size_t)(bins->n * (1 + 2 * bins->nvalue)) * sizeof *sum);
  return md_comm_agree(sim->comm, view->kind->bin_sums(view->engine, bins, found, sum, made));
}

md_status md_chunk_sums_in_place(md_view *view, md_bins *bins, double *quanta, double *sums, bool *made)
{
  md_sim *sim = view->sim;
  const int64_t n = bins->n;
  int64_t *sum = NULL, *number = NULL, *terms = NULL;
  md_status status = md_array_new_zero(&sum, n * (1 + 2 * bins->nvalue) + 1, sizeof *sum, "sums of chunks");
  if (status == MD_OK) status = md_array_new_zero(&number, 2 * n + 1, sizeof *number, "sums of chunks");
  if (status == MD_OK)
    status = md_array_new_zero(&terms, 2 * n * bins->nvalue + 1, sizeof *terms, "sums of chunks");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = sum_in_place(view, bins, quanta, sum, made);
  if (status == MD_OK && *made) status = finish_in_place(sim, bins, sum, number, terms, sums);
  free(sum);
  free(number);
  free(terms);
  return status;
}
