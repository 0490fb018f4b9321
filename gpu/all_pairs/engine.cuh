/* The data of the GPU engine for all pairs, and its functions; see engine.cu, which makes it, steps.cu, which takes
 * steps, and results.cu, which gives energies, forces and errors. */
#ifndef MD_GPU_ALL_PAIRS_ENGINE_CUH
#define MD_GPU_ALL_PAIRS_ENGINE_CUH

#include "common/ranks/transport.h"
#include "common/sums/histogram.h"
#include "gpu/all_pairs/bodies.cuh"
#include "gpu/output/fetch_sums.h"
#include "gpu/runtime/device.h"

#include <vector>

/* Up to this many bodies of one rank, steps are launched in batches. */
const int BATCHES_UP_TO = 4096;

/* Arrays in device memory. The struct has no other members, because the engine frees it as a list of arrays. */
struct body_arrays {
  device_array bodies, single, visitor[2]; /* blocks: own, own in single precision, those that travel */
  device_array visitor_sum[2]; /* impulses on a visitor's bodies; those that come from another rank */
  /* For batches: two more arrays of impulses, and how many blocks have arrived. */
  device_array more_sums, arrived;
  device_array v, low, sum, id, type, group, own_mass;
  device_array mass, v_step, velocity_per_v; /* by type, from 1 */
  device_array halt, summand, force_action, sums, terms, force, count;
};

/* What happened at a launch, to name the step of an error. */
struct launched {
  unsigned long long number; /* of the last launch */
  std::vector<int64_t> step; /* of the launches since the last look at the halt word */
  unsigned long long first;  /* number of the first of them */
};

class all_pairs_engine
{
public:
  all_pairs_engine(md_model *m, md_particles *p, md_comm *c, const md_engine_options *o)
      : model(m), particles(p), comm(c), options(*o)
  {
  }
  ~all_pairs_engine();
  md_status start();
  md_status run(int64_t n);
  md_status measure(md_wanted, md_measure *);
  md_status act(const md_action *);
  md_status download(double *const force[3]);
  md_status histogram(const md_histogram *, int64_t *sum);
  void report(md_engine_report *);

private:
  template <class F> md_status go_round(const device_array &own, int64_t body_bytes, int hops, F &&f);
  md_status make_arrays();
  md_status upload();
  void set_view();
  md_status upload_bodies();
  md_status put(device_array *, const void *from, int64_t bytes, const char *what);
  md_status charge_bodies(double per_mass);
  md_status sum_impulses(int64_t step);
  md_status take_coefficients();
  md_status sum_pairs(unsigned long long number);
  md_status take_mean(md_force_action *, const md_force_action *at);
  md_status sum_single(unsigned long long number);
  md_status sum_symmetric(unsigned long long number);
  md_status move(const md_step &, int kicks, bool drifts);
  md_status take_step();
  md_status prepare_batches();
  md_status sum_few(unsigned long long number);
  bool has_batches() const;
  md_status take_batch(int count);
  md_status look();
  md_status overlap_error(double scale, double range, bool of_step);
  md_status runaway_error();
  md_status measure_pairs(md_measure *);
  md_status fetch_components();
  unsigned long long next_launch();
  int steps_until_look() const;
  double pairs() const { return (double)view.n * (double)model->natoms; }

  md_model *model;
  md_particles *particles;
  md_comm *comm;
  md_engine_options options;
  cudaDeviceProp device = {};
  single_copy copies = {};
  device_memory memory = {};
  body_arrays arrays = {};
  body_view view = {};
  step_batch batch = {}; /* of the next batch */
  cudaStream_t stream = nullptr, messages = nullptr;
  cudaEvent_t computed = nullptr, arrived = nullptr;
  md_transport *transport = nullptr;
  bool one = false, fast = false, mixed = false;
  bool current = false; /* view.sum has the impulses at the present positions */
  bool cleared = false; /* view.sum is zero */
  bool packed = false;  /* the copies in single precision are the present bodies */
  double charge = 0.0;  /* the present bodies have masses times this */
  int owed = 0;         /* how many times these impulses must still be given */
  launched log = {};
  md_timers timers = {};
  int64_t steps = 0, looked = 0, downloads = 0;
  char description[256] = "";
};

/* Calls f(hop, block, its length) for the first `hops` blocks of the ring, from the own one on. Messages travel in the
 * order of `messages`, and wait for what the block they carry, or the block they replace, is still needed for. */
template <class F>
md_status all_pairs_engine::go_round(const device_array &own, int64_t body_bytes, int hops, F &&f)
{
  const int64_t bytes = view.stride * body_bytes;
  const int above = (comm->rank + 1) % comm->size, below = (comm->rank + comm->size - 1) % comm->size;
  const void *here = own.at;
  for (int hop = 0; hop < hops; ++hop) {
    const bool last = hop + 1 == hops;
    void *next = arrays.visitor[hop & 1].at;
    if (comm->size > 1) {
      MD_CUDA(cudaEventRecord(computed, stream));
      MD_CUDA(cudaStreamWaitEvent(messages, computed, 0));
    }
    MD_TRY(f(hop, here, hop == 0 ? view.n : view.stride));
    if (last) break;
    const md_message message = {above, below, here, next, bytes, bytes};
    MD_TRY(transport->exchange(transport, 1, &message, messages));
    MD_CUDA(cudaEventRecord(arrived, messages));
    MD_CUDA(cudaStreamWaitEvent(stream, arrived, 0));
    here = next;
  }
  return MD_OK;
}

#endif
