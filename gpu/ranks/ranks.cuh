/* The GPU engine on several ranks: which cells a rank owns, how particles migrate, and how ghosts come from other
 * ranks.
 *
 * Every rank has a block of the cells that one GPU would have for the whole box: its domain. So a ghost lies in
 * the same cell here as at its owner, and slack, lists and stencils are those of one GPU. At a rebin the ranks
 * agree, and the host waits twice. In a step ranks exchange only the records of ghosts and the outcome of the step.
 *
 * One class, gpu_ranks<T>, does this for one layout. Its functions are in these files:
 *
 *   gpu/ranks/domain.inc    which cells belong to which rank
 *   gpu/ranks/bricks.inc    the same for bricks, domains that are no grid
 *   gpu/ranks/migrate.inc   particles to the ranks that own them
 *   gpu/ranks/regions.inc   ghosts at a rebin
 *   gpu/ranks/halo.inc      the same in tilted boxes; ghosts in every step
 *   gpu/ranks/deferred.inc  slabs whose steps sort: no migration and no new halo for some sorts
 *
 * This file also has the outcome of a step, which all ranks must know; gpu/ranks/lap_timer.cuh times messages. All this
 * is host code for gpu/run/rebin_ranks.inc and gpu/run/step_ranks.inc; the kernels are in migrate.cu, halo.cu,
 * regions.cu and deferred.cu.
 */
#ifndef MD_GPU_RANKS_RANKS_CUH
#define MD_GPU_RANKS_RANKS_CUH

#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "common/ranks/transport.h"
#include "gpu/engine/configuration.h"
#include "gpu/ranks/bond_words.h"
#include "gpu/ranks/exchange.cuh"
#include "gpu/ranks/lap_timer.cuh"

#include <algorithm>
#include <stddef.h>
#include <vector>

template <class T> struct gpu_ranks {
  typedef typename T::record record;
  typedef typename T::particle particle;

  /* One face of the domain, with the neighbour behind it. */
  struct domain_face {
    device_array send = {};
    int neighbour = -1; /* rank; -1: none */
    int shift = 0;
    int sent = 0, received = 0;
  };

  /* The cells of a domain: [first, end) along each axis. */
  struct brick_cells {
    int first[3], end[3];
  };

  /* Own cells [first, end) that are in the halo of a rank after a shift. The rank may be this one. */
  struct halo_region {
    int rank, shift[3];
    brick_cells cells;
  };

  /* A message of a round to one rank and a message from another, in numbers of entries and ghosts. -1: no rank. */
  struct round_message {
    int to, from, sent, received;
  };

  /* A round of the halo: what a rank sends at once, and the ghosts that come of it. They have the first numbers
   * [first, first + received). images: they are made of own entries, without messages. */
  struct halo_round {
    halo_entries entries;
    bool images;
    int first, received;
    std::vector<round_message> message; /* in the order of the entries and of the ghosts */
  };

  md_comm *comm = nullptr;
  md_transport *transport = nullptr; /* belongs to the communicator */
  device_memory *memory = nullptr;
  const md_model *model = nullptr;
  launch elementwise = {};

  int domains[3] = {1, 1, 1}, index[3] = {0, 0, 0}; /* the grid of domains, and the indices of this one */
  domain_cells box = {};
  std::vector<int> cut[3];
  double lo[3] = {}, hi[3] = {};
  double reach[3] = {}, halo[3] = {}; /* how far ghosts reach; 0 in `halo` along an axis that has none */
  int layers[3] = {};
  int buffer_rows = 0; /* number of buffer rows at a cut (gpu/ranks/deferred.inc) */

  domain_face face[3][2];      /* by axis; low, high face */
  int order[3] = {2, 1, 0};    /* of the axes: those with several domains first, the last one before others */
  device_array across[3] = {}; /* of halo_entries, by axis; in tilted boxes */
  std::vector<brick_cells> brick;  /* by rank; also those of a grid */
  std::vector<brick_plane> plane;  /* as domain_cells.plane */
  std::vector<halo_region> region; /* those of other ranks first */
  device_array regions = {}, cursors = {}, region_send = {}, region_code = {};
  region_selection asked = {};
  std::vector<halo_round> rounds;        /* since the last rebin, in their order */
  int ghosts = 0;                        /* received in all rounds */
  device_array cuts = {}, counters = {}; /* counters: of migrants that leave, and of entries of two faces */
  device_array sent_bits = {}, sent_begin = {}, sent_scratch = {}, sent = {};
  cudaStream_t beside = nullptr; /* stream of messages and of the particles that they wait for */
  cudaEvent_t ready = nullptr, arrived = nullptr;
  /* What the host must know of a halo, in pinned memory. It is there when the event has come. */
  struct halo_notes {
    int layer_begin, layer_end; /* as copy_layers() says */
    int count[];                /* by region */
  } *notes = nullptr;
  int notes_room = 0;
  cudaEvent_t noted = nullptr;
  device_array received = {}, code = {}, source = {}, slot = {}, by_slot = {}, incoming = {}, out = {},
               out_code = {};
  device_array sent_starts = {}, received_starts = {}; /* beginnings of cells, to and from both neighbours */
  device_array leaving_array = {}, grouped_array = {}, arrived_array = {}, vacated_array = {}, id = {};
  device_array bond_word = {};                                          /* by origin: bond words */
  device_array leaving_word = {}, grouped_word = {}, arrived_word = {}; /* bond words of migrants */
  int words = 0;                                                        /* bond words of each particle */
  int64_t *low[3] = {};      /* by origin: second words of momenta; arrays of the engine */
  double *anchor[3] = {};    /* by origin: anchors; arrays of the engine */
  double *external[3] = {};  /* by origin: external forces; arrays of the engine */
  double *v_pair[3] = {};    /* by origin: velocities of pair forces; arrays of the engine */
  uint32_t *group = nullptr; /* by origin: bits of groups; array of the engine */
  /* The migrants that leave, in pinned memory of the host, which has room for PINNED of them. */
  enum { PINNED = 8192 };
  struct pinned_migrants {
    int count;
    int missed; /* migrants that have not been packed */
    vacated_slot left[PINNED];
  } *pinned = nullptr;
  cudaEvent_t packed = nullptr, counted = nullptr; /* the migrants, and the other particles, are known */
  /* In slabs: the particles [far_begin, far_end) were far from the cuts at the rebin, when there were far_of in all.
   * -1: that is not known. */
  int far_begin = 0, far_end = 0, far_of = -1;
  std::vector<md_message> message;        /* of a migration: first to owners, then from other ranks */
  std::vector<md_message> halo_message;   /* of a round of the halo */
  std::vector<vacated_slot> left, filled; /* vacated slots, and slots for migrants that arrive */
  std::vector<int> first_to, by_owner;    /* migrants that leave, in the order of their owners */
  std::vector<int2> move;
  std::vector<int> free_origins;
  int next_origin = 0;
  uint64_t id_sum = 0; /* sum over the particles of all ranks, to name one that is lost */

  lap_timer laps;
  rebin_timer rebin_laps;

  void free_all()
  {
    for (domain_face(&faces)[2] : face)
      for (domain_face &f : faces) md_device_free(memory, &f.send);
    for (device_array &array : across) md_device_free(memory, &array);
    for (device_array *array :
         {&cuts,          &counters,      &sent_bits,   &sent_begin,      &sent_scratch,  &sent,
          &received,      &code,          &source,      &by_slot,         &slot,          &incoming,
          &out,           &out_code,      &sent_starts, &received_starts, &leaving_array, &grouped_array,
          &arrived_array, &vacated_array, &id,          &bond_word,       &leaving_word,  &grouped_word,
          &arrived_word,  &regions,       &cursors,     &region_send,     &region_code})
      md_device_free(memory, array);
    if (pinned) cudaFreeHost(pinned);
    if (notes) cudaFreeHost(notes);
    for (cudaEvent_t event : {noted, packed, counted})
      if (event) cudaEventDestroy(event);
    if (beside) cudaStreamDestroy(beside);
    if (ready) cudaEventDestroy(ready);
    if (arrived) cudaEventDestroy(arrived);
    laps.free_all();
    rebin_laps.free_all();
  }

  /* Copies to the device in the order of the stream. cudaMemcpy() does not: a stream of its own need not wait for
   * it. */
  md_status put(const device_array *to, const void *from, size_t bytes) const
  {
    if (bytes > 0) MD_CUDA(cudaMemcpyAsync(to->at, from, bytes, cudaMemcpyHostToDevice, elementwise.stream));
    return MD_OK;
  }

  /* ---- gpu/ranks/domain.inc ---- */

  /* Divides the cells of the whole box among the ranks. *g: the grid of the whole box, which becomes that of this
   * rank. */
  md_status set_domain(const gpu_configuration &config, cell_grid *g);
  /* The same cells and domains in a box that has changed. */
  void follow_box(const gpu_configuration &config, cell_grid *g);
  md_status cut_axis(const md_box *whole, int d, int cells, int least);
  md_status cut_grid();
  int thinnest(int d) const;
  void note_domains();
  void find_neighbours();
  int64_t expected_ghosts(int64_t n) const;

  /* Does the domain extend along the whole of the axis? */
  bool alone_along(int d) const { return box.first[d] == 0 && box.end[d] == box.cells[d]; }

  bool are_bricks() const { return box.plane != nullptr; }

  /* The coordinate of the lower edge of a cell of the whole box, or of the upper end of the box. */
  double edge(int d, int cell) const
  {
    const md_box &whole = model->box;
    return cell == box.cells[d] ? whole.hi[d]
                                : fma((double)cell, whole.length[d] / box.cells[d], whole.lo[d]);
  }

  /* Is only the slowest axis of cells divided, in a grid? Then the particles that messages wait for lie together. */
  bool divided_in_slabs() const
  {
    if (are_bricks()) return false;
    for (int d = 0; d < T::DIM - 1; ++d)
      if (!alone_along(d)) return false;
    return true;
  }

  /* ---- gpu/ranks/bricks.inc ---- */

  md_status cut_bricks(const md_bisector *tree);
  void cut_brick(const md_bisector *tree, int first, int n, const brick_cells &all);
  void least_cells(int least[3]) const;

  /* ---- gpu/ranks/regions.inc ---- */

  void find_regions();
  bool find_region(halo_region *r) const;
  cell_region bounded(const system_view<T> &s, const halo_region &r) const;

  /* The parts of making the halo at a rebin that take the place of gather_ghosts() where the box is not tilted. */
  bool has_regions() const { return buffer_rows == 0 && !model->box.triclinic; }
  md_status ask_regions(const system_view<T> &s);
  md_status gather_regions(const system_view<T> &s);
  md_status put_regions(const system_view<T> &s, region_selection *selection);
  md_status launch_selection(const system_view<T> &s, const region_selection &selection);
  md_status fit_regions(const system_view<T> &s, int64_t *all);
  md_status agree_on_messages(halo_round *r);
  halo_entries coded_entries(int64_t first, int n) const;

  /* ---- gpu/ranks/migrate.inc ---- */

  /* The table of ids: filled after a load, and enlarged. */
  md_status begin_ids(const md_particles *p, int64_t room);
  md_status enlarge_ids(int64_t room);
  /* The bond words beside the ids: filled after a load; and the fields of *p that they hold, in the order of the
   * device. scratch: room for 8 bytes a particle. */
  md_status begin_words(const md_particles *p, int64_t room);
  md_status fetch_words(md_particles *p, const int *origin, int64_t *scratch) const;
  md_status sum_ids(const int64_t *of, int64_t n, uint64_t *sum);

  /* The parts of a migration, in this order. */
  md_status ask_migrants(const system_view<T> &s, int *origin, int *start);
  md_status find_migrants(const system_view<T> &s, int *origin, int *start);
  md_status send_migrants(int64_t *arrived);
  void assign(int64_t arrived, int n);
  md_status take_in(const system_view<T> &s, int *origin, int *start);
  md_status count_particles(const system_view<T> &s, const int *origin, int64_t *scratch, int64_t step,
                            bool *again);

  md_status group_migrants();
  int rank_of(int to) const;
  md_status send_words();
  migration<T> travel(int *origin, const device_array &migrants_at, const device_array &word,
                      int *start) const;
  md_status reserve_migrants(device_array *array, device_array *word, int64_t n);
  md_status reserve_leaving(int64_t n);

  /* ---- gpu/ranks/halo.inc ---- */

  /* The parts of making the halo at a rebin, in this order. */
  md_status gather_ghosts(const system_view<T> &s);
  md_status order_ghosts(const system_view<T> &s, int *start, void *scratch, size_t scratch_bytes);
  /* Note in *s which particles messages wait for, in the steps until the next rebin: for slabs, and for others. */
  md_status note_layers(system_view<T> *s);
  md_status note_each(system_view<T> *s);

  /* In a step: the view for one of its two parts, and new positions of ghosts. next_positions: as in ghost_lists. */
  system_view<T> part_of(const system_view<T> &whole, step_part part) const;
  md_status refresh_messages(const system_view<T> &s, const launch &l, bool next_positions);
  md_status refresh_images(const system_view<T> &s, const launch &l, bool next_positions);

  template <class V> md_status spread(const system_view<T> &s, V *to);
  md_status spread_ids(const system_view<T> &s, const int *origin, int64_t *to);

  ghost_lists<T> lists(bool next_positions) const
  {
    return ghost_lists<T>{(particle *)received.at, (int *)code.at,        (int *)source.at, (int *)slot.at,
                          (int *)by_slot.at,       (record *)incoming.at, next_positions};
  }
  halo_entries entries_along(int d) const
  {
    const domain_face *f = face[d];
    halo_entries entries = {{(const int *)f[0].send.at, (const int *)f[1].send.at},
                            {f[0].sent, f[1].sent},
                            {f[0].shift, f[1].shift},
                            d,
                            model->box.triclinic ? (int *)across[d].at : nullptr,
                            {},
                            false};
    for (int k = 2; k >= 0 && order[k] != d; --k) entries.wraps[order[k]] = order[k] < d;
    return entries;
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
  halo_round round_of_axis(int d, int first) const;
  void add_messages(const halo_round &r, const void *from, void *to, int64_t size);
  md_status exchange(const halo_round &r, const void *from, void *to, int64_t size, cudaStream_t stream);
  md_status gather_round(const system_view<T> &s, const halo_round &r);
  md_status reserve_received(int64_t n, int64_t have);
  md_status reserve_out(int64_t n);
  md_status read_counters(int *to, int n);
  md_status reserve_notes(int regions);
  md_status copy_layers(const system_view<T> &s);
  md_status fetch_starts(const system_view<T> &s, int low, int high, int *begin, int *end) const;
  void send_ends(system_view<T> *s, int begin, int end) const;
  bool rest_is_inside() const;

  /* ---- gpu/ranks/deferred.inc ---- */

  /* The parts after a migration, in this order. The last two also come after steps have sorted. */
  md_status choose_sent(system_view<T> *s);
  md_status line_up(const system_view<T> &s);
  md_status pack_starts(const system_view<T> &s, step_slot *step);
  md_status receive_ghosts(const system_view<T> &s, int *start, const step_slot *step);

  cut_rows rows_at_cuts(const system_view<T> &s) const;
  int64_t expected_in_messages(int64_t n) const;

  /* ---- what all ranks must know ---- */

  /* Makes the worst outcome of a step, and the largest use of slack, that of all ranks. */
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

  /* ---- messages beside the steps ---- */

  md_status make_events()
  {
    int least, greatest;
    MD_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MD_CUDA(cudaStreamCreateWithPriority(&beside, cudaStreamNonBlocking, greatest));
    MD_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    MD_CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    for (cudaEvent_t *event : {&noted, &packed, &counted})
      MD_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    MD_TRY(rebin_laps.make());
    return laps.make();
  }
};

#endif
