/* The launches the engine makes, one per kernel file; instantiated there for every layout.
 *
 * All are asynchronous, on the stream of `launch`, and return MD_RUNTIME if the launch itself fails.
 */
#ifndef MD_GPU_PARTICLE_LAUNCH_CUH
#define MD_GPU_PARTICLE_LAUNCH_CUH

#include "common/engine.h"
#include "gpu/runtime/cuda.h"
#include "gpu/step/kick_drift.cuh"

struct launch {
  cudaStream_t stream;
  int threads;     /* a block */
  int most_blocks; /* a grid that walks need not be larger */
  int processors;  /* of the device */
  bool early;      /* can the device begin a launch before the one before it has ended? */
};

/* Blocks for one thread per element; one if there are none, as a rank may have no particles. */
inline int blocks_for(int64_t count, int threads)
{
  return count > 0 ? (int)((count + threads - 1) / threads) : 1;
}
inline int blocks_walking(const launch &l, int64_t count)
{
  const int blocks = blocks_for(count, l.threads);
  return blocks < l.most_blocks ? blocks : l.most_blocks;
}

/* Launches a kernel that begins with await_launches(): its blocks take their places while the last ones of the kernel
 * before it are still at work, so that there is no gap between the two. Where the device can; else like any other. */
template <class... Words, class... Given>
md_status launch_early(const launch &l, int blocks, const char *what, void (*kernel)(Words...),
                       Given &&...given)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)l.threads);
  config.stream = l.stream;
  config.attrs = &early;
  config.numAttrs = l.early ? 1 : 0;
  return md_cuda_check(cudaLaunchKernelEx(&config, kernel, given...), what);
}

/* Every layout the engine can run with. */
typedef exact_layout<2, false> exact2;
typedef exact_layout<2, true> exact2_tagged;
typedef exact_layout<3, true> exact3_tagged;
typedef packed_layout exact3_packed;
typedef mixed_layout<2, false> mixed2;
typedef mixed_layout<2, true> mixed2_tagged;
typedef mixed_layout<3, true> mixed3_tagged;
#define MD_EXACT_LAYOUTS(DO) DO(exact2) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)
#define MD_LAYOUTS(DO) MD_EXACT_LAYOUTS(DO) DO(mixed2) DO(mixed2_tagged) DO(mixed3_tagged)

/* Calls f(style) with the pair style as a constant, style.value, that kernels can be instantiated with. false: there is no
 * such style. */
template <class F> bool with_style(md_pair_kind kind, F &&f)
{
  switch (kind) {
#define MD_PAIR_STYLE(symbol, name)                                                                          \
  case MD_PAIR_##symbol:                                                                                     \
    f(std::integral_constant<int, MD_PAIR_##symbol>{});                                                      \
    return true;
#include "common/pair_styles.h"
#undef MD_PAIR_STYLE
  default: return false;
  }
}

/* Calls f(style) for a kernel that must be there, and returns its status. */
template <class F> md_status launch_styled(md_pair_kind kind, F &&f)
{
  md_status status = MD_OK;
  if (with_style(kind, [&](auto style) { status = f(style); })) return status;
  return md_error(MD_RUNTIME, "the GPU engine has no kernel for this pair style");
}

/* bin.cu: counts particles (count) and ghosts (ghost_count) per cell, and leaves each particle's place (state.cuh) behind;
 * ids != NULL: writes cell ids and 0, 1, 2 ... instead. */
template <class T>
md_status launch_bin(const launch &, const system_view<T> &, int *count, int *ghost_count, unsigned *ids,
                     int *index);

/* sort.cu: particles into cell order: records into the other position array, and the other fields from the view's
 * arrays into these; the cells, if wanted; ghosts' owners and shifts. */
template <class T> struct moved_fields {
  typename T::real *v[3];
  int *origin;
  const int *origin_from;
};
/* What the last two steps before a rebin do for it, so that there is nothing left to do: the first counts in cursor[]
 * how many particles each cell will hold after the other; that one, the counts having become the first free place of each
 * cell, moves every particle to its place. */
enum step_sorting { SORTS_NOT, SORTS_COUNT, SORTS_MOVE };
template <class T> struct next_order {
  step_sorting sorting;
  int *cursor;
  moved_fields<T> to; /* of SORTS_MOVE */
};
/* order[k]: who comes k-th in the order of cells, by the places that counting has left and the beginnings of cells. */
template <class T> md_status launch_index(const launch &, const system_view<T> &, int *order);
/* order may lie where the new origins will; ghost_cursor: as cursor, NULL without ghosts. */
template <class T>
md_status launch_reorder(const launch &, const system_view<T> &, int *ghost_cursor, const int *order,
                         const moved_fields<T> &);
/* Bytes of scratch, or the sort itself if scratch is not NULL: (id, index) by id into (sorted, order). */
md_status sort_by_cell(const launch &, int n, int bits, const unsigned *id, unsigned *sorted,
                       const int *index, int *order, void *scratch, size_t *bytes);
/* After any of them: nothing is stale; flip: the other position array is the present. Takes launch number `launch`. */
md_status launch_rebinned(const launch &, control *ctl, unsigned launch, bool flip);
/* Sets the progress, with the device at rest; forgets overflows. */
md_status launch_set_progress(const launch &, control *ctl, unsigned launch, const progress &now);

/* Bytes of the beginnings of so many cells, and of the end of the last; a place more, as cursors stand one place up. */
inline int64_t bytes_of_starts(int64_t cells) { return (cells + 2) * 4; }

/* cell_start.cu: exclusive prefix sums in place, or where each id begins in sorted ids. */
md_status scan_counts(const launch &, int64_t count, int *values, void *scratch, size_t *bytes);
md_status launch_fill_starts(const launch &, int n, int total, const unsigned *sorted, int *start);

/* halo.cu: records of the ghosts from their owners, in the present position array. */
template <class T> md_status launch_halo(const launch &, const system_view<T> &);

/* list.cu: positions in single precision into the idle position array, then the lists. Tagged layouts. */
template <class T> md_status launch_list(const launch &, const system_view<T> &);

/* list_check.cu: whether lists still hold, after step number `step`, whose slot it tells. Tagged layouts. */
template <class T> md_status launch_check_lists(const launch &, const system_view<T> &, unsigned step);

/* step_cells_2d.cu, step_cells_3d.cu, step_list.cu: force, kick and drift of one step in one kernel; one type, no
 * thermostat. The first for plain layouts, which alone sort: all particles without ghosts, or both parts of a step. */
template <class T>
md_status launch_step_cells_2d(const launch &, md_pair_kind, const system_view<T> &, const step_args &,
                               const next_order<T> &);
template <class T>
md_status launch_step_cells_3d(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
template <class T>
md_status launch_step_list(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
/* step_dense.cu: as launch_step_cells_3d() in three dimensions, for all particles or a part that lies together; faster
 * where cells hold many. */
template <class T>
md_status launch_step_dense(const launch &, md_pair_kind, const system_view<T> &, const step_args &);

/* force.cu: impulses or forces, by the view's table, into impulse[d][i]. step: part of one, so idle if there is
 * nothing to do, and overlaps stop it; else unconditional. */
template <class T>
md_status launch_force(const launch &, md_pair_kind, int source, const system_view<T> &,
                       typename T::real *const impulse[3], bool step);
/* ladder.cu: the same bits, by the variant that sorted, padded, unrolled and staged of the options name; from cells,
 * without ghosts. order: of launch_index, or NULL if particles are sorted. */
md_status launch_force_ladder(const launch &, md_pair_kind, const md_gpu_options &,
                              const system_view<exact2> &, const int *order, double *const impulse[3],
                              bool step);
/* force_symmetric.cu: the same bits, each pair once, added to both partners by atomicAdd. Exact layouts. */
template <class T>
md_status launch_force_symmetric(const launch &, md_pair_kind, int source, const system_view<T> &,
                                 double *const impulse[3], bool step);

/* move.cu: kick and drift in place, for every model; and `kicks` impulses without a drift. */
template <class T>
md_status launch_move(const launch &, int source, const system_view<T> &, const step_args &,
                      const typename T::real *const impulse[3]);
template <class T>
md_status launch_kick(const launch &, const system_view<T> &, const step_args &, double kicks,
                      const typename T::real *const impulse[3]);

/* measure.cu: adds to sums[SUMS]; pair terms only if there is a pair style. Overlaps are noted as those of steps are. */
enum { SUM_ENERGY, SUM_VIRIAL, SUM_KINETIC, SUM_MOMENTUM, SUMS = SUM_MOMENTUM + 3 };
/* Each is a fine sum (common/exact.h) in its two parts, and these are sums of the upper and lower halves of integers. */
enum { SUM_COARSE, SUM_REST, SUM_PARTS };
struct measure_args {
  double per_e, per_w, per_k;            /* to coarse quanta; per_w: from the table's forces times a length */
  const double *table;                   /* of forces, in double */
  const double *velocity_per_v, *v_step; /* by 0-based type */
  double mass_reference, quantum;        /* of momenta, p/m_reference; 0 for mixed layouts */
  bool wide;                             /* momenta, of which */
  const int64_t *low[3];                 /* the second words are as of step_args; NULL for mixed layouts */
  const int *origin;                     /* original index of each particle */
  unsigned long long *high[SUM_PARTS], *lower[SUM_PARTS]; /* [SUMS] each */
};
template <class T>
md_status launch_measure(const launch &, md_pair_kind, int source, const system_view<T> &,
                         const measure_args &);

/* output_force.cu: forces for output, in energy/length, in place of `coarse`; `rest` is scratch. Exact layouts. */
struct output_force_args {
  md_pair_kind kind;
  const double *table;          /* of forces, in coarse quanta, */
  double quantum;               /* and the fine quantum */
  int64_t *coarse[3], *rest[3]; /* [n] each */
};
template <class T>
md_status launch_output_force(const launch &, int source, const system_view<T> &, const output_force_args &);

/* output.cu: particles in and out, in the order of the host's arrays (origin NULL: in that of the device), and pictures
 * of them. */
template <class T>
md_status launch_load_position(const launch &, const system_view<T> &, int d, const double *from);
template <class T>
md_status launch_load_velocity(const launch &, const system_view<T> &, int d, const double *from);
template <class T> md_status launch_load_type(const launch &, const system_view<T> &, const uint16_t *from);
md_status launch_load_origin(const launch &, int n, int *origin);
template <class T>
md_status launch_unload_position(const launch &, const system_view<T> &, int d, const int *origin,
                                 typename T::position *to);
template <class T>
md_status launch_unload(const launch &, int n, const typename T::real *from, const int *origin,
                        typename T::real *to);
template <class T>
md_status launch_histogram(const launch &, const system_view<T> &, const md_histogram &,
                           unsigned long long *count);

/* all_pairs.cu: the naive way, for exact tagged layouts: every pair, at its minimum image. */
template <class T>
md_status launch_force_all(const launch &, md_pair_kind, const system_view<T> &, double *const impulse[3],
                           bool step);
template <class T>
md_status launch_measure_all(const launch &, md_pair_kind, const system_view<T> &, const measure_args &);

/* diagnose.cu: which pair or particle of the smallest ids it was. found is on the device. origin NULL: ids are by local
 * index, ghosts included. */
struct culprit {
  unsigned long long a, b; /* ids of a pair; or id and axis */
  double r2, x, v;
  int type; /* 0-based */
};
template <class T>
md_status launch_find_overlap(const launch &, int source, const system_view<T> &, const int64_t *id,
                              const int *origin, culprit *found);
template <class T>
md_status launch_find_runaway(const launch &, const system_view<T> &, const step_args &, const int64_t *id,
                              const int *origin, culprit *found);

#endif
