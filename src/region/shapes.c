/* Region styles that are shapes: block, sphere, cylinder, cone, plane, prism; see region.h.
 *
 * A surface belongs to its shape. As in LAMMPS, the unit of a radius is the lattice unit of the first axis across.
 * k holds: sphere, cylinder and cone: the centre, 0 along the axis, then the radius, and of a cone the upper radius;
 * plane: a point and the unit normal; prism: origin, lengths, and tilts xy xz yz.
 */
#include "src/region/region.h"

#include <string.h>

enum { RADIUS = 3, RADIUS_HI = 4, NORMAL = 3, LENGTH = 3, TILT = 6, UPPER = 9 };

static void enclose_all(md_region *region)
{
  for (int d = 0; d < 3; ++d) {
    region->lo[d] = -(double)INFINITY;
    region->hi[d] = (double)INFINITY;
  }
}

static bool in_bounds(const md_region *region, int d, const double x[3], double margin)
{
  return x[d] >= region->lo[d] - margin && x[d] <= region->hi[d] + margin;
}

/* ---- block ---- */

md_status md_region_block_read(const md_region_reader *r, md_region *region)
{
  for (int d = 0; d < 3; ++d) MD_TRY(md_region_bounds(r, 2 * d, d, region));
  return MD_OK;
}

bool md_region_block_inside(const md_region *region, const double x[3], double margin)
{
  return in_bounds(region, 0, x, margin) && in_bounds(region, 1, x, margin) &&
         in_bounds(region, 2, x, margin);
}

/* ---- sphere ---- */

/* Reads the radius of a sphere, which may be 0, or of a cylinder. */
static md_status read_radius(const md_region_reader *r, int at, int across, md_region *region)
{
  const bool sphere = region->axis < 0;
  double radius = 1.0;
  if (strncmp(r->word[at], "v_", 2) != 0) MD_TRY(md_word_double(r->word[at], "region radius", &radius));
  if (radius < 0.0 || (radius == 0.0 && !sphere))
    return md_error(MD_USAGE, "region radius must be positive%s, not '%.64s'",
                    sphere ? ", or 0 for the centre alone" : "", r->word[at]);
  return md_region_read_varied(r, at, "region radius", across, RADIUS, region);
}

/* The distance from the centre or from the axis. Sites of a lattice are often on the surface. The last digit decides
 * about them, and LAMMPS compares the root, not the square. */
static double distance(const md_region *region, const double x[3])
{
  double square = 0.0;
  for (int d = 0; d < 3; ++d)
    if (d != region->axis) square += (x[d] - region->k[d]) * (x[d] - region->k[d]);
  return sqrt(square);
}

/* Reads the coordinate of the centre along axis d, and sets the enclosing block. */
static md_status read_centre(const md_region_reader *r, int at, int d, double radius, md_region *region)
{
  MD_TRY(md_region_read_varied(r, at, "region centre", d, d, region));
  region->lo[d] = region->k[d] - radius;
  region->hi[d] = region->k[d] + radius;
  return MD_OK;
}

md_status md_region_sphere_read(const md_region_reader *r, md_region *region)
{
  region->axis = -1;
  MD_TRY(read_radius(r, 3, 0, region));
  for (int d = 0; d < 3; ++d) MD_TRY(read_centre(r, d, d, region->k[RADIUS], region));
  return MD_OK;
}

bool md_region_sphere_inside(const md_region *region, const double x[3], double margin)
{
  return distance(region, x) <= region->k[RADIUS] + 2.0 * margin;
}

/* ---- cylinder and cone ---- */

static md_status read_axis(const md_region_reader *r, md_region *region, int across[2])
{
  static const char *const names[] = {"x", "y", "z"};
  int d = 0;
  while (d < 3 && strcmp(r->word[0], names[d]) != 0) ++d;
  if (d == 3) return md_error(MD_USAGE, "region %s: '%s' is not x, y or z", region->style->name, r->word[0]);
  region->axis = d;
  across[0] = d == 0 ? 1 : 0;
  across[1] = d == 2 ? 1 : 2;
  return MD_OK;
}

md_status md_region_cylinder_read(const md_region_reader *r, md_region *region)
{
  int across[2];
  MD_TRY(read_axis(r, region, across));
  MD_TRY(read_radius(r, 3, across[0], region));
  for (int k = 0; k < 2; ++k) MD_TRY(read_centre(r, 1 + k, across[k], region->k[RADIUS], region));
  return md_region_bounds(r, 4, region->axis, region);
}

bool md_region_cylinder_inside(const md_region *region, const double x[3], double margin)
{
  return in_bounds(region, region->axis, x, margin) && md_region_sphere_inside(region, x, margin);
}

md_status md_region_cone_read(const md_region_reader *r, md_region *region)
{
  int across[2];
  double *radius = region->k + RADIUS;
  MD_TRY(read_axis(r, region, across));
  for (int k = 0; k < 2; ++k) MD_TRY(md_region_length(r, 3 + k, "region radius", across[0], &radius[k]));
  if (radius[0] < 0.0 || radius[1] < 0.0 || radius[0] + radius[1] <= 0.0)
    return md_error(MD_USAGE, "region cone: the radii %s and %s must not be negative, nor both 0", r->word[3],
                    r->word[4]);
  for (int k = 0; k < 2; ++k) MD_TRY(read_centre(r, 1 + k, across[k], md_max(radius[0], radius[1]), region));
  MD_TRY(md_region_bounds(r, 5, region->axis, region));
  const double length = region->hi[region->axis] - region->lo[region->axis];
  if (isfinite(length) && length > 0.0) return MD_OK;
  return md_error(MD_USAGE, "region cone: the ends %s and %s must be two different numbers, or EDGE",
                  r->word[5], r->word[6]);
}

bool md_region_cone_inside(const md_region *region, const double x[3], double margin)
{
  const int d = region->axis;
  const double lower = region->k[RADIUS], upper = region->k[RADIUS_HI];
  const double length = region->hi[d] - region->lo[d], steepness = 1.0 + fabs(upper - lower) / length;
  const double radius = lower + (x[d] - region->lo[d]) * (upper - lower) / length;
  return in_bounds(region, d, x, margin) && distance(region, x) <= radius + 2.0 * margin * steepness;
}

/* ---- plane ---- */

md_status md_region_plane_read(const md_region_reader *r, md_region *region)
{
  double *normal = region->k + NORMAL, square = 0.0;
  enclose_all(region);
  for (int d = 0; d < 3; ++d) MD_TRY(md_region_length(r, d, "region point", d, &region->k[d]));
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_region_length(r, 3 + d, "region normal", d, &normal[d])); /* in lattice units too */
    square += normal[d] * normal[d];
  }
  if (!isnormal(square))
    return md_error(MD_USAGE, "region plane: the normal %s %s %s has no direction", r->word[3], r->word[4],
                    r->word[5]);
  for (int d = 0; d < 3; ++d) normal[d] /= sqrt(square);
  return MD_OK;
}

/* The side that the normal points to. */
bool md_region_plane_inside(const md_region *region, const double x[3], double margin)
{
  double above = 0.0;
  for (int d = 0; d < 3; ++d) above += (x[d] - region->k[d]) * region->k[NORMAL + d];
  return above >= -2.0 * margin;
}

/* ---- prism ---- */

/* Edges (lx,0,0), (xy,ly,0) and (xz,yz,lz) from the origin; the enclosing block holds all corners. */
md_status md_region_prism_read(const md_region_reader *r, md_region *region)
{
  static const int axis_of_tilt[3] = {0, 0, 1};
  double *k = region->k;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_region_bounds(r, 2 * d, d, region));
    k[d] = region->lo[d];
    k[UPPER + d] = region->hi[d];
    k[LENGTH + d] = region->hi[d] - region->lo[d];
    if (!isfinite(k[LENGTH + d]) || k[LENGTH + d] <= 0.0)
      return md_error(MD_USAGE, "region prism: the %c bounds %s and %s must be finite and increasing",
                      'x' + d, r->word[2 * d], r->word[2 * d + 1]);
  }
  for (int t = 0; t < 3; ++t)
    MD_TRY(md_region_length(r, 6 + t, "region tilt", axis_of_tilt[t], &k[TILT + t]));
  region->lo[0] += md_min(0.0, k[TILT]) + md_min(0.0, k[TILT + 1]);
  region->hi[0] += md_max(0.0, k[TILT]) + md_max(0.0, k[TILT + 1]);
  region->lo[1] += md_min(0.0, k[TILT + 2]);
  region->hi[1] += md_max(0.0, k[TILT + 2]);
  return MD_OK;
}

/* The fractions of the three edges, by the inverse of the matrix of edges. As above, the last digit matters: this is
 * the order in which LAMMPS computes it. */
bool md_region_prism_inside(const md_region *region, const double x[3], double margin)
{
  const double *k = region->k, *length = k + LENGTH, *tilt = k + TILT;
  const double xy = tilt[0], xz = tilt[1], yz = tilt[2], area = length[0] * length[1];
  const double dx = x[0] - k[0], dy = x[1] - k[1], dz = x[2] - k[2];
  const double a =
      1.0 / length[0] * dx + -xy / area * dy + (xy * yz - xz * length[1]) / (area * length[2]) * dz;
  const double b = 1.0 / length[1] * dy + -yz / (length[1] * length[2]) * dz;
  const double c = 1.0 / length[2] * dz;
  const double shear = 1.0 + fabs(xy) / length[1] + fabs(xz) / length[2] + fabs(yz) / length[2];
  const double across = margin * shear * shear;
  return a >= -across / length[0] && a <= 1.0 + across / length[0] && b >= -across / length[1] &&
         b <= 1.0 + across / length[1] && c >= -margin / length[2] && c <= 1.0 + margin / length[2];
}

void md_region_prism_edges(const md_region *prism, double lo[3], double hi[3], double tilt[3])
{
  for (int d = 0; d < 3; ++d) {
    lo[d] = prism->k[d];
    hi[d] = prism->k[UPPER + d];
    tilt[d] = prism->k[TILT + d];
  }
}

/* ---- for fixes on forces ---- */

md_status md_region_shape(const md_region *region, double k[SHAPE_K])
{
  static const struct {
    const char *name;
    md_shape_kind kind;
  } shapes[] = {
      {"block", SHAPE_BLOCK}, {"sphere", SHAPE_SPHERE}, {"cylinder", SHAPE_CYLINDER}, {"plane", SHAPE_PLANE}};
  int s = 0;
  while (s < 4 && strcmp(region->style->name, shapes[s].name) != 0) ++s;
  if (s == 4)
    return md_error(MD_USAGE,
                    "region %s: a fix on forces takes a block, a sphere, a cylinder or a plane, not a %s",
                    region->id, region->style->name);
  if (region->moves)
    return md_error(MD_USAGE, "region %s moves, and a fix on forces takes a region that stays", region->id);
  k[SHAPE_KIND] = shapes[s].kind;
  k[SHAPE_OUTSIDE] = region->outside ? 1.0 : 0.0;
  k[SHAPE_AXIS] = region->axis;
  for (int d = 0; d < 3; ++d) {
    /* Numbers of fixes are finite. */
    k[SHAPE_AT + d] = shapes[s].kind == SHAPE_BLOCK ? md_max(region->lo[d], -0x1p1000) : region->k[d];
    k[SHAPE_AT + 3 + d] = shapes[s].kind == SHAPE_BLOCK ? md_min(region->hi[d], 0x1p1000) : region->k[3 + d];
  }
  if (shapes[s].kind != SHAPE_CYLINDER) return MD_OK;
  k[SHAPE_AT + 4] = md_max(region->lo[region->axis], -0x1p1000);
  k[SHAPE_AT + 5] = md_min(region->hi[region->axis], 0x1p1000);
  return MD_OK;
}
