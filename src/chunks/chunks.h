/* Chunks: particles in numbered parts, such as the bins of a profile, for sums over each part (compute chunk/atom).
 *
 * A particle is in the chunk 1 to n, or in none. Which one is a formula of its position, type or another value, so that
 * it is the same on every engine and any number of ranks. */
#ifndef MD_SRC_CHUNKS_CHUNKS_H
#define MD_SRC_CHUNKS_CHUNKS_H

#include "src/computes/host_compute.h"
#include "src/output/observer.h"

/* The most coordinates of a chunk. */
enum { MD_CHUNK_COORDINATES = 3 };

typedef struct md_chunks {
  int64_t n;
  int ncoord;           /* coordinates of a chunk; 0: chunks are no bins */
  const double *coord;  /* [n][ncoord] centres, in sigma, or as parts of the box with units reduced */
  const double *volume; /* [n] area in two dimensions */
  const double *each;   /* by particle of this rank: its chunk, or 0 */
} md_chunks;

/* The compute chunk/atom with this ID. MD_USAGE: there is none; `what` asks for it. */
md_status md_chunks_find(const md_sim *sim, const char *what, const char *id,
                         md_host_compute **compute) MD_CHECKED;

/* The number of coordinates of its chunks. */
int md_chunks_coordinates(const md_host_compute *compute);

/* The number of its chunks that is known before a run; 0: none is. It may change with the box. */
int64_t md_chunks_known(const md_host_compute *compute);

/* The place of the first bin and the number of bins along each axis, for md_chunks_hold. */
enum { MD_CHUNK_LAYERS = 6 };
void md_chunks_layers(const md_host_compute *compute, double bins[MD_CHUNK_LAYERS]);

/* Until the next call the bins along axes are these, whatever the box; NULL: those of the box, as at first. An average
 * over several steps needs bins that stay. What is known of the present step is forgotten. */
void md_chunks_hold(md_host_compute *compute, const double *bins);

/* The same where chunks are numbers that particles have: until the next call there are n of them, whatever the largest
 * number; 0: as many as that says, as at first. */
void md_chunks_hold_number(md_host_compute *compute, int64_t n);

/* The chunks at the step that is shown, valid until its end. Collective. */
md_status md_chunks_update(md_sim *sim, md_host_compute *compute, md_chunks *chunks) MD_CHECKED;

/* Sets sums[chunk - 1][k] to the sum of value[i][k] over the particles of all ranks with chunk[i] > 0, k < nvalue,
 * chunk <= n. Sums are integers: a value is rounded to 2^-90 of the largest possible sum. Collective. MD_PHYSICS: a
 * value is not finite. MD_RUNTIME: out of memory. */
md_status md_chunk_sums(md_sim *sim, int64_t n, int nvalue, const double *chunk, const double *value,
                        double *sums) MD_CHECKED;

/* Fills what an engine needs to sum over the chunks in place: bins along axes, without a region, in a box that is not
 * tilted, so that no particle comes from the engine; the values are the caller's. *can = false: it is for others. The
 * chunks have no `each`. Collective. */
md_status md_chunks_in_place(md_view *view, md_host_compute *compute, md_chunks *chunks, md_bins *bins,
                             bool *can) MD_CHECKED;

/* The same sums by an engine that has bin_sums: sums[bin][0] becomes the number of particles, sums[bin][1 + k] the sum
 * of value k. Sets the quanta of the bins. quanta[nvalue]: those of the last call, or 0; set to those of this call. If
 * they are the same, the engine goes through its particles once, else twice. *made = false: the engine does not make
 * them. Collective. MD_PHYSICS, MD_RUNTIME: as above. */
md_status md_chunk_sums_in_place(md_view *view, md_bins *bins, double *quanta, double *sums,
                                 bool *made) MD_CHECKED;

#endif
