/* Followed particles of the engine (common/sums/follow.h): which sets it has, and looks at them.
 *
 *   1. At the first look at a set the device finds the members of the group, and the host their records. These come to
 *      the device in the order of original indices, which stays as long as the engine lives.
 *   2. Looks and sums happen on the device.
 *   3. At its end the engine gives the records back to the host.
 *
 * Trade-off: only one rank, because records do not go with particles to other ranks; and no tilted box. The host looks
 * then, from a download. Cost: 64 bytes a record, and 8 bytes for 32 particles.
 */
#ifndef MD_GPU_ENGINE_FOLLOW_CUH
#define MD_GPU_ENGINE_FOLLOW_CUH

#include "gpu/engine/output.cuh"

#include <vector>

/* A set on the device. */
struct gpu_followed {
  md_follow_set *set;
  device_array record, member, before;
  std::vector<int32_t> home; /* the place in the set of each record */
  int first, last;           /* original indices: the members are from `first` to `last` */
  bool in_order;             /* record k is that of place k, and the set has no others */
};

template <class T> struct gpu_follower {
  gpu_core<T> &core;
  gpu_output<T> &output;
  std::vector<gpu_followed> sets = {};

  /* As in md_engine_kind (common/engine.h). */
  md_status follow(md_follow_set *set, const md_follow *what, md_follow_pace *pace, md_follow_fault *fault,
                   bool *made);
  md_status follow_sums(const md_follow_set *set, const md_follow *what, const md_follow_sum *sum,
                        const double *counts, double *largest, md_wide *total);

  /* Gives all records back. */
  void end();

  bool can_follow() const;
  gpu_followed *find(const md_follow_set *set);
  /* Makes *of of a set. *fits = false: there is no room on the device. *fault: as above. */
  md_status begin(md_follow_set *set, const md_follow *what, gpu_followed *of, md_follow_fault *fault,
                  bool *fits);
  md_status find_members(gpu_followed *of, const md_follow *what, std::vector<unsigned> &member, bool *fits);
  md_status upload_records(gpu_followed *of, bool *fits);
  md_status look(gpu_followed *of, const md_follow *what, md_follow_pace *pace, md_follow_fault *fault);
  md_status bring_back(gpu_followed *of);
};

#endif
