/* Maps: particles, and what they carry, added up in square bins over a face of the box. C and CUDA.
 *
 *   1  A particle has a place: the number of its bin, or none if it is outside the window.
 *   2  It has three terms (MD_BIN_COUNT and so on): one particle, and its weight as coarse and fine quanta.
 *   3  Integers are added: in any order, by any number of threads, ranks and devices, with the same bits.
 *
 *   weight  =  whole coarse quanta  +  rest      |rest| <= half a coarse quantum, rounded to a fine one
 *              |x| <= 2^b              |rest| <= 2^(b-1) fine quanta
 *
 * The host chooses b so that neither sum overflows, even if all particles of the model are in one bin with the largest
 * weight: 2^b times their number is at most 2^62, and b is at most 50. So a million particles have 84 bits between the
 * largest weight and the quantum, and a billion have 64.
 *
 * Trade-off: fine sums (common/arithmetic/exact.h) have a fixed number of bits for the rest, which some 2^24 terms may
 * fill. Here the number of bits is that of the model. Cost: one addition for a count, three with a weight; 8 or 24
 * bytes a bin.
 */
#ifndef MD_COMMON_SUMS_HISTOGRAM_H
#define MD_COMMON_SUMS_HISTOGRAM_H

#include "common/compute/measure.h"
#include "common/engine.h"

/* The most bits b. */
enum { MD_HISTOGRAM_BITS = 50 };

/* The number of sums of a bin. */
MD_FN int md_histogram_sums(const md_histogram *h) { return h->weight == MD_WEIGHT_ONE ? 1 : MD_BIN_SUMS; }

/* The place of x along axis k of the map. A place beyond the bins counts to the bin at the edge. */
MD_FN int md_histogram_along(const md_histogram *h, int k, double x)
{
  const double place = (x - h->lo[k]) * h->per_length[k];
  if (!(place > 0.0)) return 0;
  return place < h->n[k] ? (int)place : h->n[k] - 1;
}

/* The number of the bin of a particle at (right, up); -1: it is outside the window. */
MD_FN int64_t md_histogram_bin(const md_histogram *h, double right, double up)
{
  if (right < h->from[0] || right >= h->to[0] || up < h->from[1] || up >= h->to[1]) return -1;
  return (int64_t)md_histogram_along(h, 1, up) * h->n[0] + md_histogram_along(h, 0, right);
}

/* The weight of a particle with the velocity v. */
MD_FN double md_histogram_weight(const md_histogram *h, const md_particle *p, const double *v, int dim)
{
  if (h->weight == MD_WEIGHT_MASS) return p->mass;
  if (h->weight == MD_WEIGHT_VELOCITY) return v[h->component];
  if (h->weight == MD_WEIGHT_MOMENTUM) return p->mass * v[h->component];
  return p->group & h->of_group ? md_compute_each(h->kind, p, v, dim) : 0.0;
}

/* The terms of a particle in a map with a weight: term[MD_BIN_SUMS]. */
MD_FN void md_histogram_terms(const md_histogram *h, const md_particle *p, const double *v, int dim,
                              int64_t *term)
{
  const double x = md_histogram_weight(h, p, v, dim) * h->per_unit, whole = rint(x);
  term[MD_BIN_COUNT] = 1;
  term[MD_BIN_COARSE] = md_count(whole);
  term[MD_BIN_REST] = md_count((x - whole) * h->fine);
}

#endif
