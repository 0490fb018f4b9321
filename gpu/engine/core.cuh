/* The core of the GPU engine: the data that all its parts share, and what they all do with them.
 *
 * The engine has one core, and each part holds a reference to it (engine.cuh draws the parts). Constants,
 * storage and transfer list in their head comments which members of the core they set. Each part that launches
 * something changes `now` and view.launch.
 *
 * There are two position arrays. The present array holds the positions, and a step or a sort writes new positions
 * into the other one, the idle array. Then the two exchange their roles. progress.parity says which array is the
 * present one.
 *
 * Trade-off: a kernel writes new positions while others are still reading the old ones. In return all fields of the
 * particles are there twice. Cost: gpu_memory() (configuration.cu) counts the bytes of a particle.
 */
#ifndef MD_GPU_ENGINE_CORE_CUH
#define MD_GPU_ENGINE_CORE_CUH

#include "gpu/bonds/bonds.cuh"
#include "gpu/density/launches.cuh"
#include "gpu/dissipative/launches.cuh"
#include "gpu/engine/configuration.h"
#include "gpu/neighbour/molecules.cuh"
#include "gpu/ranks/ranks.cuh"
#include "gpu/runtime/profile.h"
#include "gpu/three_body/launches.cuh"

/* Arrays in device memory. The struct has no other members, because the core frees it as a list of arrays. */
struct gpu_arrays {
  /* The two position arrays. Each holds the records of particles and then of ghosts, and after them the rests of
   * packed layouts or the coarse positions of plain ones. A fused step or a sort writes the idle array. In
   * between, the idle array is scratch. */
  device_array x[2];
  device_array v[3], origin;           /* the other fields of particles */
  device_array spare[3], spare_origin; /* a sort writes these fields here; scratch in between */
  device_array start, cell;            /* of cell_grid */
  device_array next_start;             /* beginnings of cells in the order that steps sort into */
  device_array keys, scratch;          /* of the radix sort; of CUB's functions */
  device_array ghost_start, ghost_source, ghost_shift, ghost_of; /* of ghost_view */
  device_array list, rows, beyond_slack;                         /* of list_view and slack_view */
  /* Pair coefficients, by pair of types: of impulses; and of forces, for mixed layouts. */
  device_array impulse_k, force_k;
  device_array pair_rows;           /* of tables, which coefficients have the address of */
  device_array measure_k;           /* pair coefficients of forces in double, for output */
  device_array virial_k;            /* those of impulses in double, for mixed layouts */
  device_array overlap2;            /* squared distance of an overlap, by pair of types */
  device_array ratio, mass, v_step; /* by type: velocity_per_v and v_step of the model, and masses */
  device_array v_low[3];            /* by original index: second words of momenta */
  device_array id;                  /* ids in the host's order; for thermostats on one rank */
  device_array anchor[3];           /* by original index: anchors of particles, if they have some */
  device_array external[3];         /* by original index: forces of fix external, if particles have some */
  device_array near_id, near_group; /* of environment_args */
  device_array group;               /* by original index: bits of groups; if there are groups besides `all` */
  device_array pair_velocity[3];    /* by original index: `kept` of dissipation_args */
  device_array pair_state, dissipation;                                         /* of dissipation_args */
  device_array embedding_rows, density_rows, force_rows, near2, element, slope; /* of density_args */
  device_array legs, kept;                                                      /* of three_body_args */
  /* Of bond_args; and the energy of bonds. */
  device_array bond_partner, bond_type, left_out, bond_index, bond_row, bond_row_type, bond_k, bond_force_k,
      bond_sum;
  device_array molecule;            /* on one rank, by original index: molecules, if these exclude pairs */
  device_array summand, terms;      /* of term_args */
  device_array force_action;        /* of fix_force_args */
  device_array control;             /* the control block (gpu/particle/progress.cuh) */
  device_array sums, tensor, count; /* two of measure(); of histogram() */
};

/* Bytes that a kernel reads, and writes, for the position of one particle. A kernel that reads only the particle's own
 * position needs no coarse position. */
template <class T>
constexpr double BYTES_READ = sizeof(typename T::record) + (T::PACKED ? sizeof(typename T::rest) : 0);
template <class T>
constexpr double BYTES_WRITTEN = sizeof(typename T::record) +
                                 (T::PACKED || T::HAS_COARSE ? sizeof(typename T::rest) : 0);

template <class T> struct gpu_core {
  /* ---- what it is given ---- */

  md_model *model;
  md_particles *particles;
  md_comm *comm;
  md_engine_options options;
  gpu_configuration config;
  cudaDeviceProp device;
  int source;   /* how neighbours are found: FROM_LIST, FROM_CELLS or FROM_ALL */
  bool several; /* more than one rank */
  int sharers;  /* the largest number of ranks that share a device */

  /* ---- on the device ---- */

  device_memory memory = {};
  gpu_arrays arrays = {};
  int64_t room = 0; /* particles that the arrays have room for */
  cudaStream_t stream = nullptr;
  launch elementwise;       /* for kernels with one thread per element */
  launch stepping;          /* for the kernels of steps */
  system_view<T> view = {}; /* what every kernel is given */
  step_args step = {};      /* what kernels that move particles are given besides */
  density_args densities = {};
  three_body_args three_bodies = {};
  dissipation_args dissipations = {};
  bond_args bonds = {};
  gpu_ranks<T> ranks;

  /* ---- where things stand, and times ---- */

  /* The progress that the host knows: as last read while the device rested. Its steps are those of this run, or
   * between two runs those of the last one. */
  progress now = {};
  int64_t steps_counted = 0; /* of now.done, those that model->step has: none in a run, all after it */
  /* The box of the steps. While the host shows a step, faces of the model's box that follow the particles are where
   * they are shown. */
  md_box own_box;
  /* Whether the box has changed since the grid of cells was made, and the largest change of a side since then. */
  bool box_changed = false;
  double scale[3] = {1.0, 1.0, 1.0}, strain = 0.0;
  bool longest_known = false; /* does view.slack.longest_path hold? */
  double external_step = 0.0; /* to which the forces of fix external belong that the device has */
  double sheared = 0.0; /* by how much images of a tilted box have been shifted since the rebin, at most */
  control *control_copy = nullptr; /* the copy of the control block that `now` is from; pinned host memory */
  /* Numbers of the reports that were launched, and that have come; the second in pinned host memory. */
  uint32_t reports = 0, *arrived = nullptr;
  gpu_profile profile = {};
  md_timers timers = {};

  /* Makes stream, launches and control block; and on several ranks the transport. close() frees all that the core
   * has, also after an error. */
  md_status open();
  void set_launches();
  md_status open_ranks();
  void close();

  md_status upload_force_actions();
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

  /* Runs a launch; times it under `name` if the profile is on. bytes: what the kernel moves at least. */
  template <class F> md_status timed(const char *name, double bytes, F &&launched)
  {
    MD_TRY(gpu_profile_begin(&profile, stream));
    MD_TRY(launched());
    return gpu_profile_end(&profile, stream, name, bytes);
  }

  /* Copy `now` from the device, and to the device. read_progress() waits for the stream. */
  md_status read_progress();
  /* The same without a copy by the driver: the device stores the control block into the host's memory, and the host
   * looks there until it has come. */
  md_status await_progress();
  md_status put_progress();
  /* If a force kernel of any rank has found an overlap, all ranks halt. */
  md_status share_overflow() { return several ? ranks.share_overflow(view.ctl, stream) : MD_OK; }

  /* The box of the step that is about to move the particles, for what wraps positions and makes images. The cells are
   * those of the last rebin until fit_grid() makes them follow. fit_cells(): their corner and widths in the present box
   * of a single rank. Their number stays. */
  void take_box();
  void show_box();
  void fit_cells(cell_grid *) const;
  void fit_grid();

  /* Gives ghosts the present positions of their sources. */
  md_status update_halo();

  /* For a style with a density: finds the slopes at the present positions of *s, also those of ghosts, and notes the
   * scale of the forces that follow. part_of_step: as `step` of density_args. Collective. */
  bool has_densities() const { return HAS_DENSITIES<T> && densities.slope; }
  md_status find_slopes(const system_view<T> &s, double force_scale, bool part_of_step);

  /* For a three-body style: the same. table: the coefficients of the forces that follow, on the device. */
  bool has_three_bodies() const { return HAS_THREE_BODIES<T> && three_bodies.kept; }
  md_status sum_legs(const system_view<T> &s, const double *table, bool part_of_step);

  /* For a dissipative style: makes the states at the present positions of *s, also those of ghosts. part_of_step: a
   * step needs them, so that a launch that finds the system idle makes none. Collective. */
  bool has_dissipation() const { return HAS_DISSIPATION<T> && dissipations.state; }
  md_status find_states(const system_view<T> &s, states_from from, bool part_of_step);

  /* Bonds with coefficients of impulses in a step, or of forces for output. */
  bool has_bonds() const { return HAS_BONDS<T> && bonds.slots > 0; }
  const bond_args &bonds_of(bool part_of_step, bool forces)
  {
    bonds.step = part_of_step;
    bonds.n = view.n;
    bonds.origin = step.origin;
    bonds.table = (const double *)(forces ? arrays.bond_force_k : arrays.bond_k).at;
    return bonds;
  }

  /* Do molecules exclude pairs? Then there are lists. And what kernels know of them. */
  bool excludes_molecules() const { return model->exclusions.molecules.n > 0 && source == FROM_LIST; }
  molecule_args molecules() const;

  /* lap() adds the time between two events to a phase. lap_messages() moves the time of messages from the time of
   * steps to phases of their own, and lap_rebin() adds the times of the parts of a rebin; the device rests. */
  md_status lap(md_phase phase, cudaEvent_t from, cudaEvent_t to);
  md_status lap_messages();
  md_status lap_rebin();

  /* What fixes and computes need to know of particles besides the view. origin: as in particle_fields. */
  particle_fields fields(const int *origin) const;

  /* The number of the present state; model->step is that of the beginning or the end of a run. */
  int64_t present_step() const { return md_model_step_after(model, now.done - steps_counted); }

  bool steps_sort() const { return config.step_sorts && (!several || ranks.buffer_rows > 0); }
  uint32_t mixed_stored(int d, double x) const { return mixed2::stored(view.scale, d, x); }
};

#endif
