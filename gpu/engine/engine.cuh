/* The GPU engine: the class gpu_engine<T>, which runs the steps of one rank on one GPU.
 *
 * All data of the particles stay on the device, and the host launches hundreds of steps without waiting for any of
 * them.
 *   1. A rebin wraps the particles, sorts them by cell, makes the ghosts of periodic faces and, where lists pay,
 *      makes lists (bin.cu, sort.cu, cell_start.cu, halo.cu, list.cu).
 *   2. Steps follow. A step is one kernel (step_*.cu, a fused step), or a force kernel and a move kernel
 *      (force.cu, force_symmetric.cu, move.cu).
 *   3. The steps end when a particle has used up the slack of cells or lists, or when two particles together have
 *      used up what lists allow (list_check.cu). Then the next rebin is due.
 *
 * The host works in batches (batches.cuh): it launches the steps that should fit between two rebins, and the
 * rebin, without waiting. It reads the outcome of a batch only after it has launched the next one. If a step may
 * not be taken any more, its launch returns at once (progress.cuh). So a wrong guess costs an empty launch and never
 * a result.
 *
 * On several ranks (ranks/ranks.cuh) the host waits at every rebin, because there particles change their rank and
 * the ranks agree on ghosts. The steps between two rebins are still launched without waiting, each with its
 * exchange of ghosts. All ranks stop at the same step. Where steps sort (engine/sorting.inc), ranks do not wait
 * for a sort either, and they migrate only now and then (ranks/deferred.inc).
 *
 * Ids and types in the host's arrays stay in their order. `origin` is the place of each particle in the host's
 * arrays, and results are brought back into that order.
 *
 * There are two position arrays. The present array holds the positions, and a step or a sort writes new positions
 * into the other one, the idle array. Then the two exchange their roles. progress.parity says which array is the
 * present one.
 *
 * Trade-off: the device does not wait for the host between two rebins. In return all fields of the particles are there
 * twice, and some launches do nothing. Cost: gpu_memory() (configuration.cu) counts the bytes of a particle.
 *
 * One class does this for one layout of particles (layout.cuh). Its functions are in these files, and are declared
 * below in the same order:
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
 * engine.cu chooses the layout and is the C interface of the engine. It includes all these files, and they are not
 * compiled on their own: separately they would take 1.6 times as long in sum (2.5 times for six architectures).
 */
#ifndef MD_GPU_ENGINE_ENGINE_CUH
#define MD_GPU_ENGINE_ENGINE_CUH

#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
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

/* Arrays in device memory. The struct has no other members, because the engine's destructor frees it as a list of
 * arrays. */
struct gpu_arrays {
  /* The two position arrays. Each holds the records of particles and then of ghosts, and behind them the rests of
   * packed layouts or the coarse positions of plain ones. A fused step or a sort writes the idle array. In
   * between, the idle array is scratch. */
  device_array x[2];
  device_array v[3], origin;           /* the other fields of particles */
  device_array spare[3], spare_origin; /* a sort writes these fields here; scratch in between */
  device_array start, cell;            /* of system_view */
  device_array next_start;             /* beginnings of cells in the order that steps sort into */
  device_array keys, scratch;          /* of the radix sort; of CUB's functions */
  device_array ghost_start, ghost_source, ghost_shift; /* of ghost_view */
  device_array list, rows, beyond_slack;               /* of system_view */
  /* Pair coefficients, by pair of types: of impulses; and of forces, for mixed layouts. */
  device_array impulse_k, force_k;
  device_array measure_k;           /* pair coefficients of forces in double, for output */
  device_array overlap2;            /* squared distance of an overlap, by pair of types */
  device_array ratio, mass, v_step; /* by type: velocity_per_v and v_step of the model, and masses */
  device_array v_low[3];            /* by original index: second words of momenta */
  device_array id;                  /* ids in the host's order; for thermostats on one rank */
  device_array group;               /* by original index: bits of groups; if there are groups besides `all` */
  device_array summand, terms;      /* of term_args */
  device_array control, sums, count; /* control block (progress.cuh); of measure(); of histogram() */
};

template <class T> struct gpu_engine final : md_engine {
  typedef typename T::real real;
  typedef typename T::record record;
  static constexpr bool HAS_REST = T::PACKED || T::HAS_COARSE;
  /* Bytes that a kernel reads, and writes, for the position of one particle. A kernel that reads only the
   * particle's own position needs no coarse position. */
  static constexpr double READ = sizeof(record) + (T::PACKED ? sizeof(typename T::rest) : 0),
                          WRITTEN = sizeof(record) + (HAS_REST ? sizeof(typename T::rest) : 0);

  /* ---- what it is given ---- */

  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  gpu_configuration config;
  cudaDeviceProp device;
  int source;   /* how neighbours are found: FROM_LIST, FROM_CELLS or FROM_ALL */
  bool several; /* more than one rank */
  int sharers;  /* ranks that share the device */

  /* ---- on the device ---- */

  device_memory memory = {};
  gpu_arrays a = {};
  int64_t room = 0; /* particles that the arrays have room for */
  cudaStream_t stream = nullptr;
  launch elementwise;       /* for kernels with one thread per element */
  launch stepping;          /* for the kernels of steps */
  system_view<T> view = {}; /* what every kernel is given */
  step_args step = {};      /* what kernels that move particles are given besides */
  gpu_ranks<T> ranks;
  int64_t balanced_at; /* step at which the ranks last checked the balance */

  /* ---- where things stand ---- */

  bool built = false;   /* do cells and lists fit the positions? */
  bool counted = false; /* has a migration already counted the particles in their cells? */
  progress now = {};    /* as last read while the device rested */
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

  /* These set the view's scale, grid and coefficients. */
  void set_scale();
  void set_fine_scale();
  void set_coarse_positions();
  md_status set_grid();
  void fold_ghosts();
  void set_grid32(cell_grid *g);
  uint32_t mixed_place(int d, double x) const { return mixed2::place(view.scale, d, x); }
  md_status set_tables();
  md_status set_mixed_tables();

  /* Copies particles from the host; also after particles have changed their rank through the host. */
  md_status load();
  md_status make_ids();
  md_status load_groups();

  /* Writes the engine's description for the log. */
  void describe();

  /* ---- engine/arrays.inc ---- */

  /* make() reserves at least `bytes`; if the array must grow, its contents are lost. upload() also fills the array
   * from the host. enlarge() keeps the first `used` bytes. what: the name of the array in errors. */
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

  /* Size of a position array: the records of particles and ghosts, then the rests of packed layouts or the coarse
   * positions. Kernels may read COARSE_BEYOND coarse positions behind the last one. */
  int64_t records() const { return room + view.ghost.capacity; }
  int64_t rest_bytes() const
  {
    return HAS_REST ? (room + COARSE_BEYOND) * (int64_t)sizeof(typename T::rest) : 0;
  }
  int64_t position_bytes() const { return records() * (int64_t)sizeof(record) + rest_bytes(); }
  void place_positions();

  /* Makes everything whose size follows from the particles of this rank and their cells; and the parts of that. */
  md_status make_arrays();
  md_status make_particles();
  md_status make_ghosts(int64_t capacity);
  md_status make_list(int rows);
  md_status make_scratch();
  int cell_bits() const;

  /* Make more room: for particles, for ghosts, for neighbours. The device rests. */
  md_status enlarge_room(int64_t n);
  md_status enlarge_positions(const system_view<T> &before);
  md_status grow_ghosts(int64_t capacity);
  md_status grow_list();
  md_status grow();

  /* ---- engine/rebin.inc ---- */

  /* Runs a launch; times it under `name` if the profile is on. bytes: what the kernel moves at least. */
  template <class F> md_status timed(const char *name, double bytes, F &&launched)
  {
    MD_TRY(gpu_profile_begin(&profile, stream));
    MD_TRY(launched());
    return gpu_profile_end(&profile, stream, name, bytes);
  }

  bool counting() const { return options.gpu.sort != MD_GPU_SORT_RADIX; }

  /* Four parts of a.keys: cells of particles, sorted cells, indices of particles, and indices in the order of
   * cells. */
  unsigned *keys() const { return (unsigned *)a.keys.at; }
  unsigned *sorted_keys() const { return keys() + room; }
  int *indices() const { return (int *)(keys() + 2 * room); }

  /* order()[k] is the index of the particle that is number k in the order of cells. */
  int *order() const { return counting() ? (int *)a.spare_origin.at : (int *)(keys() + 3 * room); }

  /* Counts that become cursors are stored one place up: the place behind that of a cell holds its count, and after
   * the prefix sum its cursor, which begins at the first place of the cell. When all particles have taken their
   * places, the cursor is at the end of the cell, which is the beginning of the next cell. So the array then holds
   * the beginnings of cells. */
  int *next_cursor() const { return (int *)a.next_start.at + 1; }
  int *ghost_cursor() const { return a.ghost_start.at && !several ? (int *)a.ghost_start.at + 1 : nullptr; }

  /* The beginnings of cells; the order of cells; and particles moved into that order. */
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

  /* The spare arrays, which the sort has written, become the present ones, and the present ones become spare. */
  void swap_fields();

  /* launch_rebin() launches all of a rebin at the end of batch c; c is NULL if there is no batch. make_structure()
   * repeats rebins until everything has room. ensure_neighbours() reads the progress first and then does the same. */
  md_status launch_rebin(gpu_batch *c);
  md_status make_structure();
  md_status ensure_neighbours();

  /* ---- engine/step.inc ---- */

  /* Set what is the same for all steps of a run. */
  void set_step();
  void set_safe(int d, double lo, double hi);

  /* One step: a fused kernel, or a force kernel and a move kernel. */
  md_status launch_step(step_sorting sorting = SORTS_NOT);
  md_status launch_fused(const launch &l, const system_view<T> &s, step_sorting sorting = SORTS_NOT);
  md_status launch_unfused();
  md_status launch_forces(const system_view<T> &s, real *const impulse[3], bool part_of_step);
  void impulse_arrays(real *impulse[3]) const;
  double force_bytes() const;
  /* The list check behind a step. */
  md_status check_lists(unsigned step_launch);
  /* If a force kernel of any rank has found an overlap, all ranks halt. */
  md_status share_overflow() { return several ? ranks.share_overflow(view.ctl, stream) : MD_OK; }

  /* ---- engine/run.inc ---- */

  md_status run(int64_t n) override;
  md_status run_alone(int64_t n);
  md_status finish_kicks();

  /* A batch is launched without waiting, and finish_batch() waits for it. lap() adds the time between two events
   * to a phase. */
  md_status launch_batch(int64_t left, int64_t *issued);
  md_status finish_batch(progress *seen);
  md_status lap(md_phase phase, cudaEvent_t from, cudaEvent_t to);

  /* Copy `now` from the device, and to the device. */
  md_status read_progress();
  md_status put_progress();

  /* ---- engine/sorting.inc ---- */

  bool steps_sort() const { return config.step_sorts && (!several || ranks.buffer_rows > 0); }
  md_status run_sorting(int64_t n);

  /* Launches the steps up to the next sort and the steps that sort, or the steps up to the end of the run. *left:
   * steps that the run still needs; becomes smaller by the steps launched. resting: the device rests, no step is
   * under way. *stuck: the slack was used up before, or there is an error, or particles must migrate. */
  md_status launch_to_sort(bool resting, int64_t *left, bool *stuck);
  int64_t steps_to_sort(double usage) const;
  md_status launch_plain(int64_t count);
  md_status launch_sorting_steps();
  bool migration_is_due(int64_t done) const;
  next_order<T> order_next(step_sorting sorting) const;
  /* note_progress() launches a copy of the progress behind the steps launched so far. await_progress() waits for
   * that copy while later steps run. */
  md_status note_progress();
  md_status await_progress(progress *seen);
  md_status time_sort();
  /* swap_orders() makes the order that the last step sorted into the present one. adopt_order() undoes this if the
   * device has not taken that step. */
  void swap_orders();
  void adopt_order();

  /* ---- engine/ranks.inc ---- */

  /* The parts of a rebin, in this order. */
  md_status rebin_ranks();
  md_status balance_if_due();
  md_status migrate();
  md_status make_halo();
  md_status fit_list();

  /* A step with its messages. A fused step runs beside its messages. A step that moves particles to new places
   * sends no messages beside it, because the new places are not known before its end. What neighbours must know is
   * sent behind it. */
  md_status launch_step_ranks(step_sorting sorting = SORTS_NOT);
  md_status launch_two_parts(step_sorting sorting);
  md_status launch_sort_ranks();

  md_status lap_messages();
  md_status run_ranks(int64_t n);

  /* ---- engine/error.inc ---- */

  /* The halt of a step as an error, with the particles' ids. */
  md_status fault();
  md_status overlap_error(int64_t later);
  md_status find(bool overlap, culprit *found);

  /* ---- engine/output.inc ---- */

  md_status measure(md_measure *m) override;
  md_status sum_pairs(const system_view<T> &s);
  md_status sum_terms(const system_view<T> &s, const int *origin);
  md_status download(double *const force[3]) override;
  md_status histogram(const md_histogram *h, int64_t *count) override;
  void report(md_engine_report *r) override;

  /* Places of particles in the host's arrays. On several ranks: NULL, and particles come in the order of the
   * device. */
  const int *places() const { return several ? nullptr : step.origin; }
  /* Copy components of particles to the host in that order. On several ranks fetch_identities() tells the
   * particles' ids. */
  md_status fetch_position(int d, double *to);
  md_status fetch(const real *from, const int *origin, double *to);
  md_status fetch_low();
  /* Copy forces to the host; exact layouts compute these as fine sums. */
  md_status fetch_forces(double *const force[3]);
  md_status fetch_fine_forces(double *const force[3]);
  md_status fetch_identities();
};

#endif
