/* What several ranks add to the engine's launches: particles that change the rank, and ghosts that are other ranks'
 * particles. Kernels in migrate.cu, exchange.cu and deferred.cu, the order of events in ranks_*.cuh.
 */
#ifndef MD_GPU_RANKS_EXCHANGE_CUH
#define MD_GPU_RANKS_EXCHANGE_CUH

#include "gpu/particle/launch.cuh"

/* The cells of the whole box and who owns them. Every rank works out the same owner of the same position. */
struct domain_cells {
  double lo[3], per_width[3];
  int cells[3];
  int first[3], end[3]; /* own ones */
  const int *cut[3];    /* [domains + 1] */
  int domains[3];
};

/* Second words of a momentum, where there can be any. */
template <class T, bool WIDENS = T::WIDENS> struct migrant_low {
};
template <class T> struct migrant_low<T, true> {
  int64_t low[T::DIM];
};

/* A particle on its way, in the layout's own precision. */
template <class T> struct migrant : migrant_low<T> {
  typename T::particle x;
  typename T::real v[T::DIM];
  int64_t id;
};

/* Where a particle left from, or arrives: a local index, and its place in the table of ids. */
struct vacated_slot {
  int index, origin, to; /* to: the place of the owner in the grid of domains, x fastest */
};

/* migrate.cu */
template <class T> struct migration {
  int *origin;
  int64_t *id;     /* by origin */
  int64_t *low[3]; /* by origin: second words of momenta, or NULL */
  migrant<T> *migrants_at;
  vacated_slot *at;
  int capacity;
  int *in_cell; /* those that stay, and those that arrive, take their places here; or NULL */
};
/* Packs the particles whose owner is another rank; *count: how many there are, which may be more than fit. */
template <class T>
md_status launch_leave(const launch &, const system_view<T> &, const domain_cells &, const migration<T> &,
                       int *count);
/* to[k]: migrant order[k]. */
template <class T>
md_status launch_group(const launch &, int n, const int *order, const migrant<T> *from, migrant<T> *to);
/* Puts n migrants into their places. */
template <class T>
md_status launch_unpack_migrants(const launch &, const system_view<T> &, const migration<T> &, int n);
/* Particles move from .x to .y. */
template <class T>
md_status launch_refill(const launch &, const system_view<T> &, int *origin, const int2 *move, int n);
/* to[i]: id and type of particle i. */
md_status launch_unload_ids(const launch &, int n, const int64_t *id, const int *origin, int64_t *to);
template <class T> md_status launch_unload_types(const launch &, const system_view<T> &, uint16_t *to);

/* exchange.cu. Ghosts have two numbers: the order in which they are received, and the order of cells, in which they lie
 * behind the owned particles. */
template <class T> struct ghost_lists {
  typename T::particle *received; /* by the first number: the owners, where they are, at the rebin */
  int *code;                      /* likewise: shifts in boxes, as ghost_view.shift */
  int *source;                    /* likewise: local index of the owner, -1: of another rank */
  int *slot;                      /* likewise: the second number */
  int *order;                     /* by the second number: the first */
  typename T::record *incoming;   /* likewise: new positions, shifted, between receiving and unpacking */
  bool ahead; /* positions are those that the step of the view's launch writes, not the present ones */
};

/* The particles and ghosts that one face sends, and how they change on the way. */
struct face {
  int *send; /* local indices of particles; of ghosts -1 - first number until the halo is settled */
  int capacity;
  int *count;      /* how many there are, which may be more than fit */
  int axis, high;  /* which face */
  int layers;      /* of cells behind it that can hold them */
  double from, to; /* coordinates [from, to) along the axis are sent */
  int shift;       /* in boxes */
};
/* The owned particles and the first `ghosts` ghosts to be sent through a face. */
template <class T>
md_status launch_select(const launch &, const system_view<T> &, const face &, const ghost_lists<T> &,
                        int ghosts);

/* Both faces of an axis: n[k] entries of send[k]. */
struct face_pair {
  const int *send[2];
  int n[2], shift[2];
  int axis;
};
/* At a rebin: particles of the entries, one behind the other, their shifts and, unless NULL, their sources. */
template <class T>
md_status launch_gather(const launch &, const system_view<T> &, const face_pair &, const ghost_lists<T> &,
                        typename T::particle *to, int *code, int *source);
/* Records of the entries, shifted, one behind the other. */
template <class T>
md_status launch_pack(const launch &, const system_view<T> &, const face_pair &, const ghost_lists<T> &,
                      typename T::record *to);
/* Ghosts [first, first + n) from where they were received to where they lie; or (carry) from the entries themselves. */
template <class T>
md_status launch_unpack(const launch &, const system_view<T> &, const ghost_lists<T> &, int first, int n);
template <class T>
md_status launch_carry(const launch &, const system_view<T> &, const face_pair &, const ghost_lists<T> &,
                       int first);
/* Counts received ghosts by cell; and puts them into the order of cells by cursors of the cells. */
template <class T>
md_status launch_bin_ghosts(const launch &, const system_view<T> &, const ghost_lists<T> &, int n,
                            int *count);
template <class T>
md_status launch_order_ghosts(const launch &, const system_view<T> &, const ghost_lists<T> &, int n,
                              int *cursor);
/* Entries of ghosts to local indices. */
md_status launch_resolve(const launch &, int *send, int n, const int *slot, int owned);
/* Sets the bits of the particles [0, owned) that are among n entries; how many are in each word of bits, of which there
 * are `words`, and 0 behind them; and a list of them by the counts' prefix sum, in their own order, which keeps reads of
 * neighbours in memory together. */
md_status launch_note_sent(const launch &, const int *send, int n, int owned, unsigned *bits);
md_status launch_count_sent(const launch &, const unsigned *bits, int words, int *count);
md_status launch_list_sent(const launch &, const unsigned *bits, int words, const int *begin, int *list);
/* Ids of entries one behind the other; and those received to the ghosts they belong to. */
md_status launch_pack_ids(const launch &, const face_pair &, const int64_t *id, int64_t *to);
md_status launch_unpack_ids(const launch &, const int64_t *received, const int *slot, int n, int64_t *id);

/* deferred.cu: the rows of cells at the cuts of slabs whose particles are sorted by steps. Side 0 is the low one. */
struct cut_rows {
  int border, row, rows; /* cells along the grid's axis on each side, of a row, and rows */
  int seen, near;        /* rows that a neighbour looks at; and of which it may need particles */
  int kept;              /* rows at each end for which there are beginnings of ghosts' cells */
  int neighbour[2];      /* ranks; -1: nobody */
  int n, sent[2], received[2];

  /* Beginnings of cells that go with a message, the end of the last included. */
  __host__ __device__ int64_t starts() const { return (int64_t)seen * row + 1; }
  /* The first cell that is not in the first so many own rows; or the first of the last so many. */
  __host__ __device__ int cell_of_row(int side, int own) const
  {
    return (side == 0 ? border + own : rows - border - own) * row;
  }
};
/* The beginnings of cells in those rows, as places in the messages; unless `step` is NULL, the slack of that one is used up
 * if somebody does not fit into the message or the buffer rows. to: two times starts(). */
md_status launch_pack_starts(const launch &, const cut_rows &, const int *start, int *to, step_slot *step);
/* And what came, as those of ghosts; not if `step` was not taken. */
md_status launch_unpack_starts(const launch &, const cut_rows &, const int *from, int *start,
                               const step_slot *step);
/* Lists that say: the first and the last particles are sent, and ghosts lie as they come. */
struct ghosts_in_line {
  int *slot, *order, *owner, *shift;
};
md_status launch_line_up(const launch &, const cut_rows &, int *low, int *high, const ghosts_in_line &);

/* A step of a rank that has no particles. */
md_status launch_empty_step(const launch &, control *ctl, unsigned launch, bool flip);

#endif
