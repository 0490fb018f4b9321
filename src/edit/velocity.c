/* The command `velocity`: sets the velocities of a group, and corrects them.
 *
 * Random velocities are functions of (seed, id). Momentum, rotation and kinetic energy, which depend on all particles,
 * come from exact sums (group_motion.h). So threads, ranks and the order of the particles do not change a bit of the
 * result. Gaussian numbers come from Marsaglia's polar method with md_ln and sqrt, which give the same bits on every
 * machine.
 *
 * create works in this order, as in LAMMPS: random velocities, mom, rot, scale to the temperature, sum.
 *
 * Units: sigma/tau. The temperature is that of compute temp, sum m v^2 / (dim N - dim), kB = 1, or another one. Cost:
 * some passes over the velocities. References: Marsaglia and Bray, SIAM Review 6 (1964) 260; the LAMMPS manual, command
 * velocity.
 */
#include "common/arithmetic/rng.h"
#include "common/ranks/reductions.h"
#include "src/create/lattice.h"
#include "src/edit/edit.h"
#include "src/edit/group_motion.h"
#include "src/group/groups.h"
#include "src/region/region.h"

#include <stdlib.h>
#include <string.h>

typedef struct velocity_call {
  md_sim *sim;
  const md_words *words; /* of the command, the group first */
  uint32_t bit;          /* of the group */
  md_compute of;         /* the temperature that is meant */
  bool gaussian;
  bool keep_momentum; /* mom no was given */
  bool stop_rotation; /* rot yes */
  bool sum;           /* add to the velocities */
  bool in_box_units;
} velocity_call;

/* ---- keywords ---- */

static md_status read_dist(velocity_call *c, const char *value)
{
  c->gaussian = strcmp(value, "gaussian") == 0;
  if (c->gaussian || strcmp(value, "uniform") == 0) return MD_OK;
  return md_error(MD_USAGE, "velocity dist: '%s' is not uniform or gaussian", value);
}

static md_status read_mom(velocity_call *c, const char *value)
{
  bool zero;
  MD_TRY(md_word_bool(value, "mom", &zero));
  c->keep_momentum = !zero;
  return MD_OK;
}

static md_status read_rot(velocity_call *c, const char *value)
{
  return md_word_bool(value, "rot", &c->stop_rotation);
}

static md_status read_sum(velocity_call *c, const char *value) { return md_word_bool(value, "sum", &c->sum); }

static md_status read_loop(velocity_call *c, const char *value)
{
  (void)c;
  if (strcmp(value, "all") == 0 || strcmp(value, "local") == 0 || strcmp(value, "geom") == 0) return MD_OK;
  return md_error(MD_USAGE, "velocity loop: '%s' is not all, local or geom", value);
}

static md_status read_units(velocity_call *c, const char *value)
{
  bool lattice;
  MD_TRY(md_edit_units("velocity", value, &lattice));
  c->in_box_units = !lattice;
  return MD_OK;
}

static md_status read_temp(velocity_call *c, const char *value)
{
  int index;
  MD_TRY(md_compute_temperature(&c->sim->model, "velocity temp", value, false, &index));
  c->of = c->sim->model.compute[index];
  return MD_OK;
}

static md_status read_bias(velocity_call *c, const char *value)
{
  bool yes;
  (void)c;
  MD_TRY(md_word_bool(value, "bias", &yes));
  if (!yes) return MD_OK;
  return md_error(MD_USAGE,
                  "velocity bias yes is not supported, only bias no: the temperature of temp ID is measured "
                  "without its bias, and velocities are scaled with it");
}

static const struct {
  const char *name;
  md_status (*read)(velocity_call *, const char *);
} keywords[] = {{"dist", read_dist}, {"mom", read_mom},     {"rot", read_rot},   {"sum", read_sum},
                {"loop", read_loop}, {"units", read_units}, {"temp", read_temp}, {"bias", read_bias}};
enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status read_keywords(velocity_call *c, int at)
{
  for (; at < c->words->n; at += 2) {
    const char *keyword = c->words->word[at];
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, keyword) != 0) ++k;
    if (k == KEYWORDS)
      return md_error(
          MD_USAGE,
          "velocity: unknown keyword '%s'; accepted are dist, mom, rot, sum, loop, units, temp, bias",
          keyword);
    if (at + 1 == c->words->n) return md_error(MD_USAGE, "velocity: '%s' needs a value after it", keyword);
    MD_TRY(keywords[k].read(c, c->words->word[at + 1]));
  }
  return MD_OK;
}

/* Checks the number of words of the style; options are not allowed. */
static md_status expect(const md_words *words, int n)
{
  if (words->n == n) return MD_OK;
  if (words->n > n)
    return md_error(MD_USAGE, "velocity %s: unexpected word '%s'", words->word[1], words->word[n]);
  return md_error(MD_USAGE, "velocity %s needs %d words after it, not %d; see myriad help velocity",
                  words->word[1], n - 2, words->n - 2);
}

static md_status at_least(const md_words *words, int n) { return words->n < n ? expect(words, n) : MD_OK; }

static md_status read_temperature(const velocity_call *c, double *temperature)
{
  const char *word = c->words->word[2];
  MD_TRY(md_edit_number(c->sim, word, "temperature", temperature));
  return *temperature < 0.0 ? md_error(MD_USAGE, "temperature %s is negative", word) : MD_OK;
}

/* ---- create ---- */

/* Two normal deviates of one particle: pair 0 gives its x and y, pair 1 its z. */
static void normal_pair(uint64_t seed, uint64_t id, int pair, double out[2])
{
  for (uint64_t attempt = 0;; ++attempt) {
    const md_random r = md_random_at(seed, id, attempt, MD_STREAM_VELOCITY);
    const double a = 2.0 * md_random_unit(r.word[2 * pair]) - 1.0;
    const double b = 2.0 * md_random_unit(r.word[2 * pair + 1]) - 1.0;
    const double s = fma(a, a, b * b);
    if (s >= 1.0) continue;
    const double factor = sqrt(-2.0 * md_ln(s) / s);
    out[0] = a * factor;
    out[1] = b * factor;
    return;
  }
}

static void random_components(uint64_t seed, uint64_t id, bool gaussian, double v[4])
{
  if (gaussian) {
    normal_pair(seed, id, 0, v);
    normal_pair(seed, id, 1, v + 2);
    return;
  }
  const md_random r = md_random_at(seed, id, 0, MD_STREAM_VELOCITY);
  for (int d = 0; d < 3; ++d) v[d] = md_random_unit(r.word[d]) - 0.5;
}

static void make_random(const velocity_call *c, uint64_t seed)
{
  md_particles *p = &c->sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double v[4];
    if (!md_particles_in_group(p, c->bit, i)) continue;
    const double width = 1.0 / sqrt(md_mass_of(&c->sim->model, p, i));
    random_components(seed, (uint64_t)p->id[i], c->gaussian, v);
    for (int d = 0; d < p->dim; ++d) p->v[d][i] = v[d] * width;
  }
}

/* Keeps the present velocities in the spare arrays, or adds them to the new ones of the group. */
static md_status keep_old(md_particles *p)
{
  MD_TRY(md_particles_spare(p));
  for (int d = 0; d < p->dim && p->n > 0; ++d) memcpy(p->spare[d], p->v[d], (size_t)p->n * sizeof(double));
  return MD_OK;
}

static void add_old(const velocity_call *c)
{
  md_particles *p = &c->sim->particles;
  for (int d = 0; d < p->dim; ++d) {
    const double *old = p->spare[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, c->bit, i)) p->v[d][i] += old[i];
  }
}

static md_status create(velocity_call *c)
{
  md_sim *sim = c->sim;
  double temperature, mass;
  int64_t seed, count;
  MD_TRY(at_least(c->words, 4));
  MD_TRY(read_temperature(c, &temperature));
  MD_TRY(md_word_int64(c->words->word[3], "seed", 1, INT64_MAX, &seed));
  MD_TRY(read_keywords(c, 4));
  MD_TRY(md_group_mass(sim, "velocity", c->bit, &mass, &count));
  MD_TRY(md_group_need_freedom(sim, &c->of));
  if (c->sum) MD_TRY(md_comm_agree(sim->comm, keep_old(&sim->particles)));
  make_random(c, (uint64_t)seed);
  if (!c->keep_momentum) MD_TRY(md_group_zero_momentum(sim, c->bit));
  if (c->stop_rotation) MD_TRY(md_group_zero_rotation(sim, c->bit));
  MD_TRY(md_group_scale(sim, c->bit, &c->of, temperature));
  if (c->sum) add_old(c);
  return MD_OK;
}

/* ---- the other styles ---- */

/* LAMMPS takes numbers in lattice units, and variables as they are. */
static void set_component(const velocity_call *c, int d, const char *word, const md_formula_value *value)
{
  const md_particles *p = &c->sim->particles;
  const bool scales = !c->in_box_units && strncmp(word, "v_", 2) != 0;
  const double unit = scales ? md_lattice_unit(c->sim, d) : 1.0;
  double *v = p->v[d];
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (md_particles_in_group(p, c->bit, i)) v[i] = unit * md_edit_value(value, i) + (c->sum ? v[i] : 0.0);
}

static md_status set(velocity_call *c)
{
  md_particles *p = &c->sim->particles;
  char *const *word = c->words->word + 2;
  md_formula_value value[3] = {{.one = 0.0}};
  md_status status = at_least(c->words, 5);
  if (status == MD_OK) status = read_keywords(c, 5);
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    if (strcmp(word[d], "NULL") != 0) status = md_edit_values(c->sim, word[d], "velocity", &value[d]);
  if (status == MD_OK && p->dim == 2 && (value[2].one != 0.0 || value[2].each))
    status = md_error(MD_USAGE, "velocity set: vz must be 0 or NULL in two dimensions, not %s", word[2]);
  for (int d = 0; d < p->dim && status == MD_OK; ++d)
    if (strcmp(word[d], "NULL") != 0) set_component(c, d, word[d], &value[d]);
  for (int d = 0; d < 3; ++d) free(value[d].each);
  return status;
}

/* The axis of vx, vy or vz. */
static md_status read_velocity_axis(const velocity_call *c, const char *word, int *axis)
{
  if (word[0] == 'v') return md_edit_axis(c->sim, "velocity ramp", word + 1, axis);
  return md_error(MD_USAGE, "velocity ramp: '%s' is not vx, vy or vz", word);
}

/* velocity GROUP ramp vx|vy|vz VLO VHI x|y|z CLO CHI */
static md_status ramp(velocity_call *c)
{
  md_particles *p = &c->sim->particles;
  char *const *word = c->words->word + 2;
  int of = 0, along = 0;
  double v[2], at[2];
  MD_TRY(at_least(c->words, 8));
  MD_TRY(read_keywords(c, 8));
  MD_TRY(read_velocity_axis(c, word[0], &of));
  MD_TRY(md_edit_axis(c->sim, "velocity ramp", word[3], &along));
  for (int k = 0; k < 2; ++k) {
    MD_TRY(md_word_double(word[1 + k], "velocity", &v[k]));
    MD_TRY(md_word_double(word[4 + k], "coordinate", &at[k]));
    if (!c->in_box_units) v[k] *= md_lattice_unit(c->sim, of);
    if (!c->in_box_units) at[k] *= md_lattice_unit(c->sim, along);
  }
  if (!(at[0] < at[1]))
    return md_error(MD_USAGE, "velocity ramp: the coordinates from %s to %s do not increase", word[4],
                    word[5]);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, c->bit, i)) continue;
    const double part = md_min(md_max((p->x[along][i] - at[0]) / (at[1] - at[0]), 0.0), 1.0);
    p->v[of][i] = v[0] + part * (v[1] - v[0]) + (c->sum ? p->v[of][i] : 0.0);
  }
  return MD_OK;
}

/* Reads `region ID` after a uniform velocity. Without it, *region is NULL, which means every particle. */
static md_status read_where(const velocity_call *c, const md_region **region)
{
  const md_words *words = c->words;
  *region = NULL;
  if (words->n <= 5) return expect(words, 5);
  if (strcmp(words->word[5], "region") != 0)
    return md_error(MD_USAGE, "velocity uniform: unknown keyword '%s'; accepted is region", words->word[5]);
  MD_TRY(expect(words, 7));
  return md_region_find(c->sim, words->word[6], region);
}

static md_status uniform(velocity_call *c)
{
  char *const *word = c->words->word + 2;
  double lo, hi;
  int64_t seed;
  const md_region *region;
  MD_TRY(read_where(c, &region));
  MD_TRY(md_word_double(word[0], "lower bound", &lo));
  MD_TRY(md_word_double(word[1], "upper bound", &hi));
  MD_TRY(md_word_int64(word[2], "seed", 1, INT64_MAX, &seed));
  if (!(lo <= hi) || !isfinite(hi - lo))
    return md_error(MD_USAGE, "velocity uniform: the range from %s to %s is not increasing and finite",
                    word[0], word[1]);
  md_particles *p = &c->sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    if (!md_particles_in_group(p, c->bit, i) || (region && !md_region_has(region, p, i))) continue;
    const md_random r = md_random_at((uint64_t)seed, (uint64_t)p->id[i], 0, MD_STREAM_VELOCITY);
    for (int d = 0; d < p->dim; ++d) p->v[d][i] = fma(md_random_unit(r.word[d]), hi - lo, lo);
  }
  return MD_OK;
}

static md_status zero(velocity_call *c)
{
  MD_TRY(at_least(c->words, 3));
  const char *what = c->words->word[2];
  const bool angular = strcmp(what, "angular") == 0;
  if (!angular && strcmp(what, "linear") != 0)
    return md_error(MD_USAGE, "velocity zero: '%s' is not linear or angular", what);
  MD_TRY(read_keywords(c, 3));
  return angular ? md_group_zero_rotation(c->sim, c->bit) : md_group_zero_momentum(c->sim, c->bit);
}

static md_status scale(velocity_call *c)
{
  double temperature;
  MD_TRY(at_least(c->words, 3));
  MD_TRY(read_temperature(c, &temperature));
  MD_TRY(read_keywords(c, 3));
  return md_group_scale(c->sim, c->bit, &c->of, temperature);
}

/* Negates the velocities, with the second words of momenta that a run may have left. */
static md_status negate(velocity_call *c)
{
  md_particles *p = &c->sim->particles;
  MD_TRY(expect(c->words, 2));
  for (int d = 0; d < p->dim; ++d) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      if (!md_particles_in_group(p, c->bit, i)) continue;
      p->v[d][i] = -p->v[d][i];
      if (p->wide) p->v_low[d][i] = -p->v_low[d][i];
    }
  }
  return MD_OK;
}

static const struct {
  const char *name;
  md_status (*apply)(velocity_call *);
} styles[] = {{"create", create}, {"set", set},     {"ramp", ramp},    {"uniform", uniform},
              {"zero", zero},     {"scale", scale}, {"negate", negate}};

md_status md_do_velocity(md_sim *sim, const md_words *words)
{
  int group;
  MD_TRY(md_sim_need_box(sim, "velocity"));
  MD_TRY(md_group_find(sim, words->word[0], &group));
  velocity_call c = {.sim = sim, .words = words, .bit = md_group_bit(group)};
  c.of = sim->model.compute[MD_THERMO_TEMP];
  /* As in LAMMPS it is a temperature of its own, which compute_modify thermo_temp does not change. */
  c.of.has_extra = false;
  c.of.group = group;
  for (size_t k = 0; k < sizeof styles / sizeof *styles; ++k)
    if (strcmp(words->word[1], styles[k].name) == 0) {
      if (styles[k].apply != negate)
        MD_TRY(md_comm_agree(sim->comm, md_particles_widen(&sim->particles, false)));
      return styles[k].apply(&c);
    }
  return md_error(
      MD_USAGE, "velocity: unknown style '%s'; accepted are create, set, ramp, uniform, zero, scale, negate",
      words->word[1]);
}
