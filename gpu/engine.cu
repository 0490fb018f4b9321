/* The GPU engine: all data on the device, hundreds of steps without a word from the host.
 *
 * A rebin wraps the particles, puts them into the order of their cells, makes the ghosts of periodic faces and, where
 * that pays, neighbour lists (bin.cu, sort.cu, cell_start.cu, halo.cu, list.cu). Then steps follow, one kernel each
 * (advance_*.cu) or force and move (force.cu, symmetric.cu, move.cu), until a particle has used up the slack that cells
 * or lists leave it.
 *
 * The host works in cycles: it launches the steps that should fit between two rebins, and the rebin, without waiting;
 * it looks at a cycle's outcome only after having launched the next. A step that may not be taken any more returns at
 * once (state.cuh), so a wrong guess costs an empty launch and never a result. Each outcome says how much of the slack
 * was used, and so how many steps the next cycle should have.
 *
 * Ids and types stay with the host's arrays: `origin` names each particle's place there, and results are brought back
 * into that order.
 *
 * On several ranks (ranks.cuh) the host waits at every rebin, where particles change the rank and ghosts are agreed on; the
 * steps between are launched without waiting all the same, each with its exchange of ghosts, and end alike on all ranks.
 */
#include "common/faults.h"
#include "gpu/choice.h"
#include "gpu/cycles.cuh"
#include "gpu/device.h"
#include "gpu/gpu.h"
#include "gpu/launch.cuh"
#include "gpu/profile.h"
#include "gpu/ranks.cuh"
#include "gpu/seed.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utility>

/* The engine of one layout (layout.cuh) behind the C interface. */
struct md_engine {
  virtual ~md_engine() = default;
  virtual md_status start() = 0;
  virtual md_status run(int64_t n) = 0;
  virtual md_status measure(md_measure *) = 0;
  virtual md_status download(double *const force[3]) = 0;
  virtual md_status histogram(const md_histogram *, int64_t *count) = 0;
  virtual void report(md_engine_report *) = 0;
};

namespace
{

enum { THREADS = 256 };

/* Extras of lists are for so many of the intervals that are reached: collisions make fast particles of slow ones, so
 * that lists never last as long as their velocities promise. */
const double FORESIGHT = 1.4;

struct gpu_arrays {
  device_array x[2], v[3], spare[3], origin, spare_origin, cell, start, ghost_start, ghost_owner, ghost_shift,
      list, rows, scratch, keys, impulse_k, force_k, measure_k, overlap2, ratio, mass, id, control, sums,
      count;
};

/* Every array of gpu_arrays, to free them. */
constexpr int ARRAYS = sizeof(gpu_arrays) / sizeof(device_array);

template <class T> struct gpu_engine final : md_engine {
  typedef typename T::real real;
  typedef typename T::record record;
  static constexpr double PARTICLE = sizeof(record) + (T::PACKED ? sizeof(typename T::rest) : 0);

  md_model *model;
  md_particles *p;
  md_comm *comm;
  md_engine_options options;
  gpu_choice choice;
  cudaDeviceProp device;
  device_memory memory = {};
  gpu_arrays a = {};
  gpu_profile profile = {};
  cudaStream_t stream = nullptr;
  launch wide;     /* for kernels with a thread per element */
  launch stepping; /* for those of steps */
  system_view<T> view = {};
  step_args step = {};
  int source;
  int64_t room = 0; /* particles there is room for */
  bool several;     /* ranks */
  gpu_ranks<T> ranks;
  int sharers; /* ranks on the device */
  int64_t balanced_at;

  bool built = false;
  progress now = {}; /* as last seen, with the device at rest */
  int ghosts_wanted = 0, list_wanted = 0;
  gpu_cycles cycles;
  rebin_interval interval;

  md_timers timers = {};
  int64_t steps = 0, rebins = 0;
  char description[1024] = "";

  ~gpu_engine() override
  {
    if (stream) cudaStreamSynchronize(stream);
    if (several && ranks.beside) cudaStreamSynchronize(ranks.beside);
    device_array *arrays = (device_array *)&a;
    for (int k = 0; k < ARRAYS; ++k) md_device_free(&memory, &arrays[k]);
    cycles.free_all();
    if (several) ranks.free_all();
    gpu_profile_stop(&profile);
    if (stream) cudaStreamDestroy(stream);
  }

  /* ---- setting up ---- */

  /* An array that stays. */
  md_status make(device_array *array, int64_t bytes, const char *what)
  {
    return md_device_reserve(&memory, array, bytes, what);
  }

  md_status upload(device_array *array, const void *from, int64_t bytes, const char *what)
  {
    return md_device_upload(&memory, array, from, bytes, what);
  }

  /* Keeps the first `used` bytes. */
  md_status enlarge(device_array *array, int64_t bytes, int64_t used, const char *what)
  {
    return md_device_enlarge(&memory, array, bytes, used, stream, what);
  }

  void set_scale()
  {
    for (int d = 0; d < 3; ++d) {
      const bool ring = model->box.periodic[d];
      const double length = model->box.length[d], range = ring ? length : 2.0 * length;
      view.scale.origin[d] = model->box.lo[d] - (ring ? 0.0 : 0.5 * length);
      view.scale.unit[d] = range * 0x1p-32;
      view.scale.per_unit[d] = 1.0 / view.scale.unit[d];
      view.scale.unit_single[d] = (float)view.scale.unit[d];
      view.scale.per_unit_single[d] = (float)view.scale.per_unit[d];
    }
    if constexpr (T::PACKED) set_fine_scale();
  }

  void set_fine_scale()
  {
    scale52 &fine = view.scale.fine;
    const double quantum = model->grids.x;
    for (int d = 0; d < 3; ++d) fine.origin[d] = model->box.lo[d] - gpu_packed_margin(model);
    fine.base = 0x1p52 * quantum;
    fine.last = fine.base - quantum;
    fine.middle = fine.base + 0x1p41 * quantum;
    uint64_t bits;
    memcpy(&bits, &fine.base, sizeof bits);
    fine.exponent = (uint32_t)(bits >> 32);
  }

  /* Cells of mixed layouts are counted from below, modulo the whole range of the scale. At faces where coordinates do not
   * wrap into the own cells again, what is outside them is shared out to both sides. */
  void set_grid32(cell_grid *g)
  {
    for (int d = 0; d < 3; ++d) {
      const int in_range = choice.count[d] * (model->box.periodic[d] ? 1 : 2);
      const bool divided = several && ranks.domains[d] > 1;
      const int below = divided ? (in_range - (g->count[d] - 2 * g->border[d])) / 2 : 0;
      g->in_range32[d] = (uint32_t)in_range;
      g->lo32[d] = mixed_place(d, g->lo[d]) - (uint32_t)(int64_t)std::rint(below * (0x1p32 / in_range));
      g->first32[d] = g->border[d] - below;
    }
  }

  md_status set_grid()
  {
    cell_grid &g = view.grid;
    for (int d = 0; d < 3; ++d) {
      const bool used = d < T::DIM;
      g.border[d] = used ? choice.border[d] : 0;
      g.count[d] = used ? choice.count[d] + 2 * g.border[d] : 1;
      g.lo[d] = model->box.lo[d];
      g.width[d] = used ? model->box.length[d] / choice.count[d] : 1.0;
      g.per_width[d] = 1.0 / g.width[d];
      g.width_single[d] = (float)g.width[d];
      view.lo[d] = model->box.lo[d];
      view.hi[d] = model->box.hi[d];
      view.length[d] = model->box.length[d];
      view.periodic[d] = used && model->box.periodic[d];
      view.halo[d] = choice.halo[d];
    }
    if (several) MD_TRY(ranks.set_domain(choice, &g));
    set_grid32(&g);
    g.row = g.count[0];
    g.layer = g.count[0] * g.count[1];
    g.total = g.layer * g.count[2];
    g.by_row = divisor_of((unsigned)g.row);
    g.by_layer = divisor_of((unsigned)g.layer);
    view.reach = choice.reach;
    view.slack = (float)choice.slack;
    view.extra = (float)choice.extra;
    for (int d = 0; d < T::DIM; ++d)
      view.reach32[d] =
          (uint32_t)std::min(std::ceil(model->cutoff * view.scale.per_unit[d]) + 2.0, 2147483647.0);
    view.per_slack = choice.slack > 0.0 ? (float)std::min(1.0 / choice.slack, 1e30) : 1e30f;
    return MD_OK;
  }

  md_status set_tables()
  {
    const int types = model->ntypes;
    const int64_t pairs = (int64_t)types * types, entries = pairs * MD_PAIR_K;
    view.ntypes = types;
    MD_TRY(upload(&a.ratio, model->velocity_per_v + 1, types * 8, "masses"));
    MD_TRY(upload(&a.mass, model->mass + 1, types * 8, "masses"));
    view.velocity_per_v = (const double *)a.ratio.at;
    if (model->pair.kind == MD_PAIR_NONE) return MD_OK;
    MD_TRY(upload(&a.overlap2, model->overlap2, pairs * 8, "pair coefficients"));
    MD_TRY(upload(&a.measure_k, model->force_k, entries * 8, "pair coefficients"));
    view.overlap2 = (const double *)a.overlap2.at;
    uint64_t bits;
    memcpy(&bits, &model->close2, sizeof bits);
    view.close_high = (int)(bits >> 32);
    if (T::PACKED) {
      const double least = SEED_LEAST;
      memcpy(&bits, &least, sizeof bits);
      view.close_high = std::max(view.close_high, (int)(bits >> 32));
    }
    if constexpr (T::MIXED) {
      double *wide_k = nullptr;
      float *k = nullptr;
      MD_TRY(md_array_new(&wide_k, entries, sizeof *wide_k, "pair coefficients"));
      md_status status = md_array_new(&k, entries, sizeof *k, "pair coefficients");
      if (status == MD_OK) {
        /* Velocity per kick, and forces, as they are: there are no quanta. */
        for (const bool impulse : {true, false}) {
          md_pair_table(&model->pair, impulse ? model->kick_time / model->mass_reference : 1.0, wide_k);
          for (int64_t e = 0; e < entries; ++e) k[e] = (float)wide_k[e];
          if (impulse) memcpy(view.k, k, sizeof view.k);
          if (status == MD_OK)
            status = upload(impulse ? &a.impulse_k : &a.force_k, k, entries * 4, "pair coefficients");
        }
      }
      free(wide_k);
      free(k);
      MD_TRY(status);
      double overlap2 = 0.0;
      for (int64_t e = 0; e < pairs; ++e) overlap2 = std::max(overlap2, model->overlap2[e]);
      const float nearest = (float)overlap2;
      memcpy(&view.close_high, &nearest, sizeof nearest);
    } else {
      memcpy(view.k, model->impulse_k, sizeof view.k);
      MD_TRY(upload(&a.impulse_k, model->impulse_k, entries * 8, "pair coefficients"));
      MD_TRY(upload(&a.force_k, model->force_k, entries * 8, "pair coefficients"));
    }
    return MD_OK;
  }

  int64_t records() const { return room + view.ghost.capacity; }

  /* A position array: records of particles and ghosts, and behind them what the records of a packed layout leave over. */
  int64_t rest_bytes() const { return T::PACKED ? room * (int64_t)sizeof(typename T::rest) : 0; }
  int64_t position_bytes() const { return records() * (int64_t)sizeof(record) + rest_bytes(); }
  void place_positions()
  {
    for (int k = 0; k < 2; ++k) {
      view.x[k] = (record *)a.x[k].at;
      if (T::PACKED) view.rest[k] = (typename T::rest *)(view.x[k] + records());
    }
  }

  md_status make_ghosts(int64_t capacity)
  {
    const int64_t most = INT32_MAX - 64 - room;
    if (capacity > most)
      return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts, not %lld; use more ranks",
                      (long long)MD_PARTICLES_MAX, (long long)(room + capacity));
    view.ghost.capacity = (int)capacity;
    MD_TRY(make(&a.ghost_owner, capacity * 4, "ghosts"));
    MD_TRY(make(&a.ghost_shift, capacity * 4, "ghosts"));
    MD_TRY(make(&a.ghost_start, ((int64_t)view.grid.total + 2) * 4, "cells of ghosts"));
    view.ghost.owner = (int *)a.ghost_owner.at;
    view.ghost.shift = (int *)a.ghost_shift.at;
    view.ghost.start = (const int *)a.ghost_start.at;
    return MD_OK;
  }

  md_status make_list(int rows)
  {
    const int64_t blocks = (room + 31) / 32;
    view.stride = rows;
    MD_TRY(make(&a.list, blocks * 32 * 16 * rows, "neighbour lists"));
    MD_TRY(make(&a.rows, blocks * 4, "neighbour lists"));
    view.list = (int4 *)a.list.at;
    view.rows = (int *)a.rows.at;
    return MD_OK;
  }

  md_status make_particles()
  {
    const int64_t n = room;
    for (int k = 0; k < 2; ++k) MD_TRY(make(&a.x[k], position_bytes(), "positions"));
    place_positions();
    for (int d = 0; d < T::DIM; ++d) {
      MD_TRY(make(&a.v[d], n * (int64_t)sizeof(real), "velocities"));
      view.v[d] = (real *)a.v[d].at;
    }
    for (int d = 0; d < T::DIM; ++d) MD_TRY(make(&a.spare[d], n * (int64_t)sizeof(real), "velocities"));
    MD_TRY(make(&a.origin, n * 4, "origins"));
    MD_TRY(make(&a.spare_origin, n * 4, "origins"));
    step.origin = (const int *)a.origin.at;
    if (options.gpu.staged) {
      MD_TRY(make(&a.cell, n * 4, "cells of particles"));
      view.cell = (int *)a.cell.at;
    }
    if (options.gpu.sort == MD_GPU_SORT_RADIX) MD_TRY(make(&a.keys, n * 16, "keys of the radix sort"));
    return MD_OK;
  }

  /* CUB's scratch for the sorts and scans of this size. */
  md_status make_scratch()
  {
    size_t most = 0, bytes = 0;
    MD_TRY(scan_counts(wide, view.grid.total, nullptr, nullptr, &most));
    if (options.gpu.sort == MD_GPU_SORT_RADIX) {
      MD_TRY(sort_by_cell(wide, (int)room, cell_bits(), nullptr, nullptr, nullptr, nullptr, nullptr, &bytes));
      most = std::max(most, bytes);
    }
    return make(&a.scratch, (int64_t)most + 256, "scratch for sorting");
  }

  int cell_bits() const
  {
    int bits = 1;
    while ((INT64_C(1) << bits) < view.grid.total) ++bits;
    return bits;
  }

  md_status load()
  {
    double *scratch = (double *)a.x[1].at;
    for (int d = 0; d < T::DIM; ++d) {
      MD_CUDA(cudaMemcpyAsync(scratch, p->x[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
      MD_TRY(launch_load_position<T>(wide, view, d, scratch));
    }
    for (int d = 0; d < T::DIM; ++d) {
      if constexpr (T::MIXED) {
        MD_CUDA(cudaMemcpyAsync(scratch, p->v[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
        MD_TRY(launch_load_velocity<T>(wide, view, d, scratch));
      } else {
        MD_CUDA(cudaMemcpyAsync(view.v[d], p->v[d], (size_t)p->n * 8, cudaMemcpyHostToDevice, stream));
      }
    }
    if (T::TAGGED) {
      MD_CUDA(cudaMemcpyAsync(scratch, p->type, (size_t)p->n * 2, cudaMemcpyHostToDevice, stream));
      MD_TRY(launch_load_type<T>(wide, view, (const uint16_t *)scratch));
    }
    return launch_load_origin(wide, view.n, (int *)a.origin.at);
  }

  /* Everything that is as large as the particles of this rank and their cells. */
  md_status make_arrays()
  {
    view.n = (int)p->n;
    room = std::max<int64_t>(room, several ? p->n + p->n / 16 + 4096 : p->n);
    MD_TRY(set_grid());
    if (source != FROM_ALL) {
      MD_TRY(make(&a.start, ((int64_t)view.grid.total + 2) * 4, "cells"));
      view.start = (const int *)a.start.at;
      const int64_t ghosts = several ? ranks.expected_ghosts(room) : choice.ghosts;
      if (ghosts > 0) MD_TRY(make_ghosts(std::max<int64_t>(ghosts, view.ghost.capacity)));
    }
    MD_TRY(make_particles());
    if (source != FROM_ALL) MD_TRY(make_scratch());
    if (source == FROM_LIST) MD_TRY(make_list(choice.rows));
    return MD_OK;
  }

  md_status make_ids()
  {
    if (several)
      MD_TRY(ranks.begin_ids(p, room));
    else if (model->langevin.on)
      MD_TRY(upload(&a.id, p->id, p->n * 8, "ids"));
    step.id = (const int64_t *)(several ? ranks.id.at : a.id.at);
    return MD_OK;
  }

  md_status start() override
  {
    memory.limit = options.gpu.memory;
    interval.fixed = options.gpu.rebin;
    MD_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    wide = launch{stream, THREADS, INT32_MAX};
    const int threads = options.gpu.block > 0 ? options.gpu.block : source == FROM_LIST ? 128 : 256;
    /* Blocks that walk far save the beginnings and ends of blocks, which few particles feel; with many, blocks in
     * the order of memory share the rows they read in the cache. Measured, see docs/performance.md. */
    const int waves = source == FROM_LIST ? 4 : p->n < (1 << 22) ? 1 : p->n < (1 << 25) ? 4 : 1000;
    stepping = launch{stream, threads, device.multiProcessorCount * (2048 / threads) * waves};
    view.half = options.gpu.symmetric;
    set_scale();
    if (several) {
      ranks.comm = comm;
      ranks.memory = &memory;
      ranks.model = model;
      ranks.wide = wide;
      balanced_at = model->step;
      MD_TRY(comm->open_transport(comm, options.gpu.transport, &ranks.transport));
      MD_TRY(ranks.make_events());
    }
    MD_TRY(make(&a.control, sizeof(control), "the control word"));
    MD_TRY(make(&a.sums, 2 * SUMS * 8, "sums"));
    MD_CUDA(cudaMemsetAsync(a.control.at, 0, sizeof(control), stream));
    view.ctl = (control *)a.control.at;
    view.launch = 1; /* slot 0 is the beginning: all zero */
    MD_TRY(set_tables());
    view.table = (const real *)a.impulse_k.at;
    MD_TRY(make_arrays());
    MD_TRY(make_ids());
    MD_TRY(cycles.make());
    if (options.gpu.profile) MD_TRY(gpu_profile_start(&profile));
    MD_TRY(load());
    built = source == FROM_ALL;
    MD_CUDA(cudaStreamSynchronize(stream));
    describe();
    return MD_OK;
  }

  void describe()
  {
    const md_gpu_options &g = options.gpu;
    int used =
        snprintf(description, sizeof description, "%s, %s%s, %s%s%s%s%s%s%s", device.name,
                 T::MIXED ? "mixed precision" : "double", T::PACKED ? " in packed positions" : "",
                 source == FROM_LIST    ? "neighbour lists"
                 : source == FROM_CELLS ? "cells without lists"
                                        : "all pairs",
                 choice.no_room ? " (memory is too short for lists)" : "", g.symmetric ? ", symmetric" : "",
                 g.unsorted ? ", not sorted" : "", g.unpadded ? ", not padded" : "",
                 g.rolled ? ", not unrolled" : "", g.staged ? ", staged" : "");
    if (!several) return;
    const int *n = ranks.domains;
    used += snprintf(description + used, sizeof description - (size_t)used, ", %d x %d x %d domains", n[0],
                     n[1], n[2]);
    if (sharers > 1)
      used +=
          snprintf(description + used, sizeof description - (size_t)used, ", %d ranks share a GPU", sharers);
    snprintf(description + used, sizeof description - (size_t)used, ", messages %.500s",
             ranks.transport->name);
  }

  /* ---- rebin ---- */

  /* Runs a launch, timed if profiling. */
  template <class F> md_status timed(const char *name, double bytes, F &&launched)
  {
    MD_TRY(gpu_profile_begin(&profile, stream));
    MD_TRY(launched());
    return gpu_profile_end(&profile, stream, name, bytes);
  }

  bool counting() const { return options.gpu.sort == MD_GPU_SORT_COUNT; }

  /* Parts of a.keys: cells and indices of particles, and both in the order of cells. */
  unsigned *keys() const { return (unsigned *)a.keys.at; }
  unsigned *sorted_keys() const { return keys() + room; }
  int *indices() const { return (int *)(keys() + 2 * room); }

  /* Who is where in the order of cells. */
  int *order() const { return counting() ? (int *)a.spare_origin.at : (int *)(keys() + 3 * room); }

  /* Counts, and later the cursors of a counting sort, stand one place up: a cursor at the end of its cell is then the
   * beginning of the next. */
  int *cursor() const { return (int *)a.start.at + 1; }
  int *ghost_cursor() const { return a.ghost_start.at && !several ? (int *)a.ghost_start.at + 1 : nullptr; }

  /* Room for each cell by its count, or, by a radix sort, the order itself; ids: where that may leave the cells. */
  md_status order_cells(unsigned *ids)
  {
    const double n = (double)view.n, cells = (double)view.grid.total;
    size_t bytes = (size_t)a.scratch.bytes;
    const size_t start_bytes = ((size_t)view.grid.total + 2) * 4;
    MD_CUDA(cudaMemsetAsync(a.start.at, 0, start_bytes, stream));
    if (ghost_cursor()) MD_CUDA(cudaMemsetAsync(a.ghost_start.at, 0, start_bytes, stream));
    MD_TRY(timed("bin", n * (PARTICLE + (counting() ? 0.0 : 8.0)), [&] {
      return launch_bin<T>(wide, view, cursor(), ghost_cursor(), counting() ? nullptr : ids,
                           counting() ? nullptr : indices());
    }));
    if (ghost_cursor())
      MD_TRY(timed("cell_start", cells * 8.0,
                   [&] { return scan_counts(wide, view.grid.total, ghost_cursor(), a.scratch.at, &bytes); }));
    if (counting())
      return timed("cell_start", cells * 8.0,
                   [&] { return scan_counts(wide, view.grid.total, cursor(), a.scratch.at, &bytes); });
    MD_TRY(timed("sort", n * 4.0 * 16.0, [&] {
      return sort_by_cell(wide, view.n, cell_bits(), ids, sorted_keys(), indices(), order(), a.scratch.at,
                          &bytes);
    }));
    return timed("cell_start", n * 4.0 + cells * 4.0, [&] {
      return launch_fill_starts(wide, view.n, view.grid.total, sorted_keys(), (int *)a.start.at);
    });
  }

  /* The order of cells, while particles stay where they are. */
  md_status index_particles()
  {
    MD_TRY(order_cells(keys()));
    if (!counting()) return MD_OK;
    return timed("sort", (double)view.n * (PARTICLE + 4.0),
                 [&] { return launch_index<T>(wide, view, cursor(), order()); });
  }

  /* Particles in the order of their cells: into the idle position array and the spare arrays. */
  md_status sort_into_spare()
  {
    moved_fields<T> fields = {};
    for (int d = 0; d < T::DIM; ++d) fields.v[d] = (real *)a.spare[d].at;
    fields.origin = (int *)a.spare_origin.at;
    fields.origin_from = (const int *)a.origin.at;
    const double n = (double)view.n;
    const double each = PARTICLE + T::DIM * sizeof(real) + 4.0;
    const double moved = n * (2.0 * each + (view.cell ? 4.0 : 0.0));
    MD_TRY(index_particles());
    return timed("reorder", moved + 4.0 * n,
                 [&] { return launch_reorder<T>(wide, view, ghost_cursor(), order(), fields); });
  }

  md_status sort_particles()
  {
    view.foresight = (float)(FORESIGHT * interval.steps * model->dt);
    MD_TRY(sort_into_spare());
    for (int d = 0; d < T::DIM; ++d) {
      std::swap(a.spare[d], a.v[d]);
      view.v[d] = (real *)a.v[d].at;
    }
    std::swap(a.spare_origin, a.origin);
    step.origin = (const int *)a.origin.at;
    return MD_OK;
  }

  /* For kernels that need particles in the order of cells: the view, or if particles are not moved, one of a copy that
   * is, which takes the place of cells and order. The device rests. */
  md_status sorted_view(system_view<T> *s, const int **origin)
  {
    *s = view;
    *origin = step.origin;
    if (!options.gpu.unsorted) return MD_OK;
    built = false;
    MD_TRY(sort_into_spare());
    s->x[0] = s->x[1] = view.x[now.parity ^ 1u];
    for (int d = 0; d < T::DIM; ++d) s->v[d] = (real *)a.spare[d].at;
    *origin = (const int *)a.spare_origin.at;
    return MD_OK;
  }

  /* Launches a rebin. It may end with ghosts or lists that did not fit: halt then says so. */
  md_status launch_rebin(gpu_cycle *c)
  {
    if (source == FROM_ALL) return MD_OK;
    if (several) return rebin_ranks();
    const bool moves = !options.gpu.unsorted;
    MD_TRY(moves ? sort_particles() : index_particles());
    MD_TRY(launch_rebinned(wide, view.ctl, view.launch, moves));
    ++view.launch;
    MD_TRY(update_halo());
    if (c) MD_CUDA(cudaEventRecord(c->sorted, stream));
    MD_TRY(build_list());
    built = true;
    interval.since = 0;
    ++rebins;
    return MD_OK;
  }

  md_status build_list()
  {
    if constexpr (T::TAGGED)
      if (source == FROM_LIST)
        return timed("list", (double)view.n * (16.0 * choice.rows + 2.0 * sizeof(record) + 32.0),
                     [&] { return launch_list<T>(wide, view); });
    return MD_OK;
  }

  md_status update_halo()
  {
    if (!view.ghost.start) return MD_OK;
    if (several)
      return timed("halo", (double)ranks.ghosts * (4.0 * sizeof(record) + 8.0), [&]() -> md_status {
        MD_TRY(ranks.refresh_messages(view, wide, false));
        return ranks.refresh_images(view, wide);
      });
    return timed("halo", (double)choice.ghosts * (2.0 * sizeof(record) + 8.0),
                 [&] { return launch_halo<T>(wide, view); });
  }

  /* ---- steps ---- */

  /* Impulse arrays lie in the position array that is not the present one: the host must know which that is, which it
   * does when the device rests, or when steps do not change it. */
  void impulse_arrays(real *impulse[3]) const
  {
    real *base = (real *)a.x[now.parity ^ 1u].at;
    for (int d = 0; d < T::DIM; ++d) impulse[d] = base + (int64_t)d * view.n;
  }

  md_status launch_forces(const system_view<T> &s, real *const impulse[3], bool part_of_step)
  {
    const md_pair_kind kind = model->pair.kind;
    if constexpr (!T::MIXED && T::TAGGED && !T::PACKED)
      if (source == FROM_ALL) return launch_force_all<T>(stepping, kind, s, impulse, part_of_step);
    if constexpr (!T::MIXED)
      if (options.gpu.symmetric)
        return launch_force_symmetric<T>(stepping, kind, source, s, impulse, part_of_step);
    if constexpr (std::is_same_v<T, exact2>)
      if (!choice.fused && !s.ghost.start)
        return launch_force_ladder(stepping, kind, options.gpu, s, options.gpu.unsorted ? order() : nullptr,
                                   impulse, part_of_step);
    return launch_force<T>(stepping, kind, source, s, impulse, part_of_step);
  }

  double force_bytes() const
  {
    const double n = (double)view.n, cells = (double)view.grid.total;
    const double index = options.gpu.unsorted ? 4.0 : 0.0;
    return n * (sizeof(record) + (source == FROM_LIST ? 16.0 * choice.rows : 0.0) + index) +
           (source == FROM_CELLS ? 4.0 * cells : 0.0);
  }

  md_status launch_fused(const launch &l, const system_view<T> &s)
  {
    const md_pair_kind kind = model->pair.kind == MD_PAIR_NONE ? (md_pair_kind)0 : model->pair.kind;
    const double part =
        s.part == PART_ALL ? 1.0 : (double)(s.part == PART_SENT ? s.nsent : s.n - s.nsent) / s.n;
    const double bytes =
        force_bytes() + (double)view.n * (2.0 * PARTICLE - sizeof(record) + 2.0 * T::DIM * sizeof(real));
    const auto advance = [&]() -> md_status {
      if constexpr (T::TAGGED)
        if (source == FROM_LIST) return launch_advance_list<T>(l, kind, s, step);
      if constexpr ((T::DIM == 3 || !T::TAGGED) && !T::PACKED)
        return launch_advance_cells<T>(l, kind, s, step);
      return md_error(MD_RUNTIME, "the GPU engine has no fused kernel for this system");
    };
    /* What runs beside has no time of its own. */
    return l.stream == stream ? timed("advance", part * bytes, advance) : advance();
  }

  md_status launch_unfused()
  {
    real *impulse[3] = {};
    impulse_arrays(impulse);
    const double n = (double)view.n, each = T::DIM * sizeof(real);
    MD_TRY(timed("force", force_bytes() + n * each, [&] { return launch_forces(view, impulse, true); }));
    MD_TRY(share_overflow());
    return timed("move", n * (2.0 * PARTICLE + 3.0 * each),
                 [&] { return launch_move<T>(stepping, source, view, step, impulse); });
  }

  md_status launch_step()
  {
    if (several) return launch_step_ranks();
    MD_TRY(choice.fused ? launch_fused(stepping, view) : launch_unfused());
    ++view.launch;
    return update_halo();
  }

  md_status launch_step_ranks()
  {
    const bool overlaps = choice.fused && view.ghost.start;
    if (overlaps)
      MD_TRY(launch_beside_messages());
    else if (view.n == 0 && choice.fused)
      MD_TRY(launch_empty_step(wide, view.ctl, view.launch, true));
    else
      MD_TRY(choice.fused ? launch_fused(stepping, view) : launch_unfused());
    MD_TRY(ranks.lap_begins(stream));
    if (overlaps) MD_CUDA(cudaStreamWaitEvent(stream, ranks.arrived, 0));
    MD_TRY(ranks.share_outcome(view.ctl, view.launch, stream));
    ++view.launch;
    MD_TRY(overlaps ? ranks.refresh_images(view, wide) : update_halo());
    return ranks.lap_ends(stream);
  }

  /* The particles that are sent, and then messages, beside the others. Messages are made from, and received into, the
   * position array that the step writes, whatever its outcome: if it is not taken, nobody reads that. */
  md_status launch_beside_messages()
  {
    const system_view<T> sent = ranks.part_of(view, PART_SENT), rest = ranks.part_of(view, PART_REST);
    const bool sends = sent.members > 0;
    launch beside = stepping;
    beside.stream = ranks.beside;
    /* If nothing is sent, all must come first nevertheless: messages look at the progress that a launch notes. */
    if (!sends)
      MD_TRY(view.n == 0 ? launch_empty_step(wide, view.ctl, view.launch, true)
                         : launch_fused(stepping, rest));
    MD_CUDA(cudaEventRecord(ranks.ready, stream));
    MD_CUDA(cudaStreamWaitEvent(ranks.beside, ranks.ready, 0));
    if (sends) MD_TRY(launch_fused(beside, sent));
    if (sends && rest.members > 0) MD_TRY(launch_fused(stepping, rest));
    beside = wide;
    beside.stream = ranks.beside;
    MD_TRY(ranks.refresh_messages(view, beside, true));
    MD_CUDA(cudaEventRecord(ranks.arrived, ranks.beside));
    return MD_OK;
  }

  /* An overlap that force kernels found on any rank stops all. */
  md_status share_overflow() { return several ? ranks.share_overflow(view.ctl, stream) : MD_OK; }

  /* Kicks due around a drift: what the integrator leaves over is given at the end of a run. */
  void set_step()
  {
    const md_integrator integrator = model->integrator;
    const double owed = integrator == MD_LEAPFROG_MIRROR ? 0.0 : 1.0, each = integrator == MD_NVE ? 2.0 : 1.0;
    const bool forces = model->pair.kind != MD_PAIR_NONE;
    step.motion = md_motion_of(model);
    step.first_kicks = forces ? owed : 0.0;
    step.kicks = forces ? each : 0.0;
    step.quantum = T::MIXED ? 1.0 : model->grids.v;
    step.time_scale = step.motion.time * model->velocity_per_v[1];
    step.time_scale_single = (float)step.time_scale;
    step.velocity_per_v = (const double *)a.ratio.at;
    step.mass = (const double *)a.mass.at;
    step.mass_reference = model->mass_reference;
    step.t_start = model->langevin.t_start;
    step.t_stop = model->langevin.t_stop;
    step.ramp_done = model->step - model->run_begin;
    step.ramp_span = model->run_end - model->run_begin;
    for (int d = 0; d < T::DIM; ++d) {
      const md_motion &m = step.motion;
      step.most_single[d] = (float)std::min(m.move_limit, 0.45 * model->box.length[d]);
      step.has_lo[d] = std::isfinite(m.lo[d]);
      step.has_hi[d] = std::isfinite(m.hi[d]);
      step.stays_lo[d] = std::isfinite(m.stay_lo[d]);
      step.stays_hi[d] = std::isfinite(m.stay_hi[d]);
      step.lo32[d] = step.has_lo[d] ? mixed_place(d, m.lo[d]) : 0;
      step.hi32[d] = step.has_hi[d] ? mixed_place(d, m.hi[d]) : 0;
      step.stay_lo32[d] = step.stays_lo[d] ? mixed_place(d, m.stay_lo[d]) : 0;
      step.stay_hi32[d] = step.stays_hi[d] ? mixed_place(d, m.stay_hi[d]) : 0;
    }
  }

  uint32_t mixed_place(int d, double x) const { return mixed2::place(view.scale, d, x); }

  md_status launch_cycle(int64_t left, int64_t *issued)
  {
    gpu_cycle &c = cycles.next();
    const int64_t count = interval.next(left);
    MD_CUDA(cudaEventRecord(c.begin, stream));
    for (int64_t k = 0; k < count; ++k) MD_TRY(launch_step());
    interval.since += count;
    *issued += count;
    c.issued = *issued;
    c.rebins = interval.over() && source != FROM_ALL;
    MD_CUDA(cudaEventRecord(c.stepped, stream));
    MD_CUDA(cudaMemcpyAsync(c.seen, view.ctl, sizeof *c.seen, cudaMemcpyDeviceToHost, stream));
    c.launch = view.launch;
    if (c.rebins) {
      MD_TRY(launch_rebin(&c));
      if (!choice.fused && !options.gpu.unsorted) now.parity ^= 1u; /* impulses must stay out of the way */
    }
    if (source == FROM_ALL) interval.since = 0;
    MD_CUDA(cudaEventRecord(c.end, stream));
    ++cycles.in_flight;
    return MD_OK;
  }

  md_status lap(md_phase phase, cudaEvent_t from, cudaEvent_t to)
  {
    float ms = 0.0f;
    MD_CUDA(cudaEventElapsedTime(&ms, from, to));
    timers.seconds[phase] += 1e-3 * (double)ms;
    return MD_OK;
  }

  /* Waits for the oldest cycle in flight and learns from it. */
  md_status finish_cycle(progress *seen)
  {
    const gpu_cycle &c = cycles.oldest();
    MD_TRY(cycles.finish_oldest());
    *seen = progress_of(*c.seen, c.launch);
    MD_TRY(lap(MD_PHASE_FORCE, c.begin, c.stepped));
    if (c.rebins) {
      MD_TRY(lap(MD_PHASE_SORT, c.stepped, c.sorted));
      MD_TRY(lap(MD_PHASE_LIST, c.sorted, c.end));
      interval.learn(*seen);
      interval.binned_at = seen->done;
    }
    return MD_OK;
  }

  /* Where things stand, with the device at rest. */
  md_status look()
  {
    control *seen = cycles.resting().seen;
    MD_CUDA(cudaMemcpyAsync(seen, view.ctl, sizeof *seen, cudaMemcpyDeviceToHost, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
    now = progress_of(*seen, view.launch);
    ghosts_wanted = seen->ghosts_wanted;
    list_wanted = seen->list_wanted;
    return MD_OK;
  }

  md_status put_progress()
  {
    MD_TRY(launch_set_progress(wide, view.ctl, view.launch, now));
    ++view.launch;
    return MD_OK;
  }

  /* Positions for `room` particles and the ghosts there is room for, after `before`; the idle array holds nothing of
   * worth. */
  md_status enlarge_positions(const system_view<T> &before)
  {
    const unsigned idle = now.parity ^ 1u, present = now.parity;
    md_device_free(&memory, &a.x[idle]);
    MD_TRY(make(&a.x[idle], position_bytes(), "positions"));
    place_positions();
    MD_CUDA(cudaMemcpyAsync(view.x[idle], before.x[present], (size_t)view.n * sizeof(record),
                            cudaMemcpyDeviceToDevice, stream));
    if (T::PACKED)
      MD_CUDA(cudaMemcpyAsync(view.rest[idle], before.rest[present],
                              (size_t)view.n * sizeof(typename T::rest), cudaMemcpyDeviceToDevice, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
    md_device_free(&memory, &a.x[present]);
    MD_TRY(make(&a.x[present], position_bytes(), "positions"));
    place_positions();
    now.parity = idle;
    return put_progress();
  }

  /* Room for `n` particles, more than there was. The device rests. */
  md_status enlarge_room(int64_t n)
  {
    const system_view<T> before = view;
    room = n + n / 16 + 4096;
    MD_TRY(enlarge_positions(before));
    for (int d = 0; d < T::DIM; ++d)
      MD_TRY(enlarge(&a.v[d], room * (int64_t)sizeof(real), view.n * (int64_t)sizeof(real), "velocities"));
    MD_TRY(enlarge(&a.origin, room * 4, view.n * INT64_C(4), "origins"));
    MD_TRY(ranks.enlarge_ids(room));
    step.id = (const int64_t *)ranks.id.at;
    MD_TRY(make_particles());
    MD_TRY(make_scratch());
    return source == FROM_LIST ? make_list(choice.rows) : MD_OK;
  }

  md_status grow_list()
  {
    choice.rows = (list_wanted + list_wanted / 16 + 3) / 4 + 1;
    md_device_free(&memory, &a.list);
    return make_list(choice.rows);
  }

  /* Makes room for ghosts or neighbours that did not fit. The device rests. */
  md_status grow()
  {
    if (now.halt & HALT_GHOSTS) {
      const int64_t wanted = ghosts_wanted + (int64_t)ghosts_wanted / 8;
      const system_view<T> before = view;
      MD_TRY(make_ghosts(std::max<int64_t>(wanted, view.ghost.capacity)));
      MD_TRY(enlarge_positions(before));
    }
    if (now.halt & HALT_LIST) MD_TRY(grow_list());
    now.halt &= ~(unsigned)(HALT_GHOSTS | HALT_LIST);
    built = false;
    return put_progress();
  }

  /* Makes cells, lists and ghosts fit the present positions, however often it takes. The device rests afterwards. */
  md_status settle_structure()
  {
    if (source == FROM_ALL) return look();
    MD_TRY(look());
    while (!built || now.stale || now.halt) {
      if (now.halt & (HALT_GHOSTS | HALT_LIST)) MD_TRY(grow());
      const double mark = md_time();
      MD_TRY(launch_rebin(nullptr));
      MD_TRY(look());
      interval.binned_at = now.done;
      if (!several) timers.seconds[MD_PHASE_SORT] += md_time() - mark;
    }
    return MD_OK;
  }

  /* ---- several ranks ---- */

  /* Through the host, as it is rare: new cuts, and particles to where they then belong. */
  md_status balance_if_due()
  {
    const int64_t at = model->step + now.done;
    if (comm->balance.every <= 0 || at - balanced_at < comm->balance.every) return MD_OK;
    balanced_at = at;
    double most = (double)view.n;
    MD_TRY(comm->max(comm, &most, 1));
    if (most * comm->size <= comm->balance.threshold * (double)model->natoms) return MD_OK;
    MD_TRY(download(nullptr));
    const int64_t before = model->step;
    model->step = at;
    const md_status status = comm->migrate(comm, model, p);
    model->step = before;
    MD_TRY(status);
    MD_TRY(make_arrays());
    MD_TRY(make_ids());
    MD_TRY(load());
    now.parity = 0;
    return put_progress();
  }

  /* Particles to the ranks that own them. The device rests before. */
  md_status migrate()
  {
    std::vector<traveller<T>> leaver, arrived;
    std::vector<hole> left, place;
    std::vector<int2> move;
    int *origin = (int *)a.origin.at;
    MD_TRY(ranks.find_leavers(view, origin, &leaver, &left));
    MD_TRY(ranks.deliver(leaver, left, &arrived));
    const int64_t n = view.n - (int64_t)left.size() + (int64_t)arrived.size();
    if (n > MD_PARTICLES_MAX - view.ghost.capacity - 4096)
      return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts; use more ranks",
                      (long long)MD_PARTICLES_MAX);
    if (n > room) MD_TRY(enlarge_room(n));
    origin = (int *)a.origin.at;
    ranks.assign(left, arrived.size(), view.n, &place, &move);
    MD_TRY(ranks.take_in(view, origin, arrived, place, move));
    view.n = (int)n;
    return ranks.count_particles(view, origin, (int64_t *)a.x[now.parity ^ 1u].at, model->step + now.done);
  }

  /* Lists, however often they must grow: that concerns no other rank. */
  md_status fit_list()
  {
    if (source != FROM_LIST) return MD_OK;
    for (;;) {
      MD_TRY(build_list());
      MD_TRY(look());
      if (!(now.halt & HALT_LIST)) return MD_OK;
      MD_TRY(grow_list());
      now.halt &= ~(unsigned)HALT_LIST;
      MD_TRY(put_progress());
    }
  }

  md_status rebin_ranks()
  {
    double mark = md_time();
    MD_TRY(balance_if_due());
    MD_TRY(migrate());
    md_timers_lap(&timers, MD_PHASE_COMM, &mark);
    MD_TRY(sort_particles());
    MD_TRY(launch_rebinned(wide, view.ctl, view.launch, true));
    ++view.launch;
    MD_TRY(look());
    md_timers_lap(&timers, MD_PHASE_SORT, &mark);
    MD_TRY(ranks.gather_ghosts(view));
    if (ranks.ghosts > view.ghost.capacity) {
      const system_view<T> before = view;
      MD_TRY(make_ghosts(ranks.ghosts + ranks.ghosts / 8));
      MD_TRY(enlarge_positions(before));
    }
    view.received = (const typename T::particle *)ranks.received.at;
    view.order = (const int *)ranks.by_slot.at;
    if (view.ghost.start)
      MD_TRY(ranks.settle_ghosts(view, (int *)a.ghost_start.at, a.scratch.at, (size_t)a.scratch.bytes));
    if (choice.fused) MD_TRY(ranks.note_sent(&view));
    md_timers_lap(&timers, MD_PHASE_COMM, &mark);
    MD_TRY(fit_list());
    md_timers_lap(&timers, MD_PHASE_LIST, &mark);
    built = true;
    interval.since = 0;
    ++rebins;
    return MD_OK;
  }

  /* Steps until done, launched up to the next rebin at a time. Everything that is decided here follows from what all
   * ranks know. */
  md_status run_ranks(int64_t n)
  {
    while (now.done < n) {
      const int64_t before = now.done, count = interval.next(n - before);
      const gpu_cycle &c = cycles.resting();
      MD_CUDA(cudaEventRecord(c.begin, stream));
      for (int64_t k = 0; k < count; ++k) MD_TRY(launch_step());
      MD_CUDA(cudaEventRecord(c.stepped, stream));
      MD_TRY(look());
      interval.since += now.done - before;
      double exchanges;
      MD_TRY(ranks.take_laps(&exchanges));
      MD_TRY(lap(MD_PHASE_FORCE, c.begin, c.stepped));
      timers.seconds[MD_PHASE_FORCE] -= exchanges;
      timers.seconds[MD_PHASE_COMM] += exchanges;
      if (now.halt & (HALT_OVERLAP | HALT_FLYER)) return fault();
      if (now.done == n || (!now.stale && !interval.over())) continue;
      interval.learn(now);
      built = false;
      MD_TRY(settle_structure());
    }
    return MD_OK;
  }

  /* Gives the kicks that are due at the end of a run. */
  md_status settle_velocities()
  {
    const bool owes = model->integrator == MD_NVE || model->integrator == MD_LEAPFROG_MIRROR;
    if (!owes || model->pair.kind == MD_PAIR_NONE) return MD_OK;
    MD_TRY(settle_structure());
    const double mark = md_time();
    real *impulse[3] = {};
    impulse_arrays(impulse);
    MD_TRY(launch_forces(view, impulse, false));
    MD_TRY(share_overflow());
    MD_TRY(launch_kick<T>(wide, view, 1.0, step.quantum, impulse));
    MD_TRY(look());
    timers.seconds[MD_PHASE_FORCE] += md_time() - mark;
    return now.halt & HALT_OVERLAP ? overlap_error(-1) : MD_OK;
  }

  md_status run(int64_t n) override
  {
    if (model->integrator == MD_STATIC) {
      model->step += n;
      steps += n;
      return MD_OK;
    }
    if (n == 0) return MD_OK;
    MD_TRY(settle_structure());
    set_step();
    interval.begin_run(now.done);
    now.done = 0;
    now.target = n;
    MD_TRY(put_progress());
    MD_TRY(several ? run_ranks(n) : run_alone(n));
    steps += n;
    model->step += n;
    return settle_velocities();
  }

  /* Steps until done, in cycles of steps and a rebin that are launched before the outcome of the last is known. */
  md_status run_alone(int64_t n)
  {
    int64_t issued = 0;
    bool halted = false;
    while (now.done < n) {
      while (cycles.have_room() && issued < n && !halted) MD_TRY(launch_cycle(n - issued, &issued));
      const gpu_cycle &c = cycles.oldest();
      progress seen;
      MD_TRY(finish_cycle(&seen));
      halted = seen.halt != 0;
      const int64_t missed = c.issued - seen.done;
      issued -= missed;
      cycles.take_back(missed);
      if (cycles.in_flight > 0) continue;
      MD_TRY(look());
      if (now.halt & (HALT_OVERLAP | HALT_FLYER)) return fault();
      issued = now.done;
      if (now.done < n) MD_TRY(settle_structure());
      halted = false;
    }
    return MD_OK;
  }

  /* ---- errors ---- */

  md_status find(bool overlap, culprit *found)
  {
    system_view<T> s = view;
    const int *origin = step.origin;
    if (overlap) MD_TRY(sorted_view(&s, &origin));
    /* Copies of ids and results do not wait for the stream. */
    MD_CUDA(cudaStreamSynchronize(stream));
    device_array at = {};
    const culprit none = {~0ull, ~0ull, 0.0, 0.0, 0.0, 0};
    MD_TRY(upload(&at, &none, sizeof none, "an error's particles"));
    /* The idle position array has room for ids, or if a sorted copy is there, that of its velocities. */
    int64_t *id = (int64_t *)(options.gpu.unsorted ? a.spare[0] : a.x[now.parity ^ 1u]).at;
    md_status status =
        several
            ? ranks.spread_ids(view, origin, id)
            : md_cuda_check(cudaMemcpy(id, p->id, (size_t)p->n * 8, cudaMemcpyHostToDevice), "copy of ids");
    if (several) origin = nullptr;
    if (status == MD_OK && overlap)
      status = launch_find_overlap<T>(wide, source, s, id, origin, (culprit *)at.at);
    if (status == MD_OK && !overlap)
      status = launch_find_flyer<T>(wide, s, step, id, origin, (culprit *)at.at);
    if (status == MD_OK)
      status = md_cuda_check(cudaStreamSynchronize(stream), "search for an error's particles");
    if (status == MD_OK)
      status =
          md_cuda_check(cudaMemcpy(found, at.at, sizeof *found, cudaMemcpyDeviceToHost), "copy of an error");
    md_device_free(&memory, &at);
    return status;
  }

  /* `later`: the step is counted relative to the model's. */
  md_status overlap_error(int64_t later)
  {
    culprit found;
    MD_TRY(find(true, &found));
    model->step += later;
    md_overlap overlap = {(int64_t)found.a, (int64_t)found.b, found.r2};
    if (found.a == ~0ull)
      return md_error(MD_PHYSICS,
                      "step %lld: two particles overlap: start from separated particles, or use a timestep "
                      "smaller than %g",
                      (long long)model->step, model->dt);
    return md_overlap_status(&overlap, model);
  }

  md_status fault()
  {
    if (now.halt & HALT_OVERLAP) {
      /* The force of a step's end is taken at the beginning of the next. */
      const bool of_before = model->integrator != MD_LEAPFROG && now.done > 0;
      return overlap_error(now.done - (of_before ? 1 : 0));
    }
    culprit found;
    MD_TRY(find(false, &found));
    model->step += now.done;
    md_flyer flyer = md_flyer_none();
    if (found.a != ~0ull)
      md_flyer_add(&flyer, (int64_t)found.a, (int)found.b, found.x, found.v,
                   model->velocity_per_v[found.type + 1]);
    MD_TRY(md_flyer_status(&flyer, model));
    return md_error(MD_PHYSICS, "step %lld: a particle moves too far; use a timestep smaller than %g",
                    (long long)model->step, model->dt);
  }

  /* ---- looking at it ---- */

  md_status measure(md_measure *m) override
  {
    MD_TRY(settle_structure());
    measure_args args = {};
    args.per_e = 1.0 / model->grids.e;
    args.per_w = model->grids.f / model->grids.w;
    args.per_k = 1.0 / model->grids.k;
    args.per_v = 1.0 / model->grids.v;
    args.table = (const double *)a.measure_k.at;
    args.velocity_per_v = (const double *)a.ratio.at;
    args.mass_reference = model->mass_reference;
    args.high = (unsigned long long *)a.sums.at;
    args.low = args.high + SUMS;
    const double mark = md_time();
    system_view<T> s;
    const int *origin;
    MD_TRY(sorted_view(&s, &origin));
    MD_CUDA(cudaMemsetAsync(a.sums.at, 0, 2 * SUMS * 8, stream));
    if constexpr (!T::MIXED && T::TAGGED && !T::PACKED)
      if (source == FROM_ALL) MD_TRY(launch_measure_all<T>(wide, model->pair.kind, s, args));
    if (source != FROM_ALL) MD_TRY(launch_measure<T>(wide, model->pair.kind, source, s, args));
    int64_t sums[2 * SUMS];
    MD_CUDA(cudaMemcpyAsync(sums, a.sums.at, sizeof sums, cudaMemcpyDeviceToHost, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
    timers.seconds[MD_PHASE_FORCE] += md_time() - mark;
    *m = md_measure{};
    md_wide *const wide_sums[SUMS] = {&m->pair_energy2, &m->virial2,     &m->kinetic,
                                      &m->momentum[0],  &m->momentum[1], &m->momentum[2]};
    for (int q = 0; q < SUMS; ++q) {
      wide_sums[q]->high = sums[q];
      wide_sums[q]->low = sums[SUMS + q];
      md_wide_normalise(wide_sums[q]);
    }
    m->count = view.n;
    return MD_OK;
  }

  /* Places in the host's arrays; on several ranks particles come in the order of the device. */
  const int *places() const { return several ? nullptr : step.origin; }

  /* One component to the host, in its order. */
  md_status fetch_position(int d, double *to)
  {
    typename T::position *spare = (typename T::position *)a.spare[0].at;
    MD_TRY(launch_unload_position<T>(wide, view, d, places(), spare));
    if constexpr (!T::MIXED) {
      MD_CUDA(cudaMemcpyAsync(to, spare, (size_t)p->n * 8, cudaMemcpyDeviceToHost, stream));
      MD_CUDA(cudaStreamSynchronize(stream));
    } else {
      uint32_t *words = nullptr;
      MD_TRY(md_array_new(&words, p->n, sizeof *words, "positions"));
      md_status status =
          md_cuda_check(cudaMemcpyAsync(words, spare, (size_t)p->n * 4, cudaMemcpyDeviceToHost, stream),
                        "copy of positions");
      if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of positions");
      for (int64_t i = 0; i < p->n && status == MD_OK; ++i) {
        to[i] = T::where(view.scale, d, words[i]);
        if (view.periodic[d] && to[i] >= view.hi[d]) to[i] -= view.length[d];
      }
      free(words);
      MD_TRY(status);
    }
    return MD_OK;
  }

  md_status fetch(const real *from, double scale, double *to)
  {
    real *spare = (real *)a.spare[0].at;
    MD_TRY(launch_unload<T>(wide, view.n, from, places(), spare));
    real *words = nullptr;
    if constexpr (T::MIXED)
      MD_TRY(md_array_new(&words, p->n, sizeof *words, "particles"));
    else
      words = to;
    md_status status = md_cuda_check(
        cudaMemcpyAsync(words, spare, (size_t)p->n * sizeof(real), cudaMemcpyDeviceToHost, stream),
        "copy of particles");
    if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of particles");
    if (status == MD_OK && (T::MIXED || scale != 1.0))
      for (int64_t i = 0; i < p->n; ++i) to[i] = (double)words[i] * scale;
    if (T::MIXED) free(words);
    return status;
  }

  /* Whose particles these are: on several ranks they change. */
  md_status fetch_identities()
  {
    p->nghost = 0;
    MD_TRY(md_particles_reserve(p, view.n));
    p->n = view.n;
    void *spare = a.x[now.parity ^ 1u].at;
    MD_TRY(launch_unload_ids(wide, view.n, (const int64_t *)ranks.id.at, step.origin, (int64_t *)spare));
    MD_CUDA(cudaMemcpyAsync(p->id, spare, (size_t)p->n * 8, cudaMemcpyDeviceToHost, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
    MD_TRY(launch_unload_types<T>(wide, view, (uint16_t *)spare));
    MD_CUDA(cudaMemcpyAsync(p->type, spare, (size_t)p->n * 2, cudaMemcpyDeviceToHost, stream));
    MD_CUDA(cudaStreamSynchronize(stream));
    return MD_OK;
  }

  md_status download(double *const force[3]) override
  {
    MD_TRY(look());
    /* A rebin may have to come before the forces, and moves particles to other ranks. */
    if (several && force) MD_TRY(settle_structure());
    if (several) MD_TRY(fetch_identities());
    for (int d = 0; d < T::DIM; ++d) {
      MD_TRY(fetch_position(d, p->x[d]));
      MD_TRY(fetch(view.v[d], 1.0, p->v[d]));
    }
    if (!force) return MD_OK;
    MD_TRY(settle_structure());
    system_view<T> s = view;
    s.table = (const real *)a.force_k.at;
    real *impulse[3] = {};
    impulse_arrays(impulse);
    MD_TRY(launch_forces(s, impulse, false));
    MD_TRY(share_overflow());
    MD_TRY(look());
    if (now.halt & HALT_OVERLAP) return overlap_error(0);
    for (int d = 0; d < T::DIM; ++d) MD_TRY(fetch(impulse[d], T::MIXED ? 1.0 : model->grids.f, force[d]));
    return MD_OK;
  }

  md_status histogram(const md_histogram *h, int64_t *count) override
  {
    MD_TRY(look());
    const int64_t bins = (int64_t)h->n[0] * h->n[1];
    MD_TRY(make(&a.count, bins * 8, "the histogram"));
    MD_CUDA(cudaMemsetAsync(a.count.at, 0, (size_t)bins * 8, stream));
    MD_TRY(launch_histogram<T>(wide, view, *h, (unsigned long long *)a.count.at));
    int64_t *mine = nullptr;
    MD_TRY(md_array_new(&mine, bins, sizeof *mine, "the histogram"));
    md_status status =
        md_cuda_check(cudaMemcpyAsync(mine, a.count.at, (size_t)bins * 8, cudaMemcpyDeviceToHost, stream),
                      "copy of the histogram");
    if (status == MD_OK) status = md_cuda_check(cudaStreamSynchronize(stream), "copy of the histogram");
    for (int64_t b = 0; b < bins && status == MD_OK; ++b) count[b] += mine[b];
    free(mine);
    return status;
  }

  void report(md_engine_report *r) override
  {
    *r = md_engine_report{};
    r->timers = timers;
    r->rebuilds = rebins;
    r->steps = steps;
    r->neighbours = source == FROM_LIST ? 4.0 * choice.rows : 0.0;
    r->ghosts = several ? ranks.ghosts : view.ghost.capacity;
    r->bytes = memory.used;
    r->hardware = description;
    r->threads = 1;
    r->details = gpu_profile_table(&profile);
  }
};

template <class T>
md_status make_engine(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                      const md_engine_options *options, const gpu_choice &choice,
                      const cudaDeviceProp &device, int sharers)
{
  gpu_engine<T> *e = new (std::nothrow) gpu_engine<T>();
  if (!e) return md_error(MD_RUNTIME, "out of memory: the GPU engine");
  e->model = model;
  e->p = p;
  e->comm = comm;
  e->several = comm->size > 1;
  e->sharers = sharers;
  e->options = *options;
  e->choice = choice;
  e->device = device;
  e->source = choice.neighbours == MD_GPU_LIST    ? FROM_LIST
              : choice.neighbours == MD_GPU_CELLS ? FROM_CELLS
                                                  : FROM_ALL;
  const md_status status = e->start();
  if (status != MD_OK) {
    delete e;
    return status;
  }
  *engine = e;
  return MD_OK;
}

/* The most ranks that have one device. */
md_status count_sharers(md_comm *comm, const cudaDeviceProp &device, int *sharers)
{
  double most = 1.0;
  std::vector<int32_t> to((size_t)comm->size);
  std::vector<cudaUUID_t> mine((size_t)comm->size, device.uuid);
  for (int r = 0; r < comm->size; ++r) to[(size_t)r] = r;
  cudaUUID_t *all = nullptr;
  int64_t count = 0;
  MD_TRY(comm->deliver(comm, comm->size, to.data(), mine.data(), sizeof(cudaUUID_t), (void **)&all, &count));
  most = (double)std::count_if(all, all + count, [&](const cudaUUID_t &other) {
    return memcmp(&other, &device.uuid, sizeof other) == 0;
  });
  free(all);
  MD_TRY(comm->max(comm, &most, 1));
  *sharers = (int)most;
  return MD_OK;
}

/* What several ranks cannot do. */
md_status check_ranks(const md_engine_options *options)
{
  const md_gpu_options *g = &options->gpu;
  if (g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(MD_USAGE, "--gpu-naive takes all pairs of one rank; run it without mpirun");
  if (g->unsorted || g->unpadded || g->rolled || g->staged)
    return md_error(MD_USAGE, "package gpu: sorted, padded, unrolled and staged are teaching switches of a "
                              "kernel for one rank; run it without mpirun");
  return MD_OK;
}

/* Whether a device can pack is a matter of its kind: all ranks must have the same records. */
md_status agree_to_pack(md_comm *comm, gpu_choice *choice)
{
  double cannot = !choice->packed;
  MD_TRY(comm->max(comm, &cannot, 1));
  choice->packed = cannot == 0.0;
  return MD_OK;
}

/* Gives every rank its domain and the particles in it. */
md_status divide(md_model *model, md_particles *p, md_comm *comm, const gpu_choice &choice)
{
  double width = 0.0;
  for (int d = 0; d < model->box.dim; ++d)
    width = std::max(width, gpu_halo_cells(model, &choice, d) * model->box.length[d] / choice.count[d]);
  /* Cuts are moved to edges of cells, so that the margin for rounding which domains are given elsewhere is not needed. */
  MD_TRY(comm->decompose(comm, model, model->cutoff > 0.0 ? width * (1.0 - 1e-5) : 0.0));
  return comm->migrate(comm, model, p);
}

md_status create(md_engine **engine, md_model *model, md_particles *p, md_comm *comm,
                 const md_engine_options *options)
{
  const bool several = comm->size > 1;
  if (several) MD_TRY(check_ranks(options));
  cudaDeviceProp device;
  MD_TRY(md_device_choose(options->gpu.device, several ? comm->local_rank : 0, &device));
  int sharers = 1;
  if (several) MD_TRY(count_sharers(comm, device, &sharers));
  device_memory memory = {0, options->gpu.memory};
  int64_t available = 0;
  MD_TRY(md_device_available(&memory, &available));
  /* All ranks must choose alike. */
  double least = -(double)(available / sharers);
  if (several) MD_TRY(comm->max(comm, &least, 1));
  gpu_choice choice;
  MD_TRY(gpu_choose(model, several ? model->natoms : p->n, comm->size, options, (int64_t)-least, &choice));
  if (choice.packed) MD_TRY(gpu_check_seeds(&choice.packed));
  if (several) MD_TRY(agree_to_pack(comm, &choice));
  if (several) MD_TRY(divide(model, p, comm, choice));
  auto make = [&](auto layout) {
    return make_engine<decltype(layout)>(engine, model, p, comm, options, choice, device, sharers);
  };
  const bool flat = model->box.dim == 2, mixed = options->gpu.mixed;
  if (!mixed && !choice.tagged) return make(exact2{});
  if (!mixed && flat) return make(exact2_tagged{});
  if (choice.packed) return make(exact3_packed{});
  if (!mixed) return make(exact3_tagged{});
  if (!choice.tagged) return make(mixed2{});
  return flat ? make(mixed2_tagged{}) : make(mixed3_tagged{});
}

md_status run(md_engine *e, int64_t n) { return e->run(n); }
md_status measure(md_engine *e, md_measure *m) { return e->measure(m); }
md_status download(md_engine *e, double *const force[3]) { return e->download(force); }
md_status histogram(md_engine *e, const md_histogram *h, int64_t *count) { return e->histogram(h, count); }
void report(const md_engine *e, md_engine_report *r) { const_cast<md_engine *>(e)->report(r); }
void destroy(md_engine *e) { delete e; }

/* Works without a GPU too: then nothing is known of its memory. */
md_status plan(const md_model *model, int64_t n, const md_engine_options *options, md_engine_plan *out)
{
  cudaDeviceProp device;
  int64_t available = 0;
  const bool there = md_device_choose(options->gpu.device, 0, &device) == MD_OK;
  device_memory memory = {0, options->gpu.memory};
  if (there) MD_TRY(md_device_available(&memory, &available));
  gpu_choice choice;
  MD_TRY(gpu_choose(model, n, 1, options, available, &choice));
  gpu_memory(model, n, std::max(options->ranks, 1), &options->gpu, &choice, out);
  out->available = available;
  if (there) snprintf(out->device, sizeof out->device, "%.120s", device.name);
  return MD_OK;
}

} // namespace

extern "C" const md_engine_kind md_engine_gpu = {
    "gpu",     "cells or lists on a GPU a rank, fused force and move, the same bits",
    create,    run,
    measure,   download,
    histogram, plan,
    report,    destroy,
};
