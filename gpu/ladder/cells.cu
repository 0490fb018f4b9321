/* Set-up and checks of the study cells. The oracle has a list of particles for each cell, and sums in double precision.
 */
#include "gpu/ladder/cells/cells.cuh"

#include <cub/cub.cuh>

#include <math.h>

namespace cells
{
static grid grid_of(int n)
{
  const double side = sqrt(AREA * n);
  const int across = (int)(side / CUTOFF) + 1;
  return {across + 2, (across + 2) * (across + 2), side};
}

/* A square lattice whose spacing is 2.2 cutoffs, with every particle moved by up to 0.35 of the spacing along x and y:
 * some pairs are within the cutoff, and none is near. Neighbours in the lattice are not neighbours in memory. */
static std::vector<particle> particles_of(const ladder_case *c, const grid &g)
{
  const int64_t n = c->n, across = (int64_t)ceil(sqrt((double)n)), stride = 2654435761;
  const double spacing = g.side / (double)across;
  std::vector<particle> p((size_t)n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t site = i * stride % n, column = site % across, row = site / across;
    const double x = (double)column + 0.15 + 0.7 * (double)c->x[i];
    const double y = (double)row + 0.15 + 0.7 * (double)c->y[i];
    p[(size_t)i] = {spacing * x, spacing * y, 2.0 * c->y[i] - 1.0, 2.0 * c->x[i] - 1.0, 0.0, 0.0, i};
  }
  return p;
}

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays)
{
  b.n = c->n;
  b.g = grid_of(c->n);
  b.p = arrays.device<particle>(b.n);
  b.p_next = arrays.device<particle>(b.n);
  for (int **list : {&b.cell, &b.order}) *list = arrays.device<int>(b.n);
  for (int **list : {&b.count, &b.start, &b.filled}) *list = arrays.device<int>(b.g.total + 1);
  CUDA(cub::DeviceScan::ExclusiveSum(nullptr, b.scratch_bytes, b.count, b.start, b.g.total + 1));
  b.scratch = arrays.device<char>((int64_t)b.scratch_bytes);
  ladder_upload(b.p, particles_of(c, b.g));
}

/* Moves the particles by one step. scale[i]: the size of the terms that were added to particle i, which can cancel. */
static void step_on_host(const grid &g, std::vector<particle> &p, std::vector<double> &scale)
{
  std::vector<int> head((size_t)g.total, -1), next(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    int &first = head[(size_t)cell_at(g, p[i].x, p[i].y)];
    next[i] = first;
    first = (int)i;
  }
  for (size_t i = 0; i < p.size(); ++i) {
    const int own = cell_at(g, p[i].x, p[i].y);
    for (int row = own - g.row; row <= own + g.row; row += g.row)
      for (int cell = row - 1; cell <= row + 1; ++cell)
        for (int j = head[(size_t)cell]; j >= 0; j = next[(size_t)j]) {
          const double dx = p[(size_t)j].x - p[i].x, dy = p[(size_t)j].y - p[i].y;
          const double r2 = dx * dx + dy * dy, factor = factor_at(r2);
          p[i].ax += factor * dx;
          p[i].ay += factor * dy;
          if (factor != 0.0) scale[i] += sqrt(r2) * (fabs(factor) + 2.0 / fmax(r2, LEAST_R * LEAST_R) / MASS);
        }
  }
  for (particle &each : p) move(g, each);
}

/* Is `got` the oracle's particle `want` after its step? */
static bool moved_to(const particle &got, const particle &want, const grid &g)
{
  return fabs(got.x - want.x) <= 1e-12 * g.side && fabs(got.y - want.y) <= 1e-12 * g.side &&
         fabs(got.vx - want.vx) <= 1e-9 && fabs(got.vy - want.vy) <= 1e-9;
}

/* The error of an acceleration is divided by the size of its terms. */
void check(const bodies &b, int, void (*)(bodies &), const ladder_case *c, ladder_result *result)
{
  std::vector<particle> want = particles_of(c, b.g);
  std::vector<double> scale(want.size());
  std::vector<bool> seen(want.size());
  step_on_host(b.g, want, scale);
  for (const particle &got : ladder_download(b.p, b.n)) {
    const size_t i = (size_t)got.id;
    if (got.id < 0 || i >= want.size() || seen[i] || !moved_to(got, want[i], b.g)) {
      result->right = false;
      return;
    }
    seen[i] = true;
    const double off = hypot(got.ax - want[i].ax, got.ay - want[i].ay);
    if (off > 0.0) result->error = fmax(result->error, off / scale[i]);
  }
}
} // namespace cells
