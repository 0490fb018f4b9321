/* The command `velocity`: sets initial velocities and corrects them.
 *
 * Random velocities are functions of (seed, id). Momentum and kinetic energy, which depend on all particles, are
 * summed exactly (src/sums/exact_sum.h). So threads, ranks and the order of the particles do not change a bit of the
 * result. Gaussian numbers come from Marsaglia's polar method with md_ln and sqrt, which give the same bits on every
 * machine.
 *
 * Units: sigma/tau. The temperature is that of thermo: sum m v^2 / (dim N - dim), kB = 1. Cost: four passes over
 * the velocities for create. Reference: Marsaglia and Bray, SIAM Review 6 (1964) 260.
 */
#include "common/ranks/reductions.h"
#include "common/rng.h"
#include "src/particles/lattice.h"
#include "src/sums/exact_sum.h"
#include "src/sums/masses.h"
#include <string.h>

typedef struct velocity_options {
  bool gaussian;
  bool keep_momentum; /* mom no was given */
  bool in_box_units;
} velocity_options;

static md_status unknown_option(const char *keyword)
{
  return md_error(MD_USAGE, "velocity: unknown keyword '%s'; accepted are dist, mom, rot, sum, loop, units",
                  keyword);
}

static md_status read_dist(const char *value, velocity_options *options)
{
  options->gaussian = strcmp(value, "gaussian") == 0;
  if (options->gaussian || strcmp(value, "uniform") == 0) return MD_OK;
  return md_error(MD_USAGE, "velocity dist: '%s' is not uniform or gaussian", value);
}

static md_status read_units(const char *value, velocity_options *options)
{
  options->in_box_units = strcmp(value, "box") == 0;
  if (options->in_box_units || strcmp(value, "lattice") == 0) return MD_OK;
  return md_error(MD_USAGE, "velocity units: '%s' is not box or lattice", value);
}

static md_status read_loop(const char *value)
{
  if (strcmp(value, "all") == 0 || strcmp(value, "local") == 0 || strcmp(value, "geom") == 0) return MD_OK;
  return md_error(MD_USAGE, "velocity loop: '%s' is not all, local or geom", value);
}

static md_status refuse_yes(const char *keyword, const char *value)
{
  bool yes;
  MD_TRY(md_word_bool(value, keyword, &yes));
  if (!yes) return MD_OK;
  return md_error(MD_USAGE, "velocity %s yes is not supported, only %s no", keyword, keyword);
}

static md_status read_options(const md_words *words, int at, velocity_options *options)
{
  *options = (velocity_options){0};
  for (; at < words->n; at += 2) {
    const char *keyword = words->word[at];
    if (at + 1 == words->n) return md_error(MD_USAGE, "velocity: '%s' needs a value behind it", keyword);
    const char *value = words->word[at + 1];
    if (strcmp(keyword, "dist") == 0) {
      MD_TRY(read_dist(value, options));
    } else if (strcmp(keyword, "mom") == 0) {
      bool zero;
      MD_TRY(md_word_bool(value, keyword, &zero));
      options->keep_momentum = !zero;
    } else if (strcmp(keyword, "units") == 0) {
      MD_TRY(read_units(value, options));
    } else if (strcmp(keyword, "loop") == 0) {
      MD_TRY(read_loop(value));
    } else if (strcmp(keyword, "rot") == 0 || strcmp(keyword, "sum") == 0) {
      MD_TRY(refuse_yes(keyword, value));
    } else {
      return unknown_option(keyword);
    }
  }
  return MD_OK;
}

/* Checks the number of words of the style; options are not allowed. */
static md_status expect(const md_words *words, int n)
{
  if (words->n == n) return MD_OK;
  if (words->n > n)
    return md_error(MD_USAGE, "velocity %s: unexpected word '%s'", words->word[1], words->word[n]);
  return md_error(MD_USAGE, "velocity %s needs %d words, not %d", words->word[1], n, words->n);
}

static md_status at_least(const md_words *words, int n) { return words->n < n ? expect(words, n) : MD_OK; }

/* ---- sums over all particles ---- */

/* Sums the total mass. MD_USAGE: a type in use has no mass. */
static md_status total_mass(md_sim *sim, double *mass)
{
  const md_particles *p = &sim->particles;
  double missing = -(double)INFINITY;
#pragma omp parallel for schedule(static) reduction(max : missing)
  for (int64_t i = 0; i < p->n; ++i)
    if (!(md_mass_of(&sim->model, p, i) > 0.0)) missing = md_max(missing, -p->type[i]);
  MD_TRY(sim->comm->reduce->max(sim->comm, &missing, 1));
  const int type = missing < 0.0 && isfinite(missing) ? (int)-missing : 0;
  if (type > 0)
    return md_error(MD_USAGE, "velocity needs the mass of type %d; give `mass %d VALUE` first", type, type);
  return md_masses_total(sim, mass);
}

/* Finds the largest |v| of any component. MD_PHYSICS: a velocity is not finite. */
static md_status largest_velocity(md_sim *sim, double *largest)
{
  const md_particles *p = &sim->particles;
  double most = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    const double *v = p->v[d];
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < p->n; ++i) {
      const double speed = fabs(v[i]);
      if (!(speed <= most)) most = isfinite(speed) ? speed : (double)INFINITY;
    }
  }
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  if (!isfinite(most)) return md_error(MD_PHYSICS, "velocity: a particle's velocity is not a finite number");
  *largest = most;
  return MD_OK;
}

static double momentum_of(const md_sim *sim, int d, int64_t i)
{
  return md_mass_of(&sim->model, &sim->particles, i) * sim->particles.v[d][i];
}

static double mass_v2_of(const md_sim *sim, int d, int64_t i)
{
  const double v = sim->particles.v[d][i];
  return md_mass_of(&sim->model, &sim->particles, i) * v * v;
}

static md_status sum_of(md_sim *sim, md_exact_term term, int d, double *sum)
{
  return md_exact_sum(sim, "velocity: the particles are too fast for a kinetic energy", term, d, sum);
}

/* ---- changes of all velocities ---- */

static void scale_by(md_sim *sim, double factor)
{
  md_particles *p = &sim->particles;
  for (int d = 0; d < p->dim; ++d) {
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) v[i] *= factor;
  }
}

static md_status zero_momentum(md_sim *sim)
{
  md_particles *p = &sim->particles;
  double mass, speed;
  MD_TRY(total_mass(sim, &mass));
  MD_TRY(largest_velocity(sim, &speed));
  if (speed == 0.0) return MD_OK;
  for (int d = 0; d < p->dim; ++d) {
    double momentum;
    MD_TRY(sum_of(sim, momentum_of, d, &momentum));
    const double drift = momentum / mass;
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) v[i] -= drift;
  }
  return MD_OK;
}

static md_status scale_to(md_sim *sim, double temperature)
{
  double mass, speed, twice_kinetic = 0.0;
  const int dim = sim->particles.dim;
  const double freedom = (double)dim * (double)(sim->model.natoms - 1);
  MD_TRY(total_mass(sim, &mass));
  MD_TRY(largest_velocity(sim, &speed));
  if (sim->planning.checking) return MD_OK;
  if (freedom < 1.0)
    return md_error(MD_USAGE, "velocity: %lld particle%s no temperature; at least 2 are needed",
                    (long long)sim->model.natoms, sim->model.natoms == 1 ? " has" : "s have");
  for (int d = 0; d < dim && speed > 0.0; ++d) {
    double sum;
    MD_TRY(sum_of(sim, mass_v2_of, d, &sum));
    twice_kinetic += sum;
  }
  if (!(twice_kinetic > 0.0) || !isfinite(twice_kinetic))
    return md_error(MD_USAGE,
                    "velocity: particles %s cannot be scaled to a temperature; use `velocity all create`",
                    twice_kinetic > 0.0 ? "this fast" : "at rest");
  scale_by(sim, sqrt(temperature / (twice_kinetic / freedom)));
  return MD_OK;
}

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

/* ---- the styles ---- */

static md_status create(md_sim *sim, const md_words *words)
{
  double temperature, mass;
  int64_t seed;
  velocity_options options;
  MD_TRY(at_least(words, 4));
  MD_TRY(md_word_double(words->word[2], "temperature", &temperature));
  if (temperature < 0.0) return md_error(MD_USAGE, "temperature %s is negative", words->word[2]);
  MD_TRY(md_word_int64(words->word[3], "seed", 1, INT64_MAX, &seed));
  MD_TRY(read_options(words, 4, &options));
  MD_TRY(total_mass(sim, &mass));
  md_particles *p = &sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double v[4];
    const double width = 1.0 / sqrt(md_mass_of(&sim->model, p, i));
    random_components((uint64_t)seed, (uint64_t)p->id[i], options.gaussian, v);
    for (int d = 0; d < p->dim; ++d) p->v[d][i] = v[d] * width;
  }
  if (!options.keep_momentum) MD_TRY(zero_momentum(sim));
  return scale_to(sim, temperature);
}

static md_status set(md_sim *sim, const md_words *words)
{
  md_particles *p = &sim->particles;
  velocity_options options;
  double value[3] = {0.0};
  MD_TRY(at_least(words, 5));
  MD_TRY(read_options(words, 5, &options));
  for (int d = 0; d < 3; ++d) {
    if (strcmp(words->word[2 + d], "NULL") == 0) continue;
    MD_TRY(md_word_double(words->word[2 + d], "velocity", &value[d]));
    if (!options.in_box_units) value[d] *= md_lattice_unit(sim, d);
  }
  if (p->dim == 2 && value[2] != 0.0)
    return md_error(MD_USAGE, "velocity set: vz must be 0 or NULL in two dimensions, not %s", words->word[4]);
  for (int d = 0; d < p->dim; ++d) {
    if (strcmp(words->word[2 + d], "NULL") == 0) continue;
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) v[i] = value[d];
  }
  return MD_OK;
}

/* Reads `region ID` after a uniform velocity. Without it, *region is NULL, which means every particle. */
static md_status read_where(md_sim *sim, const md_words *words, const md_region **region)
{
  *region = NULL;
  if (words->n <= 5) return expect(words, 5);
  if (strcmp(words->word[5], "region") != 0)
    return md_error(MD_USAGE, "velocity uniform: unknown keyword '%s'; accepted is region", words->word[5]);
  MD_TRY(expect(words, 7));
  return md_region_find(sim, words->word[6], region);
}

static md_status uniform(md_sim *sim, const md_words *words)
{
  double lo, hi;
  int64_t seed;
  const md_region *region;
  MD_TRY(read_where(sim, words, &region));
  MD_TRY(md_word_double(words->word[2], "lower bound", &lo));
  MD_TRY(md_word_double(words->word[3], "upper bound", &hi));
  MD_TRY(md_word_int64(words->word[4], "seed", 1, INT64_MAX, &seed));
  if (!(lo <= hi) || !isfinite(hi - lo))
    return md_error(MD_USAGE, "velocity uniform: the range from %s to %s is not increasing and finite",
                    words->word[2], words->word[3]);
  md_particles *p = &sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    const double x[3] = {p->x[0][i], p->x[1][i], p->dim == 3 ? p->x[2][i] : 0.0};
    if (region && !md_region_contains(region, x, p->dim)) continue;
    const md_random r = md_random_at((uint64_t)seed, (uint64_t)p->id[i], 0, MD_STREAM_VELOCITY);
    for (int d = 0; d < p->dim; ++d) p->v[d][i] = fma(md_random_unit(r.word[d]), hi - lo, lo);
  }
  return MD_OK;
}

static md_status zero(md_sim *sim, const md_words *words)
{
  velocity_options options;
  MD_TRY(at_least(words, 3));
  if (strcmp(words->word[2], "linear") != 0)
    return md_error(MD_USAGE, "velocity zero: '%s' is not supported, only linear", words->word[2]);
  MD_TRY(read_options(words, 3, &options));
  return zero_momentum(sim);
}

static md_status scale(md_sim *sim, const md_words *words)
{
  double temperature;
  velocity_options options;
  MD_TRY(at_least(words, 3));
  MD_TRY(md_word_double(words->word[2], "temperature", &temperature));
  if (temperature < 0.0) return md_error(MD_USAGE, "temperature %s is negative", words->word[2]);
  MD_TRY(read_options(words, 3, &options));
  return scale_to(sim, temperature);
}

/* Negates all velocities, with the second words of momenta that a run may have left. */
static md_status negate(md_sim *sim, const md_words *words)
{
  md_particles *p = &sim->particles;
  MD_TRY(expect(words, 2));
  scale_by(sim, -1.0);
  for (int d = 0; d < p->dim && p->wide; ++d)
    for (int64_t i = 0; i < p->n; ++i) p->v_low[d][i] = -p->v_low[d][i];
  return MD_OK;
}

static const struct {
  const char *name;
  md_status (*apply)(md_sim *, const md_words *);
} styles[] = {{"create", create}, {"set", set},     {"uniform", uniform},
              {"zero", zero},     {"scale", scale}, {"negate", negate}};

md_status md_do_velocity(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "velocity"));
  MD_TRY(md_word_group(words->word[0]));
  for (size_t k = 0; k < sizeof styles / sizeof *styles; ++k)
    if (strcmp(words->word[1], styles[k].name) == 0) {
      if (styles[k].apply != negate) MD_TRY(md_particles_widen(&sim->particles, false));
      return styles[k].apply(sim, words);
    }
  return md_error(MD_USAGE,
                  "velocity: unknown style '%s'; accepted are create, set, uniform, zero, scale, negate",
                  words->word[1]);
}
