/* Decides how neighbours are found, and counts the memory that this takes; see configuration.h.
 *
 *   1. Count the candidates: the particles expected in 3^dim cells that are as wide as the reach.
 *   2. If there are few, cells of that width are enough. If there are many (dense liquids), a list pays. It is
 *      built from cells that are cut finer along x.
 *   3. If memory is too short for lists, take cells after all.
 *
 * Trade-off: lists save candidates in every step, and cost memory and time at a rebin. The number of candidates
 * from which on a list pays is not sharp; see docs/history.md.
 */
#include "gpu/engine/configuration.h"
#include "gpu/ranks/bond_words.h"
#include "gpu/runtime/reciprocal.h"

#include <algorithm>
#include <cmath>
#include <stdio.h>

/* Number of candidates in the stencil above which a list is faster than cells. */
static const double LIST_PAYS = 40.0;
/* Number of candidates, counted as for a list in 3D, above which cells without a list use the warp search. */
static const double DENSE_FROM = 80.0;
/* Skins of cells, in skins of the deck, which is made for lists. Cells pay with a wider skin, because it costs
 * candidates and no neighbours. But in a dense system candidates cost more than rebins. */
static const double CELLS_SKIN = 1.5, DENSE_SKIN = 0.5;
/* Most cells per particle: a rebin then costs little more than reading and writing every particle. */
static const double CELLS_PER_PARTICLE = 2.0;

/* Extra of lists, in skins. Lists last a fifth longer by it, and cells must be wider. */
static const double LIST_EXTRA = 0.2;
/* How far beyond the slack a particle may go while the list check looks at its pairs, in skins. With PAIRS_FROM
 * particles a rank or more, this is worth a launch a step. */
static const double LIST_BEYOND = 0.25;
static const int64_t PAIRS_FROM = 1 << 18;
/* Number of cells along x in the width of a cell, for lists. */
static const int LIST_PARTS = 4;
/* If a domain has at least this number of cells along an axis, the number of cells in the box is rounded down to a
 * multiple of the domains. The cells become only slightly wider. */
static const int DIVIDED_FROM = 16;
/* Most buffer rows, and rows of a domain for each buffer row: the rows near a cut should be a small part of a
 * domain. */
static const int MOST_BUFFER_ROWS = 9, ROWS_PER_BUFFER_ROW = 24;
/* Slabs with at least this number of rows are preferred to domains of less surface. A neighbour gets a twentieth
 * of the slab's particles, and networks of 400 Gb/s a GPU bring these while the others move. */
static_assert(GPU_SLAB_ROWS == 2 * MOST_BUFFER_ROWS * ROWS_PER_BUFFER_ROW, "thickness of slabs");
/* Number of particles from which on steps sort. With fewer on one rank the host would wait for the device. On
 * several ranks the limit is lower, because there the host waits at an ordinary rebin too. */
static const int64_t STEPS_SORT_FROM = 1 << 18, RANKS_SORT_FROM = 1 << 16;

/* Boxes that fixes change may shrink to BOX_LEAST of their sides and grow to BOX_MOST of them, until the engine is made
 * anew (gpu/engine/remade.cuh). So cells are wider, and of the slack of lists LIST_KEPT is for the way of particles:
 * the rest is for changes of the box between two rebins. */
static const double BOX_LEAST = 0.98, BOX_MOST = 1.04, LIST_KEPT = 0.97;

/* How many sides of a small box the cutoff may reach, and ghosts. Shift codes have room for 15 shifts along an axis.
 * Images along z of a tilted box are shifted along x and y too. */
static const double CUTOFF_SIDES = 5.0, MOST_SIDES = 6.0;

void gpu_box_range(const md_model *model, double lo[3], double hi[3], double least[3], double most[3])
{
  const md_box now = model->box, next = md_model_shown_box(model);
  for (int d = 0; d < 3; ++d) {
    const bool changes = now.changes[d];
    const double shorter = std::min(now.length[d], next.length[d]),
                 longer = std::max(now.length[d], next.length[d]);
    const double beyond = changes ? (BOX_MOST - 1.0) * longer : 0.0;
    least[d] = changes ? BOX_LEAST * shorter : shorter;
    most[d] = longer + beyond;
    lo[d] = std::min(now.lo[d], next.lo[d]) - beyond;
    hi[d] = std::max(now.hi[d], next.hi[d]) + beyond;
  }
}

/* The least length of an axis while the engine lives. */
static double shortest(const md_model *model, int d)
{
  double lo[3], hi[3], least[3], most[3];
  gpu_box_range(model, lo, hi, least, most);
  return least[d];
}

/* May a periodic side be shorter than two cutoffs while the engine lives? */
static bool is_small(const md_model *model)
{
  bool small = false;
  for (int d = 0; d < model->box.dim; ++d)
    small = small || (model->box.periodic[d] && shortest(model, d) < 2.0 * model->cutoff);
  return small;
}

double gpu_sides_most(const md_engine_options *o, int ranks)
{
  const md_gpu_options *g = &o->gpu;
  const bool lists = g->neighbours == MD_GPU_AUTO || g->neighbours == MD_GPU_LIST;
  return ranks > 1 || g->mixed || !lists ? 0.5 : CUTOFF_SIDES;
}

double gpu_cell_width(const gpu_configuration *c, int axis, double length)
{
  return std::max(length / c->count[axis], c->least_width / c->border[axis]);
}

static double density(const md_model *model, int64_t n) { return (double)n / md_box_volume(&model->box); }

/* Chooses cells at least `width` wide: as many as fit, but at most CELLS_PER_PARTICLE for each particle. For
 * lists, the rows of cells are cut finer along x, into as many parts as the border has cells. The finer the cells
 * are, the fewer particles outside its sphere does a list look at. The only cost is that a row has more beginnings
 * of cells. */
static void choose_cells(const md_model *model, int64_t n, int ranks, double width, gpu_configuration *c)
{
  const md_box *box = &model->box;
  for (double wider = 1.0;; wider *= 1.25) {
    double cells = 1.0;
    for (int d = 0; d < 3; ++d) {
      c->count[d] = 1;
      if (d < box->dim && width > 0.0) {
        const double most = std::floor(shortest(model, d) * c->border[d] / (width * wider * (1.0 + 1e-6)));
        c->count[d] = (int)std::min(std::max(most, 1.0), 1e9);
      }
      cells *= d < box->dim ? c->count[d] + 2.0 * c->border[d] : 1.0;
    }
    c->cells = (int64_t)std::min(cells, 9e18);
    if (cells <= std::min(CELLS_PER_PARTICLE * (double)n + 4096.0, GPU_CELLS_MOST * ranks)) return;
  }
}

void gpu_divide_cells(const md_model *model, const int domains[3], gpu_configuration *c)
{
  double cells = 1.0;
  for (int d = 0; d < model->box.dim; ++d) {
    if (c->count[d] >= DIVIDED_FROM * domains[d]) c->count[d] -= c->count[d] % domains[d];
    cells *= c->count[d] + 2.0 * c->border[d];
  }
  c->cells = (int64_t)cells;
}

static bool steps_may_sort(const md_model *model, const md_engine_options *o, int64_t n, int ranks,
                           const gpu_configuration *c)
{
  /* Steps that sort do not wrap the particles of a tilted box. */
  if (model->box.triclinic) return false;
  const bool many = n >= (ranks > 1 ? RANKS_SORT_FROM * ranks : STEPS_SORT_FROM);
  return c->fused && !c->tagged && o->gpu.rebin == 0 &&
         (o->gpu.sort == MD_GPU_SORT_STEP || (o->gpu.sort == MD_GPU_SORT_AUTO && many));
}

int gpu_buffer_rows(const gpu_configuration *c, int thinnest)
{
  const int rows = std::min(MOST_BUFFER_ROWS, thinnest / ROWS_PER_BUFFER_ROW);
  return c->step_sorts && rows > 1 ? rows : 0;
}

int gpu_rows_sent(int buffer_rows) { return 2 * buffer_rows + 2; }

double gpu_cut_share(int buffer_rows, int rows)
{
  return (1.0 + 1.0 / GPU_SPARE) * (gpu_rows_sent(buffer_rows) - buffer_rows) / rows;
}

double gpu_slab(const md_model *model, const gpu_configuration *c)
{
  return c->step_sorts && model->cutoff > 0.0 ? GPU_SLAB_ROWS * c->reach : 0.0;
}

void gpu_plan_ranks(const md_model *model, int64_t n, const md_engine_options *o, gpu_configuration *c)
{
  if (o->ranks <= 1) return;
  c->step_sorts =
      (c->ghosts == 0 || o->slab) && steps_may_sort(model, o, o->slab ? n * o->ranks : n, o->ranks, c);
  if (!o->slab) return;
  const int d = model->box.dim - 1;
  const int buffer_rows = gpu_buffer_rows(c, c->count[d]);
  c->step_sorts = buffer_rows > 0;
  if (buffer_rows == 0) return;
  const double share = gpu_cut_share(buffer_rows, c->count[d]);
  c->halo[d] = share * model->box.length[d];
  c->ghosts = (int64_t)(2.0 * share * (double)n);
}

/* With cells a particle looks around the cell where it is now, and finds partners in the cells where they were at
 * the rebin. So the halo is cutoff + slack, because partners have moved by up to the slack. The particle itself
 * may be outside a face by up to the slack, unless its coordinate wraps there by itself, and then it needs ghosts
 * from farther away: cutoff + 2 slack. */
static double halo_of_pairs(const md_model *model, const gpu_configuration *c, int d, bool wraps)
{
  if (model->cutoff == 0.0) return 0.0;
  if (c->neighbours == MD_GPU_LIST) return c->reach + 2.0 * c->extra;
  return std::min((model->cutoff + (wraps ? 1.0 : 2.0) * c->slack) * (1.0 + 1e-6), model->box.length[d]);
}

double gpu_halo(const md_model *model, const gpu_configuration *c, int d, bool wraps)
{
  return std::max(halo_of_pairs(model, c, d, wraps), c->bond_reach);
}

int gpu_halo_cells(const md_model *model, const gpu_configuration *c, int d)
{
  const double width = shortest(model, d) / c->count[d];
  return std::max((int)std::ceil(gpu_halo(model, c, d, false) / width * (1.0 - 1e-9)), 1);
}

/* Are domains so thin that the halo must be no wider than a cell, because otherwise the ranks would not fit? */
static bool thin(const md_model *model, int ranks, const gpu_configuration *c)
{
  const double each = std::ceil(std::pow((double)ranks, 1.0 / model->box.dim));
  for (int d = 0; d < model->box.dim && ranks > 1; ++d)
    if (c->count[d] < 10.0 * each) return true;
  return false;
}

/* Chooses the slack, the halo, and the expected number of ghosts. */
static void choose_halo(const md_model *model, int64_t n, int ranks, bool mixed, gpu_configuration *c)
{
  const md_box *box = &model->box;
  const bool list = c->neighbours == MD_GPU_LIST;
  const bool changes = md_box_is_changed(box);
  /* Without images the box bounds what a particle can move. It is a number in single precision too. */
  const double across = std::min(box->length[0] + box->length[1] + box->length[2], 1e30);
  c->slack = list ? (changes ? LIST_KEPT : 1.0) * 0.5 * c->skin : across;
  c->strain = changes && list ? (1.0 - LIST_KEPT) * c->skin / (c->reach + c->skin + 4.0 * c->extra) : 0.0;
  for (int d = 0; d < box->dim && !list; ++d) {
    const double length = shortest(model, d), width = length / c->count[d];
    /* On an axis with one cell and no images every particle is a candidate of every other. */
    if (c->count[d] > 1 || box->periodic[d])
      c->slack =
          std::min(c->slack, (width * (1.0 - 1e-6) - model->cutoff) * (thin(model, ranks, c) ? 0.5 : 1.0));
    if (box->periodic[d]) c->slack = std::min(c->slack, 0.5 * (length * (1.0 - 1e-6) - model->cutoff));
  }
  c->slack = std::max(c->slack, 0.0);
  double grown = 1.0;
  for (int d = 0; d < box->dim; ++d) {
    c->halo[d] = box->periodic[d] ? gpu_halo(model, c, d, mixed) : 0.0;
    grown *= 1.0 + 2.0 * c->halo[d] / box->length[d];
  }
  c->ghosts = grown > 1.0 ? (int64_t)((grown - 1.0) * 1.1 * (double)n) + 1024 : 0;
}

double gpu_packed_margin(const md_model *model)
{
  double longest = 0.0;
  double lo[3], hi[3], least[3], most[3];
  gpu_box_range(model, lo, hi, least, most);
  for (int d = 0; d < model->box.dim; ++d) longest = std::max(longest, most[d]);
  return std::floor(0.5 * longest / model->grids.x) * model->grids.x;
}

/* Can positions be packed? Two conditions hold besides those of the layout. First, 52 bits must hold the box and
 * its margins. Second, coordinates modulo 2^42 quanta must not bring a pair of a list into the cutoff by a wrong
 * image. A list holds pairs up to the reach; until the next rebin their distances change by up to a skin, and by
 * the extras for fast particles. All this must be less than 2^42 quanta less the cutoff. The same holds for a bond to
 * a ghost of another rank: at the rebin it is no longer than bond_reach. */
static bool can_pack(const md_model *model, const md_engine_options *o, const gpu_configuration *c)
{
  if (model->box.dim != 3 || o->gpu.mixed || c->neighbours != MD_GPU_LIST || md_model_subtypes(model) > 4 ||
      model->float_drift || model->wide || model->cutoff * model->cutoff >= RECIPROCAL_MOST)
    return false;
  const double quantum = model->grids.x, margin = gpu_packed_margin(model);
  double lo[3], hi[3], least[3], most[3];
  gpu_box_range(model, lo, hi, least, most);
  for (int d = 0; d < 3; ++d)
    if (hi[d] - lo[d] + 2.0 * margin > 0x1p52 * (1.0 - 0x1p-20) * quantum) return false;
  return std::max(model->cutoff + c->reach, 2.0 * c->bond_reach) + c->skin + 4.0 * c->extra +
             2.0 * LIST_BEYOND * c->skin <
         0.98 * (0x1p42 * quantum);
}

/* The longest reach that is possible. Ghosts reach at most one box, or several in small ones, and only as far as the
 * position grid has room.
 * With 32-bit coordinates they reach at most half a box, because there a particle and its image look alike. */
static double longest_reach(const md_model *model, bool mixed, const gpu_configuration *c)
{
  double longest = model->cutoff > 0.0 ? MD_REACH_CUTOFFS * model->cutoff : INFINITY;
  const double sides = mixed ? 0.499 : c->small ? MOST_SIDES : 1.0;
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d]) longest = std::min(longest, sides * shortest(model, d));
  return longest;
}

static void choose_skin(const md_model *model, bool mixed, double wanted, gpu_configuration *c)
{
  c->skin = std::min(wanted, longest_reach(model, mixed, c) - model->cutoff);
  c->reach = model->cutoff + c->skin;
}

static bool is_dense(const md_model *model, int64_t n)
{
  const double reach = model->cutoff + md_model_skin(model);
  return model->box.dim == 3 && 27.0 * density(model, n) * reach * reach * reach > DENSE_FROM;
}

/* Chooses the skin for cells, unless the user has chosen one. */
static void choose_skin_of_cells(const md_model *model, int64_t n, const md_gpu_options *g,
                                 md_gpu_neighbours neighbours, gpu_configuration *c)
{
  if (neighbours != MD_GPU_CELLS || g->skin > 0.0) return;
  choose_skin(model, g->mixed, (is_dense(model, n) ? DENSE_SKIN : CELLS_SKIN) * md_model_skin(model), c);
}

static void choose_extra(const md_model *model, bool mixed, gpu_configuration *c)
{
  c->extra = 0.0;
  if (c->neighbours != MD_GPU_LIST) return;
  c->extra = std::max(std::min(LIST_EXTRA * c->skin, 0.5 * (longest_reach(model, mixed, c) - c->reach)), 0.0);
}

/* Has a step no work besides pairs, kicks, drift and walls, for particles of one type and one mass? Such steps may be
 * fused. */
static bool is_plain(const md_model *model, const md_gpu_options *g, md_gpu_neighbours neighbours)
{
  return md_model_subtypes(model) == 1 && !md_pair_has_passes(&model->pair) &&
         !md_pair_is_dissipative(&model->pair) && model->bonds.ntypes == 0 && !(model->wide && !g->mixed) &&
         model->nmiddle == 0 && model->nforce_action == 0 && model->moving == MD_GROUP_ALL &&
         model->placed == 0 && !g->unfused && !g->symmetric && neighbours != MD_GPU_ALL_PAIRS;
}

/* The rows of a list: those of the mean number of neighbours, and three standard deviations more. */
static int rows_of_lists(const md_model *model, int64_t n, bool half, double reach)
{
  const double mean = density(model, n) * md_box_ball(&model->box, reach) * (half ? 0.5 : 1.0);
  return (int)std::min((mean + 3.0 * std::sqrt(mean) + 8.0) / 4.0, 1e9) + 1;
}

static void configure_with(const md_model *model, int64_t n, int ranks, const md_engine_options *o,
                           md_gpu_neighbours neighbours, gpu_configuration *c)
{
  const int dim = model->box.dim;
  c->neighbours = neighbours;
  c->border[0] = neighbours == MD_GPU_LIST ? LIST_PARTS : 1;
  c->border[1] = c->border[2] = 1;
  const bool wide = model->wide && !o->gpu.mixed;
  /* Migrants of the exact tagged layout have anchors and external forces. */
  const bool anchored = (model->anchored || model->pushed) && ranks > 1;
  const bool dissipates = md_pair_is_dissipative(&model->pair);
  c->tagged = dim == 3 || md_model_subtypes(model) > 1 || wide || anchored ||
              md_pair_has_passes(&model->pair) || dissipates || model->bonds.ntypes > 0 ||
              neighbours == MD_GPU_LIST || neighbours == MD_GPU_ALL_PAIRS;
  const bool changes = md_box_is_changed(&model->box);
  const bool plain = is_plain(model, &o->gpu, neighbours);
  /* Anchors out of a restart may have no fix. The fused kernel of cells in two dimensions has no tags. */
  c->fused = plain && !changes && !(dim == 2 && c->tagged && neighbours == MD_GPU_CELLS);
  c->rows = 0;
  choose_extra(model, o->gpu.mixed, c);
  c->packed = !anchored && !dissipates && can_pack(model, o, c);
  double width = c->reach + 2.0 * c->extra;
  if (width == 0.0) width = std::pow(density(model, std::max<int64_t>(n, 1)), -1.0 / dim);
  /* Domains end at edges of cells, and are at least a cell thick: cells that a deck wants wider are of one rank. */
  choose_cells(model, n, ranks, ranks > 1 ? width : std::max(width, o->cell_size), c);
  choose_halo(model, n, ranks, o->gpu.mixed, c);
  c->least_width = c->small ? width * (1.0 + 1e-6) : 0.0;
  const bool pairs = o->gpu.expiry == MD_GPU_EXPIRY_PAIRS ||
                     (o->gpu.expiry == MD_GPU_EXPIRY_AUTO && n / std::max(ranks, 1) >= PAIRS_FROM);
  /* The list check knows the cells of a box that has changed on one rank, if it is not tilted. */
  const bool checks = plain && (!changes || (ranks == 1 && !model->box.triclinic));
  c->beyond = checks && neighbours == MD_GPU_LIST && o->gpu.rebin == 0 && pairs && !c->small
                  ? LIST_BEYOND * c->skin
                  : 0.0;
  c->dense = neighbours == MD_GPU_CELLS && is_dense(model, n);
  /* With fewer cells, 32-bit coordinates of a particle are too near those of its images for a warp search. */
  for (int d = 0; d < dim; ++d)
    if (o->gpu.mixed && model->box.periodic[d] && c->count[d] < 4) c->dense = false;
  c->step_sorts = c->ghosts == 0 && steps_may_sort(model, o, n, ranks, c);
  if (neighbours == MD_GPU_LIST) c->rows = rows_of_lists(model, n, o->gpu.symmetric, c->reach);
}

/* Checks the options sorted, padded, unrolled and staged, which belong to one kernel (gpu/step/force_cells_2d.cu).
 * *teaching: one of them is set. MD_USAGE: the kernel cannot do this model or the other options. */
static md_status check_teaching(const md_model *model, int ranks, const md_gpu_options *g, bool *teaching)
{
  *teaching = g->unsorted || g->unpadded || g->rolled || g->staged;
  if (!*teaching) return MD_OK;
  const char *obstacle = nullptr;
  if (g->mixed) obstacle = "precision mixed";
  if (g->symmetric) obstacle = "force symmetric";
  if (g->neighbours == MD_GPU_LIST) obstacle = "neighbours list";
  if (g->neighbours == MD_GPU_ALL_PAIRS) obstacle = "--gpu-naive";
  if (md_model_subtypes(model) > 1) obstacle = "several types";
  if (md_pair_has_density(&model->pair)) obstacle = "a pair style with a density";
  if (md_pair_is_three_body(&model->pair)) obstacle = "a three-body pair style";
  if (md_pair_is_dissipative(&model->pair)) obstacle = "a pair style with friction";
  if (model->bonds.ntypes > 0) obstacle = "bonds";
  if (model->exclusions.molecules.n > 0) obstacle = "neigh_modify exclude molecule";
  if (model->box.periodic[0] || model->box.periodic[1]) obstacle = "a periodic boundary";
  if (model->box.dim != 2) obstacle = "dimension 3";
  if (model->box.triclinic) obstacle = "a tilted box";
  if (model->wide) obstacle = "momenta of two words (a short timestep, or masses far apart)";
  if ((model->anchored || model->pushed) && ranks > 1)
    obstacle = "fix spring/self or external on several ranks";
  if (md_pair_shares_kernels(model->pair.kind)) obstacle = md_pair_style_of(model->pair.kind)->name;
  if (obstacle)
    return md_error(MD_USAGE,
                    "package gpu: sorted, padded, unrolled and staged are teaching switches of the list-free "
                    "2D kernel, which takes one type, no periodic axes, force full and precision double; "
                    "they cannot be used with %s",
                    obstacle);
  if (g->staged && g->unsorted)
    return md_error(MD_USAGE,
                    "package gpu: staged yes needs sorted yes: only particles in the order of cells have "
                    "their candidates in one piece");
  return MD_OK;
}

/* MD_USAGE: single precision does not tell cells apart from a cutoff that is so much longer than the box. */
static md_status check_cutoff(const md_model *model)
{
  const double longest = std::max({model->box.length[0], model->box.length[1], model->box.length[2]});
  if (model->cutoff <= 0x1p30 * longest) return MD_OK;
  return md_error(
      MD_USAGE,
      "engine gpu: the cutoff %g is more than 10^9 times the longest side of the box, %g: use a shorter "
      "one, or --engine openmp",
      model->cutoff, longest);
}

/* Are images far enough from their particles for mixed precision? The cells of a particle and of its image must
 * not both be neighbours of a third cell. */
static bool images_are_apart(const md_model *model, const gpu_configuration *c)
{
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d] && c->neighbours == MD_GPU_CELLS && c->count[d] < 3) return false;
  return c->skin > 0.0 || model->cutoff == 0.0;
}

/* Are partners of bonds left out of the pair forces? */
static bool leaves_partners_out(const md_model *model)
{
  const bool *excluded = model->bonds.excluded;
  return model->bonds.ntypes > 0 && model->cutoff > 0.0 && (excluded[0] || excluded[1] || excluded[2]);
}

/* Do molecules exclude pairs that there are? */
static bool excludes_molecules(const md_model *model)
{
  return model->exclusions.molecules.n > 0 && model->cutoff > 0.0;
}

/* Must there be lists? Pairs are left out of them, and those of a small box have all images. */
static bool needs_lists(const md_model *model, const gpu_configuration *c)
{
  return leaves_partners_out(model) || excludes_molecules(model) || c->small;
}

/* Slots of particles that are left out, of each particle: as in a chain, where they must be guessed. */
static int slots_left_out(const md_model *model)
{
  const bool *excluded = model->bonds.excluded;
  return !leaves_partners_out(model) ? 0 : (excluded[1] || excluded[2] ? 3 : 1) * model->bonds.slots;
}

/* Of bonds, for each particle (gpu/bonds/bonds.cuh). */
static double bytes_of_bonds(const md_model *model, int ranks)
{
  const int slots = model->bonds.slots, excluded = slots_left_out(model),
            special = excluded > slots ? excluded : 0;
  return 6.0 * slots + (ranks > 1 ? 8.0 * bond_words(1, slots, special) : 4.0 + 6.0 * slots + 4.0 * excluded);
}

/* MD_USAGE for what does not go together with bonds here. */
static md_status check_bonds(const md_model *model, const md_gpu_options *g)
{
  if (model->bonds.ntypes == 0) return MD_OK;
  if (g->mixed) return md_error(MD_USAGE, "package gpu: bonds need precision double");
  if (g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(MD_USAGE, "--gpu-naive has no bonds; leave --gpu-naive out");
  if (g->neighbours == MD_GPU_CELLS && leaves_partners_out(model))
    return md_error(MD_USAGE, "package gpu neighbours cells: only neighbour lists can leave out pairs of "
                              "bonded particles; use neighbours list, or special_bonds lj 1 1 1");
  return MD_OK;
}

/* MD_USAGE for what does not go together with molecules that exclude pairs. */
static md_status check_molecules(const md_model *model, const md_gpu_options *g)
{
  if (!excludes_molecules(model)) return MD_OK;
  if (g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(
        MD_USAGE,
        "--gpu-naive knows no molecules, which neigh_modify exclude molecule needs; leave --gpu-naive out");
  if (g->neighbours == MD_GPU_CELLS)
    return md_error(MD_USAGE, "package gpu neighbours cells: only neighbour lists can leave out the pairs of "
                              "neigh_modify exclude molecule; use neighbours list or auto");
  return MD_OK;
}

/* MD_USAGE for what does not go together with mixed precision. */
static md_status check_mixed(const md_model *model, int ranks, const md_gpu_options *g)
{
  if (!g->mixed) return MD_OK;
  if (g->symmetric)
    return md_error(MD_USAGE,
                    "package gpu: force symmetric is for precision double; sums of atomics in single "
                    "precision would depend on their order");
  if (g->neighbours == MD_GPU_ALL_PAIRS)
    return md_error(MD_USAGE, "--gpu-naive needs precision double, which it checks");
  if (model->box.triclinic)
    return md_error(
        MD_USAGE,
        "package gpu precision mixed: its 32-bit coordinates wrap by themselves along each axis, and "
        "in a tilted box an image is shifted along several; use precision double");
  if (model->float_drift)
    return md_error(
        MD_USAGE,
        "package gpu precision mixed cannot be used with fix nve/leapfrog drift float; use precision double");
  if (model->anchored && ranks > 1)
    return md_error(MD_USAGE, "fix spring/self on several GPUs needs package gpu precision double");
  if (model->pushed && ranks > 1)
    return md_error(MD_USAGE, "fix external on several GPUs needs package gpu precision double");
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.changes[d])
      return md_error(MD_USAGE,
                      "package gpu precision mixed: its coordinates are fractions of a box that must stay, "
                      "and a fix changes the box along %c; use precision double",
                      'x' + d);
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d] && (model->wall[d][0] || model->wall[d][1]))
      return md_error(MD_USAGE,
                      "package gpu precision mixed: fix wall/reflect cannot be along a periodic axis (%c); "
                      "use precision double",
                      'x' + d);
  return MD_OK;
}

/* Takes cells in place of lists that do not fit into memory, if that can be chosen. available: bytes; 0: unknown. */
static void leave_lists_out(const md_model *model, int64_t n, int ranks, const md_engine_options *o,
                            int64_t available, gpu_configuration *c)
{
  const md_gpu_options *g = &o->gpu;
  const bool chosen = c->neighbours == MD_GPU_LIST && g->neighbours != MD_GPU_LIST && !needs_lists(model, c);
  if (!chosen || available == 0) return;
  md_engine_plan plan;
  gpu_memory(model, n, ranks, g, c, &plan);
  if (plan.bytes * (double)n <= 0.97 * (double)available * ranks) return;
  gpu_configuration without = *c;
  choose_skin_of_cells(model, n, g, MD_GPU_CELLS, &without);
  configure_with(model, n, ranks, o, MD_GPU_CELLS, &without);
  if (g->mixed && !images_are_apart(model, &without)) return;
  *c = without;
  c->no_room = true;
}

md_status gpu_configure(const md_model *model, int64_t n, int ranks, const md_engine_options *o,
                        int64_t available, gpu_configuration *c)
{
  const md_gpu_options *g = &o->gpu;
  *c = gpu_configuration{};
  c->small = std::max(ranks, o->ranks) <= 1 && !g->mixed && is_small(model);
  MD_TRY(check_cutoff(model));
  MD_TRY(check_mixed(model, ranks, g));
  MD_TRY(check_bonds(model, g));
  MD_TRY(check_molecules(model, g));
  if (std::max(ranks, o->ranks) > 1) c->bond_reach = model->bonds.reach * (1.0 + 1e-6);
  if (md_pair_needs_more(&model->pair) && (g->mixed || g->symmetric))
    return md_error(MD_USAGE, "package gpu: pair style %s needs precision double and force full",
                    md_pair_style_of(model->pair.kind)->name);
  if (g->block > 256)
    return md_error(MD_USAGE, "package gpu block: at most 256 threads a block, not %d", g->block);
  bool teaching = false;
  MD_TRY(check_teaching(model, ranks, g, &teaching));
  const double skin = md_model_skin(model);
  choose_skin(model, g->mixed, g->skin > 0.0 ? g->skin : skin, c);
  const double candidates = density(model, n) * std::pow(3.0 * c->reach, model->box.dim);
  md_gpu_neighbours wanted = g->neighbours;
  if (wanted == MD_GPU_AUTO)
    wanted = candidates > LIST_PAYS || needs_lists(model, c) ? MD_GPU_LIST : MD_GPU_CELLS;
  if (model->cutoff == 0.0 && wanted == MD_GPU_LIST) wanted = MD_GPU_CELLS;
  if (teaching) wanted = MD_GPU_CELLS;
  choose_skin_of_cells(model, n, g, wanted, c);
  configure_with(model, n, ranks, o, wanted, c);
  if (teaching) c->fused = c->step_sorts = false;
  if (g->mixed && wanted == MD_GPU_CELLS && !images_are_apart(model, c))
    configure_with(model, n, ranks, o, MD_GPU_LIST, c);
  if (g->mixed && !images_are_apart(model, c))
    return md_error(MD_USAGE,
                    "package gpu precision mixed: the box is too small for its 32-bit coordinates: periodic "
                    "sides must exceed twice the cutoff %g and some skin; use precision double",
                    model->cutoff);
  leave_lists_out(model, n, ranks, o, available, c);
  return MD_OK;
}

double gpu_host_bytes(const md_model *model, int ranks)
{
  if (model->bonds.ntypes == 0) return 0.0;
  return ranks > 1 ? 8.0 : 6.0 * model->bonds.slots + 4.0 * slots_left_out(model);
}

void gpu_memory(const md_model *model, int64_t n, int ranks, const md_gpu_options *g,
                const gpu_configuration *c, md_engine_plan *plan)
{
  const int dim = model->box.dim;
  const double per = 1.0 / (double)std::max<int64_t>(n, 1), ghosts = (double)c->ghosts * per;
  const double real = g->mixed ? 4.0 : 8.0, record = c->packed ? 16.0 : (c->tagged ? 4.0 : 2.0) * real;
  *plan = md_engine_plan{};
  plan->ghosts = (double)c->ghosts;
  plan->halo = std::max({c->halo[0], c->halo[1], c->halo[2]});
  plan->ghost_bytes = (int)record;
  plan->direct = !model->box.triclinic && !c->step_sorts;
  md_plan_add(plan, c->packed ? "packed positions, twice" : "positions, twice",
              2.0 * record * (1.0 + ghosts));
  if (c->packed) md_plan_add(plan, "pages and paths, twice", 16.0);
  if (!c->tagged) md_plan_add(plan, "coarse positions, twice", 8.0);
  md_plan_add(plan, "velocities, twice", 2.0 * dim * real);
  if (model->wide && !g->mixed) md_plan_add(plan, "second words of momenta", 8.0 * dim);
  md_plan_add(plan, "origins, twice", 8.0);
  if (g->sort == MD_GPU_SORT_RADIX) md_plan_add(plan, "keys of the radix sort", 16.0);
  if (g->staged) md_plan_add(plan, "cell of each particle", 4.0);
  if (c->neighbours != MD_GPU_ALL_PAIRS)
    md_plan_add(plan, "first particle of each cell",
                4.0 * (double)c->cells * per * (c->ghosts > 0 || c->step_sorts ? 2.0 : 1.0));
  if (md_pair_has_density(&model->pair)) md_plan_add(plan, "slopes of embeddings", 8.0 * (1.0 + ghosts));
  if (md_pair_is_three_body(&model->pair))
    md_plan_add(plan, "sums over angles", 8.0 * MD_THREE_SUMS * (1.0 + ghosts));
  if (md_pair_is_dissipative(&model->pair))
    md_plan_add(plan, "velocities of pair forces", 32.0 * (1.0 + ghosts) + 8.0 * dim);
  if (model->bonds.ntypes > 0) md_plan_add(plan, "bonds", bytes_of_bonds(model, ranks));
  /* On several ranks molecules are in bond words. */
  if (excludes_molecules(model) && (ranks == 1 || model->bonds.ntypes == 0))
    md_plan_add(plan, "molecules", ranks > 1 ? 8.0 : 4.0);
  md_plan_add(plan, "ghosts' owners and shifts", 8.0 * ghosts);
  md_plan_add(plan, "neighbour lists", 16.0 * c->rows);
  if (needs_ids(model) || ranks > 1) md_plan_add(plan, ranks > 1 ? "ids" : "ids for fixes and computes", 8.0);
  if (model->groups.n > 1) md_plan_add(plan, "groups", 4.0);
  if (model->anchored) md_plan_add(plan, "anchors", 8.0 * dim);
  if (model->pushed) md_plan_add(plan, "external forces", 8.0 * dim);
  if (ranks > 1) {
    /* Ghosts as received at a rebin and in steps, their order, lists of what is sent, and what is sent. */
    const double whole = c->packed ? 32.0 : record;
    md_plan_add(plan, "ghosts in messages", ghosts * (whole + record + 8.0 + 4.0 + whole + 4.0 + 8.0));
    md_plan_add(plan, "room for more particles", plan->bytes / GPU_ROOM);
  }
  snprintf(plan->method, sizeof plan->method, "%s%s",
           c->neighbours == MD_GPU_LIST    ? "neighbour lists"
           : c->neighbours == MD_GPU_CELLS ? "cells, no lists"
                                           : "all pairs",
           c->no_room ? ", as memory is too short for lists" : "");
}
