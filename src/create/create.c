/* The commands `create_box` and `create_atoms`; sites.c finds the sites. */
#include "src/create/create.h"
#include "common/ranks/domains.h"
#include "src/box/faces.h"

#include "src/create/clusters.h"
#include "src/create/lattice.h"
#include "src/create/sites.h"
#include "src/region/region.h"
#include <stdio.h>
#include <string.h>

/* Doubles have 16 digits: beyond this bound two points 1 sigma apart could be equal. Volumes could overflow too. */
#define MD_BOX_MOST 1e15

md_status md_box_check(double lo, double hi, int d)
{
  if (!isfinite(lo) || !isfinite(hi) || !(lo < hi) || !isfinite(hi - lo))
    return md_error(MD_USAGE, "the box's %c bounds, %g to %g, must be finite and increasing", 'x' + d, lo,
                    hi);
  if (fabs(lo) > MD_BOX_MOST || fabs(hi) > MD_BOX_MOST)
    return md_error(MD_USAGE, "the box's %c bounds, %g to %g, are too far out: accepted are -%g to %g",
                    'x' + d, lo, hi, MD_BOX_MOST, MD_BOX_MOST);
  return MD_OK;
}

/* The tilt factors that LAMMPS takes without `box tilt large`: at most half of a periodic side. */
static md_status check_tilt(const md_sim *sim, const md_box *box)
{
  static const char *const name[] = {"xy", "xz", "yz"};
  for (int k = 0; k < 3; ++k) {
    const int axis = k == MD_YZ ? 1 : 0;
    if (!isfinite(box->tilt[k]))
      return md_error(MD_USAGE, "the tilt factor %s must be a finite number", name[k]);
    if (!sim->large_tilt && box->periodic[axis] && fabs(box->tilt[k]) > 0.5 * box->length[axis])
      return md_error(
          MD_USAGE,
          "the tilt factor %s, %g, is more than half of the box along %c, %g; a smaller tilt gives the "
          "same crystal, and `box tilt large` accepts this one",
          name[k], box->tilt[k], "xyz"[axis], box -> length[axis]);
  }
  return md_box_check_tilt(box);
}

void md_box_text(const md_box *box, char text[MD_BOX_TEXT])
{
  const int n = snprintf(text, MD_BOX_TEXT, "%s box = (%.8g %.8g %.8g) to (%.8g %.8g %.8g)",
                         box->triclinic ? "triclinic" : "orthogonal", box->lo[0], box->lo[1], box->lo[2],
                         box->hi[0], box->hi[1], box->hi[2]);
  if (box->triclinic)
    snprintf(text + n, MD_BOX_TEXT - (size_t)n, " with tilt (%.8g %.8g %.8g)", box->tilt[MD_XY],
             box->tilt[MD_XZ], box->tilt[MD_YZ]);
}

md_status md_box_tilt(const md_sim *sim, md_box *box, const double tilt[3])
{
  box->triclinic = true;
  memcpy(box->tilt, tilt, sizeof box->tilt);
  MD_TRY(check_tilt(sim, box));
  md_box_set_tilt(box, tilt);
  return MD_OK;
}

md_status md_box_create(md_sim *sim, const double lo[3], const double hi[3], const double *tilt,
                        int64_t ntypes)
{
  char text[MD_BOX_TEXT];
  md_box *box = &sim->model.box;
  if (sim->has_box) return md_error(MD_USAGE, "there is a simulation box already; a deck has one box");
  if (ntypes < 1 || ntypes > MD_TYPES_MAX)
    return md_error(MD_USAGE, "%lld particle types: accepted are 1 to %d", (long long)ntypes,
                    (int)MD_TYPES_MAX);
  for (int d = 0; d < 3; ++d) MD_TRY(md_box_check(lo[d], hi[d], d));
  for (int d = 0; d < 3; ++d) {
    box->lo[d] = lo[d];
    box->hi[d] = hi[d];
    box->length[d] = hi[d] - lo[d];
  }
  if (tilt) MD_TRY(md_box_tilt(sim, box, tilt));
  if (md_box_follows(box)) md_faces_begin(box);
  md_particles_free(&sim->particles);
  md_particles_init(&sim->particles, box->dim);
  if (sim->model.massed) MD_TRY(md_particles_make_masses(&sim->particles));
  if (sim->model.bonded) MD_TRY(md_particles_make_bonds(&sim->particles, sim->model.bonds.slots));
  sim->model.ntypes = (int)ntypes;
  sim->has_box = true;
  if (tilt && !sim->comm->domains->cuts(sim->comm, box, 0))
    return md_error(MD_USAGE,
                    "processors asks for ranks side by side along an axis of which a tilted box must be one "
                    "domain: x, and y if yz is not 0; write processors * * *");
  md_box_text(box, text);
  md_log_print(sim->log, "Created %s\n", text);
  return MD_OK;
}

md_status md_do_create_box(md_sim *sim, const md_words *words)
{
  int64_t ntypes;
  const md_region *region;
  if (words->n > 2)
    return md_error(MD_USAGE, "create_box: unexpected '%.64s'; usage: create_box N REGION", words->word[2]);
  MD_TRY(md_word_int64(words->word[0], "number of particle types", 1, MD_TYPES_MAX, &ntypes));
  MD_TRY(md_region_find(sim, words->word[1], &region));
  MD_TRY(md_region_check_plane(sim, region));
  double lo[3], hi[3], tilt[3];
  if (md_region_prism(region, lo, hi, tilt)) return md_box_create(sim, lo, hi, tilt, ntypes);
  MD_TRY(md_region_need_block(region, "create_box"));
  return md_box_create(sim, region->lo, region->hi, NULL, ntypes);
}

static md_status expect_words(const md_words *words, int n)
{
  if (words->n == n) return MD_OK;
  if (words->n > n)
    return md_error(MD_USAGE, "create_atoms %s: unexpected word '%s'", words->word[1], words->word[n]);
  return md_error(MD_USAGE, "create_atoms %s needs %d words after it, not %d; see myriad help create_atoms",
                  words->word[1], n - 2, words->n - 2);
}

static md_status find_region(const md_sim *sim, const char *id, const md_region **region)
{
  MD_TRY(md_region_find(sim, id, region));
  return md_region_check_plane(sim, *region);
}

/* The keywords of the styles of LAMMPS. */
typedef struct create_options {
  bool in_lattice_units;
  uint16_t type[MD_BASIS_MAX]; /* of the particles on each site of a cell */
} create_options;

static md_status read_basis(const md_sim *sim, const md_words *words, int at, create_options *options)
{
  int64_t site, type;
  if (at + 2 >= words->n) return md_error(MD_USAGE, "create_atoms basis needs a site and a type");
  if (sim->lattice.nbasis == 0)
    return md_error(MD_USAGE,
                    "create_atoms basis: there are no lattice sites: give a `lattice` with sites first");
  MD_TRY(md_word_int64(words->word[at + 1], "site of create_atoms basis", 1, sim->lattice.nbasis, &site));
  MD_TRY(md_word_int64(words->word[at + 2], "particle type", 1, sim->model.ntypes, &type));
  options->type[site - 1] = (uint16_t)type;
  return MD_OK;
}

/* Reads `units lattice|box`, and for the styles box and region `basis SITE TYPE`, from word `at` on. */
static md_status read_options(const md_sim *sim, const md_words *words, int at, int type,
                              create_options *options)
{
  const char *style = words->word[1];
  const bool on_sites = strcmp(style, "box") == 0 || strcmp(style, "region") == 0;
  *options = (create_options){.in_lattice_units = true};
  for (int m = 0; m < MD_BASIS_MAX; ++m) options->type[m] = (uint16_t)type;
  while (at < words->n) {
    const char *keyword = words->word[at];
    if (on_sites && strcmp(keyword, "basis") == 0) {
      MD_TRY(read_basis(sim, words, at, options));
      at += 3;
      continue;
    }
    if (strcmp(keyword, "units") != 0)
      return md_error(MD_USAGE, "create_atoms %s: unknown keyword '%s'; accepted %s units lattice|box%s",
                      style, keyword, on_sites ? "are" : "is", on_sites ? " and basis SITE TYPE" : "");
    if (at + 1 == words->n) return md_error(MD_USAGE, "create_atoms %s units needs lattice or box", style);
    options->in_lattice_units = strcmp(words->word[at + 1], "lattice") == 0;
    if (!options->in_lattice_units && strcmp(words->word[at + 1], "box") != 0)
      return md_error(MD_USAGE, "create_atoms %s units: '%s' is not lattice or box", style,
                      words->word[at + 1]);
    at += 2;
  }
  return MD_OK;
}

static md_status at_least(const md_words *words, int n)
{
  return words->n < n ? expect_words(words, n) : MD_OK;
}

static md_status create_random(md_sim *sim, const md_words *words, int type)
{
  int64_t n, seed;
  const md_region *region = NULL;
  create_options options;
  MD_TRY(at_least(words, 5));
  MD_TRY(read_options(sim, words, 5, type, &options));
  MD_TRY(md_word_int64(words->word[2], "number of particles", 0, INT64_MAX, &n));
  MD_TRY(md_word_int64(words->word[3], "seed", 1, INT64_MAX, &seed));
  if (strcmp(words->word[4], "NULL") != 0) MD_TRY(find_region(sim, words->word[4], &region));
  return md_sites_random(sim, region, n, (uint64_t)seed, type);
}

static md_status create_grid(md_sim *sim, const md_words *words, int type)
{
  int64_t n, seed;
  if (words->n != 3) MD_TRY(expect_words(words, 5));
  MD_TRY(md_word_int64(words->word[2], "number of particles", 0, INT64_MAX, &n));
  if (words->n == 3) return md_sites_grid(sim, n, NULL, type);
  if (strcmp(words->word[3], "seed") != 0)
    return md_error(MD_USAGE, "create_atoms grid: unknown keyword '%s'; accepted is seed", words->word[3]);
  MD_TRY(md_word_int64(words->word[4], "seed", 1, INT64_MAX, &seed));
  return md_sites_grid(sim, n, &(uint64_t){(uint64_t)seed}, type);
}

static md_status create_single(md_sim *sim, const md_words *words, int type)
{
  const md_box *box = &sim->model.box;
  create_options options;
  MD_TRY(at_least(words, 5));
  MD_TRY(read_options(sim, words, 5, type, &options));
  double x[3];
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_word_double(words->word[2 + d], "position", &x[d]));
    if (options.in_lattice_units) x[d] *= md_lattice_unit(sim, d);
    if (box->triclinic) continue;
    if (x[d] < box->lo[d] || x[d] > box->hi[d] || (x[d] == box->hi[d] && box->periodic[d] && d < box->dim))
      return md_error(MD_USAGE, "create_atoms single: %c = %g is outside the box, %g to %g%s", 'x' + d, x[d],
                      box->lo[d], box->hi[d],
                      options.in_lattice_units ? " (coordinates are in lattice units)" : "");
  }
  double fraction[3];
  md_box_fractions(box, x, fraction);
  for (int d = 0; d < 3 && d < box->dim && box->triclinic; ++d)
    if (!(fraction[d] >= 0.0 && (fraction[d] < 1.0 || (fraction[d] == 1.0 && !box->periodic[d]))))
      return md_error(MD_USAGE,
                      "create_atoms single: (%g, %g, %g) is outside the tilted box: it is %g of edge %c",
                      x[0], x[1], x[2], fraction[d], 'a' + d);
  return md_sites_single(sim, x, type);
}

/* create_atoms TYPE plummer|uniform|cold N seed S [scale A] [centre X Y Z] */
static md_status create_cluster(md_sim *sim, const md_words *words, md_cluster_kind kind, int type)
{
  const md_box *box = &sim->model.box;
  const char *style = words->word[1];
  md_cluster c = {.kind = kind, .scale = 1.0};
  int64_t seed = 0;
  for (int d = 0; d < 3; ++d) c.centre[d] = 0.5 * (box->lo[d] + box->hi[d]);
  if (words->n < 5) return md_error(MD_USAGE, "create_atoms %s needs N and seed S", style);
  MD_TRY(md_word_int64(words->word[2], "number of bodies", 1, MD_CLUSTER_MOST, &c.n));
  for (int k = 3; k < words->n;) {
    const char *keyword = words->word[k];
    const bool centre = strcmp(keyword, "centre") == 0;
    const int values = centre ? 3 : 1;
    if (!centre && strcmp(keyword, "seed") != 0 && strcmp(keyword, "scale") != 0)
      return md_error(MD_USAGE,
                      "create_atoms %s: unknown keyword '%.64s'; accepted are seed, scale and centre", style,
                      keyword);
    if (k + values >= words->n)
      return md_error(MD_USAGE, "create_atoms %s %s needs %d value%s", style, keyword, values,
                      centre ? "s" : "");
    if (strcmp(keyword, "seed") == 0) MD_TRY(md_word_int64(words->word[k + 1], "seed", 1, INT64_MAX, &seed));
    if (strcmp(keyword, "scale") == 0) MD_TRY(md_word_positive(words->word[k + 1], "scale", &c.scale));
    for (int d = 0; centre && d < 3; ++d)
      MD_TRY(md_word_double(words->word[k + 1 + d], "centre", &c.centre[d]));
    k += 1 + values;
  }
  if (seed == 0) return md_error(MD_USAGE, "create_atoms %s needs seed S", style);
  c.seed = (uint64_t)seed;
  return md_cluster_create(sim, &c, type);
}

/* create_atoms TYPE box | region ID */
static md_status create_on_sites(md_sim *sim, const md_words *words, int type)
{
  const bool box = strcmp(words->word[1], "box") == 0;
  const md_region *region = NULL;
  create_options options;
  MD_TRY(at_least(words, box ? 2 : 3));
  MD_TRY(read_options(sim, words, box ? 2 : 3, type, &options));
  if (!box) MD_TRY(find_region(sim, words->word[2], &region));
  return md_sites_lattice(sim, region, options.type);
}

static md_status create(md_sim *sim, const md_words *words, int type)
{
  const char *style = words->word[1];
  if (strcmp(style, "box") == 0 || strcmp(style, "region") == 0) return create_on_sites(sim, words, type);
  if (strcmp(style, "random") == 0) return create_random(sim, words, type);
  if (strcmp(style, "single") == 0) return create_single(sim, words, type);
  if (strcmp(style, "grid") == 0) return create_grid(sim, words, type);
  if (strcmp(style, "plummer") == 0) return create_cluster(sim, words, MD_CLUSTER_PLUMMER, type);
  if (strcmp(style, "uniform") == 0) return create_cluster(sim, words, MD_CLUSTER_UNIFORM, type);
  if (strcmp(style, "cold") == 0) return create_cluster(sim, words, MD_CLUSTER_COLD, type);
  return md_error(
      MD_USAGE,
      "create_atoms: unknown style '%s'; accepted are box, region, random, single, grid, plummer, uniform "
      "and cold",
      style);
}

md_status md_do_create_atoms(md_sim *sim, const md_words *words)
{
  int64_t type;
  MD_TRY(md_sim_need_box(sim, "create_atoms"));
  MD_TRY(md_word_int64(words->word[0], "particle type", 1, sim->model.ntypes, &type));
  const int64_t old = sim->model.natoms;
  MD_TRY(create(sim, words, (int)type));
  if (sim->planning.checking) {
    sim->model.natoms = old > 0 ? old : 1; /* for formulas, which may divide by natoms */
    return MD_OK;
  }
  MD_TRY(md_sim_count(sim));
  md_log_print(sim->log, "Created %lld atoms\n", (long long)(sim->model.natoms - old));
  return MD_OK;
}
