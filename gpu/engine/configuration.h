/* What the engine decides before it begins: how neighbours are found, the grid of cells, and the memory that takes.
 * Host code only; `myriad plan` and the engine share it.
 */
#ifndef MD_GPU_ENGINE_CONFIGURATION_H
#define MD_GPU_ENGINE_CONFIGURATION_H

#include "common/engine.h"

typedef struct gpu_configuration {
  md_gpu_neighbours neighbours; /* never AUTO */
  bool tagged, fused;
  bool packed;     /* see layout.cuh */
  bool step_sorts; /* the last two steps before a rebin do its work; on several ranks, if they are slabs */
  bool dense;      /* without lists: a warp finds the neighbours of its particles together (step_dense.cu) */
  double skin, reach; /* sigma */
  double extra;       /* at most so much farther are fast particles listed */
  int count[3];       /* cells, without the border */
  int border[3];      /* and the border on each side */
  int64_t cells;      /* with the border */
  double halo[3];     /* how far ghosts reach beyond the box, on one rank; 0: none */
  double slack;       /* how far a particle may move before a rebin */
  double beyond;      /* and so much farther, with lists, as long as its pairs are looked at */
  int64_t ghosts;     /* expected, on one rank */
  int rows;           /* of four neighbours, expected for the longest list; 0 without lists */
  bool no_room;       /* lists were wanted, but memory is short */
} gpu_configuration;

/* Decides for n particles on so many ranks and `available` bytes on each (0: unlimited). Cells are those of the whole
 * box. MD_USAGE: options that exclude each other. */
md_status gpu_configure(const md_model *model, int64_t n, int ranks, const md_engine_options *options,
                        int64_t available, gpu_configuration *config) MD_CHECKED;

/* Makes cells fewer, and so wider, until all domains have equally many, so that none has more particles than others; where
 * there are too few for that, nothing changes. */
void gpu_divide_cells(const md_model *model, const int domains[3], gpu_configuration *config);

/* How far beyond the box packed positions reach on each side: the farthest that a particle may move in a step, twice. */
double gpu_packed_margin(const md_model *model);

/* How far ghosts must reach along an axis that has any; wraps: coordinates wrap on their own at its faces. */
double gpu_halo(const md_model *model, const gpu_configuration *config, int axis, bool wraps);
/* And how many cells that is, where they do not: the fewest that a domain may have. */
int gpu_halo_cells(const md_model *model, const gpu_configuration *config, int axis);

/* Rows of cells beyond the cuts between slabs, the thinnest of which has so many, in which a rank may own particles, where
 * steps sort (ranks/deferred.inc); 0: too thin for that. */
int gpu_buffer_rows(const gpu_configuration *config, int thinnest);
/* How thick slabs must be to be preferred to other domains; 0: they are not. */
double gpu_slab(const md_model *model, const gpu_configuration *config);
/* For plans, which choose as one rank does: the choice for the whole box of several, or for n particles of one of them. */
void gpu_plan_ranks(const md_model *model, int64_t n, const md_engine_options *options,
                    gpu_configuration *config);
/* Rows at a cut whose particles a neighbour may need then; and the share of a slab of so many rows that is sent through one
 * cut when particles have just migrated and the buffer rows are empty, with one in GPU_SPARE to spare. */
enum { GPU_SPARE = 8 };
int gpu_near_rows(int buffer_rows);
double gpu_cut_share(int buffer_rows, int rows);

/* Bytes per particle of each array of one of so many ranks, and their sum. */
void gpu_memory(const md_model *model, int64_t n, int ranks, const md_gpu_options *options,
                const gpu_configuration *config, md_engine_plan *plan);

#endif
