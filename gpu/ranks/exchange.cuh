/* What several ranks add to the engine's launches: particles that migrate, and ghosts that are particles of other
 * ranks.
 *
 * The kernels are in migrate.cu, halo.cu, regions.cu and deferred.cu. The order of events is in
 * gpu/run/rebin_ranks.inc and gpu/run/step_ranks.inc. All launches are asynchronous on the stream of their `launch`.
 */
#ifndef MD_GPU_RANKS_EXCHANGE_CUH
#define MD_GPU_RANKS_EXCHANGE_CUH

#include "gpu/particle/launch.cuh"

/* A plane between bricks: `cell` is the first cell above it along the axis. */
struct brick_plane {
  int axis, cell;
};

/* The cells of the whole box and their owners. Every rank computes the same owner for the same position. */
struct domain_cells {
  double lo[3], per_width[3];
  int cells[3];
  int first[3], end[3]; /* cells of this rank: [first, end) */
  const int *cut[3];    /* [domains + 1] */
  int domains[3];
  const brick_plane *plane; /* [bricks], as md_decomposition.bisector; NULL: the domains are a grid */
  int bricks;
};

/* The second words of a migrant's momentum, its anchor, external force, and velocity of pair forces; for layouts that
 * have them. */
template <class T, bool WIDENS = T::WIDENS> struct migrant_low {
};
template <class T> struct migrant_low<T, true> {
  int64_t low[T::DIM];
  double anchor[T::DIM], external[T::DIM], v_pair[T::DIM];
};

/* A migrant: a particle in a message to its new rank, in the precision of the layout. */
template <class T> struct migrant : migrant_low<T> {
  typename T::particle x;
  typename T::real v[T::DIM];
  int64_t id;
  uint32_t group;
};

/* A slot that a migrant has vacated, or that an arrival will have: its local index, and its index in the table of
 * ids. */
struct vacated_slot {
  int index, origin, to; /* to: rank of a brick, or number of the owner in the grid of domains, x fastest */
};

/* migrate.cu: what its kernels read and write. */
template <class T> struct migration {
  int *origin;
  int64_t *id;         /* by origin */
  int64_t *low[3];     /* by origin: second words of momenta, or NULL */
  double *anchor[3];   /* by origin, or NULL */
  double *external[3]; /* by origin, or NULL */
  double *v_pair[3];   /* by origin, or NULL */
  uint32_t *group;     /* by origin: bits of groups, or NULL */
  migrant<T> *migrants_at;
  vacated_slot *at;
  int capacity;
  int begin, end; /* the particles [begin, end) are not looked at */
  int *in_cell;   /* counts of cells, for particles that stay and that arrive; or NULL */
  /* Bond words (bond_words.h): of particles by origin, and of migrants; `words` for each. */
  int words;
  int64_t *bond_word, *migrant_word;
};
/* Packs the particles whose owner is another rank, and, with in_cell, counts the others in their cells. *count, on the
 * device: the number of packed particles, which may be larger than the capacity. */
template <class T>
md_status launch_leave(const launch &, const system_view<T> &, const domain_cells &, const migration<T> &,
                       int *count);
/* Counts the particles in their cells, but those that launch_leave() has packed. *missed, on the device: grows by the
 * number of particles whose owner is another rank, and that launch_leave() did not look at. They are counted in the
 * nearest cells. */
template <class T>
md_status launch_stay(const launch &, const system_view<T> &, const domain_cells &, const migration<T> &,
                      int *missed);
/* Puts migrants into another order: to[k] becomes from[order[k]]. */
template <class T>
md_status launch_group(const launch &, int n, const int *order, const migrant<T> *from, migrant<T> *to);
/* The same for their bond words: to[k] becomes the `words` words of from[order[k]]. */
md_status launch_group_words(const launch &, int n, int words, const int *order, const int64_t *from,
                             int64_t *to);
/* Puts n migrants into the slots m.at. */
template <class T>
md_status launch_unpack_migrants(const launch &, const system_view<T> &, const migration<T> &, int n);
/* Moves n particles: number k from slot move[k].x to slot move[k].y. */
template <class T>
md_status launch_refill(const launch &, const system_view<T> &, int *origin, const int2 *move, int n);
/* Gather what lies by origin: to[i] becomes the id, the bits of groups, or bond word number w of `words`, of particle
 * i. launch_unload_types(): the type, which lies in the records. */
md_status launch_unload_ids(const launch &, int n, const int64_t *id, const int *origin, int64_t *to);
md_status launch_unload_groups(const launch &, int n, const uint32_t *group, const int *origin, uint32_t *to);
template <class T> md_status launch_unload_types(const launch &, const system_view<T> &, uint16_t *to);
md_status launch_unload_words(const launch &, int n, const int64_t *bond_word, int words, int w,
                              const int *origin, int64_t *to);
/* Scatters: to[origin[i]] becomes from[i]. */
md_status launch_load_by_origin(const launch &, int n, const double *from, const int *origin, double *to);

/* halo.cu and, for regions, regions.cu. A ghost has two numbers. The first number is its number in the order in which
 * ghosts are received. The second number is its number in the order of cells, in which ghosts lie after the owned
 * particles. */
template <class T> struct ghost_lists {
  typename T::particle *received; /* by the first number: the sources, not shifted, as of the rebin */
  int *code;                      /* by the first number: shifts in boxes, as ghost_view.shift */
  int *source;                    /* by the first number: local index of the source; -1: of another rank */
  int *slot;                      /* by the first number: the second */
  int *order;                     /* by the second number: the first */
  typename T::record *incoming;   /* by the first number: new records, shifted, as received */
  bool next_positions; /* those that the step of the view's launch writes, in place of the present ones */
};

/* The particles and ghosts that one face sends, and their shift. */
struct face_selection {
  int *send; /* entries: local indices of particles; for ghosts -1 - first number, until launch_resolve() */
  int capacity;
  int *count;      /* on the device: number of entries, which may be larger than the capacity */
  int axis, high;  /* which face */
  int layers;      /* layers of cells behind the face that may hold them */
  double from, to; /* coordinates [from, to) along the axis are sent */
  int shift;       /* in boxes, for all that is sent */
};
/* Selects the owned particles, and those of the first `ghosts` ghosts, that the face sends. */
template <class T>
md_status launch_select(const launch &, const system_view<T> &, const face_selection &,
                        const ghost_lists<T> &, int ghosts);

/* The own cells whose particles may be ghosts of one rank by one shift: size[3] cells from `first` on. `first` counts
 * the border of the grid too. */
struct cell_region {
  int64_t before; /* pieces of the regions before this one */
  int first[3], size[3];
  int pieces;            /* of a row along x */
  double from[3], to[3]; /* coordinates [from, to) are sent */
  int code;              /* of the shift */
};
/* A piece is `length` cells along x that lie one after another, or fewer at the end of a row. It has about
 * REGION_PIECE particles. */
enum { REGION_PIECE = 64 };
struct region_selection {
  int n, length;
  int64_t pieces; /* of all regions */
  const cell_region *region;
  int *cursor;
  int *send, *code; /* NULL: particles are only counted */
  int capacity;     /* of send and code */
};
/* Selects the particles in n regions. cursor[k] grows by the number of particles of region k. A particle and its shift
 * go to send[k] and code[k], k being the cursor before. */
template <class T>
md_status launch_select_regions(const launch &, const system_view<T> &, const region_selection &);

/* What a round of the halo sends. In a grid: both faces of an axis; face k has n[k] entries in send[k]. */
struct halo_entries {
  const int *send[2];
  int n[2], shift[2];
  int axis;
  /* In a tilted box, and for regions: for each entry, those of the low face first, the code of its shift; else NULL. */
  int *across;
  bool wraps[3]; /* axes along which images are wrapped: those before `axis` whose images are made later */
  bool coded;    /* for regions: `across` is complete, and entries have no other shift */
};
/* At a rebin: copies the particles of the entries, those of the low face first, with their shifts and, unless
 * `source` is NULL, their sources. */
template <class T>
md_status launch_gather(const launch &, const system_view<T> &, const halo_entries &, const ghost_lists<T> &,
                        typename T::particle *to, int *code, int *source);
/* Copies the records of the entries, shifted, those of the low face first. */
template <class T>
md_status launch_pack(const launch &, const system_view<T> &, const halo_entries &, const ghost_lists<T> &,
                      typename T::record *to);
/* Ghosts with first numbers [first, first + n): launch_unpack() moves their records from where they were received
 * to where they lie, and launch_copy_images() makes them from the entries themselves. */
template <class T>
md_status launch_unpack(const launch &, const system_view<T> &, const ghost_lists<T> &, int first, int n);
template <class T>
md_status launch_copy_images(const launch &, const system_view<T> &, const halo_entries &,
                             const ghost_lists<T> &, int first);
/* launch_bin_ghosts() counts n ghosts by cell. launch_order_ghosts() puts them into the order of cells, by cursors
 * of the cells. */
template <class T>
md_status launch_bin_ghosts(const launch &, const system_view<T> &, const ghost_lists<T> &, int n,
                            int *count);
template <class T>
md_status launch_order_ghosts(const launch &, const system_view<T> &, const ghost_lists<T> &, int n,
                              int *cursor);
/* Turns entries of ghosts into local indices. */
md_status launch_resolve(const launch &, int *send, int n, const int *slot, int owned);
/* launch_note_sent() sets a bit for each particle [0, owned) that is among the n entries. launch_count_sent()
 * counts the bits in each of `words` words, and writes a 0 after these counts. launch_list_sent() makes a list of
 * the particles; begin: the exclusive sum of the counts. The list has the order of the particles, so that reads of
 * neighbours in memory stay together. */
md_status launch_note_sent(const launch &, const int *send, int n, int owned, unsigned *bits);
md_status launch_count_sent(const launch &, const unsigned *bits, int words, int *count);
md_status launch_list_sent(const launch &, const unsigned *bits, int words, const int *begin, int *list);
/* launch_pack_values() copies the ids of entries, or another word of 8 bytes, or two, or states.
 * launch_unpack_values() gives received values to their ghosts. */
template <class V> md_status launch_pack_values(const launch &, const halo_entries &, const V *of, V *to);
template <class V>
md_status launch_unpack_values(const launch &, const V *received, const int *slot, int n, V *of);

/* deferred.cu: rows of cells at the cuts between slabs, see the picture in deferred.inc. Side 0 is the low one. */
struct cut_rows {
  int border, row, rows;    /* rows of a border; cells of a row; all rows, borders included */
  int rows_read, rows_sent; /* rows that the stencils of a neighbour read; rows whose particles it is sent */
  int kept;                 /* rows at each end that have beginnings of ghosts' cells */
  int neighbour[2];         /* ranks; -1: none */
  int n, sent[2], received[2]; /* own particles; sent particles and received ghosts, by side */

  /* Number of beginnings of cells in a message, with the end of the last cell. */
  __host__ __device__ int64_t starts() const { return (int64_t)rows_read * row + 1; }
  /* Side 0: the first cell after the first `own` own rows. Side 1: the first cell of the last `own` own rows. */
  __host__ __device__ int cell_of_row(int side, int own) const
  {
    return (side == 0 ? border + own : rows - border - own) * row;
  }
};
/* Copies the beginnings of cells in the rows that are read, as places in the messages. to: 2 starts() numbers. step:
 * NULL, or the slot of a step; its slack counts as used up if a particle has no place in a message or is in the
 * outermost buffer row. */
md_status launch_pack_starts(const launch &, const cut_rows &, const int *start, int *to, step_slot *step);
/* Copies what came to the beginnings of ghosts' cells; not if `step` was not taken. step may be NULL. */
md_status launch_unpack_starts(const launch &, const cut_rows &, const int *from, int *start,
                               const step_slot *step);
/* Makes the lists for messages: the first and the last particles are sent, and ghosts lie as they come. */
struct ghosts_in_line {
  int *slot, *order, *owner, *shift;
};
md_status launch_line_up(const launch &, const cut_rows &, int *low, int *high, const ghosts_in_line &);

/* A step of a rank without particles. flip: whether the step writes the idle position array. */
md_status launch_empty_step(const launch &, control *ctl, unsigned launch, bool flip);

#endif
