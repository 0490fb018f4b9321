/* The view of one system: all that kernels know of it. Every kernel gets it by value as an argument.
 *
 *   ctl, launch   progress of the steps (progress.cuh)
 *   n, x, rest, v the owned particles; x also has the records of ghosts, after them
 *   grid          cells, and which particles lie in them (grid.cuh)
 *   ghost         cells of ghosts, and where ghosts come from
 *   list          neighbour lists
 *   scale         coordinates of packed, mixed and coarse positions (layout.cuh)
 *   box           faces and periodic axes
 *   slack         how far particles may move before the next rebin
 *   pair          coefficients of pairs
 *   part          the particles that a launch goes through
 *
 * All pointers are to device memory of the engine. Trade-off: constants lie in the arguments of a launch, so that no
 * kernel loads them from device memory. In return each launch copies them: 856 or 888 bytes.
 */
#ifndef MD_GPU_PARTICLE_VIEW_CUH
#define MD_GPU_PARTICLE_VIEW_CUH

#include "gpu/particle/grid.cuh"
#include "gpu/particle/progress.cuh"

/* The most images of a particle in a box that is not tilted and whose sides are longer than twice the halo. */
enum { IMAGES_MOST = 8 };

/* The ghosts, sorted by cell: images of particles across periodic faces, and particles of other ranks. Ghost g has
 * record n + g. */
template <class T> struct ghost_view {
  const int *start; /* first ghost of each cell, by ghost_cell(); NULL: no ghosts */
  /* A stencil may hold ghosts only if its middle cell is one of the first or last `depth` cells along an axis. 0: no
   * ghosts along this axis. */
  int depth[3];
  /* The `folded` cells from cell `fold` on have no ghosts and no entry in `start`. The cells after them are `folded`
   * entries lower. */
  int fold, folded;
  int *source; /* local index of the source; -1: it is on another rank */
  int *shift;  /* shift code, see below: an image is its source shifted by this number of edges of the box */
  int capacity;
  double halo[3]; /* distance from the box that ghosts must cover */
  /* On several ranks: the sources of the ghosts as they were at the rebin, and for each ghost the index of its source
   * among them. Else NULL. */
  const typename T::particle *received;
  const int *order;
  /* [n][IMAGES_MOST], where a step writes images itself: the ghosts of each particle, then -1; else NULL */
  int *of;
};

/* The first of the entries of particle i in ghost_view.of. */
__device__ __forceinline__ int64_t first_image(int i) { return (int64_t)IMAGES_MOST * i; }

/* Shift codes: the sum of n_d << (5 d) and NO_SHIFT, for a shift by n_d edges along axis d. In a tilted box an image is
 * shifted by more than one edge along x and y. */
enum { SHIFT_BITS = 5, SHIFT_MIDDLE = 1 << (SHIFT_BITS - 1), NO_SHIFT = SHIFT_MIDDLE * (1 + 32 + 1024) };

/* The number of edges by which a shift code shifts along axis d. */
__device__ __forceinline__ int shift_along(int code, int d)
{
  return (code >> (SHIFT_BITS * d) & (2 * SHIFT_MIDDLE - 1)) - SHIFT_MIDDLE;
}

/* The index in ghost_view.start of a cell. That of a cell without an entry is the entry after these cells, so that a
 * range of cells may begin or end at it. */
template <class T> __device__ __forceinline__ int ghost_cell(const ghost_view<T> &g, int cell)
{
  return cell < g.fold ? cell : max(cell - g.folded, g.fold);
}

/* The lists, with four neighbours in a row: row r of particle i is neighbours[(i/32 * stride + r) * 32 + i%32]. A
 * short list is filled with i itself. */
struct list_view {
  int4 *neighbours;
  int *rows;    /* number of rows of each 32 particles */
  int stride;   /* rows for which there is memory */
  bool half;    /* lists hold only ghosts and neighbours with a higher index */
  double reach; /* cutoff + skin */
};

struct box_view {
  double lo[3], hi[3], length[3];
  bool periodic[3];
  bool triclinic;
  /* Wraps and images take the axes in turn, and any number of edges: the box is tilted, or ghosts reach farther than a
   * side. */
  bool by_axis;
  double offset[3]; /* as in md_box */
};

/* By how much a shift code shifts coordinate d. */
__device__ __forceinline__ double shift_of(const box_view &box, int code, int d)
{
  double shift = shift_along(code, d) * box.length[d];
  if (box.triclinic && d == 0)
    shift += shift_along(code, 1) * box.offset[MD_XY] + shift_along(code, 2) * box.offset[MD_XZ];
  if (box.triclinic && d == 1) shift += shift_along(code, 2) * box.offset[MD_YZ];
  return shift;
}

/* When cells and lists end, and what makes lists last longer. */
struct slack_view {
  float most; /* how far a particle may move since the rebin */
  /* With packed positions (gpu/move/move_packed.cu): what the path of every particle has beside that in its rest; and a
   * bound, not negative, of the paths in the rests of each 32 particles, as long as no other kernel has moved them. */
  float common_path;
  float *longest_path;
  /* usage is a displacement (cells) or a path (lists) times this. It is 1 / most, or with list checks 1 / (the path
   * at which lists are stale in any case). */
  float usage_per_distance;
  int *beyond;                  /* indices of the fast particles of a step; NULL: no list checks */
  double outside;               /* how far a fast particle may be outside the faces of its domain */
  float extra;                  /* the largest extra */
  float foresight;              /* time that lists should last, for the extras */
  const double *velocity_per_v; /* by 0-based type */
};

/* The coefficients of pairs. A pair of types a and b has number a * ntypes + b. */
template <class T> struct pair_view {
  typename T::real k[MD_PAIR_K]; /* coefficients, if there is only one pair of types */
  const typename T::real *table; /* coefficients, [ntypes^2][MD_PAIR_K] */
  const double *overlap2;        /* squared distance below which a pair overlaps, [ntypes^2] */
  int ntypes;
  float cutoff; /* the largest of all pairs of types, rounded up */
  /* The upper word of model.close2. A pair whose squared distance is not above it needs the careful sum (mixed
   * layouts: it overlaps). */
  int close_high;
};

/* On several ranks a step may be two launches with one number. PART_SENT moves the particles that are sent to
 * other ranks. PART_REST moves all others, while those are on their way. */
enum step_part { PART_ALL, PART_SENT, PART_REST };

/* Which particles a launch goes through. */
struct part_view {
  step_part which;
  /* k = 0, 1, ... members - 1 is particle k, and from k = split on it is particle k + jump. */
  int members;
  int split, jump;
  /* If the particles that are sent do not lie together: their indices, each once, and a bit for each particle, set
   * if it is sent. Else NULL. */
  const int *sent;
  const unsigned *sent_bits;
  int nsent;
};

/* One system, as the kernels see it. */
template <class T> struct system_view {
  control *ctl;
  unsigned launch; /* number of the next launch that changes the progress */
  typename T::record *x[2];
  typename T::rest *rest[2]; /* beside x[0] and x[1], in packed and plain layouts; owned particles only */
  typename T::real *v[3];
  int n;
  cell_grid grid;
  ghost_view<T> ghost;
  list_view list;
  scale32 scale;
  box_view box;
  slack_view slack;
  pair_view<T> pair;
  part_view part;
};

/* The same view for a launch that goes through all particles. */
template <class T> system_view<T> undivided(const system_view<T> &s)
{
  system_view<T> whole = s;
  whole.part.members = s.n;
  whole.part.split = INT32_MAX;
  whole.part.jump = 0;
  return whole;
}

/* Does a launch go through particles that need not lie together? If so, SCATTERED is true: member() gives the k-th
 * of them, and is_own() tells whether the launch moves it. */
template <class T> bool scattered(const system_view<T> &s)
{
  return s.part.which == PART_SENT || (s.part.which == PART_REST && s.part.sent_bits);
}
template <bool SCATTERED, class T> __device__ __forceinline__ int member(const system_view<T> &s, int k)
{
  if (!SCATTERED) return k + s.part.jump;
  return s.part.which == PART_SENT && s.part.sent ? s.part.sent[k] : k >= s.part.split ? k + s.part.jump : k;
}
/* The word of `sent_bits` for the 32 particles around i: the bits of particles of the other part are set. Call it long
 * before is_own(), so that is_own() does not wait for the load. */
template <bool SCATTERED, class T> __device__ __forceinline__ unsigned others(const system_view<T> &s, int i)
{
  return SCATTERED && s.part.which == PART_REST && s.part.sent_bits ? s.part.sent_bits[i >> 5] : 0u;
}
__device__ __forceinline__ bool is_own(unsigned others, int i) { return !(others >> (i & 31) & 1u); }

/* Particle i, unpacked from `record` and its rest. parity: which position array the rest is read from. */
template <class T>
__device__ __forceinline__ typename T::particle complete(const system_view<T> &s, unsigned parity, int i,
                                                         const typename T::record &record)
{
  if constexpr (T::PACKED)
    return T::unpack(s.scale, record, s.rest[parity][i]);
  else
    return record;
}

/* Loads or stores the whole particle i, record and rest, in position array `parity`. */
template <class T>
__device__ __forceinline__ typename T::particle load_particle(const system_view<T> &s, unsigned parity, int i)
{
  return complete<T>(s, parity, i, load_record(s.x[parity] + i));
}

template <class T>
__device__ __forceinline__ void store_particle(const system_view<T> &s, unsigned parity, int i,
                                               const typename T::particle &p)
{
  if constexpr (T::PACKED) {
    typename T::record record;
    typename T::rest rest;
    T::pack(s.scale, p, record, rest);
    *(uint4 *)&s.x[parity][i] = make_uint4(record.low[0], record.low[1], record.low[2], record.high);
    s.rest[parity][i] = rest;
  } else {
    s.x[parity][i] = p;
    if constexpr (T::HAS_COARSE) s.rest[parity][i] = T::coarse(s.scale.coarse, p);
  }
}

/* The cell coordinates of the place where an owned particle is now. A particle beyond a face of the own cells
 * counts to the cell at the face, unless its coordinate wraps there. */
template <class T>
__device__ __forceinline__ void cell_at(const system_view<T> &s, const typename T::particle &r, int c[3])
{
  c[2] = 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if constexpr (T::MIXED) {
      const int border = s.grid.border[d];
      c[d] = (int)__umulhi(r.x[d] - s.grid.lo32[d], s.grid.in_range32[d]);
      c[d] = min(max(c[d] + s.grid.first32[d], border), s.grid.count[d] - 1 - border);
    } else {
      c[d] = cell_along(s.grid, d, r.x[d], false);
    }
  }
}

/* The number of the cell where a particle is now. */
template <class T>
__device__ __forceinline__ int cell_of(const system_view<T> &s, const typename T::particle &r)
{
  int c[3];
  cell_at<T>(s, r, c);
  return cell_number<T::DIM>(s.grid, c);
}

/* The present positions, and one particle of them. */
template <class T> __device__ __forceinline__ typename T::record *present(const system_view<T> &s)
{
  return s.x[progress_before(s.ctl, s.launch).parity];
}

template <class T>
__device__ __forceinline__ typename T::particle present_particle(const system_view<T> &s, int i)
{
  return load_particle<T>(s, progress_before(s.ctl, s.launch).parity, i);
}

/* A particle is number `rank` in its cell. Counting stores it in the idle
 * position array, where launch_index() reads it. */
struct alignas(8) cell_member {
  int cell, rank;
};
template <class T> __device__ __forceinline__ cell_member *cell_members(const system_view<T> &s)
{
  static_assert(sizeof(cell_member) <= sizeof(typename T::record), "they lie in a position array");
  return (cell_member *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
}

/* Counts particle i in its cell, and stores its number there. */
template <class T>
__device__ __forceinline__ void join_cell(const system_view<T> &s, int *count, int i, int cell)
{
  cell_members(s)[i] = cell_member{cell, atomicAdd(&count[cell], 1)};
}

/* Begins a step, with the same result in all threads of all blocks. now: the progress before the step. Returns
 * false if there is nothing to do. */
template <class T>
__device__ __forceinline__ bool begin_step(const system_view<T> &s, bool flip, progress &now)
{
  await_launches();
  now = progress_before(s.ctl, s.launch);
  if (blockIdx.x == 0 && threadIdx.x == 0) take_slot(s.ctl, s.launch, now, true, flip);
  return !idle(now);
}

#endif
