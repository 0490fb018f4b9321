/* Slabs whose particles are sorted by steps: how ranks do without migration and new lists of ghosts for some sorts.
 *
 * Where only the slowest axis of cells is divided, in y, a rank's cells go on beyond its cuts by a few rows, the overhang:
 * particles that cross a cut stay with the rank that has them, and sorts by steps (engine_sorting.cuh) find cells for them. So
 * the number of particles stays the same from one migration to the next, a dozen sorts later as a rule: then, or when somebody
 * has come to the outermost row, there is an ordinary rebin, and particles go to their owners.
 *
 * Whoever may meet a neighbour's particles lies in the first or last rows of the order of cells. So it is always
 * the first and the last so many particles that are sent, whoever they are; how many, is chosen at a migration, with room to spare.
 * Nothing but the particles in these places, and so the beginnings of cells there, changes with a sort. As ranks have the same
 * cells, ghosts lie as they come, in the order of the neighbour's cells, and the beginnings of these cells come with them.
 * Messages are of the same size all the time, and the host need not know what they hold.
 *
 * Rows, counted from the end of a rank's own, with an overhang of h: at a cut the neighbour owns particles in rows up to 2 h, and looks
 * at one more, the border (`seen`). In a step particles are at most a row from where they were sorted, and so are those which
 * they look for: who may be needed lies in the first 2 h + 2 (`near`), and so does who needs others.
 *
 * Trade-off: messages with h + 2 rows (of the others there is nobody just after a migration), and an eighth to spare, instead of
 * two: 3 MB a face and step with 10^8 particles. In return a sort costs a rank what it costs one that is alone, and two messages.
 */
#ifndef MD_GPU_RANKS_OVERHANG_CUH
#define MD_GPU_RANKS_OVERHANG_CUH

#include "gpu/ranks.cuh"

template <class T> overhang_rows gpu_ranks<T>::rows_at_cuts(const system_view<T> &s) const
{
  const int d = T::DIM - 1, border = s.grid.border[d];
  const side &low = face[d][0], &high = face[d][1];
  return overhang_rows{border,
                       layer_cells<T::DIM>(s.grid),
                       s.grid.count[d],
                       2 * overhang + border,
                       gpu_overhang_near(overhang),
                       s.ghost.depth[d] + 2,
                       {low.neighbour, high.neighbour},
                       s.n,
                       {low.sent, high.sent},
                       {low.received, high.received}};
}

/* With room to spare: who is near a cut changes from sort to sort. */
static inline int64_t with_spare(int64_t n) { return n + n / GPU_SPARE + 32; }

/* Of n particles in the own domain, as when they have migrated. */
template <class T> int64_t gpu_ranks<T>::expected_in_messages(int64_t n) const
{
  const int d = T::DIM - 1;
  const double share = gpu_overhang_share(overhang, box.end[d] - box.first[d]);
  return (int64_t)(2.1 * share * (double)n) + 1024;
}

/* How many particles are sent through both faces until the next migration, and come; and with which part of a step those
 * move. The device rests before. Collective. */
template <class T> md_status gpu_ranks<T>::choose_sent(system_view<T> *s)
{
  const int d = T::DIM - 1;
  side &low = face[d][0], &high = face[d][1];
  const overhang_rows rows = rows_at_cuts(*s);
  int before, behind;
  MD_TRY(fetch_starts(*s, rows.cell_of_row(0, rows.near), rows.cell_of_row(1, rows.near), &before, &behind));
  /* A warp's particles belong to one part. */
  const int64_t n = s->n, begin = (with_spare(before) + 31) / 32 * 32;
  const int64_t end = std::max<int64_t>(n - with_spare(n - behind), 0) / 32 * 32;
  low.sent = low.neighbour < 0 ? 0 : (int)std::min(begin, n);
  high.sent = high.neighbour < 0 ? 0 : (int)(n - end);
  const bool all = (int64_t)low.sent + high.sent >= n;
  send_ends(s, all ? s->n : low.sent, s->n - (all ? 0 : high.sent));
  MD_TRY(agree_on_counts(d));
  ghosts = received_along(d);
  return can_hold((int64_t)ghosts + s->n);
}

/* Says which these are, in the lists that every step goes by; the view has room for the ghosts. */
template <class T> md_status gpu_ranks<T>::line_up(const system_view<T> &s)
{
  const int d = T::DIM - 1;
  const overhang_rows rows = rows_at_cuts(s);
  MD_TRY(reserve_received(ghosts, 0));
  MD_TRY(reserve_out(d));
  for (side &f : face[d]) {
    const int64_t room = f.sent + f.sent / 8;
    if (f.sent > 0) MD_TRY(md_device_reserve(memory, &f.send, room * 4, "lists of what is sent"));
  }
  const int64_t bytes = 2 * rows.starts() * 4;
  MD_TRY(md_device_reserve(memory, &told, bytes, "cells of ghosts"));
  MD_TRY(md_device_reserve(memory, &heard, bytes, "cells of ghosts"));
  /* From where there is nobody nobody comes. */
  MD_CUDA(cudaMemsetAsync(heard.at, 0, (size_t)bytes, wide.stream));
  return launch_line_up(wide, rows, (int *)face[d][0].send.at, (int *)face[d][1].send.at,
                        ghosts_in_line{(int *)slot.at, (int *)by_slot.at, s.ghost.owner, s.ghost.shift});
}

/* The beginnings of cells for both neighbours. step: one that has sorted, whose slack is used up if somebody is where no
 * message and no row of the overhang has room for him; NULL: there is none. */
template <class T> md_status gpu_ranks<T>::tell_starts(const system_view<T> &s, step_slot *step)
{
  return launch_tell_starts(wide, rows_at_cuts(s), s.start, (int *)told.at, step);
}

/* These, and present positions, from both neighbours; start: where ghosts' cells are going to begin. Nothing changes if
 * `step` was not taken. Collective. */
template <class T>
md_status gpu_ranks<T>::receive_ghosts(const system_view<T> &s, int *start, const step_slot *step)
{
  const overhang_rows rows = rows_at_cuts(s);
  const int64_t bytes = rows.starts() * 4;
  char *to = (char *)told.at, *from = (char *)heard.at;
  const int low = rows.neighbour[0], high = rows.neighbour[1];
  const int64_t down = low < 0 ? 0 : bytes, up = high < 0 ? 0 : bytes;
  const md_message both[2] = {{low, high, to, from + bytes, down, up},
                              {high, low, to + bytes, from, up, down}};
  MD_TRY(transport->exchange(transport, 2, both, wide.stream));
  MD_TRY(launch_place_starts(wide, rows, (const int *)heard.at, start, step));
  return refresh_messages(s, wide, false);
}

#endif
