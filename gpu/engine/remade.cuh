/* An engine that is made anew when the box has changed too much.
 *
 * The cells, their number and the scale of packed positions are those of a range of boxes (gpu_box_range). While a fix
 * changes the box within that range, the engine goes on. Before a step whose box is beyond it, the particles come to
 * the host, and another engine begins with them. No bit of a result tells that this happened.
 *
 * Trade-off: kernels know of no box but the present one, and such a moment costs about as much as the beginning of a
 * run: once in some per cent of a side.
 */
#ifndef MD_GPU_ENGINE_REMADE_CUH
#define MD_GPU_ENGINE_REMADE_CUH

#include "gpu/engine/engine.cuh"

typedef md_status (*engine_maker)(md_engine **, md_model *, md_particles *, md_comm *,
                                  const md_engine_options *);

struct remade_engine final : md_engine {
  engine_maker maker;
  md_model *model;
  md_particles *particles;
  md_comm *comm;
  md_engine_options options;
  md_engine *now = nullptr;
  double lo[3], hi[3], least[3], most[3]; /* the range */
  md_engine_report spent = {};            /* of the engines before */

  ~remade_engine() override { delete now; }
  md_status start() override
  {
    gpu_box_range(model, lo, hi, least, most);
    return maker(&now, model, particles, comm, &options);
  }

  bool fits(const md_box &box) const
  {
    bool in = true;
    for (int d = 0; d < box.dim; ++d)
      in = in && box.lo[d] >= lo[d] && box.hi[d] <= hi[d] && box.length[d] >= least[d] &&
           box.length[d] <= most[d];
    return in;
  }

  md_status make_anew()
  {
    MD_TRY(now->download(nullptr));
    md_engine_report r;
    report(&r);
    spent = r;
    delete now;
    now = nullptr;
    return md_comm_agree(comm, start());
  }

  md_status run(int64_t n) override
  {
    if (!fits(model->box) || !fits(md_model_shown_box(model))) MD_TRY(make_anew());
    return now->run(n);
  }
  md_status measure(md_wanted wanted, md_measure *m) override { return now->measure(wanted, m); }
  md_status act(const md_action *action) override { return now->act(action); }
  md_status download(double *const force[3]) override { return now->download(force); }
  md_status histogram(const md_histogram *h, int64_t *sum) override { return now->histogram(h, sum); }
  md_status distances(const md_distances *d, int64_t *count, bool *made) override
  {
    return now->distances(d, count, made);
  }
  md_status bin_sums(const md_bins *b, double *largest, int64_t *sum, bool *made) override
  {
    return now->bin_sums(b, largest, sum, made);
  }
  md_status value_counts(const md_value_counts *c, int64_t *count, double range[2], bool *made) override
  {
    return now->value_counts(c, count, range, made);
  }
  md_status environment(const md_environment *what, double *each, bool *made) override
  {
    return now->environment(what, each, made);
  }
  md_status follow(md_follow_set *set, const md_follow *what, md_follow_pace *pace, md_follow_fault *fault,
                   bool *made) override
  {
    return now->follow(set, what, pace, fault, made);
  }
  md_status follow_sums(const md_follow_set *set, const md_follow *what, const md_follow_sum *sum,
                        const double *counts, double *largest, md_wide *total) override
  {
    return now->follow_sums(set, what, sum, counts, largest, total);
  }
  md_status draw(const md_drawing *drawing, md_sight *sight, bool *made) override
  {
    return now->draw(drawing, sight, made);
  }
  void report(md_engine_report *r) override
  {
    *r = md_engine_report{};
    if (now) now->report(r);
    r->rebins += spent.rebins;
    r->steps += spent.steps;
    r->downloads += spent.downloads;
    for (int phase = 0; phase < MD_PHASE_COUNT; ++phase)
      r->timers.seconds[phase] += spent.timers.seconds[phase];
  }
};

#endif
