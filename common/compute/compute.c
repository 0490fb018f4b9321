/* The table of compute styles, and how computes become sums and values of a model; see compute.h. */
#include "common/compute/compute.h"
#include "common/model.h"

#include <stdio.h>
#include <string.h>

double md_compute_unit(double largest)
{
  /* The largest term is at most 2^50 coarse quanta. */
  int exponent;
  (void)frexp(largest, &exponent);
  return ldexp(1.0, exponent - 50) / MD_FINE;
}

double md_compute_sum(const md_compute_sums *sums, int t)
{
  return md_wide_value(&sums->term[t], sums->unit[t]);
}

md_status md_compute_set_of(md_compute *compute, const char *word)
{
  const size_t n = strlen(word);
  if (n >= sizeof compute->of)
    return md_error(MD_USAGE, "compute: the ID '%.80s' is longer than %zu letters", word,
                    sizeof compute->of - 1);
  memcpy(compute->of, word, n + 1);
  return MD_OK;
}

/* The degrees of freedom of `count` particles. */
static double freedom_of(const md_model *model, const md_compute *compute, int64_t count)
{
  const double dim = model->box.dim, extra = compute->has_extra ? compute->extra : dim;
  double axes = dim;
  if (compute->bias.kind == MD_BIAS_AXES) {
    axes = 0.0;
    for (int d = 0; d < model->box.dim; ++d) axes += compute->bias.k[d];
  }
  return axes * (double)count - axes / dim * extra;
}

double md_temperature_freedom(const md_model *model, const md_compute *compute)
{
  return freedom_of(model, compute, md_model_group_count(model, compute->group));
}

void md_temperature_set(const md_model *model, const md_compute *compute, int64_t count, double kinetic,
                        double *value)
{
  const double freedom = freedom_of(model, compute, count);
  const double boltz = model->units->boltz;
  value[MD_TEMPERATURE_T] = freedom > 0.0 ? 2.0 * kinetic / (freedom * boltz) : 0.0;
  value[MD_TEMPERATURE_KINETIC] = 0.5 * freedom * (boltz * value[MD_TEMPERATURE_T]);
  value[MD_TEMPERATURE_FREEDOM] = freedom;
}

/* `value` of a temperature whose terms are those of compute ke. */
static void temperature_value(const md_model *model, const md_compute *compute, const md_compute_sums *sums,
                              double *value)
{
  md_temperature_set(model, compute, sums->count, md_compute_sum(sums, 0), value);
}

#define MD_COMPUTE_HOST
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_HOST

static const md_compute_style *const styles[] = {
#define MD_COMPUTE_STYLE(symbol, label) &symbol##_style,
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_STYLE
};

static const bool has_terms[MD_COMPUTE_KINDS] = {
#define MD_COMPUTE_SUMS(symbol) [MD_COMPUTE_##symbol] = true,
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_SUMS
};

static const bool has_each[MD_COMPUTE_KINDS] = {
#define MD_COMPUTE_EACH(symbol) [MD_COMPUTE_##symbol] = true,
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_EACH
};

const md_compute_style *md_compute_style_of(md_compute_kind kind) { return styles[kind]; }

bool md_compute_is_of_places(const md_compute *compute)
{
  return styles[compute->kind]->of_places && compute->bias.kind != MD_BIAS_BLOCK;
}

int md_compute_count(const md_compute *compute)
{
  const md_compute_style *style = styles[compute->kind];
  int n = 0;
  if (!style->of_places || style->temperature) return style->nvalue;
  while (n < style->nvalue && compute->k[n] != 0.0) ++n;
  return n;
}

md_compute_kind md_compute_find(const char *name)
{
  int kind = 0;
  while (kind < MD_COMPUTE_KINDS && strcmp(styles[kind]->name, name) != 0) ++kind;
  return (md_compute_kind)kind;
}

int md_compute_index(const md_model *model, const char *id, size_t n)
{
  for (int c = 0; c < model->ncompute; ++c)
    if (strlen(model->compute[c].id) == n && memcmp(model->compute[c].id, id, n) == 0) return c;
  return -1;
}

md_status md_compute_temperature(const md_model *model, const char *what, const char *id, bool of_engine,
                                 int *index)
{
  *index = md_compute_index(model, id, strlen(id));
  if (*index < 0) return md_error(MD_USAGE, "%s: there is no compute '%.64s'", what, id);
  const md_compute_style *style = styles[model->compute[*index].kind];
  if (!style->temperature)
    return md_error(MD_USAGE, "%s: compute '%.64s' of style %s is not a temperature", what, id, style->name);
  if (!of_engine || !md_compute_is_of_places(&model->compute[*index])) return MD_OK;
  if (model->compute[*index].kind == MD_COMPUTE_temp_region)
    return md_error(MD_USAGE,
                    "%s: compute '%.64s' of style temp/region is only for output here, because region %.64s "
                    "is not a block with side in, or because the box may be tilted",
                    what, id, model->compute[*index].of);
  return md_error(MD_USAGE, "%s: compute '%.64s' of style %s is only for output", what, id, style->name);
}

void md_computes_init(md_model *model)
{
  static const struct {
    const char *id;
    md_compute_kind kind;
  } standard[MD_COMPUTES_STANDARD] = {
      [MD_THERMO_TEMP] = {"thermo_temp", MD_COMPUTE_temp},
      [MD_THERMO_PRESS] = {"thermo_press", MD_COMPUTE_pressure},
      [MD_THERMO_PE] = {"thermo_pe", MD_COMPUTE_pe},
      [MD_THERMO_KE] = {"thermo_ke", MD_COMPUTE_ke},
      [MD_THERMO_MOMENTUM] = {"thermo_momentum", MD_COMPUTE_momentum},
  };
  model->ncompute = MD_COMPUTES_STANDARD;
  for (int c = 0; c < MD_COMPUTES_STANDARD; ++c) {
    model->compute[c] = (md_compute){.kind = standard[c].kind};
    memcpy(model->compute[c].id, standard[c].id, strlen(standard[c].id) + 1);
    if (standard[c].kind == MD_COMPUTE_pressure)
      memcpy(model->compute[c].of, "thermo_temp", sizeof "thermo_temp");
  }
}

/* The standard computes have only two summands, of ke and of momentum. A pressure has one, of its tensor. */
_Static_assert((int)MD_COMPUTES_STANDARD > 2,
               "summands of all computes and fixes, and of the pressure tensor");
_Static_assert((int)MD_SUMMANDS_MAX <= 64, "md_wanted has a bit for each summand");

/* Do two computes have the same terms? */
static bool same_terms(const md_summand *s, const md_compute *compute)
{
  const md_compute_style *style = styles[compute->kind];
  return s->kind == style->terms_of && s->group == md_group_bit(compute->group) &&
         md_bias_equal(&s->bias, &compute->bias) &&
         (style->terms_of != compute->kind || memcmp(s->k, compute->k, sizeof s->k) == 0);
}

static md_status add_summand(md_model *model, const md_compute *compute)
{
  const md_compute_style *style = styles[styles[compute->kind]->terms_of];
  md_summand *s = &model->summand[model->nsummand];
  *s = (md_summand){.kind = style->terms_of,
                    .group = md_group_bit(compute->group),
                    .first = model->nterm,
                    .n = style->nterm,
                    .dim = model->box.dim,
                    .quantum = model->grids.v,
                    .mass_reference = model->mass_reference,
                    .bias = compute->bias};
  memcpy(s->k, compute->k, sizeof s->k);
  if (s->first + s->n > MD_TERMS_MAX)
    return md_error(MD_USAGE, "compute %s: all computes together may have at most %d sums", compute->id,
                    MD_TERMS_MAX);
  style->prepare(model, s);
  for (int t = 0; t < s->n; ++t) s->per_unit[t] = 1.0 / (s->unit[t] * MD_FINE);
  ++model->nsummand;
  model->nterm += s->n;
  return MD_OK;
}

static md_status check_style(md_compute_kind kind)
{
  const md_compute_style *style = styles[kind];
  if (has_terms[kind] == (style->terms_of == kind) && has_terms[kind] == (style->prepare != NULL) &&
      has_each[kind] == (style->nvalue == 0) &&
      (has_each[kind] || (style->of_places && kind != MD_COMPUTE_temp_region)) == (style->value == NULL) &&
      has_each[kind] == (style->largest != NULL))
    return MD_OK;
  return md_error(MD_RUNTIME, "compute %s: its file lacks a part, or has one too many (compute.h)",
                  style->name);
}

md_status md_compute_join(md_model *model, md_compute *compute)
{
  MD_TRY(check_style(compute->kind));
  compute->summand = -1;
  if (styles[compute->kind]->terms_of == MD_COMPUTE_KINDS || md_compute_is_of_places(compute)) return MD_OK;
  int s = 0;
  while (s < model->nsummand && !same_terms(&model->summand[s], compute)) ++s;
  if (s == model->nsummand) MD_TRY(add_summand(model, compute));
  compute->summand = s;
  return MD_OK;
}

/* The box may have changed since the deck gave a ramp. Its velocities must be in the range of sums. */
static md_status settle_ramp(const md_model *model, md_compute *compute)
{
  double *k = compute->bias.k;
  if (compute->bias.kind != MD_BIAS_RAMP) return MD_OK;
  const int along = (int)k[1];
  k[6] = model->box.lo[along];
  k[7] = model->box.periodic[along] ? model->box.length[along] : 0.0;
  const bool upright = along == 1 && model->box.tilt[MD_YZ] == 0.0 && !model->box.shears[MD_YZ];
  if (model->box.triclinic && along < model->box.dim - 1 && !upright)
    return md_error(MD_USAGE, "compute %s: in a tilted box the velocity of a ramp can only change along %c",
                    compute->id, "xyz"[model->box.dim - 1]);
  if (fabs(k[2]) <= model->speed_limit && fabs(k[3]) <= model->speed_limit) return MD_OK;
  return md_error(MD_USAGE,
                  "compute %s: the velocities %g and %g of its ramp must be below the speed limit, %g",
                  compute->id, k[2], k[3], model->speed_limit);
}

md_status md_compute_take_flow(const md_model *model, md_compute *compute)
{
  static const int moves[] = {0, 0, 1}, across[] = {1, 2, 2};
  const double *rate = model->flow.rate;
  int part = -1, found = 0;
  for (int k = 0; k < 3; ++k)
    if (rate[k] != 0.0) {
      part = k;
      ++found;
    }
  if (found != 1)
    return md_error(
        MD_USAGE,
        "%s needs a fix deform that shears the box by one of xy, xz and yz, with erate or vel; there are "
        "%d such shears",
        compute->id[0] ? compute->id : "the temperature of fix nvt/sllod", found);
  const int to = across[part];
  const double k[] = {moves[part], to, 0.0, rate[part], model->box.lo[to], model->box.hi[to]};
  compute->bias = (md_bias){.kind = MD_BIAS_RAMP};
  memcpy(compute->bias.k, k, sizeof k);
  return settle_ramp(model, compute);
}

/* Finds the temperature of a pressure, and makes the compute of its tensor. MD_USAGE: it is to have the virial of pairs
 * alone, and there are bonds. */
static md_status join_pressure(md_model *model, int index)
{
  md_compute *pressure = &model->compute[index], *tensor = &model->tensor[index];
  if (pressure->k[3] != 0.0 && model->bonds.ntypes > 0)
    return md_error(
        MD_USAGE,
        "compute %s: the virials of pairs and bonds are one sum; use `virial`, which has both, or "
        "compute stress/atom for one of them",
        pressure->id);
  *tensor = (md_compute){.id = "pressure tensor", .kind = MD_COMPUTE_pressure_tensor};
  memcpy(tensor->k, pressure->k, sizeof tensor->k);
  if (pressure->k[0] == 0.0) {
    char what[80];
    snprintf(what, sizeof what, "the pressure %s", pressure->id);
    MD_TRY(md_compute_temperature(model, what, pressure->of, true, &pressure->temperature));
    const md_compute *temperature = &model->compute[pressure->temperature];
    pressure->summand = temperature->summand;
    tensor->temperature = pressure->temperature;
    tensor->group = temperature->group;
    tensor->bias = temperature->bias;
  }
  return md_compute_join(model, tensor);
}

md_status md_computes_prepare(md_model *model)
{
  model->nsummand = model->nterm = 0;
  for (int c = 0; c < model->ncompute; ++c) {
    if (model->compute[c].kind == MD_COMPUTE_temp_deform)
      MD_TRY(md_compute_take_flow(model, &model->compute[c]));
    MD_TRY(settle_ramp(model, &model->compute[c]));
    if (model->compute[c].bias.kind == MD_BIAS_BLOCK)
      md_bias_settle_block(&model->compute[c].bias, &model->box, md_model_margin(model));
    MD_TRY(md_compute_join(model, &model->compute[c]));
  }
  for (int c = 0; c < model->ncompute; ++c)
    if (model->compute[c].kind == MD_COMPUTE_pressure) MD_TRY(join_pressure(model, c));
  return MD_OK;
}

md_wanted md_computes_want(const md_compute *compute, int n)
{
  md_wanted wanted = {.pairs = false};
  for (int c = 0; c < n; ++c) {
    if (styles[compute[c].kind]->of_pairs) wanted.pairs = true;
    if (styles[compute[c].kind]->of_tensor) wanted.tensor = true;
    if (compute[c].summand >= 0) wanted.summands |= UINT64_C(1) << compute[c].summand;
  }
  return wanted;
}

void md_compute_evaluate(const md_model *model, const md_compute *compute, const md_measure *measure,
                         double *value)
{
  const md_compute_style *style = styles[compute->kind];
  if (!style->value) return;
  md_compute_sums sums = {.all = measure, .count = model->groups.count[compute->group]};
  if (compute->group == 0) sums.count = measure->count;
  if (compute->summand >= 0) {
    const md_summand *s = &model->summand[compute->summand];
    sums.term = measure->term + s->first;
    sums.unit = s->unit;
  }
  style->value(model, compute, &sums, value);
}

void md_computes_value(const md_model *model, const md_measure *measure, md_computed *computed)
{
  *computed = (md_computed){.n = model->ncompute,
                            .fix_energy = measure->fix_energy,
                            .bond_energy = md_bond_energy_of(model, measure)};
  for (int c = 0; c < model->ncompute; ++c)
    md_compute_evaluate(model, &model->compute[c], measure, computed->value[c]);
}
