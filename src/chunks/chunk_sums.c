/* Exact sums over the particles of each chunk; see chunks.h.
 *
 * 1. The largest size of the values of each column, on all ranks, gives the quantum of the column: a power of two of
 *    which the sum over all particles has less than 2^61.
 * 2. A value is split into whole quanta and 2^-30 parts of one, both rounded to integers. The integers are added in any
 *    order, by threads and ranks.
 * 3. A sum is rounded to a double once.
 *
 * So results do not depend on the order. Cost: two passes over the particles, two reductions, 16 bytes a sum. */
#include "common/exact.h"
#include "common/ranks/reductions.h"
#include "src/chunks/chunks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REST_BITS = 30 };

static const double REST = 0x1p30;

/* Sets quantum[k] of each column. */
static md_status find_quanta(md_sim *sim, int nvalue, const double *chunk, const double *value,
                             double *quantum)
{
  int64_t bits = 1;
  while (sim->model.natoms >> bits > 0) ++bits;
  for (int k = 0; k < nvalue; ++k) quantum[k] = 0.0;
  for (int64_t i = 0; i < sim->particles.n; ++i)
    for (int k = 0; k < nvalue && chunk[i] > 0.0; ++k) {
      const double size = fabs(value[i * nvalue + k]);
      if (!(size <= quantum[k])) quantum[k] = isfinite(size) ? size : (double)INFINITY;
    }
  MD_TRY(sim->comm->reduce->max(sim->comm, quantum, nvalue));
  for (int k = 0; k < nvalue; ++k) {
    int exponent;
    if (!isfinite(quantum[k])) return md_error(MD_PHYSICS, "a value of a particle is not a finite number");
    (void)frexp(quantum[k], &exponent);
    quantum[k] = ldexp(1.0, (exponent < -900 ? -900 : exponent) + (int)bits - 61);
  }
  return MD_OK;
}

/* Two integers for each sum: whole quanta, and the rest. */
static void add_values(const md_sim *sim, int64_t n, int nvalue, const double *chunk, const double *value,
                       const double *quantum, int64_t *count)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < sim->particles.n; ++i) {
    const int64_t c = (int64_t)chunk[i] - 1;
    for (int k = 0; k < nvalue && c >= 0 && c < n; ++k) {
      const double quanta = value[i * nvalue + k] / quantum[k], whole = rint(quanta);
      int64_t *to = count + 2 * (c * nvalue + k);
      const int64_t coarse = md_count(whole), rest = md_count((quanta - whole) * REST);
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
  const int64_t whole = (count[1] + (INT64_C(1) << (REST_BITS - 1))) >> REST_BITS;
  count[0] += whole;
  count[1] -= whole * (INT64_C(1) << REST_BITS);
}

static md_status reduce(md_sim *sim, int64_t n, int64_t *count)
{
  for (int64_t k = 0; k < n; ++k) carry(count + 2 * k);
  for (int64_t k = 0; k < 2 * n; k += 1 << 20)
    MD_TRY(sim->comm->reduce->sum(sim->comm, count + k, (int)(2 * n - k < 1 << 20 ? 2 * n - k : 1 << 20)));
  for (int64_t k = 0; k < n; ++k) carry(count + 2 * k);
  return MD_OK;
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
    sums[k] = fma((double)count[2 * k], REST, (double)count[2 * k + 1]) * (quantum[k % nvalue] / REST);
  free(count);
  free(quantum);
  return status;
}
