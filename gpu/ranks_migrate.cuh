/* Particles to the ranks that own them, at a rebin, however far.
 *
 * The host deals out what leaves by owner, and tells each how much comes; particles themselves go from device to device,
 * packed with all they carry (migrate.cu), and are counted. Ids stay in a table; `origin` tells each particle's place in it,
 * as on one rank, and the places of those that left are taken by those that arrive. So the sort carries 4 bytes a
 * particle, and not 8.
 *
 * Cost: a pass over all positions, which also counts them in their cells for the sort; the host waits twice, and for the
 * other ranks.
 */
#ifndef MD_GPU_RANKS_MIGRATE_CUH
#define MD_GPU_RANKS_MIGRATE_CUH

#include "gpu/ranks.cuh"

#include <algorithm>
#include <stdlib.h>
#include <string.h>

/* After a load: the table's first n places are taken. */
template <class T> md_status gpu_ranks<T>::begin_ids(const md_particles *p, int64_t room)
{
  MD_TRY(md_device_reserve(memory, &id, room * 8, "ids"));
  MD_TRY(md_device_reserve(memory, &counters, 64, "counters"));
  MD_TRY(put(&id, p->id, (size_t)p->n * 8));
  free_origins.clear();
  next_origin = (int)p->n;
  return sum_ids(p->id, p->n, &id_sum);
}

template <class T> md_status gpu_ranks<T>::sum_ids(const int64_t *of, int64_t n, uint64_t *sum)
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
template <class T> md_status gpu_ranks<T>::enlarge_ids(int64_t room)
{
  return md_device_enlarge(memory, &id, room * 8, next_origin * INT64_C(8), wide.stream, "ids");
}

template <class T>
migration<T> gpu_ranks<T>::travel(int *origin, const device_array &travelling, int *start) const
{
  return migration<T>{origin,
                      (int64_t *)id.at,
                      {low[0], low[1], low[2]},
                      (traveller<T> *)travelling.at,
                      (hole *)hole_array.at,
                      (int)(travelling.bytes / (int64_t)sizeof(traveller<T>)),
                      start};
}

template <class T> md_status gpu_ranks<T>::reserve_travellers(device_array *array, int64_t n)
{
  n += n / 4 + 1024;
  return md_device_reserve(memory, array, n * (int64_t)sizeof(traveller<T>),
                           "particles that change the rank");
}

/* Holes have at least as much room as leavers; more, after many have arrived. */
template <class T> md_status gpu_ranks<T>::reserve_leavers(int64_t n)
{
  MD_TRY(reserve_travellers(&leaving_array, n));
  return md_device_reserve(memory, &hole_array, (n + n / 4 + 1024) * (int64_t)sizeof(hole),
                           "particles that change the rank");
}

/* Packs the leavers; `left`: where they were. start: room for the beginnings of cells, where the others are counted;
 * or NULL. The device rests afterwards. */
template <class T> md_status gpu_ranks<T>::find_leavers(const system_view<T> &s, int *origin, int *start)
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
template <class T> md_status gpu_ranks<T>::group_leavers()
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
template <class T> md_status gpu_ranks<T>::deliver(int64_t *arrived)
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
  MD_TRY(comm->deliver(comm, (int64_t)note.size(), to.data(), note.data(), sizeof(notice), &records, &count));
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
template <class T> void gpu_ranks<T>::assign(int64_t arrived, int n)
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
template <class T> md_status gpu_ranks<T>::take_in(const system_view<T> &s, int *origin, int *start)
{
  const int64_t most = std::max((int64_t)filled.size(), (int64_t)move.size());
  MD_TRY(
      md_device_reserve(memory, &hole_array, most * (int64_t)sizeof(hole), "particles that change the rank"));
  if (!filled.empty()) {
    MD_TRY(put(&hole_array, filled.data(), filled.size() * sizeof(hole)));
    MD_TRY(launch_arrive<T>(wide, s, travel(origin, arrived_array, start), (int)filled.size()));
  }
  if (move.empty()) return MD_OK;
  MD_TRY(put(&hole_array, move.data(), move.size() * sizeof(int2)));
  return launch_refill<T>(wide, s, origin, (const int2 *)hole_array.at, (int)move.size());
}

/* MD_PHYSICS, on every rank, if particles are missing; with the id if it is one. */
template <class T>
md_status gpu_ranks<T>::count_particles(const system_view<T> &s, const int *origin, int64_t *scratch,
                                        int64_t step)
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

#endif
