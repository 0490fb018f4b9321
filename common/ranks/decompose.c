/* Grids and cuts; see decompose.h. */
#include "common/ranks/decompose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void md_decomposition_init(md_decomposition *d, int ranks, int rank)
{
  *d = (md_decomposition){.ranks = ranks, .rank = rank};
}

void md_decomposition_free(md_decomposition *d)
{
  for (int a = 0; a < 3; ++a) {
    free(d->fraction[a]);
    free(d->cut[a]);
    d->fraction[a] = d->cut[a] = NULL;
  }
  free(d->bisector);
  d->bisector = NULL;
}

/* Area of the faces between domains, divided by the volume of the box: a measure of the messages. A face between a
 * rank and itself needs no message and does not count. Faces across an earlier axis count a twentieth more for each
 * axis after it, because the particles at these faces lie scattered in memory. */
static double surface(const md_box *box, const int count[3])
{
  double area = 0.0;
  for (int d = 0; d < 3; ++d)
    if (count[d] > 1)
      area +=
          (1.0 + 0.05 * (box->dim - 1 - d)) * (box->periodic[d] ? count[d] : count[d] - 1) / box->length[d];
  return area;
}

/* Engines ask for a halo that is wider by 10^-6 than the width that decompose was told, and cuts are rounded. If a
 * domain were thinner than the halo, even by little, ghosts from beyond the neighbours would be missing. */
#define LEAST_THICKNESS (1.0 + 2e-6)

/* Whether the domains are thick enough. They must be thicker than LEAST_THICKNESS asks, so that there is room to
 * move cuts. */
static bool thick_enough(const md_box *box, const int count[3], double width)
{
  for (int d = 0; d < 3; ++d)
    if (count[d] > 1 && !(box->length[d] > width * (1.0 + 4e-6) * count[d])) return false;
  return true;
}

/* May an axis be divided? An image across a face of a tilted box is shifted along the axes before. So along these all
 * of the box must be one domain, for a rank to know which others are its neighbours. */
static bool may_divide(const md_box *box, int axis)
{
  const bool slanted = box->tilt[MD_YZ] != 0.0 || box->shears[MD_YZ];
  return axis < box->dim && !(box->triclinic && (axis == 0 || (axis == 1 && slanted)));
}

static bool tilt_allows(const md_box *box, const int count[3])
{
  for (int d = 0; d < 3; ++d)
    if (count[d] > 1 && !may_divide(box, d)) return false;
  return true;
}

static bool is_wanted(const int wanted[3], const int count[3])
{
  for (int d = 0; d < 3; ++d)
    if (wanted[d] != 0 && wanted[d] != count[d]) return false;
  return true;
}

bool md_decomposition_choose(const md_box *box, int ranks, const int wanted[3], double width, double slab,
                             int count[3])
{
  double least = -1.0;
  int slabs[3] = {1, 1, 1};
  slabs[box->dim - 1] = ranks;
  if (slab > 0.0 && is_wanted(wanted, slabs) && thick_enough(box, slabs, md_max(width, slab))) {
    memcpy(count, slabs, sizeof slabs);
    return true;
  }
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const int tried[3] = {x, y, ranks / x / y};
      if (box->dim == 2 && tried[2] > 1) continue;
      if (!tilt_allows(box, tried) || !thick_enough(box, tried, width) || !is_wanted(wanted, tried)) continue;
      const double area = surface(box, tried);
      if (least >= 0.0 && area >= least * (1.0 - 1e-9)) continue;
      least = area;
      memcpy(count, tried, sizeof tried);
    }
  }
  return least >= 0.0;
}

md_status md_halo_check(const md_box *box, double width)
{
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && md_box_layers(box, d, width) > MD_LAYERS_MOST)
      return md_error(
          MD_USAGE, "the periodic box is %g long along %c, too small for particles within %g of one another",
          box->length[d], "xyz"[d], width);
  return MD_OK;
}

static md_status make_cuts(md_decomposition *d)
{
  for (int a = 0; a < 3; ++a) {
    free(d->fraction[a]);
    free(d->cut[a]);
    d->fraction[a] = d->cut[a] = NULL;
    MD_TRY(md_array_new(&d->fraction[a], d->count[a] + 1, sizeof(double), "cuts between domains"));
    MD_TRY(md_array_new(&d->cut[a], d->count[a] + 1, sizeof(double), "cuts between domains"));
    for (int k = 0; k <= d->count[a]; ++k) d->fraction[a][k] = (double)k / d->count[a];
  }
  d->index[0] = d->rank % d->count[0];
  d->index[1] = d->rank / d->count[0] % d->count[1];
  d->index[2] = d->rank / d->count[0] / d->count[1];
  return MD_OK;
}

static void locate_cuts(md_decomposition *d, const md_box *box)
{
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < d->count[a]; ++k) d->cut[a][k] = fma(d->fraction[a][k], box->length[a], box->lo[a]);
    d->cut[a][d->count[a]] = box->hi[a];
  }
  for (int k = 1; k < d->ranks && d->bisector; ++k) {
    md_bisector *b = &d->bisector[k];
    b->cut = fma(b->fraction, box->length[b->axis], box->lo[b->axis]);
  }
}

md_status md_decomposition_tile(md_decomposition *d, bool bricks)
{
  if (bricks && !d->bisector)
    return md_array_new_zero(&d->bisector, d->ranks, sizeof *d->bisector, "planes between domains");
  if (!bricks) {
    free(d->bisector);
    d->bisector = NULL;
  }
  return MD_OK;
}

static void domain_of_grid(const md_decomposition *d, int rank, double lo[3], double hi[3])
{
  const int index[3] = {rank % d->count[0], rank / d->count[0] % d->count[1],
                        rank / d->count[0] / d->count[1]};
  for (int a = 0; a < 3; ++a) {
    lo[a] = d->cut[a][index[a]];
    hi[a] = d->cut[a][index[a] + 1];
  }
}

void md_decomposition_domain(const md_decomposition *d, const md_box *box, int rank, double lo[3],
                             double hi[3])
{
  if (!d->bisector) {
    domain_of_grid(d, rank, lo, hi);
    return;
  }
  for (int a = 0; a < 3; ++a) lo[a] = box->lo[a], hi[a] = box->hi[a];
  for (int first = 0, n = d->ranks; n > 1;) {
    const int lower = n / 2;
    const md_bisector *b = &d->bisector[first + lower];
    if (rank < first + lower) {
      hi[b->axis] = b->cut;
      n = lower;
    } else {
      lo[b->axis] = b->cut;
      first += lower;
      n -= lower;
    }
  }
}

/* Moves cuts, as little as possible, so that no domain is thinner than the halo: first pushes cuts up from below,
 * then down from above. There is room for this in a grid that was chosen for this halo. */
static void thicken(md_decomposition *d, const md_box *box, int axis)
{
  const int count = d->count[axis];
  double *fraction = d->fraction[axis];
  const double least = d->width / box->length[axis] * LEAST_THICKNESS;
  for (int k = 1; k < count; ++k) fraction[k] = md_max(fraction[k], fraction[k - 1] + least);
  for (int k = count - 1; k > 0; --k) fraction[k] = md_min(fraction[k], fraction[k + 1] - least);
}

md_status md_decomposition_fit(md_decomposition *d, const md_box *box)
{
  if (!d->cut[0]) {
    if (!md_decomposition_choose(box, d->ranks, d->wanted, 0.0, d->slab, d->count))
      return md_error(MD_USAGE, "%d ranks cannot be arranged as `processors` asks; write processors * * *",
                      d->ranks);
    MD_TRY(make_cuts(d));
  }
  /* A box that a fix changes may have shrunk since the cuts were made, and then perhaps needs another grid. */
  int count[3];
  if (!d->bisector && !thick_enough(box, d->count, d->width) &&
      md_decomposition_choose(box, d->ranks, d->wanted, d->width, 0.0, count)) {
    memcpy(d->count, count, sizeof count);
    MD_TRY(make_cuts(d));
  }
  if (!d->bisector && thick_enough(box, d->count, d->width))
    for (int a = 0; a < box->dim; ++a) thicken(d, box, a);
  locate_cuts(d, box);
  return MD_OK;
}

static const int free_axes[3] = {0, 0, 0};

/* An upper limit of the number of domains that are thick enough. */
static int most_domains(const md_box *box, double width)
{
  double most = 1.0;
  for (int a = 0; a < box->dim; ++a)
    if (may_divide(box, a)) most *= md_max(floor(box->length[a] / width), 1.0);
  return (int)md_min(most, 0x1p30);
}

void md_decomposition_near(const md_box *box, int ranks, double width, char text[MD_NEAR_TEXT])
{
  int count[3], most = most_domains(box, width);
  int below = ranks - 1 < most ? ranks - 1 : most, above = ranks + 1;
  while (below > 1 && !md_decomposition_choose(box, below, free_axes, width, 0.0, count)) --below;
  while (above <= most && !md_decomposition_choose(box, above, free_axes, width, 0.0, count)) ++above;
  if (above <= most)
    snprintf(text, MD_NEAR_TEXT, "%d and %d ranks fit", below, above);
  else
    snprintf(text, MD_NEAR_TEXT, "at most %d rank%s", below, below == 1 ? " fits" : "s fit");
}

static md_status too_many(const md_decomposition *d, const md_box *box, double width)
{
  int count[3] = {0, 0, 0};
  char near[MD_NEAR_TEXT];
  for (int a = 0; a < 3; ++a)
    if (d->wanted[a] > 1 && !may_divide(box, a))
      return md_error(
          MD_USAGE,
          "processors %d %d %d (0: free): the box may be tilted along %c, and ranks cannot divide it "
          "along this axis; write processors * * *",
          d->wanted[0], d->wanted[1], d->wanted[2], "xyz"[a]);
  const bool asked = d->wanted[0] || d->wanted[1] || d->wanted[2];
  if (asked && md_decomposition_choose(box, d->ranks, free_axes, width, 0.0, count))
    return md_error(
        MD_USAGE,
        "processors %d %d %d (0: free) makes domains thinner than the halo of %.4g; processors %d %d "
        "%d fits",
        d->wanted[0], d->wanted[1], d->wanted[2], width, count[0], count[1], count[2]);
  md_decomposition_near(box, d->ranks, width, near);
  return md_error(
      MD_USAGE,
      "the domains of %d ranks would be thinner than the halo of %.4g (cutoff and skin) in a box of "
      "%.4g x %.4g x %.4g: %s; use such a number of ranks with more threads each, or a larger box",
      d->ranks, width, box->length[0], box->length[1], box->dim == 3 ? box->length[2] : 0.0, near);
}

/* Whether cuts have been moved, in a grid that is not one of slabs. */
static bool is_shifted(const md_decomposition *d, int dim)
{
  if (!d->cut[0] || d->count[dim - 1] == d->ranks) return false;
  for (int a = 0; a < dim; ++a)
    for (int k = 1; k < d->count[a]; ++k)
      if (d->fraction[a][k] != (double)k / d->count[a]) return true;
  return false;
}

md_status md_decomposition_divide(md_decomposition *d, const md_box *box, double width)
{
  int count[3] = {1, 1, 1};
  const double slab = is_shifted(d, box->dim) ? 0.0 : d->slab;
  d->width = width;
  if (d->bisector && box->triclinic)
    return md_error(MD_USAGE,
                    "a tilted box has no domains by balance rcb; take balance shift before the run");
  if (!md_decomposition_choose(box, d->ranks, d->wanted, width, slab, count)) {
    if (!d->bisector) return too_many(d, box, width);
    locate_cuts(d, box);
    return MD_OK;
  }
  if (!d->cut[0] || memcmp(count, d->count, sizeof count) != 0) {
    memcpy(d->count, count, sizeof count);
    MD_TRY(make_cuts(d));
  }
  return md_decomposition_fit(d, box);
}

int md_decomposition_rank(const md_decomposition *d, const int index[3])
{
  int at[3];
  for (int a = 0; a < 3; ++a) at[a] = (index[a] % d->count[a] + d->count[a]) % d->count[a];
  return at[0] + d->count[0] * (at[1] + d->count[1] * at[2]);
}

/* The domain along one axis: the last cut that is not above x. The first guess is right if cuts are even. */
static int domain_along(const double *cut, int count, double x)
{
  const double share = (x - cut[0]) / (cut[count] - cut[0]) * count;
  int k = share > 0.0 ? (share < count ? (int)share : count - 1) : 0;
  while (k > 0 && x < cut[k]) --k;
  while (k < count - 1 && x >= cut[k + 1]) ++k;
  return k;
}

static int owner_of_bricks(const md_decomposition *d, const double x[3])
{
  int first = 0;
  for (int n = d->ranks; n > 1;) {
    const int lower = n / 2;
    const md_bisector *b = &d->bisector[first + lower];
    const bool above = x[b->axis] >= b->cut;
    if (above) first += lower;
    n = above ? n - lower : lower;
  }
  return first;
}

int md_decomposition_owner(const md_decomposition *d, int dim, const double x[3])
{
  int index[3] = {0, 0, 0};
  if (d->bisector) return owner_of_bricks(d, x);
  for (int a = 0; a < dim; ++a) index[a] = domain_along(d->cut[a], d->count[a], x[a]);
  return index[0] + d->count[0] * (index[1] + d->count[1] * index[2]);
}

md_status md_decomposition_set_cuts(md_decomposition *d, int axis, int n, const double *fraction)
{
  const int count = d->count[axis];
  if (n >= 0 && n != count - 1)
    return md_error(MD_USAGE, "balance %c: ranks have %d cut%s along this axis, not %d", "xyz"[axis],
                    count - 1, count == 2 ? "" : "s", n);
  for (int k = 1; k < count; ++k) d->fraction[axis][k] = n < 0 ? (double)k / count : fraction[k - 1];
  return MD_OK;
}

void md_decomposition_shift(md_decomposition *d, const md_box *box, int axis, const int64_t *histogram,
                            int bins)
{
  const int count = d->count[axis];
  double *fraction = d->fraction[axis];
  int64_t total = 0, below = 0;
  for (int b = 0; b < bins; ++b) total += histogram[b];
  if (total == 0 || count == 1) return;
  int k = 1;
  for (int b = 0; b < bins && k < count; ++b) {
    for (; k < count; ++k) {
      const double missing = (double)total * k / count - (double)below;
      if (missing > (double)histogram[b]) break;
      fraction[k] = (b + (histogram[b] > 0 ? missing / (double)histogram[b] : 0.0)) / bins;
    }
    below += histogram[b];
  }
  thicken(d, box, axis);
}
