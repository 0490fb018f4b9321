/* What the engine decides before it begins: how neighbours are found, the grid of cells, and the memory that takes.
 * Host code only; `myriad plan` and the engine share it.
 */
#ifndef MD_GPU_CHOICE_H
#define MD_GPU_CHOICE_H

#include "common/engine.h"

typedef struct gpu_choice {
  md_gpu_neighbours neighbours; /* never AUTO */
  bool tagged, fused;
  double skin, reach; /* sigma */
  int count[3];       /* cells, without the border */
  int border[3];      /* and the border on each side */
  int64_t cells;      /* with the border */
  double halo[3];     /* how far ghosts reach beyond the box; 0: none */
  double slack;       /* how far a particle may move before a rebin */
  int64_t ghosts;     /* expected */
  int rows;           /* of four neighbours, expected for the longest list; 0 without lists */
  bool no_room;       /* lists were wanted, but memory is short */
} gpu_choice;

/* Decides for n particles and `available` bytes (0: unlimited). MD_USAGE: options that exclude each other. */
md_status gpu_choose(const md_model *model, int64_t n, const md_engine_options *options, int64_t available,
                     gpu_choice *choice) MD_CHECKED;

/* Bytes per particle of each array, and their sum. */
void gpu_memory(const md_model *model, int64_t n, const md_gpu_options *options, const gpu_choice *choice,
                md_engine_plan *plan);

#endif
