/* The memory that the OpenMP engine would need: the arrays of engine.h, estimated from the density.
 *
 * The list of a particle holds the particles in a sphere of radius cutoff + skin, and a half list half of them. A block
 * of BLOCK particles has as many rows as its longest list. In a liquid this is little more than the average list. Where
 * forces are dumped, a full list follows a half one for some steps, which this estimate does not count.
 */
#include "openmp/plan.h"
#include "common/base/memory.h"
#include "openmp/force/kernels.h"
#include "openmp/openmp.h"

#include <omp.h>
#include <stdio.h>

/* A chunk of particles is part of a row of cells along x. If cuts cross the rows, the chunks at the ends of every
 * row wait for ghosts, and a pass takes them after all others, out of order. This costs 5 % of a step at 250 000
 * particles a rank. In a slab along the last axis only the first and the last row wait. These rows are longer, but
 * waiting for them costs less if the slab is at least ROWS rows thick. In three dimensions the work for a particle
 * takes longer than the wait, so that slabs bring nothing. */
double openmp_slab(const md_model *model)
{
  enum { ROWS = 64 };
  return model->box.dim == 2 && model->cutoff > 0.0 ? ROWS * (model->cutoff + md_model_skin(model)) : 0.0;
}

static double ball_of(const md_model *model)
{
  return md_box_ball(&model->box, model->cutoff + md_model_skin(model));
}

/* Of styles whose forces need more than distances, those with a density of one element have half lists. */
bool openmp_halves(const md_model *model, int64_t n)
{
  const md_eam *eam = md_model_pair(model)->eam;
  enum { NEIGHBOURS = 16 }; /* on average: with fewer, filling up rows costs more than the halves save */
  if (md_pair_needs_more(&model->pair) && !(eam && eam->nelement == 1)) return false;
  return model->box.dim == 3 && model->pair.kind != MD_PAIR_NONE &&
         (double)n * ball_of(model) >= NEIGHBOURS * md_box_volume(&model->box);
}

/* Arrays of lists have up to a quarter more room than is used (rebin.c); half of that on average. */
static const double LIST_ROOM = 1.125;

/* List entries per particle, of `mean` neighbours. Of a half list those across faces and across the borders of threads
 * are stored twice: of the pairs, 3/8 reach over the thickness between two of these. Its rows are whole vectors of
 * `lanes` entries. */
static double entries_per_particle(const md_model *model, bool half, double mean, int threads, int lanes)
{
  if (!half) return mean + sqrt(mean / BLOCK);
  const double reach = model->cutoff + md_model_skin(model);
  double borders = (threads - 1) / model->box.length[2];
  for (int d = 0; d < 3; ++d) borders += model->box.periodic[d] ? 1.0 / model->box.length[d] : 0.0;
  return 0.5 * mean * md_min(2.0, 1.0 + 0.375 * reach * borders) + 0.5 * (lanes - 1.0);
}

/* Ghosts per particle, in a layer of thickness `width` outside the periodic faces of the box. */
static double ghosts_per_particle(const md_model *model, double width)
{
  double grown = 1.0;
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d]) grown *= 1.0 + 2.0 * width / model->box.length[d];
  return grown - 1.0;
}

md_status md_openmp_plan(const md_model *model, int64_t n, const md_engine_options *options,
                         md_engine_plan *plan)
{
  const char *isa;
  MD_TRY(md_openmp_wanted_isa(&isa));
  const int dim = model->box.dim, lanes = kernels_choose(isa)->half_lanes;
  md_particles like = md_model_fields(model);
  like.has_v_pair = md_pair_is_dissipative(&model->pair);
  const double reach = model->cutoff > 0.0 ? model->cutoff + md_model_skin(model) : 0.0;
  const double density = (double)n / md_box_volume(&model->box);
  const double mean = density * ball_of(model), ghosts = ghosts_per_particle(model, reach);
  const double width = md_max(reach, options->cell_size);
  const double cells = width > 0.0 ? md_max(1.0, 1.0 / (density * pow(width, dim))) : 1.0;
  const bool pairs = model->pair.kind != MD_PAIR_NONE, half = openmp_halves(model, n);
  const int threads = options->threads > 0 ? options->threads : omp_get_num_procs();
  *plan = (md_engine_plan){
      .ghosts = ghosts * (double)n, .halo = reach, .slab = openmp_slab(model), .ghost_bytes = 8 * dim};
  md_plan_add(plan, "particles and spare arrays", (md_particles_bytes(&like) + 8.0 * dim) * (1.0 + ghosts));
  md_plan_add(plan, "positions at the rebin", 4.0 * dim * (1.0 + ghosts));
  md_plan_add(plan, "cells of particles and ghosts", 16.0 * (1.0 + ghosts));
  md_plan_add(plan, "first particle of each cell", 8.0 * (cells < 4.0 ? cells : 4.0));
  const bool several = model->ntypes > 1 || model->exclusions.ngroups > 0;
  md_plan_add(plan, "types of particles and ghosts", several ? 4.0 * (1.0 + ghosts) : 0.0);
  md_plan_add(plan, "molecules of particles and ghosts",
              model->exclusions.molecules.n > 0 ? 8.0 * (1.0 + ghosts) : 0.0);
  md_plan_add(plan, "slopes and embeddings", md_pair_has_density(&model->pair) ? 16.0 * (1.0 + ghosts) : 0.0);
  md_plan_add(plan, "sums over angles",
              md_pair_is_three_body(&model->pair) ? 8.0 * (1 + MD_THREE_SUMS) * (1.0 + ghosts) : 0.0);
  md_plan_add(plan, "neighbour lists",
              pairs ? LIST_ROOM * 4.0 * entries_per_particle(model, half, mean, threads, lanes) : 0.0);
  md_plan_add(plan, "records and rows of half lists", half ? 64.0 * (1.0 + ghosts) + 8.0 : 0.0);
  snprintf(plan->method, sizeof plan->method, pairs ? "neighbour lists" : "none");
  snprintf(plan->device, sizeof plan->device, "this machine");
  md_memory memory;
  MD_TRY(md_memory_look("", 1, &memory));
  plan->available = memory.bytes < 0x1p62 ? (int64_t)memory.bytes : 0;
  return MD_OK;
}
