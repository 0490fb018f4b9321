/* The configuration: what the GPU engine decides before it begins. It holds how neighbours are found, the grid of
 * cells, how far ghosts reach, and the layout. From these follow the bytes of memory.
 *
 * Host code only; `myriad plan` and the engine share it. Lengths are in the deck's unit.
 */
#ifndef MD_GPU_ENGINE_CONFIGURATION_H
#define MD_GPU_ENGINE_CONFIGURATION_H

#include "common/engine.h"

/* Rows of cells from which on slabs are preferred to other domains. */
enum { GPU_SLAB_ROWS = 432 };

typedef struct gpu_configuration {
  md_gpu_neighbours neighbours; /* never AUTO */
  bool tagged, fused;
  bool packed;        /* packed layout (gpu/particle/layout.cuh) */
  bool step_sorts;    /* the last two steps before a rebin do its work; on several ranks, for slabs only */
  bool dense;         /* without lists: warp search (gpu/step/step_dense.cu) */
  double skin, reach; /* skin; and cutoff + skin, the reach of lists */
  double extra;       /* most additional reach of a fast particle's list */
  int count[3];       /* cells, without the border */
  int border[3];      /* cells of the border on each side */
  int64_t cells;      /* cells in all, with the border */
  bool small; /* a periodic side is shorter than two cutoffs, or may be: images are in several layers */
  double least_width; /* of a cell and its border along an axis of a small box; else 0 */
  double halo[3];     /* how far ghosts reach beyond the box, on one rank; 0: no ghosts */
  double bond_reach;  /* on several ranks: how far ghosts must reach for the longest bond */
  double slack;       /* how far a particle may move before a rebin */
  double strain;      /* how much the box may change with lists, as a fraction of its sides, before a rebin */
  double beyond;      /* how much farther it may move with lists, while list checks look at its pairs */
  int64_t ghosts;     /* ghosts expected on one rank */
  int rows;           /* rows of four neighbours, expected for the longest list; 0 without lists */
  bool no_room;       /* lists were wanted, but memory is short */
} gpu_configuration;

/* Decides for n particles on `ranks` ranks with `available` bytes of memory on each (0: unlimited). The cells of
 * *config are those of the whole box. MD_USAGE: options exclude each other, or the box is too small for mixed
 * precision. */
md_status gpu_configure(const md_model *model, int64_t n, int ranks, const md_engine_options *options,
                        int64_t available, gpu_configuration *config) MD_CHECKED;

/* The boxes for which a configuration is: faces between lo and hi, lengths between least and most. They hold the
 * present box and that of the next step. Only axes that a fix changes have a range. */
void gpu_box_range(const md_model *model, double lo[3], double hi[3], double least[3], double most[3]);

/* Reduces the number of cells along each axis, so that all domains have the same number of cells and none has more
 * particles than others. Cells become wider. Along an axis with too few cells for this, nothing changes. */
void gpu_divide_cells(const md_model *model, const int domains[3], gpu_configuration *config);

/* How many times as long as a periodic side the cutoff may be (md_engine_kind.sides_most): more than 0.5 with lists, in
 * double precision, on one rank. */
double gpu_sides_most(const md_engine_options *options, int ranks);

/* The width of the cells along an axis of that length. In a small box the last cell may go on behind the face. */
double gpu_cell_width(const gpu_configuration *config, int axis, double length);

/* How far beyond the box packed positions reach on each side: twice the farthest that a particle may move in a
 * step. */
double gpu_packed_margin(const md_model *model);

/* How far ghosts must reach along an axis that has ghosts. wraps: coordinates wrap at the faces of this axis by
 * themselves. */
double gpu_halo(const md_model *model, const gpu_configuration *config, int axis, bool wraps);
/* The same in cells, for an axis whose coordinates do not wrap by themselves: the fewest cells that a domain may
 * have. */
int gpu_halo_cells(const md_model *model, const gpu_configuration *config, int axis);

/* Number of buffer rows at the cuts between slabs, where steps sort (gpu/ranks/deferred.inc). thinnest: rows of the
 * thinnest slab. 0: the slabs are too thin for buffer rows. */
int gpu_buffer_rows(const gpu_configuration *config, int thinnest);
/* How thick slabs must be to be preferred to other domains; 0: slabs are not preferred. */
double gpu_slab(const md_model *model, const gpu_configuration *config);
/* Changes a configuration of one rank for a plan: n particles on one of several ranks, or the whole box of several
 * ranks (md_engine_options.slab says which of the two). */
void gpu_plan_ranks(const md_model *model, int64_t n, const md_engine_options *options,
                    gpu_configuration *config);
/* gpu_rows_sent(): rows at a cut whose particles a neighbour may need. gpu_cut_share(): the share of a slab of
 * `rows` rows that is sent through one cut just after a migration, when the buffer rows are empty. One part in
 * GPU_SPARE is added to spare. */
enum { GPU_SPARE = 8 };
int gpu_rows_sent(int buffer_rows);
double gpu_cut_share(int buffer_rows, int rows);

/* The most cells of a rank, whose numbers are of 32 bits. */
#define GPU_CELLS_MOST 2147483000.0

/* On several ranks: the number of particles for which there is room on a rank that begins with n. */
enum { GPU_ROOM = 32 };
static inline int64_t gpu_room_for(int64_t n)
{
  const int64_t room = n + n / GPU_ROOM + 4096;
  return room < MD_PARTICLES_MAX ? room : MD_PARTICLES_MAX;
}

/* Fills *plan with the bytes per particle of each array, on one of `ranks` ranks, and with their sum. */
void gpu_memory(const md_model *model, int64_t n, int ranks, const md_gpu_options *options,
                const gpu_configuration *config, md_engine_plan *plan);

/* host_bytes of md_engine_kind: bonds of all particles are converted at once. */
double gpu_host_bytes(const md_model *model, int ranks);

/* Do fixes or computes of the model need ids of particles on one rank? */
static inline bool needs_ids(const md_model *model)
{
  return model->nmiddle > 0 || model->nend > 0 || md_pair_is_dissipative(&model->pair) ||
         model->ncompute > MD_COMPUTES_STANDARD;
}

#endif
