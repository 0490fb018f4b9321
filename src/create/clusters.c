/* Star clusters; see clusters.h.
 *
 * Plummer's sphere has the density (1 + r^2/a^2)^(-5/2). With G = M = a = 1, and X1, X2 ... uniform in (0, 1):
 *
 *   r = (X1^(-2/3) - 1)^(-1/2), X1 < 0.999: the mass inside r is X1
 *   v = q sqrt(2) (1 + r^2)^(-1/4); q has the density q^2 (1 - q^2)^(7/2), and is found by rejection
 *   both have a direction that is uniform on the sphere, also found by rejection
 *
 * Uniform sphere of radius R: positions uniform in a ball, velocities uniform in a ball of speed V, for which twice the
 * kinetic energy is minus the potential one: V = R^(-1/2), in two dimensions V = (16/(3 pi R))^(1/2).
 *
 * Random numbers are those of (seed, id, attempt). Only +, -, *, / and square roots occur, so that all machines make
 * the same bodies. The means of positions and velocities are subtracted. They come from whole multiples of 2^-24 of
 * the cluster's units, so that they do not depend on ranks either.
 *
 * Trade-off: each body is made twice, for the means and for its place, but nothing is stored in between.
 * Reference: Aarseth, Henon and Wielen, Astron. Astrophys. 37 (1974) 183.
 */
#include "src/create/clusters.h"
#include "common/arithmetic/rng.h"
#include "common/ranks/reductions.h"
#include "src/create/site_rows.h"

#define MEAN_UNIT 0x1p-24

typedef struct cluster_sites {
  md_sites base;
  md_cluster cluster;
  int dim;
  double mean[6]; /* of positions and velocities, in the cluster's units */
} cluster_sites;

/* A body in units of the cluster: G = M = scale = 1. */
typedef struct star {
  double x[3], v[3];
} star;

/* Four numbers uniform in (0, 1) of a body. draw: counts the draws of the body. */
typedef struct dice {
  uint64_t seed, id, draw;
} dice;

static void roll(dice *d, double u[4])
{
  const md_random a = md_random_at(d->seed, d->id, d->draw++, MD_STREAM_CLUSTER);
  for (int k = 0; k < 4; ++k) u[k] = md_random_unit(a.word[k]);
}

/* A point that is uniform in the ball of radius 1 (a disc in 2D). Returns its squared distance from the centre. */
static double in_ball(dice *d, int dim, double x[3])
{
  double r2, u[4];
  do {
    roll(d, u);
    r2 = 0.0;
    for (int k = 0; k < dim; ++k) {
      x[k] = 2.0 * u[k] - 1.0;
      r2 += x[k] * x[k];
    }
  } while (r2 > 1.0 || r2 < 0x1p-40);
  return r2;
}

/* A vector of this length in a random direction. */
static void in_direction(dice *d, double length, double x[3])
{
  const double r2 = in_ball(d, 3, x), scale = length / sqrt(r2);
  for (int k = 0; k < 3; ++k) x[k] *= scale;
}

/* The cube root of a in (0, 1), by Newton's method from above: the same bits on every machine. */
static double cube_root(double a)
{
  double y = 1.0;
  for (int k = 0; k < 60; ++k) y = (2.0 * y + a / (y * y)) / 3.0;
  return y;
}

static star plummer(dice *d)
{
  star s = {{0.0}, {0.0}};
  double u[4];
  const md_random fine = md_random_at(d->seed, d->id, d->draw++, MD_STREAM_CLUSTER);
  const double root = cube_root(0.999 * md_random_unit53(fine.word[0], fine.word[1]));
  const double r2 = 1.0 / (1.0 / (root * root) - 1.0);
  in_direction(d, sqrt(r2), s.x);
  double q, one;
  do {
    roll(d, u);
    q = u[0];
    one = 1.0 - q * q;
  } while (0.1 * u[1] > q * q * one * one * one * sqrt(one));
  in_direction(d, q * sqrt(2.0 / sqrt(1.0 + r2)), s.v);
  return s;
}

static star uniform(dice *d, int dim, bool cold)
{
  star s = {{0.0}, {0.0}};
  in_ball(d, dim, s.x);
  if (cold) return s;
  in_ball(d, dim, s.v);
  const double speed = dim == 3 ? 1.0 : sqrt(16.0 / (3.0 * 3.14159265358979323846));
  for (int k = 0; k < dim; ++k) s.v[k] *= speed;
  return s;
}

static star star_of(const cluster_sites *s, int64_t id)
{
  dice d = {.seed = s->cluster.seed, .id = (uint64_t)id};
  if (s->cluster.kind == MD_CLUSTER_PLUMMER) return plummer(&d);
  return uniform(&d, s->dim, s->cluster.kind == MD_CLUSTER_COLD);
}

/* The body in the box, at rest with the centre. */
static void body_of(const cluster_sites *s, int64_t id, double x[3], double v[3])
{
  const star one = star_of(s, id);
  const double per_time = 1.0 / sqrt(s->cluster.scale);
  for (int d = 0; d < s->dim; ++d) {
    x[d] = s->cluster.centre[d] + s->cluster.scale * (one.x[d] - s->mean[d]);
    v[d] = per_time * (one.v[d] - s->mean[3 + d]);
  }
}

static int64_t fill_row(const md_sites *base, int64_t row, md_particles *p, int64_t at)
{
  const cluster_sites *s = (const cluster_sites *)base;
  int64_t first, after;
  double x[3] = {0.0}, v[3] = {0.0};
  md_site_ids(base, row, &first, &after);
  for (int64_t id = first; id < after; ++id) {
    body_of(s, id, x, v);
    md_sites_put(base, p, at, id, x);
    for (int d = 0; d < s->dim; ++d) p->v[d][at] = v[d];
    if (p->massed) p->mass[at] = 1.0 / (double)s->cluster.n;
    ++at;
  }
  return at;
}

/* Sets s->mean. *reach: the largest distance from the mean along an axis, in units of the cluster. Every rank takes its
 * share of the bodies. Collective. */
static md_status find_means(md_sim *sim, cluster_sites *s, double *reach)
{
  const int64_t n = s->cluster.n;
  int64_t sx = 0, sy = 0, sz = 0, svx = 0, svy = 0, svz = 0;
  double far = 0.0;
#pragma omp parallel for reduction(+ : sx, sy, sz, svx, svy, svz) reduction(max : far)
  for (int64_t k = s->base.begin; k < s->base.end; ++k) {
    const star one = star_of(s, s->base.first_id + k);
    sx += llrint(one.x[0] / MEAN_UNIT);
    sy += llrint(one.x[1] / MEAN_UNIT);
    sz += llrint(one.x[2] / MEAN_UNIT);
    svx += llrint(one.v[0] / MEAN_UNIT);
    svy += llrint(one.v[1] / MEAN_UNIT);
    svz += llrint(one.v[2] / MEAN_UNIT);
    for (int d = 0; d < 3; ++d) far = md_max(far, fabs(one.x[d]));
  }
  int64_t sum[6] = {sx, sy, sz, svx, svy, svz};
  MD_TRY(sim->comm->reduce->sum(sim->comm, sum, 6));
  MD_TRY(sim->comm->reduce->max(sim->comm, &far, 1));
  *reach = far;
  for (int k = 0; k < 6; ++k) s->mean[k] = (double)sum[k] * MEAN_UNIT / (double)n;
  for (int d = 0; d < s->dim; ++d) *reach = md_max(*reach, far + fabs(s->mean[d]));
  return MD_OK;
}

/* MD_USAGE: a cluster that reaches so far from its centre does not fit into the box. */
static md_status check_box(const md_box *box, const md_cluster *cluster, double reach)
{
  for (int d = 0; d < box->dim; ++d)
    if (!(cluster->centre[d] - reach > box->lo[d] && cluster->centre[d] + reach < box->hi[d]))
      return md_error(
          MD_USAGE,
          "create_atoms: the cluster reaches %.6g from its centre along an axis, and the box along %c is "
          "from %g to %g: use a larger box or a smaller scale",
          reach, "xyz"[d], box -> lo[d], box -> hi[d]);
  return MD_OK;
}

md_status md_cluster_create(md_sim *sim, const md_cluster *cluster, int type)
{
  const int dim = sim->model.box.dim;
  if (cluster->kind == MD_CLUSTER_PLUMMER && dim == 2)
    return md_error(MD_USAGE, "create_atoms plummer: Plummer's sphere needs three dimensions; use uniform");
  MD_TRY(md_sites_check_total(sim, cluster->n));
  cluster_sites s = {.base = md_sites_begin(sim, type, (double)cluster->n), .cluster = *cluster, .dim = dim};
  md_sites_share_ids(&s.base, sim->comm, cluster->n);
  s.base.fill = fill_row;
  double reach = 0.0;
  if (!sim->planning.checking) MD_TRY(find_means(sim, &s, &reach));
  if (!sim->planning.checking) MD_TRY(check_box(&sim->model.box, cluster, cluster->scale * reach));
  if (!sim->model.massed) sim->model.mass[type] = 1.0 / (double)cluster->n;
  return sim->planning.checking ? MD_OK : md_sites_append(sim, &s.base);
}
