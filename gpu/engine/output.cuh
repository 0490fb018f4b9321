/* What the host asks for between runs: sums, particles in the host's order, pictures, and forces.
 *
 * If a request needs cells and lists that fit the present positions, a rebin comes first.
 *
 * Cost: measuring evaluates every pair from both sides. What a download copies is in gpu/storage/transfer.cuh.
 */
#ifndef MD_GPU_ENGINE_OUTPUT_CUH
#define MD_GPU_ENGINE_OUTPUT_CUH

#include "gpu/output/launches.cuh"
#include "gpu/run/error.cuh"
#include "gpu/run/step.cuh"
#include "gpu/sums/launches.cuh"

#include <vector>

/* The values of an environment on the device, by original index. */
struct gpu_environment {
  const md_environment *what;
  device_array value;
  device_array table; /* of a bond-orientational order: the md_order, and its symbols after it */
  bool fresh;         /* they are those of the present positions */
};

/* What the kernels of an environment need besides the particles. */
struct environment_needs {
  bool ids;                  /* a copy of the host's ids */
  bool near_ids, near_group; /* of particles and ghosts, by local index */
};

template <class T> struct gpu_output {
  typedef typename T::real real;

  gpu_core<T> &core;
  gpu_transfer<T> &transfer;
  gpu_rebin<T> &rebin;
  gpu_stepper<T> &stepper;
  gpu_errors<T> &errors;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  int64_t downloads = 0;

  /* As in md_engine_kind (common/engine.h). */
  md_status measure(md_wanted wanted, md_measure *m);
  md_status download(double *const force[3]);
  md_status histogram(const md_histogram *h, int64_t *sum);
  md_status distances(const md_distances *d, int64_t *count, bool *made);
  md_status bin_sums(const md_bins *b, double *largest, int64_t *sum, bool *made);
  md_status value_counts(const md_value_counts *c, int64_t *count, double range[2], bool *made);
  md_status draw(const md_drawing *drawing, md_sight *sight, bool *made);
  md_status environment(const md_environment *e, double *each, bool *made);

  /* The environments that were asked for. Their arrays stay until the engine ends; a step makes them stale. */
  std::vector<gpu_environment> environments = {};
  /* Finds the values of an environment, unless they are fresh. *made = false: they are for the host, on all ranks.
   * Uses the array of counts, and may rebin. */
  md_status fresh_environment(const md_environment *e, const gpu_environment **found, bool *made);
  /* The same for a value of particles, which then has the address of the values, if it needs some. */
  md_status find_value(md_each *each, bool *made);
  /* Ids on the device. *room = false: there is no room for them. */
  md_status upload_ids(bool *room);
  bool can_find(const md_environment *e) const;
  /* The length of an array by original index, such as one of values. */
  int64_t origins() const { return core.several ? core.ranks.next_origin : view.n; }
  environment_needs needs_of(const md_environment *e);
  md_status upload_order(gpu_environment *of);
  md_status make_room(gpu_environment *of, const environment_needs &needs, bool *room);
  md_status spread_identities(const environment_needs &needs, environment_args *args);
  md_status join_ranks(const environment_args &args);
  md_status launch_values(const environment_args &args);
  md_status fit_cells(double cutoff, int reach[3], bool *made);
  md_status find_environment(gpu_environment *of, bool *made);
  md_status all_have(bool *ok);
  /* Values with ghosts are found right after a rebin. Between that and the next step there is no other one, so that on
   * several ranks particles stay where they are. */
  bool rested = false;     /* there was a rebin since the last step, for values */
  bool downloaded = false; /* the host got the particles since the last step */
  bool needs_ghosts() const;
  double halo_along(int axis) const;
  bool is_rebinned() const;
  md_status rebin_now();
  void forget_environments();
  void free_environments();

  /* Cells or lists that hold the pairs of the present positions. Kept impulses stay if there are such already. */
  md_status fit_pairs();
  /* *reach: the cells on each side of the one of a particle that may hold another one within this distance, after
   * fit_pairs(). The device rests then. */
  md_status find_reach(double distance, int reach[3]);
  void set_reach(double distance, int reach[3]) const;
  /* What values of particles need, besides their places; velocities are complete and the device rests. groups: the bits
   * of groups that matter; those of MD_GROUP_ALL alone need not be read. origins: original indices are needed,
   * and ids if the device has them. */
  md_status fit_values(uint32_t groups, bool origins, each_args *args);
  /* *made is false if a formula has a result that is not finite, on any rank: the host finds it again, and reports
   * it. Collective. */
  md_status agree_on_faults(bool faulty, bool *made);
  /* Bytes of a particle that a kernel reads for that. components: of its velocity, one bit each. */
  double bytes_of_values(const each_args &args, unsigned components = 7) const;
  /* Makes the array of counts, n of them, all 0; and adds them to sum[n] of the host. */
  md_status begin_counts(int64_t n, const char *what);
  md_status add_counts(int64_t n, int64_t *sum);
  /* Does the host have the particles in the order of ids? It is found out once, on one rank. */
  enum { UNKNOWN, RISING, MIXED_UP } ids = UNKNOWN;
  bool ids_rise();
  /* Ids on the device, by original index; NULL: they are not there. */
  const int64_t *ids_there() const { return core.step.id ? core.step.id : (const int64_t *)arrays.id.at; }
  /* *room: has the device memory for this number of bytes for counts, and for ids if they are needed? All ranks get the
   * same answer. */
  md_status has_room(int64_t counts, bool *room);
  /* Fills sight[], of `together` pixels at a time. */
  md_status fetch_sights(const draw_args &args, int64_t pixels, int64_t together, md_sight *sight);
  /* Does the engine count these distances? They may reach beyond the cutoff of the forces (`far`) on one rank only. */
  bool counts(const md_distances *d, bool far) const;

  /* Launch the sums over pairs, those of the components of the virial, and the sums of computes over particles.
   * impulses: of the virial of impulses. */
  md_status sum_pairs(const system_view<T> &s, bool impulses);
  md_status sum_tensor(const system_view<T> &s, bool impulses);
  /* Gives the arguments of either launch the coefficients of forces, or, in double, those of impulses. */
  template <class ARGS> void set_coefficients(bool impulses, ARGS *args) const;
  md_status sum_bonds(const system_view<T> &s, md_wanted wanted);
  md_status sum_terms(const system_view<T> &s, uint64_t wanted, const int *origin);

  /* Copy forces to the host; exact layouts compute these as fine sums. */
  md_status fetch_forces(double *const force[3]);
  md_status launch_output_forces(const system_view<T> &s, const output_force_args &args);
  md_status fetch_fine_forces(double *const force[3]);
};

#endif
