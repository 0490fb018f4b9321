/* Ghosts of several ranks: found at a rebin, and brought up to date in every step.
 *
 * At a rebin the halo is built one axis after the other: faces send the particles of the cells behind them, and ghosts that
 * came through the faces before (exchange.cu). A step exchanges nothing but records, in 2 dim messages whose lists stay
 * until the next rebin. Along an axis with one rank a periodic image is a copy; those axes come last, so that messages
 * wait for nothing but the particles near the faces between ranks: a step moves these first, and the others while the
 * messages are under way.
 *
 * Cost: at a rebin the host waits for each axis; a step packs and unpacks a record a ghost.
 */
#ifndef MD_GPU_RANKS_HALO_CUH
#define MD_GPU_RANKS_HALO_CUH

#include "gpu/ranks.cuh"

#include <algorithm>
#include <cmath>
#include <stdlib.h>

template <class T> md_status gpu_ranks<T>::read_counters(int *to, int n)
{
  MD_CUDA(cudaMemcpyAsync(to, counters.at, (size_t)n * 4, cudaMemcpyDeviceToHost, wide.stream));
  MD_CUDA(cudaStreamSynchronize(wide.stream));
  return MD_OK;
}

/* Lists of what the faces of an axis send. */
template <class T> md_status gpu_ranks<T>::select(const system_view<T> &s, int d)
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
template <class T> md_status gpu_ranks<T>::agree_on_counts(int d)
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
template <class T>
void gpu_ranks<T>::face_messages(int d, const void *from, void *to, int64_t size, md_message of[2]) const
{
  const side &low = face[d][0], &high = face[d][1];
  const char *send = (const char *)from;
  char *receive = (char *)to;
  of[0] = md_message{low.neighbour, high.neighbour, send, receive, low.sent * size, high.received * size};
  of[1] =
      md_message{high.neighbour,   low.neighbour,      send + low.sent * size, receive + high.received * size,
                 high.sent * size, low.received * size};
}

template <class T>
md_status gpu_ranks<T>::exchange(int d, const void *from, void *to, int64_t size, cudaStream_t stream)
{
  md_message of[2];
  face_messages(d, from, to, size, of);
  return transport->exchange(transport, 2, of, stream);
}

/* Room for n received ghosts, of which there are `have`. */
template <class T> md_status gpu_ranks<T>::reserve_received(int64_t n, int64_t have)
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

template <class T> md_status gpu_ranks<T>::reserve_out(int d)
{
  const int64_t n = (int64_t)face[d][0].sent + face[d][1].sent;
  if (n * (int64_t)sizeof(particle) <= out.bytes) return MD_OK;
  MD_TRY(md_device_reserve(memory, &out, (n + n / 8) * (int64_t)sizeof(particle), "what is sent"));
  return md_device_reserve(memory, &out_code, (n + n / 8) * 4, "what is sent");
}

/* Finds who is whose ghost and receives them, axis by axis. */
template <class T> md_status gpu_ranks<T>::gather_ghosts(const system_view<T> &s)
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
      MD_TRY(
          launch_gather<T>(wide, s, faces(d), lists(false), (particle *)out.at, (int *)out_code.at, nullptr));
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
template <class T>
md_status gpu_ranks<T>::settle_ghosts(const system_view<T> &s, int *start, void *scratch,
                                      size_t scratch_bytes)
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

/* The first particles of two cells. */
template <class T>
md_status gpu_ranks<T>::fetch_starts(const system_view<T> &s, int low, int high, int *begin, int *end) const
{
  MD_CUDA(cudaMemcpyAsync(begin, s.start + low, 4, cudaMemcpyDeviceToHost, wide.stream));
  MD_CUDA(cudaMemcpyAsync(end, s.start + high, 4, cudaMemcpyDeviceToHost, wide.stream));
  MD_CUDA(cudaStreamSynchronize(wide.stream));
  return MD_OK;
}

/* Messages wait for the particles up to `begin` and from `end` on. */
template <class T> void gpu_ranks<T>::send_ends(system_view<T> *s, int begin, int end) const
{
  s->nsent = s->n - (end - begin);
  s->split = begin;
  s->jump = end - begin;
  s->sent = nullptr;
  s->sent_bits = nullptr;
}

/* Of slabs: the particles of the first and of the last layers of cells. */
template <class T> md_status gpu_ranks<T>::note_layers(system_view<T> *s)
{
  const int d = T::DIM - 1, border = s->grid.border[d], own = s->grid.count[d] - 2 * border;
  const int step = layer_cells<T::DIM>(s->grid);
  const int low = face[d][0].neighbour < 0 ? 0 : std::min(layers[d], own);
  const int high = face[d][1].neighbour < 0 ? own : std::max(own - layers[d], low);
  int begin, end;
  MD_TRY(fetch_starts(*s, (border + low) * step, (border + high) * step, &begin, &end));
  /* A warp's particles share a block of lists. */
  begin = std::min((begin + 31) / 32 * 32, s->n);
  end = end < s->n ? std::max(end / 32 * 32, begin) : std::max(end, begin);
  send_ends(s, begin, end);
  return MD_OK;
}

/* Otherwise a list of them. */
template <class T> md_status gpu_ranks<T>::note_each(system_view<T> *s)
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
  MD_TRY(
      md_device_reserve(memory, &sent, ((int64_t)s->nsent + s->nsent / 8 + 1) * 4, "lists of what is sent"));
  MD_TRY(launch_list_sent(wide, bits, words, begin, (int *)sent.at));
  s->sent = (const int *)sent.at;
  s->sent_bits = bits;
  return MD_OK;
}

/* Can none of the rest have a ghost beside it? In cells of plain layouts ghosts matter to the layer next to a face, and
 * nobody goes farther than a layer. */
template <class T> bool gpu_ranks<T>::rest_is_inside() const
{
  bool inside = T::SKETCHED && divided_in_slabs() && layers[T::DIM - 1] > 1;
  for (int d = 0; d < T::DIM - 1; ++d) inside = inside && halo[d] == 0.0;
  return inside;
}

/* The view for one of the two parts of a step. */
template <class T> system_view<T> gpu_ranks<T>::part_of(const system_view<T> &whole, step_part part) const
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
template <class T>
md_status gpu_ranks<T>::refresh_messages(const system_view<T> &s, const launch &l, bool ahead)
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
template <class T>
md_status gpu_ranks<T>::refresh_images(const system_view<T> &s, const launch &l, bool ahead)
{
  for (const int d : order)
    if (halo[d] > 0.0 && alone_along(d)) MD_TRY(launch_carry<T>(l, s, faces(d), lists(ahead), first[d]));
  return MD_OK;
}

/* Ids of owned particles and ghosts, by local index: all ranks together. */
template <class T> md_status gpu_ranks<T>::spread_ids(const system_view<T> &s, const int *origin, int64_t *to)
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

#endif
