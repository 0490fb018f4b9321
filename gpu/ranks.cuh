/* The GPU engine on several ranks: which cells a rank owns, particles that change the rank, and ghosts that are other
 * ranks' particles.
 *
 * Every rank has a block of the cells that one GPU would have for the whole box, so that a ghost lies in the same cell
 * here as with its owner, and slack, lists and stencils are those of one GPU. The communicator's cuts are moved to the
 * nearest edges of cells.
 *
 * A rebin is done together with the host: it deals out what leaves by owner, however far, and tells each how much
 * comes; particles themselves go from device to device, and are counted. Then the halo is built one axis after the
 * other. A step exchanges nothing but records, in 2 dim messages whose lists stay until the next rebin. Along an axis
 * with one rank a periodic image is a copy; those axes come last, so that messages wait for nothing but the particles
 * near the faces between ranks: a step moves these first, and the others while the messages are under way.
 *
 * Ids stay in a table; `origin` tells each particle's place in it, as on one rank, and the places of those that left are
 * taken by those that arrive. So the sort carries 4 bytes a particle, and not 8.
 *
 * Host code for engine_ranks.cuh; the kernels are in migrate.cu and exchange.cu. Slabs whose steps sort do without migration and
 * new lists most of the time: overhang.cuh.
 */
#ifndef MD_GPU_RANKS_CUH
#define MD_GPU_RANKS_CUH

#include "common/transport.h"
#include "gpu/choice.h"
#include "gpu/exchange.cuh"

#include <algorithm>
#include <cmath>
#include <stdlib.h>
#include <string.h>
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
  launch wide = {};

  int domains[3] = {1, 1, 1}, place[3] = {0, 0, 0};
  domain_cells box = {};
  std::vector<int> cut[3];
  double lo[3] = {}, hi[3] = {}, halo[3] = {};
  int layers[3] = {};
  int overhang = 0; /* rows of cells beyond a cut where particles may be owned (overhang.cuh); 0: none */

  side face[3][2];                       /* by axis; low, high */
  int order[3] = {0, 1, 2};              /* of the axes: those with messages first */
  int first[3] = {}, ghosts = 0;         /* received ghosts before each axis, and all */
  device_array cuts = {}, counters = {}; /* counters: of leavers, and of entries of two faces */
  device_array sent_bits = {}, sent_begin = {}, sent_scratch = {}, sent = {};
  cudaStream_t beside = nullptr; /* of messages, while others are moved */
  cudaEvent_t ready = nullptr, arrived = nullptr;
  device_array received = {}, code = {}, stem = {}, slot = {}, by_slot = {}, incoming = {}, out = {},
               out_code = {};
  device_array told = {}, heard = {}; /* beginnings of cells, to and from both neighbours */
  device_array leaving_array = {}, grouped_array = {}, arrived_array = {}, hole_array = {}, id = {};
  /* Leavers as the host sees them: one copy, into pinned memory, is enough if they are no more than so many. */
  enum { SEEN = 8192 };
  struct leavers_seen {
    int count;
    hole left[SEEN];
  } *seen = nullptr;
  std::vector<md_message> message;     /* of a migration: to owners, then from others */
  std::vector<hole> left, filled;      /* where leavers were, and arrivals are to be */
  std::vector<int> first_to, by_owner; /* leavers in the order of owners */
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
         {&cuts, &counters, &sent_bits,     &sent_begin,    &sent_scratch,  &sent,       &received,
          &code, &stem,     &by_slot,       &slot,          &incoming,      &out,        &out_code,
          &told, &heard,    &leaving_array, &grouped_array, &arrived_array, &hole_array, &id})
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
    if (bytes > 0) MD_CUDA(cudaMemcpyAsync(to->at, from, bytes, cudaMemcpyHostToDevice, wide.stream));
    return MD_OK;
  }

  /* ---- whose cells ---- */

  /* Cuts at edges of cells, with `least` cells in every domain. */
  md_status cut_axis(const md_box *whole, int d, int cells, int least)
  {
    const double *at = comm->cuts(comm, whole, d), per_width = cells / whole->length[d];
    const int n = domains[d];
    if (!at || (int64_t)n * least > cells)
      return md_error(MD_USAGE, "%d domains along %c are thinner than the halo; use fewer ranks", n,
                      "xyz"[d]);
    cut[d].assign((size_t)n + 1, 0);
    std::vector<int> &c = cut[d];
    for (int k = 1; k < n; ++k)
      c[k] = std::max((int)std::llrint((at[k] - whole->lo[d]) * per_width), c[k - 1] + least);
    c[n] = cells;
    for (int k = n - 1; k > 0; --k) c[k] = std::min(c[k], c[k + 1] - least);
    return MD_OK;
  }

  /* Cells of the domain that has the fewest along an axis. */
  int thinnest(int d) const
  {
    int least = cut[d][1] - cut[d][0];
    for (int k = 1; k < domains[d]; ++k) least = std::min(least, cut[d][k + 1] - cut[d][k]);
    return least;
  }

  /* Which cells are whose, for the cells of the whole box; the view's grid becomes the own part of it. */
  md_status set_domain(const gpu_choice &choice, cell_grid *g)
  {
    comm->grid(comm, domains, place);
    overhang = 0;
    const md_box *whole = &model->box;
    std::vector<int> all;
    for (int d = 0; d < 3; ++d) {
      const bool used = d < T::DIM;
      const int cells = used ? choice.count[d] : 1;
      layers[d] = used ? gpu_halo_cells(model, &choice, d) : 1;
      MD_TRY(cut_axis(whole, d, cells, domains[d] > 1 ? layers[d] : 1));
      box.lo[d] = whole->lo[d];
      box.per_width[d] = used ? 1.0 / (whole->length[d] / cells) : 0.0;
      box.cells[d] = cells;
      box.domains[d] = domains[d];
      box.first[d] = cut[d][place[d]];
      box.end[d] = cut[d][place[d] + 1];
      all.insert(all.end(), cut[d].begin(), cut[d].end());
      if (!used) continue;
      const double width = whole->length[d] / cells;
      lo[d] = fma((double)box.first[d], width, whole->lo[d]);
      hi[d] = box.end[d] == cells ? whole->hi[d] : fma((double)box.end[d], width, whole->lo[d]);
      const bool meets = whole->periodic[d] || domains[d] > 1;
      halo[d] = meets ? gpu_halo(model, &choice, d, T::MIXED && domains[d] == 1) : 0.0;
      if (d == T::DIM - 1)
        overhang = halo[d] > 0.0 && divided_in_slabs() ? gpu_overhang(&choice, thinnest(d)) : 0;
      const int below = box.first[d] > 0 ? overhang : 0, above = box.end[d] < cells ? overhang : 0;
      g->lo[d] = fma((double)(box.first[d] - below), width, whole->lo[d]);
      g->count[d] = box.end[d] - box.first[d] + below + above + 2 * choice.border[d];
    }
    MD_TRY(md_device_reserve(memory, &cuts, (int64_t)all.size() * 4, "cuts between domains"));
    MD_TRY(put(&cuts, all.data(), all.size() * 4));
    const int *at = (const int *)cuts.at;
    for (int d = 0; d < 3; ++d) {
      box.cut[d] = at;
      at += domains[d] + 1;
    }
    find_neighbours();
    return MD_OK;
  }

  void find_neighbours()
  {
    for (int d = 0; d < T::DIM; ++d)
      for (int high = 0; high < 2; ++high) {
        side &f = face[d][high];
        int at[3] = {place[0], place[1], place[2]};
        at[d] += high ? 1 : -1;
        const bool across = at[d] < 0 || at[d] >= domains[d];
        f.shift = across ? (high ? -1 : 1) : 0;
        at[d] = (at[d] + domains[d]) % domains[d];
        const bool there = halo[d] > 0.0 && (!across || model->box.periodic[d]);
        f.neighbour = there ? comm->rank_at(comm, at) : -1;
      }
    int k = 0;
    for (const bool messages : {true, false})
      for (int d = 0; d < 3; ++d)
        if ((domains[d] > 1) == messages) order[k++] = d;
  }

  /* Ghosts to expect for n particles. */
  int64_t expected_ghosts(int64_t n) const
  {
    if (overhang > 0) return expected_in_messages(n);
    double grown = 1.0;
    for (int d = 0; d < T::DIM; ++d) grown *= 1.0 + 2.0 * halo[d] / (hi[d] - lo[d]);
    return grown > 1.0 ? (int64_t)((grown - 1.0) * 1.1 * (double)n) + 1024 : 0;
  }

  /* ---- particles that change the rank ---- */

  /* After a load: the table's first n places are taken. */
  md_status begin_ids(const md_particles *p, int64_t room)
  {
    MD_TRY(md_device_reserve(memory, &id, room * 8, "ids"));
    MD_TRY(md_device_reserve(memory, &counters, 64, "counters"));
    MD_TRY(put(&id, p->id, (size_t)p->n * 8));
    free_origins.clear();
    next_origin = (int)p->n;
    return sum_ids(p->id, p->n, &id_sum);
  }

  md_status sum_ids(const int64_t *of, int64_t n, uint64_t *sum)
  {
    uint64_t mine = 0;
    for (int64_t i = 0; i < n; ++i) mine += (uint64_t)of[i];
    int64_t value;
    memcpy(&value, &mine, sizeof value);
    MD_TRY(comm->sum(comm, &value, 1));
    memcpy(sum, &value, sizeof value);
    return MD_OK;
  }

  /* Keeps the ids when the table grows. */
  md_status enlarge_ids(int64_t room)
  {
    return md_device_enlarge(memory, &id, room * 8, next_origin * INT64_C(8), wide.stream, "ids");
  }

  migration<T> travel(int *origin, const device_array &travelling, int *start) const
  {
    return migration<T>{origin,
                        (int64_t *)id.at,
                        (traveller<T> *)travelling.at,
                        (hole *)hole_array.at,
                        (int)(travelling.bytes / (int64_t)sizeof(traveller<T>)),
                        start};
  }

  md_status reserve_travellers(device_array *array, int64_t n)
  {
    n += n / 4 + 1024;
    return md_device_reserve(memory, array, n * (int64_t)sizeof(traveller<T>),
                             "particles that change the rank");
  }

  /* Holes have at least as much room as leavers; more, after many have arrived. */
  md_status reserve_leavers(int64_t n)
  {
    MD_TRY(reserve_travellers(&leaving_array, n));
    return md_device_reserve(memory, &hole_array, (n + n / 4 + 1024) * (int64_t)sizeof(hole),
                             "particles that change the rank");
  }

  md_status read_counters(int *to, int n)
  {
    MD_CUDA(cudaMemcpyAsync(to, counters.at, (size_t)n * 4, cudaMemcpyDeviceToHost, wide.stream));
    MD_CUDA(cudaStreamSynchronize(wide.stream));
    return MD_OK;
  }

  /* Packs the leavers; `left`: where they were. start: room for the beginnings of cells, where the others are counted;
   * or NULL. The device rests afterwards. */
  md_status find_leavers(const system_view<T> &s, int *origin, int *start)
  {
    if (!seen) MD_CUDA(cudaMallocHost((void **)&seen, sizeof *seen));
    if (!leaving_array.at) MD_TRY(reserve_leavers(std::max<int64_t>(s.n / 64, SEEN)));
    for (;;) {
      const migration<T> m = travel(origin, leaving_array, start);
      if (start) MD_CUDA(cudaMemsetAsync(start, 0, (size_t)bytes_of_starts(s.grid.total), wide.stream));
      MD_TRY(launch_leave<T>(wide, s, box, m, (int *)counters.at));
      MD_CUDA(cudaMemcpyAsync(&seen->count, counters.at, 4, cudaMemcpyDeviceToHost, wide.stream));
      MD_CUDA(
          cudaMemcpyAsync(seen->left, hole_array.at, sizeof seen->left, cudaMemcpyDeviceToHost, wide.stream));
      MD_CUDA(cudaStreamSynchronize(wide.stream));
      if (seen->count <= m.capacity) break;
      MD_TRY(reserve_leavers(seen->count));
    }
    left.assign(seen->left, seen->left + std::min(seen->count, (int)SEEN));
    if (seen->count <= SEEN) return MD_OK;
    left.resize((size_t)seen->count);
    MD_CUDA(cudaMemcpyAsync(left.data(), hole_array.at, sizeof(hole) * left.size(), cudaMemcpyDeviceToHost,
                            wide.stream));
    MD_CUDA(cudaStreamSynchronize(wide.stream));
    return MD_OK;
  }

  /* Leavers in the order of their owners, by a counting sort: messages without addresses, as yet. */
  md_status group_leavers()
  {
    const int n = (int)left.size();
    message.clear();
    if (n == 0) return MD_OK;
    first_to.assign((size_t)domains[0] * domains[1] * domains[2] + 1, 0);
    for (const hole &h : left) ++first_to[h.to + 1];
    for (size_t to = 1; to < first_to.size(); ++to) {
      const int count = first_to[to], at = (int)to - 1;
      first_to[to] += first_to[to - 1];
      if (count == 0) continue;
      const int where[3] = {at % domains[0], at / domains[0] % domains[1], at / domains[0] / domains[1]};
      message.push_back(md_message{comm->rank_at(comm, where), -1, nullptr, nullptr,
                                   count * (int64_t)sizeof(traveller<T>), 0});
    }
    if (message.size() == 1) { /* they lie together as they are */
      message[0].send = leaving_array.at;
      return MD_OK;
    }
    by_owner.resize(left.size());
    for (int k = 0; k < n; ++k) by_owner[first_to[left[k].to]++] = k;
    MD_TRY(reserve_travellers(&grouped_array, n));
    MD_TRY(put(&hole_array, by_owner.data(), (size_t)n * 4));
    MD_TRY(launch_group<T>(wide, n, (const int *)hole_array.at, (const traveller<T> *)leaving_array.at,
                           (traveller<T> *)grouped_array.at));
    char *at = (char *)grouped_array.at;
    for (md_message &m : message) {
      m.send = at;
      at += m.send_bytes;
    }
    return MD_OK;
  }

  /* Sends the leavers to their owners; *arrived: how many particles have come. Collective. */
  md_status deliver(int64_t *arrived)
  {
    MD_TRY(group_leavers());
    struct notice {
      int64_t bytes;
      int from;
    };
    std::vector<int32_t> to;
    std::vector<notice> note;
    for (const md_message &m : message) {
      to.push_back(m.to);
      note.push_back(notice{m.send_bytes, comm->rank});
    }
    void *records = nullptr;
    int64_t count = 0, bytes = 0;
    MD_TRY(
        comm->deliver(comm, (int64_t)note.size(), to.data(), note.data(), sizeof(notice), &records, &count));
    const notice *got = (const notice *)records;
    for (int64_t k = 0; k < count; ++k) {
      message.push_back(md_message{-1, got[k].from, nullptr, nullptr, 0, got[k].bytes});
      bytes += got[k].bytes;
    }
    free(records);
    *arrived = bytes / (int64_t)sizeof(traveller<T>);
    MD_TRY(reserve_travellers(&arrived_array, *arrived));
    char *at = (char *)arrived_array.at;
    for (md_message &m : message) {
      if (m.from < 0) continue;
      m.receive = at;
      at += m.receive_bytes;
    }
    if (message.empty()) return MD_OK;
    return transport->exchange(transport, (int)message.size(), message.data(), wide.stream);
  }

  /* Places for arrivals, first those of leavers, and moves of the last particles into places that stay empty. */
  void assign(int64_t arrived, int n)
  {
    filled.clear();
    move.clear();
    for (const hole &h : left) free_origins.push_back(h.origin);
    const int64_t reused = std::min((int64_t)left.size(), arrived);
    for (int64_t k = 0; k < arrived; ++k) {
      int origin = next_origin;
      if (free_origins.empty()) {
        ++next_origin;
      } else {
        origin = free_origins.back();
        free_origins.pop_back();
      }
      filled.push_back(hole{k < reused ? left[(size_t)k].index : n + (int)(k - reused), origin, 0});
    }
    /* From both ends of what is left: the last particle that stays, into the first place that is empty. */
    const auto before = [](const hole &a, const hole &b) { return a.index < b.index; };
    std::sort(left.begin() + reused, left.end(), before);
    size_t low = (size_t)reused, high = left.size();
    int last = n - 1;
    while (low < high) {
      if (last == left[high - 1].index) {
        --high, --last;
        continue;
      }
      move.push_back(make_int2(last--, left[low++].index));
    }
  }

  /* Puts arrivals where `filled` says, and then fills what is empty; the arrays have room. start: as of find_leavers(). */
  md_status take_in(const system_view<T> &s, int *origin, int *start)
  {
    const int64_t most = std::max((int64_t)filled.size(), (int64_t)move.size());
    MD_TRY(md_device_reserve(memory, &hole_array, most * (int64_t)sizeof(hole),
                             "particles that change the rank"));
    if (!filled.empty()) {
      MD_TRY(put(&hole_array, filled.data(), filled.size() * sizeof(hole)));
      MD_TRY(launch_arrive<T>(wide, s, travel(origin, arrived_array, start), (int)filled.size()));
    }
    if (move.empty()) return MD_OK;
    MD_TRY(put(&hole_array, move.data(), move.size() * sizeof(int2)));
    return launch_refill<T>(wide, s, origin, (const int2 *)hole_array.at, (int)move.size());
  }

  /* MD_PHYSICS, on every rank, if particles are missing; with the id if it is one. */
  md_status count_particles(const system_view<T> &s, const int *origin, int64_t *scratch, int64_t step)
  {
    int64_t n = s.n;
    MD_TRY(comm->sum(comm, &n, 1));
    if (n == model->natoms) return MD_OK;
    MD_TRY(launch_unload_ids(wide, s.n, (const int64_t *)id.at, origin, scratch));
    std::vector<int64_t> ids((size_t)s.n);
    MD_CUDA(cudaStreamSynchronize(wide.stream));
    if (s.n > 0) MD_CUDA(cudaMemcpy(ids.data(), scratch, ids.size() * 8, cudaMemcpyDeviceToHost));
    uint64_t sum;
    MD_TRY(sum_ids(ids.data(), s.n, &sum));
    const long long missing = (long long)(model->natoms - n);
    if (missing == 1) {
      const int64_t lost = (int64_t)(id_sum - sum);
      const md_status status = md_error(MD_PHYSICS, "step %lld: particle %lld was lost between ranks",
                                        (long long)step, (long long)lost);
      md_error_about(lost, lost);
      return status;
    }
    return md_error(MD_PHYSICS, "step %lld: %lld particles of %lld are left after moving between ranks",
                    (long long)step, (long long)n, (long long)model->natoms);
  }

  /* ---- ghosts ---- */

  ghost_lists<T> lists(bool ahead) const
  {
    return ghost_lists<T>{(particle *)received.at, (int *)code.at,        (int *)stem.at, (int *)slot.at,
                          (int *)by_slot.at,       (record *)incoming.at, ahead};
  }

  bool alone_along(int d) const { return domains[d] == 1; }

  /* Is it only the slowest axis of cells that is divided? Then what messages wait for lies together. */
  bool divided_in_slabs() const
  {
    for (int d = 0; d < T::DIM - 1; ++d)
      if (!alone_along(d)) return false;
    return true;
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

  /* Lists of what the faces of an axis send. */
  md_status select(const system_view<T> &s, int d)
  {
    for (;;) {
      bool fits = true;
      int count[2] = {0, 0};
      for (int high = 0; high < 2; ++high) {
        side &f = face[d][high];
        f.sent = 0;
        if (f.neighbour < 0) continue;
        const double far = INFINITY;
        const ::face wanted = {
            (int *)f.send.at, (int)(f.send.bytes / 4),       (int *)counters.at + high,    d,      high,
            layers[d],        high ? hi[d] - halo[d] : -far, high ? far : lo[d] + halo[d], f.shift};
        MD_TRY(launch_select<T>(wide, s, wanted, lists(false), first[d]));
      }
      MD_TRY(read_counters(count, 2));
      for (int high = 0; high < 2; ++high) {
        side &f = face[d][high];
        if (f.neighbour < 0) continue;
        f.sent = count[high];
        if ((int64_t)count[high] * 4 <= f.send.bytes) continue;
        fits = false;
        MD_TRY(md_device_reserve(memory, &f.send, ((int64_t)count[high] + count[high] / 8 + 256) * 4,
                                 "lists of what is sent"));
      }
      if (fits) return MD_OK;
    }
  }

  /* Tells the neighbours along an axis how many ghosts come. */
  md_status agree_on_counts(int d)
  {
    if (alone_along(d)) {
      for (int high = 0; high < 2; ++high) face[d][high].received = face[d][!high].sent;
      return MD_OK;
    }
    struct notice {
      int high, count; /* from the high neighbour? */
    };
    notice sent[2], *got = nullptr;
    int32_t to[2];
    int64_t n = 0, count = 0;
    for (int high = 0; high < 2; ++high) {
      face[d][high].received = 0;
      if (face[d][high].neighbour < 0) continue;
      to[n] = face[d][high].neighbour;
      sent[n++] = notice{!high, face[d][high].sent};
    }
    MD_TRY(comm->deliver(comm, n, to, sent, sizeof(notice), (void **)&got, &count));
    for (int64_t k = 0; k < count; ++k) face[d][got[k].high].received = got[k].count;
    free(got);
    return MD_OK;
  }

  /* What both faces send and receive, `size` bytes an entry: what goes down comes from above. */
  void face_messages(int d, const void *from, void *to, int64_t size, md_message of[2]) const
  {
    const side &low = face[d][0], &high = face[d][1];
    const char *send = (const char *)from;
    char *receive = (char *)to;
    of[0] = md_message{low.neighbour, high.neighbour, send, receive, low.sent * size, high.received * size};
    of[1] = md_message{high.neighbour,         low.neighbour,
                       send + low.sent * size, receive + high.received * size,
                       high.sent * size,       low.received * size};
  }

  md_status exchange(int d, const void *from, void *to, int64_t size, cudaStream_t stream)
  {
    md_message of[2];
    face_messages(d, from, to, size, of);
    return transport->exchange(transport, 2, of, stream);
  }

  /* Room for n received ghosts, of which there are `have`. */
  md_status reserve_received(int64_t n, int64_t have)
  {
    if (n * (int64_t)sizeof(particle) <= received.bytes) return MD_OK;
    n += n / 8 + 1024;
    const auto enlarge = [&](device_array *array, int64_t size) {
      return md_device_enlarge(memory, array, n * size, have * size, wide.stream, "ghosts");
    };
    MD_TRY(enlarge(&received, sizeof(particle)));
    MD_TRY(enlarge(&code, 4));
    MD_TRY(enlarge(&stem, 4));
    MD_TRY(md_device_reserve(memory, &slot, n * 4, "ghosts"));
    MD_TRY(md_device_reserve(memory, &by_slot, n * 4, "ghosts"));
    return md_device_reserve(memory, &incoming, n * (int64_t)sizeof(record), "ghosts");
  }

  md_status reserve_out(int d)
  {
    const int64_t n = (int64_t)face[d][0].sent + face[d][1].sent;
    if (n * (int64_t)sizeof(particle) <= out.bytes) return MD_OK;
    MD_TRY(md_device_reserve(memory, &out, (n + n / 8) * (int64_t)sizeof(particle), "what is sent"));
    return md_device_reserve(memory, &out_code, (n + n / 8) * 4, "what is sent");
  }

  static md_status can_hold(int64_t records)
  {
    if (records <= INT32_MAX - 64) return MD_OK;
    return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts; use more ranks",
                    (long long)MD_PARTICLES_MAX);
  }

  /* Finds who is whose ghost and receives them, axis by axis. */
  md_status gather_ghosts(const system_view<T> &s)
  {
    ghosts = 0;
    for (const int d : order) {
      first[d] = ghosts;
      face[d][0].sent = face[d][1].sent = face[d][0].received = face[d][1].received = 0;
      if (halo[d] == 0.0) continue;
      MD_TRY(select(s, d));
      MD_TRY(agree_on_counts(d));
      const int n = received_along(d);
      MD_TRY(can_hold((int64_t)ghosts + n + s.n));
      MD_TRY(reserve_received((int64_t)ghosts + n, ghosts));
      MD_TRY(reserve_out(d));
      particle *to = (particle *)received.at + ghosts;
      int *to_code = (int *)code.at + ghosts, *to_stem = (int *)stem.at + ghosts;
      if (alone_along(d)) {
        MD_TRY(launch_gather<T>(wide, s, faces(d), lists(false), to, to_code, to_stem));
      } else {
        MD_TRY(launch_gather<T>(wide, s, faces(d), lists(false), (particle *)out.at, (int *)out_code.at,
                                nullptr));
        md_message of[4];
        face_messages(d, out.at, to, sizeof(particle), of);
        face_messages(d, out_code.at, to_code, 4, of + 2);
        MD_TRY(transport->exchange(transport, 4, of, wide.stream));
        /* -1: nobody's image of one's own. */
        if (n > 0) MD_CUDA(cudaMemsetAsync(to_stem, 0xff, (size_t)n * 4, wide.stream));
      }
      ghosts += n;
    }
    return MD_OK;
  }

  /* Puts the ghosts into the order of cells: start: beginnings of cells, [total + 2]. The view has room for them. */
  md_status settle_ghosts(const system_view<T> &s, int *start, void *scratch, size_t scratch_bytes)
  {
    int *cursor = start + 1;
    const int64_t cells = s.grid.total - s.ghost.folded;
    MD_CUDA(cudaMemsetAsync(start, 0, (size_t)bytes_of_starts(cells), wide.stream));
    MD_TRY(launch_bin_ghosts<T>(wide, s, lists(false), ghosts, cursor));
    MD_TRY(scan_counts(wide, cells, cursor, scratch, &scratch_bytes));
    MD_TRY(launch_settle_ghosts<T>(wide, s, lists(false), ghosts, cursor));
    for (int d = 0; d < T::DIM; ++d)
      for (const side &f : face[d])
        MD_TRY(launch_resolve(wide, (int *)f.send.at, f.sent, (const int *)slot.at, s.n));
    return MD_OK;
  }

  /* Which particles messages wait for, for the steps until the next rebin. */
  md_status note_sent(system_view<T> *s) { return divided_in_slabs() ? note_layers(s) : note_each(s); }

  /* The first particles of two cells. */
  md_status fetch_starts(const system_view<T> &s, int low, int high, int *begin, int *end) const
  {
    MD_CUDA(cudaMemcpyAsync(begin, s.start + low, 4, cudaMemcpyDeviceToHost, wide.stream));
    MD_CUDA(cudaMemcpyAsync(end, s.start + high, 4, cudaMemcpyDeviceToHost, wide.stream));
    MD_CUDA(cudaStreamSynchronize(wide.stream));
    return MD_OK;
  }

  /* Of slabs: the particles of the first and of the last layers of cells. */
  md_status note_layers(system_view<T> *s)
  {
    const int d = T::DIM - 1, border = s->grid.border[d], own = s->grid.count[d] - 2 * border;
    const int step = d == 2 ? s->grid.layer : s->grid.row;
    const int low = face[d][0].neighbour < 0 ? 0 : std::min(layers[d], own);
    const int high = face[d][1].neighbour < 0 ? own : std::max(own - layers[d], low);
    int begin, end;
    MD_TRY(fetch_starts(*s, (border + low) * step, (border + high) * step, &begin, &end));
    /* A warp's particles share a block of lists. */
    begin = std::min((begin + 31) / 32 * 32, s->n);
    end = end < s->n ? std::max(end / 32 * 32, begin) : std::max(end, begin);
    s->nsent = s->n - (end - begin);
    s->split = begin;
    s->jump = end - begin;
    s->sent = nullptr;
    s->sent_bits = nullptr;
    return MD_OK;
  }

  /* Otherwise a list of them. */
  md_status note_each(system_view<T> *s)
  {
    const int words = (s->n + 31) / 32;
    const int64_t room = ((int64_t)words + words / 8 + 1) * 4;
    size_t bytes = 0;
    MD_TRY(scan_counts(wide, words + 1, nullptr, nullptr, &bytes));
    MD_TRY(md_device_reserve(memory, &sent_bits, room, "lists of what is sent"));
    MD_TRY(md_device_reserve(memory, &sent_begin, room, "lists of what is sent"));
    MD_TRY(md_device_reserve(memory, &sent_scratch, (int64_t)bytes + 256, "lists of what is sent"));
    unsigned *bits = (unsigned *)sent_bits.at;
    int *begin = (int *)sent_begin.at;
    MD_CUDA(cudaMemsetAsync(bits, 0, (size_t)words * 4, wide.stream));
    for (int d = 0; d < T::DIM; ++d)
      for (const side &f : face[d])
        if (!alone_along(d)) MD_TRY(launch_note_sent(wide, (const int *)f.send.at, f.sent, s->n, bits));
    MD_TRY(launch_count_sent(wide, bits, words, begin));
    bytes = (size_t)sent_scratch.bytes;
    MD_TRY(scan_counts(wide, words + 1, begin, sent_scratch.at, &bytes));
    MD_CUDA(cudaMemcpyAsync(&s->nsent, begin + words, 4, cudaMemcpyDeviceToHost, wide.stream));
    MD_CUDA(cudaStreamSynchronize(wide.stream));
    MD_TRY(md_device_reserve(memory, &sent, ((int64_t)s->nsent + s->nsent / 8 + 1) * 4,
                             "lists of what is sent"));
    MD_TRY(launch_list_sent(wide, bits, words, begin, (int *)sent.at));
    s->sent = (const int *)sent.at;
    s->sent_bits = bits;
    return MD_OK;
  }

  /* Can none of the rest have a ghost beside it? In cells of plain layouts ghosts matter to the layer next to a face, and
   * nobody goes farther than a layer. */
  bool rest_is_inside() const
  {
    bool inside = T::SKETCHED && divided_in_slabs() && layers[T::DIM - 1] > 1;
    for (int d = 0; d < T::DIM - 1; ++d) inside = inside && halo[d] == 0.0;
    return inside;
  }

  /* The view for one of the two parts of a step. */
  system_view<T> part_of(const system_view<T> &whole, step_part part) const
  {
    system_view<T> s = whole;
    s.part = part;
    const bool lists = s.sent_bits, rest = part == PART_REST;
    if (rest && (overhang > 0 || rest_is_inside())) s.ghost.start = nullptr;
    s.members = !rest ? s.nsent : lists ? s.n : s.n - s.nsent;
    s.split = lists ? INT32_MAX : rest ? 0 : whole.split;
    s.jump = rest ? whole.split : whole.jump;
    return s;
  }

  /* New positions of the ghosts that come in messages. */
  md_status refresh_messages(const system_view<T> &s, const launch &l, bool ahead)
  {
    for (const int d : order) {
      if (halo[d] == 0.0 || alone_along(d)) continue;
      MD_TRY(launch_pack<T>(l, s, faces(d), lists(ahead), (record *)out.at));
      MD_TRY(exchange(d, out.at, (record *)incoming.at + first[d], sizeof(record), l.stream));
      MD_TRY(launch_unpack<T>(l, s, lists(ahead), first[d], received_along(d)));
    }
    return MD_OK;
  }

  /* And then of those that are images of one's own particles and ghosts. */
  md_status refresh_images(const system_view<T> &s, const launch &l, bool ahead)
  {
    for (const int d : order)
      if (halo[d] > 0.0 && alone_along(d)) MD_TRY(launch_carry<T>(l, s, faces(d), lists(ahead), first[d]));
    return MD_OK;
  }

  /* ---- overhang.cuh ---- */

  overhang_rows rows_at_cuts(const system_view<T> &s) const;
  int64_t expected_in_messages(int64_t n) const;
  /* At a migration, in this order; the last two also when steps have sorted. */
  md_status choose_sent(system_view<T> *s);
  md_status line_up(const system_view<T> &s);
  md_status tell_starts(const system_view<T> &s, step_slot *step);
  md_status receive_ghosts(const system_view<T> &s, int *start, const step_slot *step);

  /* Ids of owned particles and ghosts, by local index: all ranks together. */
  md_status spread_ids(const system_view<T> &s, const int *origin, int64_t *to)
  {
    MD_TRY(launch_unload_ids(wide, s.n, (const int64_t *)id.at, origin, to));
    for (const int d : order) {
      if (halo[d] == 0.0) continue;
      int64_t *in = (int64_t *)incoming.at + first[d];
      MD_TRY(launch_pack_ids(wide, faces(d), to, alone_along(d) ? in : (int64_t *)out.at));
      if (!alone_along(d)) MD_TRY(exchange(d, out.at, in, 8, wide.stream));
      MD_TRY(launch_unpack_ids(wide, in, (const int *)slot.at + first[d], received_along(d), to + s.n));
    }
    return MD_OK;
  }

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
