/* Regions: named parts of space, which create, select and delete particles.
 *
 * A region is of a style (region_styles.def). A style reads its words and tests a point. `side out` turns the test
 * round. The styles union and intersect test other regions.
 *
 * A region may move: it is shifted, and turned about an axis, by what variables say at the moment. Variables may also
 * give the centre and the radius of a sphere or cylinder. md_region_find finds out where it is, so that a region must
 * be looked up each time that it is used. A point is moved back, and tested.
 *
 * Each region has an enclosing block, which limits the search for lattice sites and random positions. It is infinite
 * where the region is unbounded or moves, and everywhere if its side is out.
 *
 * Runs round positions to a grid. A particle that began on the surface of a region must not be outside after that. So
 * particles, and nothing else, are tested with a margin of some quanta, md_model_margin, around the shape.
 *
 * Units: sigma. Reference: the LAMMPS manual, command region.
 */
#ifndef MD_SRC_REGION_REGION_H
#define MD_SRC_REGION_REGION_H

#include "src/sim.h"

enum { MD_REGION_K = 12 };

typedef struct md_region_style md_region_style;

/* How a region moves. x is in it if the shape contains P + R (x - shift - P), R being the turn back. */
typedef struct md_region_motion {
  char shift_by[3][64]; /* the variable of each axis, "": none */
  char turn_by[64];     /* the variable of the angle, "": none */
  char set_by[4][64];   /* of a sphere or cylinder, the variables of k[0] to k[3]: centre and radius */
  double unit[4];       /* of these */
  double centre[3], axis[3];
  double shift[3], sine, versine; /* at the moment, sigma; the last is 1 - cosine */
} md_region_motion;

struct md_region {
  char id[64];
  const md_region_style *style;
  bool outside; /* side out: the region is all that the shape is not */
  bool moves;
  md_region_motion motion;
  double lo[3], hi[3];   /* the block that encloses the shape, sigma; may be infinite */
  double k[MD_REGION_K]; /* numbers of the style */
  int axis;              /* of a cylinder or cone */
  int nmember;
  struct md_region **member; /* [nmember] of union and intersect; the array is owned, the regions are not */
  struct md_region *next;
  /* Since the region was looked up: the box of the simulation, and the margin for its particles. */
  const md_box *box;
  double margin;
};

/* What a style reads its words with: `word` are those after the style's name. */
typedef struct md_region_reader {
  const md_sim *sim;
  char *const *word;
  int nmember; /* number of regions that follow, of union and intersect */
  bool in_lattice_units;
} md_region_reader;

struct md_region_style {
  const char *name;
  int words; /* after the name; 0: N and then N names of regions */
  const char *usage;
  md_status (*read)(const md_region_reader *, md_region *) MD_CHECKED;
  /* Whether the shape contains x, or has it on its surface or at most about `margin` outside of it. */
  bool (*inside)(const md_region *, const double x[3], double margin);
};

/* Finds the region named `id`, which is owned by sim, and where it is at the moment. MD_USAGE: there is none; the
 * message lists the regions; or a variable of its motion cannot be evaluated. */
md_status md_region_find(const md_sim *sim, const char *id, const md_region **region) MD_CHECKED;

/* The same without its place: for what does not depend on a motion. MD_USAGE: there is none. */
md_status md_region_named(const md_sim *sim, const char *id, md_region **region) MD_CHECKED;

/* Whether the position x[0..dim) (sigma) is in the region. A surface belongs to what it encloses. In two dimensions z
 * is 0. */
bool md_region_contains(const md_region *region, const double x[3], int dim);

/* The same with a margin around the shape. */
bool md_region_contains_within(const md_region *region, const double x[3], int dim, double margin);

/* Whether particle i is in the region, which has been looked up, or at most the margin away. In a tilted box its place
 * is the one that is shown: engines keep particles in the brick. */
static inline bool md_region_has(const md_region *region, const md_particles *p, int64_t i)
{
  double x[3];
  md_particle_shown(p, region->box, i, x);
  return md_region_contains_within(region, x, p->dim, region->margin);
}

/* The bounds along axis d of the block that encloses the region: infinite if its side is out. */
static inline double md_region_lo(const md_region *region, int d)
{
  return region->outside || region->moves ? -(double)INFINITY : region->lo[d];
}
static inline double md_region_hi(const md_region *region, int d)
{
  return region->outside || region->moves ? (double)INFINITY : region->hi[d];
}

/* Reads the words after the keyword move (three variables or NULL) or rotate (a variable, a point and an axis).
 * MD_USAGE: a word is refused. */
md_status md_region_read_move(char *const *word, md_region *region) MD_CHECKED;
md_status md_region_read_rotate(const md_region_reader *r, char *const *word, md_region *region) MD_CHECKED;

/* Reads number k of a sphere or cylinder along axis d, a coordinate of the centre or the radius: a length, or v_NAME of
 * style equal. MD_USAGE: it is neither. */
md_status md_region_read_varied(const md_region_reader *r, int at, const char *what, int d, int k,
                                md_region *region) MD_CHECKED;

/* Finds out where a region, and each region that it combines, is at the moment. MD_USAGE: as for md_region_find. */
md_status md_region_settle(const md_sim *sim, md_region *region) MD_CHECKED;

/* Moves the point x, of a region that moves, back to where the shape was defined. */
void md_region_move_back(const md_region *region, double x[3]);

/* Whether the region is its enclosing block. */
bool md_region_is_block(const md_region *region);

/* Whether the region is a prism with side in. If so, gets its bounds without the tilt, and the tilt factors xy, xz and
 * yz. */
bool md_region_prism(const md_region *region, double lo[3], double hi[3], double tilt[3]);

/* MD_USAGE: the region is not a block, which `what` needs. */
md_status md_region_need_block(const md_region *region, const char *what) MD_CHECKED;

/* The bias whose thermal particles are those in a block, without the place of the box (common/temperature/bias.h). */
md_bias md_region_bias(const md_region *block, int dim);

/* The numbers of a shape (common/force/shape.h). MD_USAGE: the region is not a block, sphere, cylinder or plane. */
md_status md_region_shape(const md_region *region, double k[SHAPE_K]) MD_CHECKED;

/* MD_USAGE: in two dimensions, the region does not contain z = 0, where the particles are. */
md_status md_region_check_plane(const md_sim *sim, const md_region *region) MD_CHECKED;

/* Frees all regions of the simulation. */
void md_regions_free(md_sim *sim);

/* ---- for styles ---- */

/* The length of a lattice unit along axis d, or 1 with units box. */
double md_region_unit(const md_region_reader *r, int d);

/* Reads a bound along axis d: a number, INF, or EDGE, the face of the block around the box. */
md_status md_region_bound(const md_region_reader *r, int at, int d, bool upper, double *bound) MD_CHECKED;

/* Reads the two bounds along axis d, word[at] and word[at + 1], to the enclosing block. */
md_status md_region_bounds(const md_region_reader *r, int at, int d, md_region *region) MD_CHECKED;

/* Reads a length along axis d. */
md_status md_region_length(const md_region_reader *r, int at, const char *what, int d,
                           double *length) MD_CHECKED;

/* The styles, one file each or one file of alike ones. */
#define MD_REGION(name, words, usage)                                                                        \
  md_status md_region_##name##_read(const md_region_reader *, md_region *) MD_CHECKED;                       \
  bool md_region_##name##_inside(const md_region *, const double x[3], double margin);
#include "src/region/region_styles.def"
#undef MD_REGION

/* The bounds of a region of style prism without its tilt, and its tilt factors (shapes.c). */
void md_region_prism_edges(const md_region *prism, double lo[3], double hi[3], double tilt[3]);

#endif
