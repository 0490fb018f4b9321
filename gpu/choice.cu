/* Deciding how to find neighbours, and what it costs in memory; see choice.h.
 *
 * Cells as wide as cutoff + skin are enough where a particle has few candidates in its 3^dim cells; where it has many
 * (dense liquids), a list pays, built from cells cut finer along x. The break-even is not sharp; see docs/performance.md.
 */
#include "gpu/choice.h"

#include <algorithm>
#include <cmath>
#include <stdio.h>

/* Candidates in the stencil above which a list is faster. */
static const double LIST_PAYS = 40.0;
/* Where cells are enough, a wider skin than a deck made for lists asks for pays: it costs candidates, not neighbours. */
static const double CELLS_SKIN = 1.5;
/* Rebinning reads and writes every particle: cells may be so many per particle. */
static const double CELLS_PER_PARTICLE = 2.0;

static double density(const md_model *model, int64_t n) { return (double)n / md_box_volume(&model->box); }

/* Cells at least `width` wide, as many as fit, but not many more than particles. For lists their rows are cut finer along
 * x, into as many parts as the border is wide: the finer, the less a list has to look at beyond its sphere, and of a row
 * it only costs more beginnings of cells. */
static void choose_cells(const md_model *model, int64_t n, double width, gpu_choice *c)
{
  const md_box *box = &model->box;
  for (double wider = 1.0;; wider *= 1.25) {
    double cells = 1.0;
    for (int d = 0; d < 3; ++d) {
      c->count[d] = 1;
      if (d < box->dim && width > 0.0) {
        const double most = std::floor(box->length[d] * c->border[d] / (width * wider * (1.0 + 1e-6)));
        c->count[d] = (int)std::min(std::max(most, 1.0), 1e9);
      }
      cells *= d < box->dim ? c->count[d] + 2.0 * c->border[d] : 1.0;
    }
    c->cells = (int64_t)std::min(cells, 9e18);
    if (cells <= std::min(CELLS_PER_PARTICLE * (double)n + 4096.0, 2147483000.0)) return;
  }
}

/* How far particles may move between rebins, and how far ghosts must reach. With cells a particle looks around the cell
 * where it is, for partners in the cells where they were: one displacement. It may be outside a periodic face by that
 * much itself, unless its coordinate wraps on its own, and then sees ghosts that were yet farther off. */
static void choose_halo(const md_model *model, int64_t n, bool mixed, gpu_choice *c)
{
  const md_box *box = &model->box;
  const bool list = c->neighbours == MD_GPU_LIST;
  c->slack = list ? 0.5 * c->skin : INFINITY;
  for (int d = 0; d < box->dim && !list; ++d) {
    const double length = box->length[d], width = length / c->count[d];
    /* On an axis with one cell and no images all are neighbours. */
    if (c->count[d] > 1 || box->periodic[d])
      c->slack = std::min(c->slack, width * (1.0 - 1e-6) - model->cutoff);
    if (box->periodic[d]) c->slack = std::min(c->slack, 0.5 * (length * (1.0 - 1e-6) - model->cutoff));
  }
  c->slack = std::max(c->slack, 0.0);
  double grown = 1.0;
  for (int d = 0; d < box->dim; ++d) {
    c->halo[d] = 0.0;
    if (!box->periodic[d] || model->cutoff == 0.0) continue;
    c->halo[d] = list ? c->reach : model->cutoff + (mixed ? 1.0 : 2.0) * c->slack;
    c->halo[d] = std::min(c->halo[d] * (list ? 1.0 : 1.0 + 1e-6), box->length[d]);
    grown *= 1.0 + 2.0 * c->halo[d] / box->length[d];
  }
  c->ghosts = grown > 1.0 ? (int64_t)((grown - 1.0) * 1.1 * (double)n) + 1024 : 0;
}

static void choose_with(const md_model *model, int64_t n, const md_engine_options *o,
                        md_gpu_neighbours neighbours, gpu_choice *c)
{
  const int dim = model->box.dim;
  c->neighbours = neighbours;
  c->border[0] = neighbours == MD_GPU_LIST ? 2 : 1;
  c->border[1] = c->border[2] = 1;
  c->tagged = dim == 3 || model->ntypes > 1 || neighbours == MD_GPU_LIST || neighbours == MD_GPU_ALL_PAIRS;
  c->fused = model->ntypes == 1 && !model->langevin.on && !o->gpu.unfused && !o->gpu.symmetric &&
             neighbours != MD_GPU_ALL_PAIRS;
  c->rows = 0;
  double width = c->reach;
  if (width == 0.0) width = std::pow(density(model, std::max<int64_t>(n, 1)), -1.0 / dim);
  choose_cells(model, n, std::max(width, o->cell_size), c);
  choose_halo(model, n, o->gpu.mixed, c);
  if (neighbours != MD_GPU_LIST) return;
  const double r = c->reach, sphere = dim == 3 ? 4.0 / 3.0 * 3.14159265 * r * r * r : 3.14159265 * r * r;
  const double mean = density(model, n) * sphere * (o->gpu.symmetric ? 0.5 : 1.0);
  c->rows = (int)((mean + 3.0 * std::sqrt(mean) + 8.0) / 4.0) + 1;
}

/* The options sorted, padded, unrolled and staged belong to one kernel (ladder.cu): is it wanted, and can it be? */
static md_status check_teaching(const md_model *model, const md_gpu_options *g, bool *teaching)
{
  *teaching = g->unsorted || g->unpadded || g->rolled || g->staged;
  if (!*teaching) return MD_OK;
  const char *obstacle = nullptr;
  if (g->mixed) obstacle = "precision mixed";
  if (g->symmetric) obstacle = "force symmetric";
  if (g->neighbours == MD_GPU_LIST) obstacle = "neighbours list";
  if (g->neighbours == MD_GPU_ALL_PAIRS) obstacle = "--gpu-naive";
  if (model->ntypes > 1) obstacle = "having several types";
  if (model->box.periodic[0] || model->box.periodic[1]) obstacle = "a periodic boundary";
  if (model->box.dim != 2) obstacle = "dimension 3";
  if (obstacle)
    return md_error(
        MD_USAGE,
        "package gpu: sorted, padded, unrolled and staged are teaching switches of the list-free 2D kernel, "
        "for one type without periodic axes, force full and precision double; %s excludes them here",
        obstacle);
  if (g->staged && g->unsorted)
    return md_error(MD_USAGE,
                    "package gpu: staged yes needs sorted yes: only particles in the order of cells have "
                    "their candidates in one piece");
  return MD_OK;
}

/* Ghosts reach at most one box; of 32-bit coordinates, where a particle and its image look alike, half a box. */
static void choose_skin(const md_model *model, bool mixed, double wanted, gpu_choice *c)
{
  c->skin = wanted;
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d])
      c->skin = std::min(c->skin, (mixed ? 0.499 : 1.0) * model->box.length[d] - model->cutoff);
  c->reach = model->cutoff + c->skin;
}

/* In mixed precision the cells of a particle and of its image must not both be neighbours of a third one. */
static bool images_are_apart(const md_model *model, const gpu_choice *c)
{
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d] && c->neighbours == MD_GPU_CELLS && c->count[d] < 3) return false;
  return c->skin > 0.0 || model->cutoff == 0.0;
}

md_status gpu_choose(const md_model *model, int64_t n, const md_engine_options *o, int64_t available,
                     gpu_choice *c)
{
  const md_gpu_options *g = &o->gpu;
  *c = gpu_choice{};
  if (g->mixed && g->symmetric)
    return md_error(MD_USAGE,
                    "package gpu: force symmetric is for precision double; sums of atomics in single "
                    "precision would depend on their order");
  if (g->mixed && g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(MD_USAGE, "--gpu-naive is for precision double: it is there to check it");
  if (g->mixed && model->float_drift)
    return md_error(MD_USAGE, "package gpu precision mixed has no use for fix nve/leapfrog drift float");
  for (int d = 0; d < model->box.dim; ++d)
    if (g->mixed && model->box.periodic[d] && (model->wall[d][0] || model->wall[d][1]))
      return md_error(MD_USAGE, "package gpu precision mixed: no fix wall/reflect along a periodic axis (%c)",
                      'x' + d);
  if (g->block > 256)
    return md_error(MD_USAGE, "package gpu block: at most 256 threads a block, not %d", g->block);
  bool teaching = false;
  MD_TRY(check_teaching(model, g, &teaching));
  /* As in every engine: the deck's skin beyond the cutoff only makes work. */
  const double skin = std::min(model->skin, model->cutoff);
  choose_skin(model, g->mixed, g->skin > 0.0 ? g->skin : skin, c);
  const double candidates = density(model, n) * std::pow(3.0 * c->reach, model->box.dim);
  md_gpu_neighbours wanted = g->neighbours;
  if (wanted == MD_GPU_AUTO) wanted = candidates > LIST_PAYS ? MD_GPU_LIST : MD_GPU_CELLS;
  if (model->cutoff == 0.0 && wanted == MD_GPU_LIST) wanted = MD_GPU_CELLS;
  if (teaching) wanted = MD_GPU_CELLS;
  if (wanted == MD_GPU_CELLS && g->skin == 0.0) choose_skin(model, g->mixed, CELLS_SKIN * skin, c);
  choose_with(model, n, o, wanted, c);
  if (teaching) c->fused = false;
  if (g->mixed && wanted == MD_GPU_CELLS && !images_are_apart(model, c))
    choose_with(model, n, o, MD_GPU_LIST, c);
  if (g->mixed && !images_are_apart(model, c))
    return md_error(MD_USAGE,
                    "package gpu precision mixed: the box is too small for its 32-bit coordinates: periodic "
                    "sides must exceed twice the cutoff %g and some skin; use precision double",
                    model->cutoff);
  wanted = c->neighbours;
  if (wanted != MD_GPU_LIST || available == 0) return MD_OK;
  md_engine_plan plan;
  gpu_memory(model, n, g, c, &plan);
  if (plan.bytes * (double)n <= 0.97 * (double)available || g->neighbours == MD_GPU_LIST) return MD_OK;
  gpu_choice without = *c;
  choose_with(model, n, o, MD_GPU_CELLS, &without);
  if (g->mixed && !images_are_apart(model, &without)) return MD_OK;
  *c = without;
  c->no_room = true;
  return MD_OK;
}

static void add_item(md_engine_plan *plan, const char *name, double bytes)
{
  if (bytes <= 0.0) return;
  plan->item[plan->nitem].name = name;
  plan->item[plan->nitem++].bytes = bytes;
  plan->bytes += bytes;
}

void gpu_memory(const md_model *model, int64_t n, const md_gpu_options *g, const gpu_choice *c,
                md_engine_plan *plan)
{
  const int dim = model->box.dim;
  const double per = 1.0 / (double)std::max<int64_t>(n, 1), ghosts = (double)c->ghosts * per;
  const double real = g->mixed ? 4.0 : 8.0, record = (c->tagged ? 4.0 : 2.0) * real;
  *plan = md_engine_plan{};
  add_item(plan, "positions, twice", 2.0 * record * (1.0 + ghosts));
  add_item(plan, "velocities, twice", 2.0 * dim * real);
  add_item(plan, "origins, twice", 8.0);
  if (g->sort == MD_GPU_SORT_RADIX) add_item(plan, "keys of the radix sort", 16.0);
  if (g->staged) add_item(plan, "cell of each particle", 4.0);
  if (c->neighbours != MD_GPU_ALL_PAIRS)
    add_item(plan, "first particle of each cell", 4.0 * (double)c->cells * per * (c->ghosts > 0 ? 2.0 : 1.0));
  add_item(plan, "ghosts' owners and shifts", 8.0 * ghosts);
  add_item(plan, "neighbour lists", 16.0 * c->rows);
  if (model->langevin.on) add_item(plan, "ids for the thermostat", 8.0);
  snprintf(plan->method, sizeof plan->method, "%s%s",
           c->neighbours == MD_GPU_LIST    ? "neighbour lists"
           : c->neighbours == MD_GPU_CELLS ? "cells, no lists"
                                           : "all pairs",
           c->no_room ? ", as memory is too short for lists" : "");
}
