/* The functions that launch the kernels of a rebin: cells, sorting, images and lists. The rules of
 * gpu/particle/launch.cuh hold. */
#ifndef MD_GPU_NEIGHBOUR_LAUNCHES_CUH
#define MD_GPU_NEIGHBOUR_LAUNCHES_CUH

#include "gpu/particle/launch.cuh"

/* gpu/neighbour/bin.cu: counts the particles of each cell in `count`, and the ghosts of each cell in `ghost_count`
 * (NULL: not), and stores the number of each particle in its cell (cell_member in gpu/particle/view.cuh). If ids is not
 * NULL, the particles are not counted: their cells go to `ids`, and 0, 1, 2 ... to `index`. */
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

/* gpu/neighbour/rebin_few.cu: a whole rebin on one rank, which sorts by counting, with ghosts and lists; for particles
 * that are_few(), with at most seven images each. start, ghost_start: where the first particle of each cell is written,
 * and the first ghost (NULL: there are no ghosts). outcome: as for launch_reorder(). */
template <class T>
md_status launch_rebin_few(const launch &, const system_view<T> &, int *start, int *ghost_start,
                           const moved_fields<T> &, progress *outcome);

#endif
