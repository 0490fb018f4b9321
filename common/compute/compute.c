/* The table of compute styles, and how computes become sums and values of a model; see compute.h. */
#include "common/compute/compute.h"
#include "common/model.h"

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

/* The degrees of freedom of a group. */
static double freedom_of(const md_model *model, const md_compute_sums *sums)
{
  const double dim = model->box.dim;
  return dim * (double)sums->count - dim;
}

/* The temperature of a group. sums: those of compute ke. */
static double temperature_of(const md_model *model, const md_compute_sums *sums)
{
  const double freedom = freedom_of(model, sums);
  return freedom > 0.0 ? 2.0 * md_compute_sum(sums, 0) / freedom : 0.0;
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

int md_compute_count(const md_compute *compute)
{
  const md_compute_style *style = styles[compute->kind];
  int n = 0;
  if (!style->of_places) return style->nvalue;
  while (n < style->nvalue && compute->k[n] != 0.0) ++n;
  return n;
}

md_compute_kind md_compute_find(const char *name)
{
  int kind = 0;
  while (kind < MD_COMPUTE_KINDS && strcmp(styles[kind]->name, name) != 0) ++kind;
  return (md_compute_kind)kind;
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
  }
}

/* The standard computes have only two summands, of ke and of momentum. So that of the pressure tensor has a place. */
_Static_assert((int)MD_COMPUTES_STANDARD > 2,
               "summands of all computes and fixes, and of the pressure tensor");
_Static_assert((int)MD_SUMMANDS_MAX <= 64, "md_wanted has a bit for each summand");

/* Do two computes have the same terms? */
static bool same_terms(const md_summand *s, const md_compute *compute)
{
  const md_compute_style *style = styles[compute->kind];
  return s->kind == style->terms_of && s->group == md_group_bit(compute->group) &&
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
                    .mass_reference = model->mass_reference};
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
      (has_each[kind] || style->of_places) == (style->value == NULL) &&
      has_each[kind] == (style->largest != NULL))
    return MD_OK;
  return md_error(MD_RUNTIME, "compute %s: its file lacks a part, or has one too many (compute.h)",
                  style->name);
}

md_status md_compute_join(md_model *model, md_compute *compute)
{
  MD_TRY(check_style(compute->kind));
  compute->summand = -1;
  if (styles[compute->kind]->terms_of == MD_COMPUTE_KINDS) return MD_OK;
  int s = 0;
  while (s < model->nsummand && !same_terms(&model->summand[s], compute)) ++s;
  if (s == model->nsummand) MD_TRY(add_summand(model, compute));
  compute->summand = s;
  return MD_OK;
}

md_status md_computes_prepare(md_model *model)
{
  model->nsummand = model->nterm = 0;
  for (int c = 0; c < model->ncompute; ++c) MD_TRY(md_compute_join(model, &model->compute[c]));
  model->tensor = (md_compute){.id = "pressure tensor", .kind = MD_COMPUTE_pressure_tensor};
  return md_compute_join(model, &model->tensor);
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
  *computed = (md_computed){.n = model->ncompute, .fix_energy = measure->fix_energy};
  for (int c = 0; c < model->ncompute; ++c)
    md_compute_evaluate(model, &model->compute[c], measure, computed->value[c]);
}
