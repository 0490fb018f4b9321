/* fix deposit: inserts a particle at a random place of a region, after the first step and every M-th one after it.
 *
 * 1. A place is drawn in the region; with `global` or `local` its height is that above the particles there.
 * 2. If a particle is nearer than `near`, another place is drawn, at most `attempt` times.
 * 3. The particle gets a new id, a random velocity, and the group of the fix.
 *
 * The random numbers are those of (seed, step), and all ranks draw the same. Each looks at its own particles.
 * Cost: a pass over the particles for each attempt, and the beginning of a run (src/edit/run_edits.h). Reference: the
 * LAMMPS manual, fix deposit. There the particle is inserted between drift and forces of the step, and gets half
 * a kick in it. Here it gets its first kick in the next step. */
#include "common/arithmetic/rng.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/create/lattice.h"
#include "src/create/site_rows.h"
#include "src/region/region.h"
#include "src/steps.h"

#include <math.h>
#include <string.h>

/* Places that are drawn until one is in the region. */
enum { DEPOSIT_DRAWS = 4096 };

typedef struct fix_deposit {
  md_output_fix base;
  int64_t wanted, type, every, seed, attempts;
  const md_region *region; /* found anew at each insertion */
  char name[64];           /* of the region */
  bool next_id, above, nearby, aims, in_lattice;
  double lo, hi, delta, near, rate, v[3][2], target[3];
  /* the first step with an insertion, particles so far, the largest id so far */
  double first, inserted, highest;
} fix_deposit;

static md_status read_real(const md_words *words, int at, double *value)
{
  return md_word_double(words->word[at], "a number of fix deposit", value);
}

typedef struct keyword {
  const char *name;
  int words;
  md_status (*read)(fix_deposit *, const md_sim *, const md_words *, int at);
} keyword;

static md_status read_region(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  MD_TRY(md_region_find(sim, words->word[at], &fix->region));
  memcpy(fix->name, fix->region->id, sizeof fix->name);
  return MD_OK;
}

static md_status read_id(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  fix->next_id = strcmp(words->word[at], "next") == 0;
  if (fix->next_id || strcmp(words->word[at], "max") == 0) return MD_OK;
  return md_error(MD_USAGE, "fix deposit id: '%.64s' is neither max nor next", words->word[at]);
}

static md_status read_height(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  MD_TRY(read_real(words, at, &fix->lo));
  MD_TRY(read_real(words, at + 1, &fix->hi));
  fix->above = true;
  fix->nearby = strcmp(words->word[at - 1], "local") == 0;
  if (!(fix->lo <= fix->hi))
    return md_error(MD_USAGE, "fix deposit %s: %g is above %g", words->word[at - 1], fix->lo, fix->hi);
  return fix->nearby ? md_word_positive(words->word[at + 2], "DELTA of fix deposit local", &fix->delta)
                     : MD_OK;
}

static md_status read_near(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  return md_word_positive(words->word[at], "the distance of fix deposit near", &fix->near);
}

static md_status read_attempt(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  return md_word_int64(words->word[at], "the number of fix deposit attempt", 1, 1000000, &fix->attempts);
}

static md_status read_rate(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  return read_real(words, at, &fix->rate);
}

/* vx LO HI */
static md_status read_velocity(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  double *v = fix->v[words->word[at - 1][1] - 'x'];
  MD_TRY(read_real(words, at, &v[0]));
  MD_TRY(read_real(words, at + 1, &v[1]));
  return v[0] <= v[1] ? MD_OK
                      : md_error(MD_USAGE, "fix deposit %s: %g is above %g", words->word[at - 1], v[0], v[1]);
}

static md_status read_target(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  fix->aims = true;
  for (int d = 0; d < 3; ++d) MD_TRY(read_real(words, at + d, &fix->target[d]));
  return MD_OK;
}

static md_status read_units(fix_deposit *fix, const md_sim *sim, const md_words *words, int at)
{
  (void)sim;
  fix->in_lattice = strcmp(words->word[at], "lattice") == 0;
  if (fix->in_lattice || strcmp(words->word[at], "box") == 0) return MD_OK;
  return md_error(MD_USAGE, "fix deposit units: '%.64s' is neither box nor lattice", words->word[at]);
}

static const keyword keywords[] = {
    {"region", 1, read_region},   {"id", 1, read_id},         {"global", 2, read_height},
    {"local", 3, read_height},    {"near", 1, read_near},     {"rate", 1, read_rate},
    {"attempt", 1, read_attempt}, {"vx", 2, read_velocity},   {"vy", 2, read_velocity},
    {"vz", 2, read_velocity},     {"target", 3, read_target}, {"units", 1, read_units}};
enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status read_keywords(fix_deposit *fix, const md_sim *sim, const md_words *words)
{
  for (int w = 4; w < words->n;) {
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, words->word[w]) != 0) ++k;
    if (k == KEYWORDS)
      return md_error(MD_USAGE,
                      "fix deposit: unknown keyword '%.64s'; accepted are region, id, global, local, near, "
                      "attempt, rate, vx, vy, vz, target and units. It inserts single particles",
                      words->word[w]);
    if (w + keywords[k].words >= words->n)
      return md_error(MD_USAGE, "fix deposit %s takes %d value%s", keywords[k].name, keywords[k].words,
                      keywords[k].words == 1 ? "" : "s");
    MD_TRY(keywords[k].read(fix, sim, words, w + 1));
    w += 1 + keywords[k].words;
  }
  return MD_OK;
}

static void scale(fix_deposit *fix, const md_sim *sim)
{
  const double up = md_lattice_unit(sim, sim->model.box.dim - 1), x = md_lattice_unit(sim, 0);
  fix->lo *= up;
  fix->hi *= up;
  fix->rate *= up;
  fix->delta *= x;
  fix->near *= x;
  for (int d = 0; d < 3; ++d) {
    fix->target[d] *= md_lattice_unit(sim, d);
    for (int end = 0; end < 2; ++end) fix->v[d][end] *= md_lattice_unit(sim, d);
  }
}

/* The region must have bounds, which must be within a box that does not change. */
static md_status check_region(const fix_deposit *fix, const md_sim *sim)
{
  const md_box *box = &sim->model.box;
  if (!fix->region) return md_error(MD_USAGE, "fix deposit needs the keyword region");
  if (sim->model.box.dim == 2 && (fix->v[2][0] != 0.0 || fix->v[2][1] != 0.0))
    return md_error(MD_USAGE, "fix deposit vz: two dimensions have no velocities along z");
  for (int d = 0; d < box->dim; ++d) {
    const double lo = md_region_lo(fix->region, d), hi = md_region_hi(fix->region, d);
    if (!isfinite(lo) || !isfinite(hi))
      return md_error(MD_USAGE, "fix deposit: the region has no bounds along %c", 'x' + d);
    /* A run has rounded the box. */
    const double rounded = 1e-9 * box->length[d];
    if (!box->triclinic && !md_box_follows(box) && (lo < box->lo[d] - rounded || hi > box->hi[d] + rounded))
      return md_error(MD_USAGE, "fix deposit: the region reaches from %g to %g along %c, beyond the box", lo,
                      hi, 'x' + d);
  }
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_deposit *fix = (fix_deposit *)base;
  if (words->n < 4)
    return md_error(MD_USAGE, "fix deposit takes N, a type, M and a seed, then keywords, not %d word%s",
                    words->n, words->n == 1 ? "" : "s");
  MD_TRY(md_sim_need_box(sim, "fix deposit"));
  MD_TRY(md_word_int64(words->word[0], "N of fix deposit", 1, INT64_C(1) << 53, &fix->wanted));
  MD_TRY(md_word_int64(words->word[1], "the type of fix deposit", 1, sim->model.ntypes, &fix->type));
  MD_TRY(md_word_int64(words->word[2], "M of fix deposit", 1, INT64_C(1) << 53, &fix->every));
  MD_TRY(md_word_int64(words->word[3], "the seed of fix deposit", 1, INT64_MAX, &fix->seed));
  fix->attempts = 10;
  fix->in_lattice = true;
  MD_TRY(read_keywords(fix, sim, words));
  if (fix->in_lattice) scale(fix, sim);
  fix->first = (double)(sim->model.step + 1);
  if (sim->from_restart)
    md_sim_explain(
        sim, "fix deposit",
        "it begins anew after read_restart; LAMMPS goes on with the particles that are left, and so does "
        "--resume here");
  return check_region(fix, sim);
}

static int64_t edit_due(const md_output_fix *base, int64_t step)
{
  const fix_deposit *fix = (const fix_deposit *)base;
  const int64_t first = (int64_t)fix->first;
  if (fix->inserted >= (double)fix->wanted) return INT64_MAX;
  return step <= first ? first : first + md_step_multiple(step - first, fix->every);
}

static void shift(md_output_fix *base, int64_t by) { ((fix_deposit *)base)->first += (double)by; }

/* ---- an insertion ---- */

/* A random number of the present step in (0, 1); k: its number. */
static double draw(const fix_deposit *fix, const md_sim *sim, int64_t k)
{
  const md_random r =
      md_random_at((uint64_t)fix->seed, (uint64_t)k, md_model_draw(&sim->model), MD_STREAM_DEPOSIT);
  return md_random_unit53(r.word[0], r.word[1]);
}

/* Draws a place in the region, from random numbers after *k. MD_USAGE: none is found. */
static md_status draw_place(const fix_deposit *fix, const md_sim *sim, int64_t *k, double x[3])
{
  const int dim = sim->model.box.dim;
  for (int n = 0; n < DEPOSIT_DRAWS; ++n) {
    for (int d = 0; d < dim; ++d) {
      const double lo = md_region_lo(fix->region, d);
      x[d] = lo + draw(fix, sim, (*k)++) * (md_region_hi(fix->region, d) - lo);
    }
    if (md_region_contains(fix->region, x, dim)) return MD_OK;
  }
  return md_error(
      MD_USAGE,
      "none of %d random places within the bounds of region %s is in the region; use a larger region",
      DEPOSIT_DRAWS, fix->region->id);
}

/* From the place x to particle i, the nearest image. */
static void way_to(const md_sim *sim, const double x[3], int64_t i, double way[3])
{
  const md_box *box = &sim->model.box;
  const md_particles *p = &sim->particles;
  double a[3] = {0.0, 0.0, 0.0}, b[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < box->dim; ++d) a[d] = x[d], b[d] = p->x[d][i];
  md_box_wrap(box, a);
  md_box_wrap(box, b);
  for (int d = 0; d < 3; ++d) way[d] = b[d] - a[d];
  md_box_image(box, way);
}

/* Puts the place above the particles. Collective. */
static md_status raise(const fix_deposit *fix, md_sim *sim, int64_t *k, double x[3])
{
  const int up = sim->model.box.dim - 1;
  double highest = sim->model.box.lo[up];
#pragma omp parallel for schedule(static) reduction(max : highest)
  for (int64_t i = 0; i < sim->particles.n; ++i) {
    double way[3];
    way_to(sim, x, i, way);
    way[up] = 0.0;
    const double aside = way[0] * way[0] + way[1] * way[1];
    if (!fix->nearby || aside <= fix->delta * fix->delta) highest = md_max(highest, sim->particles.x[up][i]);
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &highest, 1));
  x[up] = highest + fix->lo + draw(fix, sim, (*k)++) * (fix->hi - fix->lo);
  return MD_OK;
}

/* Is the place in the box, and far enough from all particles? Collective. */
static md_status is_free(const fix_deposit *fix, md_sim *sim, const double x[3], bool *free)
{
  const md_box *box = &sim->model.box;
  double meets = 0.0, fraction[3];
  md_box_fractions(box, x, fraction);
  for (int d = 0; d < box->dim; ++d)
    if (!box->periodic[d] && !md_box_follows(box) && !(fraction[d] >= 0.0 && fraction[d] <= 1.0)) meets = 1.0;
#pragma omp parallel for schedule(static) reduction(max : meets)
  for (int64_t i = 0; i < sim->particles.n; ++i) {
    double way[3];
    if (meets > 0.0) continue;
    way_to(sim, x, i, way);
    if (way[0] * way[0] + way[1] * way[1] + way[2] * way[2] < fix->near * fix->near) meets = 1.0;
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &meets, 1));
  *free = meets == 0.0;
  return MD_OK;
}

static void draw_velocity(const fix_deposit *fix, const md_sim *sim, int64_t *k, const double x[3],
                          double v[3])
{
  double way[3] = {0.0, 0.0, 0.0}, length2 = 0.0, speed2 = 0.0;
  for (int d = 0; d < sim->model.box.dim; ++d) {
    v[d] = fix->v[d][0] + draw(fix, sim, (*k)++) * (fix->v[d][1] - fix->v[d][0]);
    way[d] = fix->target[d] - x[d];
    speed2 = fma(v[d], v[d], speed2);
    length2 = fma(way[d], way[d], length2);
  }
  for (int d = 0; d < 3 && fix->aims && length2 > 0.0; ++d) v[d] = sqrt(speed2 / length2) * way[d];
}

static md_status insert(fix_deposit *fix, md_sim *sim, const double x[3], const double v[3])
{
  md_particles *p = &sim->particles;
  MD_TRY(md_sites_check_total(sim, 1));
  md_sites s = md_sites_begin(sim, (int)fix->type, 1.0);
  if (fix->next_id && (double)s.first_id <= fix->highest) s.first_id = (int64_t)fix->highest + 1;
  fix->highest = (double)s.first_id;
  const bool own = md_sites_own_point(&s, x);
  p->nghost = 0;
  MD_TRY(md_comm_agree(sim->comm, md_sites_make_room(p, p->n + own)));
  if (own) {
    md_sites_put(&s, p, p->n, s.first_id, x);
    if (p->grouped) p->group[p->n] |= md_group_bit(fix->base.observer.group);
    for (int d = 0; d < 3 && d < p->dim; ++d) p->v[d][p->n] = v[d];
    ++p->n;
  }
  fix->inserted += 1.0;
  return MD_OK;
}

static md_status edit(md_output_fix *base, md_sim *sim)
{
  fix_deposit *fix = (fix_deposit *)base;
  const int up = sim->model.box.dim - 1;
  int64_t k = 0;
  MD_TRY(md_region_find(sim, fix->name, &fix->region));
  for (int64_t attempt = 0; attempt < fix->attempts; ++attempt) {
    double x[3] = {0.0, 0.0, 0.0}, v[3] = {0.0, 0.0, 0.0};
    bool free;
    MD_TRY(draw_place(fix, sim, &k, x));
    /* As in lmp, the first insertion comes M steps after the beginning of the motion. */
    x[up] += fix->rate * (double)(sim->model.step - (int64_t)fix->first + fix->every) * sim->model.dt;
    if (fix->above) MD_TRY(raise(fix, sim, &k, x));
    MD_TRY(is_free(fix, sim, x, &free));
    if (!free) continue;
    md_box_wrap(&sim->model.box, x);
    draw_velocity(fix, sim, &k, x, v);
    return insert(fix, sim, x, v);
  }
  md_log_print(sim->log, "Fix deposit %s: no free place in %lld attempts at step %lld\n", base->id,
               (long long)fix->attempts, (long long)sim->model.step);
  return MD_OK;
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_deposit *fix = (fix_deposit *)base;
  if (md_fix_state_reals(state, 1, &fix->first) && md_fix_state_reals(state, 1, &fix->inserted))
    (void)md_fix_state_reals(state, 1, &fix->highest);
  return MD_OK;
}

const md_output_fix_style md_fix_deposit_style = {
    .name = "deposit",
    .usage = "deposit N TYPE M SEED region ID [id max|next] [global LO HI] [local LO HI DELTA] [near R] "
             "[attempt Q] "
             "[rate V] [vx LO HI] [vy LO HI] [vz LO HI] [target X Y Z] [units lattice|box]",
    .help =
        "inserts N particles of the type, one after the next step and every M-th after that, at random "
        "places of the\n"
        "region; global: LO to HI above all particles, local: above those within DELTA aside; near: no "
        "particle is\n"
        "nearer than R, in Q attempts (10); rate: the region moves up; target: the velocity points there. "
        "The run\n"
        "prepares itself anew at each such step",
    .size = sizeof(fix_deposit),
    .parse = parse,
    .edit_due = edit_due,
    .edit = edit,
    .shift = shift,
    .walk = walk,
};
