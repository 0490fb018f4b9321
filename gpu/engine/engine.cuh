/* The GPU engine: all data on the device, hundreds of steps without a word from the host.
 *
 * A rebin wraps the particles, puts them into the order of their cells, makes the ghosts of periodic faces and, where
 * that pays, neighbour lists (bin.cu, sort.cu, cell_start.cu, halo.cu, list.cu). Then steps follow, one kernel each
 * (step_*.cu) or force and move (force.cu, force_symmetric.cu, move.cu), until a particle has used up the slack that cells
 * or lists leave it, or two have together what lists leave them (list_check.cu).
 *
 * The host works in batches (batches.cuh): it launches the steps that should fit between two rebins, and the rebin, without
 * waiting; it looks at a batch's outcome only after having launched the next. A step that may not be taken any more
 * returns at once (state.cuh), so a wrong guess costs an empty launch and never a result.
 *
 * On several ranks (ranks.cuh) the host waits at every rebin, where particles change the rank and ghosts are agreed on; the
 * steps between are launched without waiting all the same, each with its exchange of ghosts, and end alike on all ranks.
 * Where steps sort, ranks too do so without a word from the host, and migrate now and then (ranks/deferred.inc).
 *
 * Ids and types stay with the host's arrays: `origin` names each particle's place there, and results are brought back
 * into that order.
 *
 * One class does this for one layout of particles (layout.cuh). Its functions are below in the order of these files:
 *
 *   engine/setup.inc   before the first step: the grid, tables, particles onto the device
 *   engine/arrays.inc  arrays for particles, ghosts and lists: made, and made larger
 *   engine/rebin.inc   a rebin
 *   engine/step.inc    one step
 *   engine/run.inc     a run: batches of steps and rebins
 *   engine/sorting.inc a run in which steps do the work of rebins
 *   engine/ranks.inc   rebin, step and run of several ranks
 *   engine/error.inc   errors of steps
 *   engine/output.inc  sums, particles and pictures for the host
 *
 * engine.cu chooses the layout, and is the engine's C interface. It includes them all: as files that are compiled on their
 * own they would take, in sum, 1.6 times as long (2.5 times for six architectures).
 */
#ifndef MD_GPU_ENGINE_ENGINE_CUH
#define MD_GPU_ENGINE_ENGINE_CUH

#include "gpu/engine/batches.cuh"
#include "gpu/engine/configuration.h"
#include "gpu/particle/launch.cuh"
#include "gpu/ranks/ranks.cuh"
#include "gpu/runtime/profile.h"

/* The engine of any layout, behind the C interface (common/engine.h). */
struct md_engine {
  virtual ~md_engine() = default;
  virtual md_status start() = 0;
  virtual md_status run(int64_t n) = 0;
  virtual md_status measure(md_measure *) = 0;
  virtual md_status download(double *const force[3]) = 0;
  virtual md_status histogram(const md_histogram *, int64_t *count) = 0;
  virtual void report(md_engine_report *) = 0;
};

/* Device memory, and nothing else: every array here is freed with the engine. */
struct gpu_arrays {
  /* Records of particles and ghosts, behind them what packed layouts leave over, or coarse positions: the present, and the idle
   * one, which a fused step or a sort writes, and which is scratch in between. */
  device_array x[2];
  device_array v[3], origin;                          /* the other fields of particles, */
  device_array spare[3], spare_origin;                /* and where they are sorted into; scratch in between */
  device_array start, cell;                           /* of system_view */
  device_array next_start;                            /* of the order that steps sort into */
  device_array keys, scratch;                         /* of the radix sort; of CUB */
  device_array ghost_start, ghost_owner, ghost_shift; /* of ghost_view */
  device_array list, rows, beyond_slack;              /* of system_view */
  device_array impulse_k,
      force_k;            /* pair coefficients by pair of types, of impulses, of forces of mixed layouts, */
  device_array measure_k; /* of forces in double, for output, */
  device_array overlap2;  /* and the squared distance of an overlap */
  device_array ratio, mass, v_step;  /* by type: velocity_per_v and v_step of the model, and masses */
  device_array v_low[3];             /* by original index: second words of momenta */
  device_array id;                   /* in the host's order; for thermostats on one rank */
  device_array control, sums, count; /* state.cuh; of measuring; of a histogram */
};

template <class T> struct gpu_engine final : md_engine {
  typedef typename T::real real;
  typedef typename T::record record;
  static constexpr bool HAS_REST = T::PACKED || T::HAS_COARSE;
  /* Bytes of a particle's position as it is read, and as it is written: whoever reads that of a particle alone needs no
   * coarse position. */
  static constexpr double READ = sizeof(record) + (T::PACKED ? sizeof(typename T::rest) : 0),
                          WRITTEN = sizeof(record) + (HAS_REST ? sizeof(typename T::rest) : 0);

  /* ---- what it is given ---- */

  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  gpu_configuration config;
  cudaDeviceProp device;
  int source;   /* of neighbours: FROM_LIST, FROM_CELLS or FROM_ALL */
  bool several; /* ranks */
  int sharers;  /* ranks on the device */

  /* ---- on the device ---- */

  device_memory memory = {};
  gpu_arrays a = {};
  int64_t room = 0; /* particles there is room for */
  cudaStream_t stream = nullptr;
  launch elementwise;       /* for kernels with a thread per element */
  launch stepping;          /* for those of steps */
  system_view<T> view = {}; /* what kernels are given */
  step_args step = {};      /* and those that move */
  gpu_ranks<T> ranks;
  int64_t balanced_at; /* the step when ranks last looked whether they are balanced */

  /* ---- where things stand ---- */

  bool built = false;   /* do cells and lists fit the positions? */
  bool counted = false; /* are particles counted in their cells already? */
  progress now = {};    /* as last seen, with the device at rest */
  int ghosts_wanted = 0, list_wanted = 0;
  gpu_batches batches;
  rebin_interval interval;
  step_sorts sorts;

  /* ---- for the report ---- */

  gpu_profile profile = {};
  md_timers timers = {};
  int64_t steps = 0, rebins = 0;
  char description[1024] = "";

  /* ---- engine/setup.inc ---- */

  md_status start() override;
  ~gpu_engine() override;

  /* The view's scale, grid and coefficients. */
  void set_scale();
  void set_fine_scale();
  void set_coarse_positions();
  md_status set_grid();
  void fold_ghosts();
  void set_grid32(cell_grid *g);
  uint32_t mixed_place(int d, double x) const { return mixed2::place(view.scale, d, x); }
  md_status set_tables();
  md_status set_mixed_tables();

  /* Particles from the host; also after they have changed the rank through it. */
  md_status load();
  md_status make_ids();

  /* For the log. */
  void describe();

  /* ---- engine/arrays.inc ---- */

  /* An array that stays, filled from the host, or made larger with its first `used` bytes. */
  md_status make(device_array *array, int64_t bytes, const char *what)
  {
    return md_device_reserve(&memory, array, bytes, what);
  }
  md_status upload(device_array *array, const void *from, int64_t bytes, const char *what)
  {
    return md_device_upload(&memory, array, from, bytes, what);
  }
  md_status enlarge(device_array *array, int64_t bytes, int64_t used, const char *what)
  {
    return md_device_enlarge(&memory, array, bytes, used, stream, what);
  }

  /* A position array: records of particles and ghosts, and behind them what the records of a packed layout leave over, or
   * coarse positions, of which a few more than there are may be read. */
  int64_t records() const { return room + view.ghost.capacity; }
  int64_t rest_bytes() const
  {
    return HAS_REST ? (room + COARSE_BEYOND) * (int64_t)sizeof(typename T::rest) : 0;
  }
  int64_t position_bytes() const { return records() * (int64_t)sizeof(record) + rest_bytes(); }
  void place_positions();

  /* Everything that is as large as the particles of this rank and their cells; and its parts. */
  md_status make_arrays();
  md_status make_particles();
  md_status make_ghosts(int64_t capacity);
  md_status make_list(int rows);
  md_status make_scratch();
  int cell_bits() const;

  /* More room, with the device at rest: for particles, for ghosts, for neighbours. */
  md_status enlarge_room(int64_t n);
  md_status enlarge_positions(const system_view<T> &before);
  md_status grow_ghosts(int64_t capacity);
  md_status grow_list();
  md_status grow();

  /* ---- engine/rebin.inc ---- */

  /* Runs a launch, timed if profiling. */
  template <class F> md_status timed(const char *name, double bytes, F &&launched)
  {
    MD_TRY(gpu_profile_begin(&profile, stream));
    MD_TRY(launched());
    return gpu_profile_end(&profile, stream, name, bytes);
  }

  bool counting() const { return options.gpu.sort != MD_GPU_SORT_RADIX; }

  /* Parts of a.keys: cells and indices of particles, and both in the order of cells. */
  unsigned *keys() const { return (unsigned *)a.keys.at; }
  unsigned *sorted_keys() const { return keys() + room; }
  int *indices() const { return (int *)(keys() + 2 * room); }

  /* Who is where in the order of cells. */
  int *order() const { return counting() ? (int *)a.spare_origin.at : (int *)(keys() + 3 * room); }

  /* Counts whose sums are going to be cursors stand one place up: a cursor at the end of its cell is then the beginning of
   * the next. */
  int *next_cursor() const { return (int *)a.next_start.at + 1; }
  int *ghost_cursor() const { return a.ghost_start.at && !several ? (int *)a.ghost_start.at + 1 : nullptr; }

  /* Where cells begin; who comes where in their order; and particles moved there. */
  md_status order_cells(unsigned *ids);
  md_status sum_counts(int *counts, int64_t n);
  md_status index_particles();
  moved_fields<T> spare_fields() const;
  md_status sort_into_spare();
  md_status sort_particles();
  md_status sorted_view(system_view<T> *s, const int **origin);

  /* Behind the sort: present positions of ghosts, and lists. */
  md_status update_halo();
  md_status build_list();

  /* The arrays sorted into become the present ones, and they the spare ones. */
  void swap_fields();

  /* All of a rebin, ending batch c or none (NULL); as many rebins as it takes until everything has room; and that after a
   * look at where the device is. */
  md_status launch_rebin(gpu_batch *c);
  md_status make_structure();
  md_status ensure_neighbours();

  /* ---- engine/step.inc ---- */

  /* What is the same for all steps of a run. */
  void set_step();
  void set_safe(int d, double lo, double hi);

  /* One step: in one kernel, or by forces and a move. */
  md_status launch_step(step_sorting sorting = SORTS_NOT);
  md_status launch_fused(const launch &l, const system_view<T> &s, step_sorting sorting = SORTS_NOT);
  md_status launch_unfused();
  md_status launch_forces(const system_view<T> &s, real *const impulse[3], bool part_of_step);
  void impulse_arrays(real *impulse[3]) const;
  double force_bytes() const;
  /* Whether lists still hold, behind a step. */
  md_status check_lists(unsigned step_launch);
  /* An overlap that force kernels found on any rank stops all. */
  md_status share_overflow() { return several ? ranks.share_overflow(view.ctl, stream) : MD_OK; }

  /* ---- engine/run.inc ---- */

  md_status run(int64_t n) override;
  md_status run_alone(int64_t n);
  md_status finish_kicks();

  /* Batches: begun without waiting, and waited for; with the time between two events. */
  md_status launch_batch(int64_t left, int64_t *issued);
  md_status finish_batch(progress *seen);
  md_status lap(md_phase phase, cudaEvent_t from, cudaEvent_t to);

  /* `now`, from the device and to it. */
  md_status read_progress();
  md_status put_progress();

  /* ---- engine/sorting.inc ---- */

  bool steps_sort() const { return config.step_sorts && (!several || ranks.buffer_rows > 0); }
  md_status run_sorting(int64_t n);

  /* The steps up to a sort and with it, or up to the end of the run: *left becomes fewer by those. resting: nothing is
   * under way yet. *stuck: the slack was used up before, or there is an error, or particles must migrate. */
  md_status launch_to_sort(bool resting, int64_t *left, bool *stuck);
  int64_t steps_to_sort(double usage) const;
  md_status launch_plain(int64_t count);
  md_status launch_sorting_steps();
  bool migration_is_due(int64_t done) const;
  next_order<T> order_next(step_sorting sorting) const;
  /* How things stood behind the steps launched so far, while others follow. */
  md_status note_progress();
  md_status await_progress(progress *seen);
  md_status time_sort();
  /* The order that was sorted into becomes the present one; and does not, if the device has not taken that step. */
  void swap_orders();
  void adopt_order();

  /* ---- engine/ranks.inc ---- */

  /* A rebin, in this order. */
  md_status rebin_ranks();
  md_status balance_if_due();
  md_status migrate();
  md_status make_halo();
  md_status fit_list();

  /* A step; if it can be, beside its messages. One that moves particles to new places has none, as these are not known
   * before; what neighbours must know comes behind it. */
  md_status launch_step_ranks(step_sorting sorting = SORTS_NOT);
  md_status launch_two_parts(step_sorting sorting);
  md_status launch_sort_ranks();

  md_status lap_messages();
  md_status run_ranks(int64_t n);

  /* ---- engine/error.inc ---- */

  /* What a step's halt says, as an error with the particles' ids. */
  md_status fault();
  md_status overlap_error(int64_t later);
  md_status find(bool overlap, culprit *found);

  /* ---- engine/output.inc ---- */

  md_status measure(md_measure *m) override;
  md_status download(double *const force[3]) override;
  md_status histogram(const md_histogram *h, int64_t *count) override;
  void report(md_engine_report *r) override;

  /* Places in the host's arrays; on several ranks particles come in the order of the device. */
  const int *places() const { return several ? nullptr : step.origin; }
  /* Components in that order, and on several ranks whose they are. */
  md_status fetch_position(int d, double *to);
  md_status fetch(const real *from, const int *origin, double *to);
  md_status fetch_low();
  /* Forces; exact layouts as fine sums. */
  md_status fetch_forces(double *const force[3]);
  md_status fetch_fine_forces(double *const force[3]);
  md_status fetch_identities();
};

#endif
