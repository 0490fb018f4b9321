/* The bodies of the engine for pair styles without a cutoff, as its kernels see them, and the functions that launch its
 * kernels.
 *
 * A block is an array of the bodies of one rank. Its length is a multiple of BODY_PAD, and the places after the last
 * body hold bodies without mass, far away, which exert no force. So no kernel tests the length of a block that it
 * reads. Bodies never change their places.
 *
 * All launches are asynchronous, in the given stream, and return MD_RUNTIME if the launch itself fails. All pointers to
 * data are to device memory that the caller owns.
 */
#ifndef MD_GPU_ALL_PAIRS_BODIES_CUH
#define MD_GPU_ALL_PAIRS_BODIES_CUH

#include "common/compute/measure.h"
#include "common/engine.h"
#include "common/step/step.h"
#include "gpu/particle/launch.cuh"

/* Bodies of a tile, and the unit of a block's length. */
enum { BODY_PAD = 128 };

/* Where bodies without mass are. The square of the distance from there is finite in single precision, and a body with
 * mass at this place would exert less than half a quantum on a body in the box. */
#define BODY_FAR 0x1p62

/* mass: the charge of a body where impulses are summed: its mass times c (common/pair/all_pairs.h). */
struct alignas(16) body {
  double x[3], mass;
};

/* The same relative to the middle of the box, for precision mixed. */
struct alignas(16) body_single {
  float x[3], mass;
};

/* Why a run stops. A launch after the one that found the reason does nothing, so that the state stays that of the
 * reason. The halt word is 4 times the number of the first launch that found a reason, plus the reason; ~0: none.
 * HALTED_BY_OUTPUT: an overlap, found by a launch that sums for output. */
enum { HALTED_BY_OVERLAP = 1, HALTED_BY_RUNAWAY = 2, HALTED_BY_OUTPUT = 3, HALT_REASONS = 4 };
typedef unsigned long long halt_word;

/* What most kernels are given. */
struct body_view {
  int dim, n;              /* n: bodies of this rank */
  int64_t stride;          /* elements of each array of components */
  body *bodies;            /* [stride] */
  double *v;               /* [dim][stride] */
  int64_t *low;            /* [dim][stride]: second words of wide momenta, or NULL */
  unsigned long long *sum; /* [dim][stride]: impulses, in quanta, as int64 */
  const int64_t *id;
  const uint16_t *type;                         /* from 1 */
  const uint32_t *group;                        /* or NULL: all bodies are in the group `all` only */
  const double *mass, *v_step, *velocity_per_v; /* by type, from 1 */
  const double *own_mass;                       /* or NULL: masses are by type */
  halt_word *halt;
  double k[MD_PAIR_K];           /* coefficients of unit masses, for impulses */
  float single_softening;        /* k2 for precision mixed: softening_of_single in engine.cu */
  double close2;                 /* squared distance: nearer pairs are summed with care; 0: there are none */
  double range;                  /* of impulses (common/pair/all_pairs.h) */
  double quantum;                /* of momenta */
  double mass_reference, widest; /* for own masses, as md_inertia_of_mass has them */
};

/* The copies of a rank's bodies in single precision, relative to the middle of the box. at: NULL if there are none. */
struct single_copy {
  body_single *at; /* [stride] */
  double centre[3];
};

/* Calls f(style), as with_style (gpu/particle/launch.cuh), for a style without a cutoff. */
template <class F> void with_all_style(md_pair_kind kind, F &&f)
{
#define MD_PAIR_ALL(symbol)                                                                                  \
  if (kind == MD_PAIR_##symbol) f(std::integral_constant<int, MD_PAIR_##symbol>{});
#include "common/pair/pair_styles.h"
#undef MD_PAIR_ALL
}

/* impulse.cu: adds the impulses of the n_other bodies of a block on all bodies of this rank to view.sum. one: all
 * charges are the same. fast: gpu_check_inverse_roots() said yes. processors: of the device. */
md_status launch_impulses(const body_view &, md_pair_kind, const body *other, int64_t n_other, bool one,
                          bool fast, unsigned long long launch_number, int processors, cudaStream_t stream);

/* symmetric.cu: the same, but each pair is evaluated once, for both bodies. Groups of bodies meet: the groups [first,
 * first + groups) of this rank's bodies, and [other_first, other_first + others) of another block. The impulses on that
 * block go to other_sum, [dim][stride]. self: each group of this rank meets each other one, and itself; other_first and
 * others have no meaning. In double precision the caller makes sure of two conditions: gpu_check_inverse_roots() said
 * yes, and close2 is 0, so that no pair needs care. symmetric_groups: groups of a block. */
struct group_meeting {
  const body_single *single; /* this rank's bodies in single precision; NULL: in double precision */
  const void *other;         /* of the same kind */
  unsigned long long *other_sum;
  int first, groups, other_first, others;
  bool self;
};
int symmetric_groups(const body_view &);
md_status launch_symmetric(const body_view &, md_pair_kind, const group_meeting &, bool one,
                           unsigned long long launch_number, int processors, cudaStream_t stream);

/* symmetric.cu: adds [dim][stride] impulses to view.sum. */
md_status launch_add_sums(const body_view &, const unsigned long long *from, cudaStream_t stream);

/* impulse_single.cu: the same in single precision, with tolerances. pack: makes the bodies of single precision. */
md_status launch_pack_single(const body_view &, const single_copy &, cudaStream_t stream);
md_status launch_impulses_single(const body_view &, md_pair_kind, const body_single *own,
                                 const body_single *other, int64_t n_other, unsigned long long launch_number,
                                 int processors, cudaStream_t stream);

/* move.cu: makes the mass of each body its mass times per_mass. */
md_status launch_body_charges(const body_view &, double per_mass, cudaStream_t stream);

/* move.cu: gives the impulses `kicks` times, and with `drifts` drifts all bodies, also their copies in single
 * precision, and clears the impulses. */
md_status launch_body_move(const body_view &, const single_copy &, const md_step &, int kicks, bool drifts,
                           unsigned long long launch_number, cudaStream_t stream);

/* batch.cu: a batch of steps in one launch: moves and impulses, in turns. steps = 0: impulses alone, which are added to
 * sum[0]. It needs what launch_symmetric needs in double precision.
 *   step_batch_shape    how the work is cut for the bodies of the view; blocks = 0: no batch has room for them.
 *                       most_shared: bytes of shared memory that a block of threads may have
 *   sum                 sum[0]: the present impulses; sum[1]: zero. After the batch the impulses are in sum[steps % 3],
 *                       and the one after that is zero
 *   arrived             a word, zero before the first batch. It counts how often blocks have begun to wait
 *   arrived_before      the value of `arrived` before this batch: blocks times the waits of all earlier batches. A
 *                       batch has batch_waits()
 *   launch_number       two numbers for each step: of the move, and of the impulses */
struct batch_shape {
  int bodies; /* of a lane */
  int tiles, tasks, blocks, slots, most_tasks;
  size_t shared;
};
struct step_batch {
  batch_shape shape;
  md_step step;
  int first_kicks, kicks; /* of the first step, and of later ones */
  int steps;
  unsigned long long *sum[3];
  unsigned *arrived;
  unsigned arrived_before;
  unsigned long long launch_number;
};
inline int batch_waits(int steps) { return steps > 1 ? steps - 1 : 1; }
batch_shape step_batch_shape(const body_view &, bool mixed, int processors, size_t most_shared);
md_status launch_step_batch(const body_view &, const single_copy &, md_pair_kind, bool one,
                            const step_batch &, cudaStream_t stream);

/* fix_force.cu: adds the impulses on the group of an action to the first dim of MD_TERMS_MAX fine sums. */
md_status launch_sum_body_impulses(const body_view &, const md_force_action *action, fine_sums,
                                   cudaStream_t stream);

/* fix_force.cu: fixes that act on forces, on view.sum. action: [count]. scale: quanta in a unit of force. */
md_status launch_body_force(const body_view &, const md_force_action *action, int count, double scale,
                            unsigned long long launch_number, cudaStream_t stream);

/* move.cu: the action of a fix after the last step (common/step/step.h). step: of the step that begins now. */
md_status launch_body_act(const body_view &, const md_action &, const md_step &step, cudaStream_t stream);

/* output.cu: fine sums over the pairs of this rank's bodies with a block: energies and virials, where the pairs with
 * another block count `times` times, or the force of each body. k: coefficients of unit masses, for forces in coarse
 * quanta. per_e and per_w: coarse quanta in a unit of their terms, powers of two. fast: as above. */
struct pair_sums {
  fine_sums at; /* energy and virial */
  double k[MD_PAIR_K];
  double per_e, per_w;
  double range;   /* of forces (common/pair/all_pairs.h) */
  md_fine *force; /* [dim][stride] */
};
md_status launch_pair_sums(const body_view &, md_pair_kind, const body *other, int64_t n_other, int times,
                           bool fast, const pair_sums &, unsigned long long launch_number,
                           cudaStream_t stream);
md_status launch_pair_forces(const body_view &, md_pair_kind, const body *other, int64_t n_other,
                             const pair_sums &, unsigned long long launch_number, cudaStream_t stream);

/* output.cu: adds the terms of computes to MD_TERMS_MAX fine sums. wanted: bit k for summand k. */
md_status launch_body_terms(const body_view &, const md_summand *summand, int nsummand, uint64_t wanted,
                            fine_sums sums, cudaStream_t stream);

/* output.cu: adds bodies to the bins of a map. */
md_status launch_body_histogram(const body_view &, const md_histogram &, unsigned long long *sum,
                                cudaStream_t stream);

/* May the launch with this number work? */
static __device__ __forceinline__ bool may_work(const halt_word *halt, unsigned long long launch_number)
{
  return *(volatile const halt_word *)halt / HALT_REASONS >= launch_number;
}

static __device__ __forceinline__ void stop(halt_word *halt, unsigned long long launch_number, int reason)
{
  atomicMin(halt, launch_number * HALT_REASONS + (unsigned long long)reason);
}

/* A body with position x in single precision. */
static __device__ __forceinline__ body_single single_of(const single_copy &copy, const double *x, double mass,
                                                        int dim)
{
  body_single s = {};
  s.mass = (float)mass;
  for (int d = 0; d < 3 && d < dim; ++d) s.x[d] = (float)(x[d] - copy.centre[d]);
  return s;
}

/* Makes the copy of body i, which has position x. */
static __device__ __forceinline__ void copy_single(const single_copy &copy, int i, const double *x,
                                                   double mass, int dim)
{
  copy.at[i] = single_of(copy, x, mass, dim);
}

static __device__ __forceinline__ md_inertia inertia_of(const body_view &b, int i)
{
  if (b.own_mass) return md_inertia_of_mass(b.own_mass[i], b.mass_reference, b.quantum, b.widest);
  const int type = b.type[i];
  const md_inertia by_type = {b.mass[type], b.v_step[type], b.velocity_per_v[type]};
  return by_type;
}

/* Body i as fixes and computes get it. */
static __device__ __forceinline__ md_particle particle_of(const body_view &b, int i)
{
  const md_inertia inertia = inertia_of(b, i);
  md_particle p = {};
  p.id = (uint64_t)b.id[i];
  p.group = b.group ? b.group[i] : MD_GROUP_ALL;
  p.type = b.type[i];
  p.mass = inertia.mass;
  p.v_step = inertia.v_step;
  p.velocity_per_v = inertia.velocity_per_v;
  p.wide = b.low != nullptr;
  for (int d = 0; d < 3 && d < b.dim; ++d) {
    p.x[d] = b.bodies[i].x[d];
    p.v[d] = b.v[d * b.stride + i];
    if (p.wide) p.low[d] = b.low[d * b.stride + i];
  }
  return p;
}

#endif
