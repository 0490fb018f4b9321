/* The GPU engine on several ranks: which cells a rank owns, particles that change the rank, and ghosts that are other
 * ranks' particles.
 *
 * Every rank has a block of the cells that one GPU would have for the whole box, so that a ghost lies in the same cell
 * here as with its owner, and slack, lists and stencils are those of one GPU. A rebin is done together with the host; a
 * step exchanges nothing but records of ghosts and its outcome.
 *
 * One class has it all. Its functions are in these files:
 *
 *   ranks/domain.inc    which cells are whose
 *   ranks/migrate.inc   particles to the ranks that own them
 *   ranks/halo.inc      ghosts: at a rebin, and in every step
 *   ranks/deferred.inc  slabs whose steps sort, and do without both for a while
 *
 * Here are the outcome of a step, which all must know, and the time that messages take. Host code for engine/ranks.inc;
 * the kernels are in migrate.cu, exchange.cu and deferred.cu.
 */
#ifndef MD_GPU_RANKS_RANKS_CUH
#define MD_GPU_RANKS_RANKS_CUH

#include "common/ranks/transport.h"
#include "gpu/engine/configuration.h"
#include "gpu/ranks/exchange.cuh"

#include <algorithm>
#include <stddef.h>
#include <vector>

template <class T> struct gpu_ranks {
  typedef typename T::record record;
  typedef typename T::particle particle;
  enum { LAPS = 64 };
  enum lap_kind { LAP_EXCHANGE, LAP_REDUCTION, LAP_KINDS };

  /* One face, with its neighbour. */
  struct side {
    device_array send = {};
    int neighbour = -1; /* rank; -1: nobody */
    int shift = 0;
    int sent = 0, received = 0;
  };

  md_comm *comm = nullptr;
  md_transport *transport = nullptr; /* the communicator's */
  device_memory *memory = nullptr;
  const md_model *model = nullptr;
  launch elementwise = {};

  int domains[3] = {1, 1, 1}, place[3] = {0, 0, 0};
  domain_cells box = {};
  std::vector<int> cut[3];
  double lo[3] = {}, hi[3] = {}, halo[3] = {};
  int layers[3] = {};
  int buffer_rows = 0; /* rows beyond a cut where particles may be owned (ranks/deferred.inc) */

  side face[3][2];                       /* by axis; low, high */
  int order[3] = {0, 1, 2};              /* of the axes: those with messages first */
  int first[3] = {}, ghosts = 0;         /* received ghosts before each axis, and all */
  device_array cuts = {}, counters = {}; /* counters: of leavers, and of entries of two faces */
  device_array sent_bits = {}, sent_begin = {}, sent_scratch = {}, sent = {};
  cudaStream_t beside = nullptr; /* of messages, while others are moved */
  cudaEvent_t ready = nullptr, arrived = nullptr;
  device_array received = {}, code = {}, source = {}, slot = {}, by_slot = {}, incoming = {}, out = {},
               out_code = {};
  device_array sent_starts = {}, received_starts = {}; /* beginnings of cells, to and from both neighbours */
  device_array leaving_array = {}, grouped_array = {}, arrived_array = {}, vacated_array = {}, id = {};
  int64_t *low[3] = {}; /* by origin: second words of momenta; the engine's */
  /* Leavers as the host sees them: one copy, into pinned memory, is enough if they are no more than so many. */
  enum { SEEN = 8192 };
  struct leavers_seen {
    int count;
    vacated_slot left[SEEN];
  } *seen = nullptr;
  std::vector<md_message> message;        /* of a migration: to owners, then from others */
  std::vector<vacated_slot> left, filled; /* where leavers were, and arrivals are to be */
  std::vector<int> first_to, by_owner;    /* leavers in the order of owners */
  std::vector<int2> move;
  std::vector<int> free_origins;
  int next_origin = 0;
  uint64_t id_sum = 0; /* of all ranks' particles, to name one that is lost */

  cudaEvent_t lap_begin[LAPS] = {}, lap_end[LAPS] = {};
  int laps = 0;
  int64_t refreshes = 0;
  double reduction = 0.0; /* seconds of one, as last timed */

  void free_all()
  {
    for (side(&sides)[2] : face)
      for (side &f : sides) md_device_free(memory, &f.send);
    for (device_array *array :
         {&cuts,          &counters,      &sent_bits,   &sent_begin,      &sent_scratch,  &sent,
          &received,      &code,          &source,      &by_slot,         &slot,          &incoming,
          &out,           &out_code,      &sent_starts, &received_starts, &leaving_array, &grouped_array,
          &arrived_array, &vacated_array, &id})
      md_device_free(memory, array);
    if (seen) cudaFreeHost(seen);
    if (beside) cudaStreamDestroy(beside);
    if (ready) cudaEventDestroy(ready);
    if (arrived) cudaEventDestroy(arrived);
    for (int k = 0; k < LAPS; ++k) {
      if (lap_begin[k]) cudaEventDestroy(lap_begin[k]);
      if (lap_end[k]) cudaEventDestroy(lap_end[k]);
    }
  }

  /* In the order of the stream, unlike cudaMemcpy, behind which a stream of its own need not wait. */
  md_status put(const device_array *to, const void *from, size_t bytes) const
  {
    if (bytes > 0) MD_CUDA(cudaMemcpyAsync(to->at, from, bytes, cudaMemcpyHostToDevice, elementwise.stream));
    return MD_OK;
  }

  /* ---- ranks/domain.inc ---- */

  /* Which cells are whose, for the cells of the whole box; the view's grid becomes the own part of it. */
  md_status set_domain(const gpu_configuration &config, cell_grid *g);
  md_status cut_axis(const md_box *whole, int d, int cells, int least);
  int thinnest(int d) const;
  void find_neighbours();
  int64_t expected_ghosts(int64_t n) const;

  bool alone_along(int d) const { return domains[d] == 1; }

  /* Is it only the slowest axis of cells that is divided? Then what messages wait for lies together. */
  bool divided_in_slabs() const
  {
    for (int d = 0; d < T::DIM - 1; ++d)
      if (!alone_along(d)) return false;
    return true;
  }

  /* ---- ranks/migrate.inc ---- */

  /* The table of ids: after a load, and when it grows. */
  md_status begin_ids(const md_particles *p, int64_t room);
  md_status enlarge_ids(int64_t room);
  md_status sum_ids(const int64_t *of, int64_t n, uint64_t *sum);

  /* A migration, in this order. */
  md_status find_leavers(const system_view<T> &s, int *origin, int *start);
  md_status send_migrants(int64_t *arrived);
  void assign(int64_t arrived, int n);
  md_status take_in(const system_view<T> &s, int *origin, int *start);
  md_status count_particles(const system_view<T> &s, const int *origin, int64_t *scratch, int64_t step);

  md_status group_leavers();
  migration<T> travel(int *origin, const device_array &migrants_at, int *start) const;
  md_status reserve_migrants(device_array *array, int64_t n);
  md_status reserve_leavers(int64_t n);

  /* ---- ranks/halo.inc ---- */

  /* At a rebin, in this order. */
  md_status gather_ghosts(const system_view<T> &s);
  md_status order_ghosts(const system_view<T> &s, int *start, void *scratch, size_t scratch_bytes);
  /* Which particles messages wait for, for the steps until the next rebin. */
  md_status note_sent(system_view<T> *s) { return divided_in_slabs() ? note_layers(s) : note_each(s); }

  /* In a step: the view for one of its two parts, and new positions of ghosts. */
  system_view<T> part_of(const system_view<T> &whole, step_part part) const;
  md_status refresh_messages(const system_view<T> &s, const launch &l, bool ahead);
  md_status refresh_images(const system_view<T> &s, const launch &l, bool ahead);

  md_status spread_ids(const system_view<T> &s, const int *origin, int64_t *to);

  ghost_lists<T> lists(bool ahead) const
  {
    return ghost_lists<T>{
        (particle *)received.at, (int *)code.at, (int *)source.at, (int *)slot.at, (int *)by_slot.at,
        (record *)incoming.at,   ahead};
  }
  face_pair faces(int d) const
  {
    const side *f = face[d];
    return face_pair{{(const int *)f[0].send.at, (const int *)f[1].send.at},
                     {f[0].sent, f[1].sent},
                     {f[0].shift, f[1].shift},
                     d};
  }
  int received_along(int d) const { return face[d][0].received + face[d][1].received; }
  static md_status can_hold(int64_t records)
  {
    if (records <= INT32_MAX - 64) return MD_OK;
    return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts; use more ranks",
                    (long long)MD_PARTICLES_MAX);
  }

  md_status select(const system_view<T> &s, int d);
  md_status agree_on_counts(int d);
  void face_messages(int d, const void *from, void *to, int64_t size, md_message of[2]) const;
  md_status exchange(int d, const void *from, void *to, int64_t size, cudaStream_t stream);
  md_status reserve_received(int64_t n, int64_t have);
  md_status reserve_out(int d);
  md_status read_counters(int *to, int n);
  md_status fetch_starts(const system_view<T> &s, int low, int high, int *begin, int *end) const;
  md_status note_layers(system_view<T> *s);
  void send_ends(system_view<T> *s, int begin, int end) const;
  md_status note_each(system_view<T> *s);
  bool rest_is_inside() const;

  /* ---- ranks/deferred.inc ---- */

  /* At a migration, in this order; the last two also when steps have sorted. */
  md_status choose_sent(system_view<T> *s);
  md_status line_up(const system_view<T> &s);
  md_status pack_starts(const system_view<T> &s, step_slot *step);
  md_status receive_ghosts(const system_view<T> &s, int *start, const step_slot *step);

  cut_rows rows_at_cuts(const system_view<T> &s) const;
  int64_t expected_in_messages(int64_t n) const;

  /* ---- what all ranks must know ---- */

  /* The outcome of a step is that of all ranks. */
  md_status share_outcome(control *ctl, unsigned launch, cudaStream_t stream)
  {
    step_slot *own = &ctl->slot[launch % SLOTS];
    static_assert(offsetof(step_slot, usage) == offsetof(step_slot, found) + 4, "one reduction for both");
    return transport->max(transport, &own->found, 2, stream);
  }

  md_status share_overflow(control *ctl, cudaStream_t stream)
  {
    return transport->max(transport, &ctl->overflow, 1, stream);
  }

  /* ---- time ---- */

  md_status make_events()
  {
    int least, greatest;
    MD_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MD_CUDA(cudaStreamCreateWithPriority(&beside, cudaStreamNonBlocking, greatest));
    MD_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    MD_CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    for (int k = 0; k < LAPS; ++k) {
      MD_CUDA(cudaEventCreate(&lap_begin[k]));
      MD_CUDA(cudaEventCreate(&lap_end[k]));
    }
    return MD_OK;
  }

  /* Two events a step are enough for both: of every other step only the reduction is timed. */
  static lap_kind kind_of(int lap) { return lap > 0 && lap % 2 == 0 ? LAP_REDUCTION : LAP_EXCHANGE; }

  bool times(lap_kind kind) const { return laps < LAPS && kind_of(laps) == kind; }

  md_status lap_begins(lap_kind kind, cudaStream_t stream)
  {
    if (times(kind)) MD_CUDA(cudaEventRecord(lap_begin[laps], stream));
    return MD_OK;
  }

  md_status lap_ends(lap_kind kind, cudaStream_t stream)
  {
    if (times(kind)) MD_CUDA(cudaEventRecord(lap_end[laps], stream));
    return MD_OK;
  }

  void next_lap()
  {
    if (laps < LAPS) ++laps;
    ++refreshes;
  }

  /* Seconds of exchanges since the last call, in two parts. Steps that were not timed are taken to be like the others; the
   * first, in which ranks still wait for one another's rebin, stands for itself only. */
  md_status take_laps(double *positions, double *reductions)
  {
    double first = 0.0, ms[LAP_KINDS] = {};
    int n[LAP_KINDS] = {};
    for (int k = 0; k < laps; ++k) {
      float each = 0.0f;
      MD_CUDA(cudaEventElapsedTime(&each, lap_begin[k], lap_end[k]));
      (k == 0 ? first : ms[kind_of(k)]) += (double)each;
      if (k > 0) ++n[kind_of(k)];
    }
    const double later = n[LAP_EXCHANGE] > 0 ? ms[LAP_EXCHANGE] / n[LAP_EXCHANGE] : 0.0;
    const double exchanges = laps > 0 ? 1e-3 * (first + later * (double)(refreshes - 1)) : 0.0;
    if (n[LAP_REDUCTION] > 0) reduction = 1e-3 * ms[LAP_REDUCTION] / n[LAP_REDUCTION];
    *reductions = std::min(reduction * (double)refreshes, exchanges);
    *positions = exchanges - *reductions;
    laps = 0;
    refreshes = 0;
    return MD_OK;
  }
};

#endif
