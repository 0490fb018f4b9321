/* The functions that launch the kernels, one group for each kernel file. They are instantiated in that file for
 * every layout.
 *
 * All launches are asynchronous, in the stream of `launch`. All return MD_RUNTIME if the launch itself fails. All
 * pointers to data are to device memory that the caller owns, unless a comment says otherwise.
 */
#ifndef MD_GPU_PARTICLE_LAUNCH_CUH
#define MD_GPU_PARTICLE_LAUNCH_CUH

#include "common/engine.h"
#include "common/pair/dissipative/dissipative.h"
#include "common/pair/tables/density.h"
#include "common/pair/three_body/three_body.h"
#include "common/spring/centre.h"
#include "common/sums/distances.h"
#include "common/sums/each.h"
#include "common/sums/environment.h"
#include "common/sums/follow.h"
#include "common/sums/front.h"
#include "gpu/move/kick_drift.cuh"
#include "gpu/particle/fields.cuh"
#include "gpu/runtime/cuda.h"

struct launch {
  cudaStream_t stream;
  int threads;        /* in a block */
  int most_blocks;    /* the most blocks of a kernel whose blocks walk through the particles */
  int processors;     /* multiprocessors of the device */
  bool early;         /* can the device begin a launch before the launch before it has ended? */
  int lanes;          /* that share a particle of a step with lists; 0: lanes_for_particle() chooses */
  size_t most_shared; /* bytes of shared memory that a block may have */
  size_t shared = 0;  /* of these, what a block of this launch asks for, by launch_early() */
};

/* The same launch with `threads` threads in a block. */
inline launch of_threads(launch l, int threads)
{
  l.threads = threads;
  return l;
}

/* The number of blocks for one thread per element. It is one if there are no elements, because a rank may have no
 * particles. blocks_walking(): at most `most_blocks`. */
inline int blocks_for(int64_t count, int threads)
{
  return count > 0 ? (int)((count + threads - 1) / threads) : 1;
}
inline int blocks_walking(const launch &l, int64_t count)
{
  const int blocks = blocks_for(count, l.threads);
  return blocks < l.most_blocks ? blocks : l.most_blocks;
}

/* The lanes that share a particle of a step with lists: more than one if the device has threads for them. Measured, see
 * docs/history.md. */
inline int lanes_for_particle(const launch &l, int64_t count)
{
  if (l.lanes > 0) return l.lanes;
  const double threads = 1024.0 * l.processors / (double)(count > 0 ? count : 1);
  return threads >= 8.0 ? 8 : threads >= 1.2 ? 2 : 1;
}
template <class T> constexpr bool HAS_LANES = T::DIM == 3 && T::TAGGED;

/* Launches whose threads stay for several steps: a multiprocessor has one block, of at most this many threads. Are
 * particles so few that two of these threads can share each? Then a rebin takes one launch. */
constexpr int STAYING_THREADS = 512;
inline bool are_few(const launch &l, int64_t count)
{
  return 2 * count <= (int64_t)STAYING_THREADS * l.processors;
}

/* The lanes that share a particle in a launch of several steps. 0: there are too many particles for it, or one lane is
 * wanted. Measured, see docs/history.md. */
inline int lanes_staying(const launch &l, int64_t count)
{
  for (int lanes = 8; lanes > 1; lanes /= 2)
    if ((l.lanes == 0 || l.lanes == lanes) && are_few(l, count * (lanes / 2))) return lanes;
  return 0;
}

/* Launches a kernel with an attribute, or NULL: without. what: names the launch in errors. */
template <class... Words, class... Given>
md_status launch_with(const launch &l, int blocks, cudaLaunchAttribute *attribute, const char *what,
                      void (*kernel)(Words...), Given &&...given)
{
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)l.threads);
  config.dynamicSmemBytes = l.shared;
  config.stream = l.stream;
  config.attrs = attribute;
  config.numAttrs = attribute ? 1 : 0;
  return md_cuda_check(cudaLaunchKernelEx(&config, kernel, given...), what);
}

/* Launches a kernel that begins with await_launches(). Its blocks begin while the last blocks of the
 * launch before it are still at work, so that there is no gap between the two launches. A device that cannot do
 * this makes an ordinary launch. */
template <class... Words, class... Given>
md_status launch_early(const launch &l, int blocks, const char *what, void (*kernel)(Words...),
                       Given &&...given)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(l, blocks, l.early ? &early : nullptr, what, kernel, given...);
}

/* Launches a kernel whose blocks wait for each other (grid_barrier.cuh), if the device has room for all of them. */
template <class... Words, class... Given>
md_status launch_together(const launch &l, int blocks, const char *what, void (*kernel)(Words...),
                          Given &&...given)
{
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  return launch_with(l, blocks, &together, what, kernel, given...);
}

/* Lets a kernel have this much shared memory. A kernel has up to SHARED_ALWAYS bytes without asking. */
template <class KERNEL> md_status allow_shared(KERNEL kernel, size_t bytes)
{
  const size_t SHARED_ALWAYS = 48 * 1024;
  if (bytes > SHARED_ALWAYS)
    MD_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return MD_OK;
}

/* The arrays of the components of a vector, as an argument of a kernel. */
template <class REAL> struct component_arrays {
  REAL *at[3];
};
template <class REAL> component_arrays<REAL> arrays_of(REAL *const component[3])
{
  return {{component[0], component[1], component[2]}};
}

/* Every layout with which the engine can run. */
typedef exact_layout<2, false> exact2;
typedef exact_layout<2, true> exact2_tagged;
typedef exact_layout<3, true> exact3_tagged;
typedef packed_layout exact3_packed;
typedef mixed_layout<2, false> mixed2;
typedef mixed_layout<2, true> mixed2_tagged;
typedef mixed_layout<3, true> mixed3_tagged;
#define MD_EXACT_LAYOUTS(DO) DO(exact2) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)
#define MD_EXACT_TAGGED_LAYOUTS(DO) DO(exact2_tagged) DO(exact3_tagged) DO(exact3_packed)
#define MD_LAYOUTS(DO) MD_EXACT_LAYOUTS(DO) DO(mixed2) DO(mixed2_tagged) DO(mixed3_tagged)

/* Calls f(style), where style.value is the pair style as a constant, which can be a template argument of a kernel:
 * MD_PAIR_SHARED_STYLE for all styles that share kernels, and MD_PAIR_HYBRID_STYLE for those with sub-styles. Returns
 * false if there is no such style. */
template <class F> bool with_style(md_pair_kind kind, F &&f)
{
  switch (kind) {
#define MD_PAIR_CUT(symbol)                                                                                  \
  case MD_PAIR_##symbol:                                                                                     \
    f(std::integral_constant<int, MD_PAIR_##symbol>{});                                                      \
    return true;
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#define MD_PAIR_HYBRID(symbol) case MD_PAIR_##symbol:
#include "common/pair/pair_styles.h"
#undef MD_PAIR_HYBRID
    f(std::integral_constant<int, MD_PAIR_HYBRID_STYLE>{});
    return true;
  default: break;
  }
  const bool shared = md_pair_shares_kernels(kind);
  if (shared) f(std::integral_constant<int, MD_PAIR_SHARED_STYLE>{});
  return shared;
}

/* Calls f(style), which launches a kernel, and returns its status. MD_RUNTIME: there is no such style. */
template <class F> md_status launch_styled(md_pair_kind kind, F &&f)
{
  md_status status = MD_OK;
  if (with_style(kind, [&](auto style) { status = f(style); })) return status;
  return md_error(MD_RUNTIME, "the GPU engine has no kernel for this pair style");
}

/* The same for kernels with lists, of which the styles of MD_PAIR_LISTED have instances of their own. */
template <class F> md_status launch_listed(md_pair_kind kind, F &&f)
{
  switch (kind) {
#define MD_PAIR_LISTED(symbol)                                                                               \
  case MD_PAIR_##symbol:                                                                                     \
    return f(std::integral_constant<int, MD_PAIR_##symbol>{});
#include "common/pair/pair_styles.h"
#undef MD_PAIR_LISTED
  default: return launch_styled(kind, f);
  }
}

/* gpu/neighbour/bin.cu: counts the particles of each cell in `count`, and the ghosts of each cell in `ghost_count`
 * (NULL: not), and stores the number of each particle in its cell (cell_member in view.cuh). If ids is not NULL, the
 * particles are not counted: their cells go to `ids`, and 0, 1, 2 ... to `index`. */
template <class T>
md_status launch_bin(const launch &, const system_view<T> &, int *count, int *ghost_count, unsigned *ids,
                     int *index);

/* gpu/neighbour/sort.cu: puts the particles into the order of cells. The records go to the other position array, and
 * the other fields from the arrays of the view to these. The cells of the particles, if the view has an array for them,
 * and the sources and shifts of ghosts are written too. */
template <class T> struct moved_fields {
  typename T::real *v[3];
  int *origin;
  const int *origin_from;
};
/* The work of a rebin that the last two steps before it do. The step with SORTS_COUNT counts in cursor[] how many
 * particles each cell will hold after the next step. A prefix sum makes cursor[] the first free index of each
 * cell. The step with SORTS_MOVE writes every particle to its index. Then a rebin has nothing left to do. */
enum step_sorting { SORTS_NOT, SORTS_COUNT, SORTS_MOVE };
template <class T> struct next_order {
  step_sorting sorting;
  int *cursor;
  moved_fields<T> to; /* for SORTS_MOVE */
};
/* order[k] is the index of the k-th particle in the order of cells. It comes from the numbers that counting stored
 * and from the first particle of each cell. */
template <class T> md_status launch_index(const launch &, const system_view<T> &, int *order);
/* order: it may lie where the new origins will be written. ghost_cursor: the first free index of each cell for
 * ghosts, which get their sources, shifts and positions, or NULL without ghosts. rebins: the kernel is launch number
 * view.launch, and ends a rebin: these positions are the present ones then. outcome: where the progress before the
 * rebin is written, in pinned memory of the host, or NULL. */
template <class T>
md_status launch_reorder(const launch &, const system_view<T> &, int *ghost_cursor, const int *order,
                         const moved_fields<T> &, bool rebins, progress *outcome);
/* Sorts pairs (id, index) by id, into (sorted, order). If scratch is NULL, it only tells the bytes of scratch that
 * it needs. bits: of an id that are compared. */
md_status sort_by_cell(const launch &, int n, int bits, const unsigned *id, unsigned *sorted,
                       const int *index, int *order, void *scratch, size_t *bytes);
/* Ends a rebin that leaves the particles where they are: nothing is stale any more. The kernel is launch number
 * `launch`. */
md_status launch_rebinned(const launch &, control *ctl, unsigned launch, progress *outcome);
/* Sets the progress, and forgets overflows. The device must be at rest. */
md_status launch_set_progress(const launch &, control *ctl, unsigned launch, const progress &now);
/* Copies the control block to pinned memory of the host, and then stores the number there. */
md_status launch_report_progress(const launch &, const control *ctl, control *copy, uint32_t *arrived,
                                 uint32_t number);

/* Bytes of an array with the first particle of each of `cells` cells and the end of the last cell. There is one
 * more entry, because cursors lie one entry higher. */
inline int64_t bytes_of_starts(int64_t cells) { return (cells + 2) * 4; }

/* gpu/neighbour/cell_start.cu: an exclusive sum of `count` values in place (scratch NULL: it only tells the bytes of
 * scratch that it needs); and the first particle of each cell, from sorted cell numbers. */
md_status scan_counts(const launch &, int64_t count, int *values, void *scratch, size_t *bytes);
/* The same in one launch for one or two arrays (the second NULL: for one) of at most FEW_CELLS values. */
enum { FEW_CELLS = 1 << 14 };
struct few_counts {
  int *at[2], count[2];
};
md_status sum_few_counts(const launch &, const few_counts &);
md_status launch_fill_starts(const launch &, int n, int total, const unsigned *sorted, int *start);

/* gpu/neighbour/periodic_images.cu: writes the records of the ghosts from those of their sources, in the present
 * position array. */
template <class T> md_status launch_periodic_images(const launch &, const system_view<T> &);
/* Copies values of particles to their images, for exact tagged layouts on one rank. value: [particles and ghosts]. */
template <class T, class VALUE>
md_status launch_image_values(const launch &, const system_view<T> &, VALUE *value);

/* gpu/neighbour/list.cu: copies the positions in single precision into the idle position array; and makes the lists,
 * after it has copied the positions that are left. For tagged layouts. */
enum rounded_part { ROUNDS_ALL, ROUNDS_OWN, ROUNDS_GHOSTS };
template <class T> md_status launch_round(const launch &, const system_view<T> &, rounded_part);
template <class T> md_status launch_list(const launch &, const system_view<T> &, rounded_part left);

/* gpu/neighbour/list_check.cu: checks whether the lists still hold after launch number `step`. If not, the slot of that
 * launch becomes stale. For tagged layouts. */
template <class T> md_status launch_check_lists(const launch &, const system_view<T> &, unsigned step);

/* gpu/step/step_cells_2d.cu, gpu/step/step_cells_3d.cu, gpu/step/step_list.cu: force, kick and drift of one step in one
 * kernel, for models that are fused (gpu_configuration). Only launch_step_cells_2d(), for plain layouts, can do the
 * work of a rebin (next_order): for all particles without ghosts, or for both parts of a step. */
template <class T>
md_status launch_step_cells_2d(const launch &, md_pair_kind, const system_view<T> &, const step_args &,
                               const next_order<T> &);
template <class T>
md_status launch_step_cells_3d(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
template <class T>
md_status launch_step_list(const launch &, md_pair_kind, const system_view<T> &, const step_args &);
/* gpu/neighbour/rebin_few.cu: a whole rebin on one rank, which sorts by counting, with ghosts and lists; for particles
 * that are_few(), with at most seven images each. start, ghost_start: where the first particle of each cell is written,
 * and the first ghost (NULL: there are no ghosts). outcome: as for launch_reorder(). */
template <class T>
md_status launch_rebin_few(const launch &, const system_view<T> &, int *start, int *ghost_start,
                           const moved_fields<T> &, progress *outcome);
/* gpu/step/steps_list.cu: takes up to `steps` steps, as launch_step_list() does, on one rank. lanes_staying() must not
 * be 0, and the view must have ghost.of if there are ghosts. */
template <class T>
md_status launch_steps_list(const launch &, md_pair_kind, const system_view<T> &, const step_args &,
                            unsigned steps);
/* gpu/step/step_dense.cu: does the same as launch_step_cells_3d(). It is faster where cells hold many particles. */
template <class T>
md_status launch_step_dense(const launch &, md_pair_kind, const system_view<T> &, const step_args &);

/* gpu/step/force_list.cu: sums impulses into impulse[d][i], as launch_force() does, for one type and momenta that are
 * not wide. */
template <class T>
md_status launch_force_list(const launch &, md_pair_kind, const system_view<T> &,
                            typename T::real *const impulse[3], bool step);

/* gpu/step/force.cu: sums impulses (or forces: what the table of the view holds) into impulse[d][i]. step: the kernel
 * is part of a step, so it does nothing if the system is idle, and an overlap stops the step. Else it sums in any
 * case. */
template <class T>
md_status launch_force(const launch &, md_pair_kind, int source, const system_view<T> &,
                       typename T::real *const impulse[3], bool step);
/* gpu/step/force_cells_2d.cu: the same bits, with the variant that the options sorted, padded, unrolled and staged
 * select; from cells, without ghosts, for styles with kernels of their own. order: from launch_index(), or NULL if the
 * particles are sorted. */
md_status launch_force_cells_2d(const launch &, md_pair_kind, const md_gpu_options &,
                                const system_view<exact2> &, const int *order, double *const impulse[3],
                                bool step);
/* gpu/step/force_symmetric.cu: the same bits, but each pair is evaluated once, and atomics add its impulse to both
 * partners. For exact layouts. */
template <class T>
md_status launch_force_symmetric(const launch &, md_pair_kind, int source, const system_view<T> &,
                                 double *const impulse[3], bool step);

/* What is owed to the velocities after a run (gpu/move/owed.cuh): `kicks` times the impulse, then actions. */
enum { OWED_ACTIONS = 2 };
template <class T> struct owed_work {
  double kicks;
  const typename T::real *impulse[3];
  double quantum; /* of impulses; 1 for mixed layouts */
  int actions;
  md_action action[OWED_ACTIONS];
  particle_fields fields;
};
/* gpu/move/settle.cu: gives it. step: the one that begins now. */
template <class T>
md_status launch_settle(const launch &, const system_view<T> &, const owed_work<T> &, const md_step &step);

/* gpu/move/move.cu: kick and drift in place, for every model. owed: is given first; or NULL. */
template <class T>
md_status launch_move(const launch &, int source, const system_view<T> &, const step_args &,
                      const typename T::real *const impulse[3], const owed_work<T> *owed);

/* Sums on the device. Each is a fine sum (common/arithmetic/exact.h) of two parts. Each part is stored as two numbers:
 * the sum of the upper halves and the sum of the lower halves of the terms, which are 64-bit integers. at:
 * [SUM_PARTS][2][count]. */
enum { SUM_COARSE, SUM_REST, SUM_PARTS };
struct fine_sums {
  unsigned long long *at;
};
inline int64_t fine_sum_bytes(int count) { return (int64_t)SUM_PARTS * 2 * count * 8; }

/* gpu/step/fix_force.cu: fixes that act on forces, on impulses that launch_force() has summed. A force out of range
 * counts as an overlap. */
struct fix_force_args {
  particle_fields fields;
  const md_force_action *action; /* [count] */
  int count;
  int stride; /* if step: the distance in `action` between the actions of two steps; 0: all have the same */
  double scale, quantum;     /* quanta in a unit of force; value of a quantum in the arrays of impulses */
  const double *anchor[3];   /* by original index; NULL: particles have no anchors */
  const double *external[3]; /* the same, of the forces of fix external */
  bool step;                 /* as for launch_force() */
};
template <class T>
md_status launch_fix_force(const launch &, const system_view<T> &, const fix_force_args &,
                           typename T::real *const impulse[3]);
/* Adds the impulses on the group of a.action[0], in quanta, to the first dim of MD_TERMS_MAX fine sums. */
template <class T>
md_status launch_sum_impulses(const launch &, const system_view<T> &, const fix_force_args &,
                              typename T::real *const impulse[3], fine_sums);

/* Adds the terms of the particles of type t of the group to the fine sums number t MD_CENTRE_TERMS and on, of
 * MD_TERMS_MAX. */
template <class T>
md_status launch_sum_centre(const launch &, const system_view<T> &, const particle_fields &,
                            const md_centre &, int ntypes, fine_sums);

/* gpu/output/sum_terms.cu: adds the terms of computes to MD_TERMS_MAX sums. */
struct term_args {
  fine_sums sum;
  const md_summand *summand; /* [nsummand] */
  int nsummand;
  uint64_t wanted; /* bit k: summand k is to be summed */
  bool places;     /* a summand needs positions */
  particle_fields fields;
};
/* owed, step: the terms are those of the velocities with what is owed to them (owed NULL: nothing). */
template <class T>
md_status launch_sum_terms(const launch &, const system_view<T> &, const term_args &,
                           const owed_work<T> *owed, const md_step &step);

/* gpu/step/awaited.cu: sums impulses as launch_force_list() does, and what a fix awaits after the step, into
 * control.awaited, which is 0 before: the kinetic energy of velocities that are complete with `kicks` times the
 * impulse; and for exact layouts what launch_measure() adds to the virial of impulses, or what launch_tensor() adds to
 * its xx, yy and zz, then with these components of the kinetic energy. */
template <class T> constexpr bool SUMS_VIRIAL = !T::MIXED && T::TAGGED;
template <class T> struct awaited_args {
  typename T::real *impulse[3];
  bool speculative; /* do nothing if the lists do not hold or have no room */
  uint8_t *packs; /* store packed impulses, with their top bits here (gpu/move/packed_impulse.cuh); or NULL */
  bool kinetic;
  int virial;            /* the number of sums of the virial: 0, 1, or T::DIM */
  double kicks, quantum; /* the value of a quantum of impulses; 1 for mixed layouts */
  double velocity_per_v, mass_reference, per_unit; /* as md_ke_add() needs them */
  double rounder;                                  /* as in measure_args */
};
template <class T>
md_status launch_awaited(const launch &, md_pair_kind, const system_view<T> &, const awaited_args<T> &);

/* gpu/move/move_scaled.cu: what launch_move() does with what is owed, for one mass, a box that is not tilted and
 * carries all particles, and actions that scale the velocities of all particles. */
template <class T> struct scaled_args {
  const typename T::real *impulse[3];
  const uint8_t *packed; /* of packed ones, for launch_move_packed(): their top bits; or NULL */
  double owed, v_step;   /* kicks that are owed */
  int scalings;
  struct {
    double factor[3], most; /* of each axis; the largest component that is left */
  } scaling[OWED_ACTIONS];
};
template <class T>
md_status launch_move_scaled(const launch &, int source, const system_view<T> &, const step_args &,
                             const scaled_args<T> &);
/* gpu/move/unpack.cu: makes doubles of packed impulses (gpu/move/packed_impulse.cuh), in place. */
md_status launch_unpack_impulses(const launch &, double *const impulse[3], const uint8_t *top, int n);
/* gpu/move/move_packed.cu: the same with lists in a periodic box without walls, on one rank. share: the displacement
 * that view.slack.common_path has of this step already. view.slack.longest_path must hold. */
md_status launch_move_packed(const launch &, const system_view<exact3_packed> &, const step_args &,
                             const scaled_args<exact3_packed> &, float share);

/* gpu/output/measure.cu: adds energies and virials of pairs to the sums, if there is a pair style. An overlap sets
 * HALT_OVERLAP in control.overflow. */
enum { SUM_ENERGY, SUM_VIRIAL, SUMS };
struct measure_args {
  fine_sums sum;
  double per_e, per_w; /* factors to coarse quanta; per_w: for a force of the table times a length */
  const double *table; /* coefficients of forces, in double, or of impulses */
  double rounder;      /* 0; or, if the virial of impulses is wanted, alone: its rounder */
  bool in_place;       /* are the particles where steps move them, with their coarse positions? */
};
template <class T>
md_status launch_measure(const launch &, md_pair_kind, int source, const system_view<T> &,
                         const measure_args &);

/* gpu/output/virial_tensor.cu: adds the components of the virial of pairs to MD_TENSOR sums. An overlap sets
 * HALT_OVERLAP in control.overflow. */
struct tensor_args {
  fine_sums sum;
  md_pair_kind kind;
  double per_w, rounder; /* as in measure_args; with rounder: xx, yy and zz alone */
  const double *table;
};
template <class T>
md_status launch_tensor(const launch &, int source, const system_view<T> &, const tensor_args &);

/* gpu/output/output_force.cu: forces for output, in energy/length, as doubles in place of `coarse`; `rest` is scratch.
 * For exact layouts. */
struct output_force_args {
  md_pair_kind kind;
  const double *table;          /* coefficients of forces, in coarse quanta */
  double quantum;               /* the fine quantum */
  int64_t *coarse[3], *rest[3]; /* [n] each */
};
template <class T>
md_status launch_output_force(const launch &, int source, const system_view<T> &, const output_force_args &);

/* gpu/density/force.cu: styles with a density (common/pair/tables/eam.h), for exact tagged layouts. launch_densities()
 * finds the slopes of owned particles, and launch_density_force() sums impulses into impulse[d][i]. An overlap sets
 * HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_DENSITIES = !T::MIXED && T::TAGGED;
struct density_args {
  md_eam eam;    /* tables and elements in device memory */
  double *slope; /* of owned particles and ghosts; NULL: the style has no densities */
  double scale;  /* of forces: to impulses, or to coarse quanta of grids.f */
  bool step;     /* as for launch_force() */
};
template <class T>
md_status launch_densities(const launch &, int source, const system_view<T> &, const density_args &);
template <class T>
md_status launch_density_force(const launch &, int source, const system_view<T> &, const density_args &,
                               double *const impulse[3]);
/* gpu/density/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_density_measure(const launch &, int source, const system_view<T> &, const density_args &,
                                 const measure_args &);
template <class T>
md_status launch_density_tensor(const launch &, int source, const system_view<T> &, const density_args &,
                                const tensor_args &);
template <class T>
md_status launch_density_output(const launch &, int source, const system_view<T> &, const density_args &,
                                const output_force_args &);

/* gpu/three_body/force.cu: three-body styles (common/pair/three_body/three_body.h), for exact tagged layouts.
 * launch_three_sums() finds what owned particles keep, and launch_three_force() sums impulses into impulse[d][i]. An
 * overlap sets HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_THREE_BODIES = !T::MIXED && T::TAGGED;
enum { KEPT_PARTS = MD_THREE_SUMS / 2 };
struct three_body_args {
  md_three_body three; /* legs and elements in device memory; not phi, which is in the table */
  md_pair_kind kind;
  double reach2; /* the largest cutoff, squared */
  double2 *kept; /* [KEPT_PARTS][stride] of owned particles and ghosts; NULL: the style has no three bodies */
  int64_t stride;      /* from one part to the next */
  const double *table; /* coefficients of pairs: for impulses, or for coarse quanta of grids.f */
  bool step;           /* as for launch_force() */
};
template <class T>
md_status launch_three_sums(const launch &, int source, const system_view<T> &, const three_body_args &);
template <class T>
md_status launch_three_force(const launch &, int source, const system_view<T> &, const three_body_args &,
                             double *const impulse[3]);
/* gpu/three_body/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_three_measure(const launch &, int source, const system_view<T> &, const three_body_args &,
                               const measure_args &);
template <class T>
md_status launch_three_tensor(const launch &, int source, const system_view<T> &, const three_body_args &,
                              const tensor_args &);
template <class T>
md_status launch_three_output(const launch &, int source, const system_view<T> &, const three_body_args &,
                              const output_force_args &);

/* gpu/dissipative/force.cu: styles whose force depends on velocities and random numbers
 * (common/pair/dissipative/dissipative.h), for exact tagged layouts. The state of a particle or ghost is what its
 * neighbours read besides its record. launch_pair_states() makes those of owned particles, and
 * launch_dissipative_force() sums impulses into impulse[d][i]. An overlap sets
 * HALT_OVERLAP in control.overflow. */
template <class T> constexpr bool HAS_DISSIPATION = !T::MIXED && T::TAGGED && !T::PACKED;
struct alignas(32) pair_state {
  double v[3]; /* velocity after the last drift */
  int64_t id;
};
/* Which velocities are those after the last drift: in a step the present ones, but in the first step of a run `kept`;
 * at the end of a run the present ones, which are then kept; or always those that are kept. */
enum states_from { STATES_OF_STEP, STATES_AT_END, STATES_KEPT };
struct dissipation_args {
  md_dissipation_course course;
  int64_t begun; /* the step of the present positions; STATES_OF_STEP: the step with which the run began */
  states_from from;
  bool step; /* as for launch_force() */
  particle_fields fields;
  double quantum;         /* of momenta */
  double *kept[3];        /* velocities by origin */
  pair_state *state;      /* NULL: no such style */
  md_dissipation *shared; /* of all pairs */
  bool hybrid;            /* the style is one of several (common/pair/hybrid/hybrid.h) */
};
template <class T>
md_status launch_pair_states(const launch &, const system_view<T> &, const dissipation_args &);
template <class T>
md_status launch_dissipative_force(const launch &, int source, const system_view<T> &,
                                   const dissipation_args &, double *const impulse[3]);
/* gpu/dissipative/output.cu: the same as launch_measure(), launch_tensor() and launch_output_force(). */
template <class T>
md_status launch_dissipative_measure(const launch &, int source, const system_view<T> &,
                                     const dissipation_args &, const measure_args &);
template <class T>
md_status launch_dissipative_tensor(const launch &, int source, const system_view<T> &,
                                    const dissipation_args &, const tensor_args &);
template <class T>
md_status launch_dissipative_output(const launch &, int source, const system_view<T> &,
                                    const dissipation_args &, const output_force_args &);

/* gpu/output/output.cu: copies particles between the arrays of the host's order and those of the device, one component
 * at a time, and adds particles to the bins of a map. origin: the index of each particle in the host's order; NULL: the
 * order of the device. */
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
                           const particle_fields &, unsigned long long *sum);

/* gpu/sums/distances.cu: counts distances of pairs. far: beyond the cutoff of the forces, on one rank, in a box that is
 * not tilted and whose periodic sides are at least two cutoffs; reach: the cells on each side that may hold a
 * neighbour. sum: [md_distances_size()], on the device. */
struct distance_args {
  md_distances distances;
  particle_fields fields;
  bool far;
  bool all_types; /* there is one pair of types, and all types are in it */
  int reach[3];
  unsigned long long *sum;
};
template <class T>
md_status launch_distances(const launch &, int source, const system_view<T> &, const distance_args &);

/* gpu/sums/bin_sums.cu: the largest size of each value of particles in bins, as the bits of a number, largest[nvalue];
 * and unless sum is NULL the sums of the bins, [n][1 + 2 nvalue]: particles, and quanta and rest of each value. And
 * counts of particles by value, [MD_VALUES_BINS + bins] without the total, with the least and largest value as numbers
 * of the same order. */
struct each_args {
  particle_fields fields; /* those that are not needed are NULL */
  double quantum;         /* of momenta, as in the particles */
  bool places;            /* are places needed? */
};
template <class T>
md_status launch_bin_sums(const launch &, const system_view<T> &, const each_args &, const md_bins &,
                          unsigned long long *largest, unsigned long long *sum);
template <class T>
md_status launch_count_values(const launch &, const system_view<T> &, const each_args &,
                              const md_value_counts &, unsigned long long *count, unsigned long long *range);

/* gpu/sums/environment.cu: values of particles that their neighbours give, on one rank, in a box that is not tilted and
 * does not change. gpu/sums/environment_ghosts.cu: the same anywhere, right after a rebin, for a cutoff of at most the
 * halo. Periodic sides are at least two cutoffs. reach: the cells on each side that may hold a neighbour. Of clusters,
 * launch_environment() makes the trees and their least ids, and launch_cluster_values() the values. */
struct environment_args {
  md_environment what;
  particle_fields fields;
  int reach[3];
  /* by original index; NULL: original indices have the order of ids, and are no cluster's */
  const int64_t *id;
  double *value;         /* [particles][columns], by original index */
  const md_order *order; /* that of `what`, on the device */
  /* set to 1 if all neighbours are wanted, and a particle has too many; of clusters: see launch_meet */
  unsigned *full;
  int *parent;               /* [n] scratch of clusters */
  unsigned long long *least; /* [n] the same */
  /* On several ranks: ids and bits of groups of particles and ghosts, by local index, if they are needed. Of clusters,
   * near_id has the least ids of their trees. Else NULL. */
  int64_t *near_id;
  const int64_t *near_group;
};
template <class T, bool GHOSTS>
md_status launch_environment(const launch &, const system_view<T> &, const environment_args &);
md_status launch_cluster_values(const launch &, int n, const environment_args &);

/* gpu/sums/environment_ghosts.cu: near_id of particles, which ghosts then get from their owners; trees next to ghosts
 * get their least ids, and *full is set to 1 if one has changed; bits of groups, by local index. */
md_status launch_labels(const launch &, int n, const environment_args &);
template <class T> md_status launch_meet(const launch &, const system_view<T> &, const environment_args &);
md_status launch_groups(const launch &, int n, const particle_fields &, int64_t *to);

/* gpu/sums/draw.cu: the particles that are seen in a picture (common/sums/front.h), and what is seen at `count` pixels
 * from `first` on. */
struct draw_args {
  md_drawing drawing;
  md_box box; /* where particles are shown */
  each_args each;
  const double *radius;      /* as in the drawing, on the device */
  const int64_t *id;         /* by original index; NULL: original indices have the order of ids */
  unsigned long long *front; /* [height][width]; 0: nothing is seen yet */
  md_sight *sight;           /* [count]; without ids the id is the original index */
};
template <class T> md_status launch_draw(const launch &, const system_view<T> &, const draw_args &);
template <class T>
md_status launch_sights(const launch &, const system_view<T> &, const draw_args &, int64_t first, int count);

/* gpu/sums/follow.cu: the members of a group, a look at the followed particles, and sums of their records. group: bits
 * of groups by original index, or NULL; bit: that of the group; member: receives a bit for each particle, in n/32 + 1
 * words. */
md_status launch_members(const launch &, int n, const uint32_t *group, uint32_t bit, unsigned *member);
struct follow_args {
  md_follow what;
  each_args each;
  const unsigned *member;   /* a bit for each particle, by original index: is it followed? */
  const int *before;        /* number of bits in the words before each of these */
  int first, last;          /* original indices: all that are followed are from `first` to `last` */
  md_follow_record *record; /* of the particles that are followed, by original index */
  unsigned long long *pace; /* [2]: the largest component of a velocity, and change, as the bits of numbers */
  /* the least of 4 record + axis, of particles that went too far; all bits set: none */
  unsigned long long *fault;
};
template <class T> md_status launch_follow(const launch &, const system_view<T> &, const follow_args &);
struct follow_sum_args {
  md_follow what;
  md_follow_sum sum;
  const md_follow_record *record; /* [n] */
  int64_t n;
  const double *mass;             /* by 0-based type */
  double counts[MD_FOLLOW_TERMS]; /* coarse quanta in a unit of each term */
};
/* largest: the largest size of each term, as the bits of a number, [MD_FOLLOW_TERMS]; NULL: adds the terms to as many
 * fine sums. */
md_status launch_follow_sums(const launch &, const follow_sum_args &, unsigned long long *largest,
                             fine_sums total);

/* gpu/step/force_naive.cu: every pair, at its minimum image, without cells or lists. For exact tagged layouts, packed
 * ones excluded. */
template <class T>
md_status launch_force_all(const launch &, md_pair_kind, const system_view<T> &, double *const impulse[3],
                           bool step);
template <class T>
md_status launch_measure_all(const launch &, md_pair_kind, const system_view<T> &, const measure_args &);

/* gpu/output/diagnose.cu: finds the pair or particle of an error; of several, that with the smallest ids.
 * stage: of the search for a pair, from 0 to FIND_STAGES - 1 (gpu/output/search.cuh). found: on the device. origin: the
 * index of each particle in `id`; NULL: `id` is by local index, ghosts included. Slopes of a style with a density, and
 * states of a dissipative one, are those of the present positions. */
struct culprit {
  unsigned long long a, b; /* the ids of a pair; or an id and an axis */
  double r2, x, v;
  int type; /* 0-based */
};
template <class T>
md_status launch_find_overlap(const launch &, int source, const system_view<T> &, const density_args &,
                              const three_body_args &, const dissipation_args &, const int64_t *id,
                              const int *origin, culprit *found, int stage);
template <class T>
md_status launch_find_runaway(const launch &, const system_view<T> &, const step_args &, const int64_t *id,
                              const int *origin, culprit *found);

#endif
