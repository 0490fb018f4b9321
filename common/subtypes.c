/* Types of particles, divided by groups; see subtypes.h. */
#include "common/subtypes.h"
#include "common/base/memory.h"
#include "common/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pair style with subtypes as types ---- */

static void free_pair(md_pair *pair)
{
  free(pair->parameter);
  free(pair->set);
  free(pair->uses);
  md_eam_free(pair->eam);
  md_three_body_free(pair->three);
  for (int s = 0; s < pair->nsub; ++s) free_pair(&pair->sub[s]);
  free(pair->sub);
  *pair = (md_pair){.kind = MD_PAIR_NONE};
}

/* Rows of `bytes` bytes by pairs of n subtypes, of those by pairs of types. */
static void spread(const void *from, int ntypes, int n, size_t bytes, void *to)
{
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      memcpy((char *)to + ((size_t)a * (size_t)n + (size_t)b) * bytes,
             (const char *)from + ((size_t)(a % ntypes) * (size_t)ntypes + (size_t)(b % ntypes)) * bytes,
             bytes);
}

static md_status divide_pair(const md_pair *pair, int n, md_pair *to)
{
  const long long pairs = (long long)n * n;
  *to = *pair;
  to->ntypes = n;
  to->parameter = NULL, to->set = NULL, to->uses = NULL, to->sub = NULL, to->eam = NULL, to->three = NULL,
  to->nsub = 0;
  if (pair->parameter) {
    const size_t bytes = MD_PAIR_PARAMETERS * sizeof(double);
    MD_TRY(md_array_new(&to->parameter, pairs * MD_PAIR_PARAMETERS, sizeof(double), "pair parameters"));
    spread(pair->parameter, pair->ntypes, n, bytes, to->parameter);
  }
  if (pair->set) {
    MD_TRY(md_array_new(&to->set, pairs, 1, "pair parameters"));
    spread(pair->set, pair->ntypes, n, 1, to->set);
  }
  if (pair->uses) {
    MD_TRY(md_array_new(&to->uses, pairs, sizeof *to->uses, "pair parameters"));
    spread(pair->uses, pair->ntypes, n, sizeof *to->uses, to->uses);
  }
  if (pair->nsub == 0) return MD_OK;
  MD_TRY(md_array_new_zero(&to->sub, pair->nsub, sizeof *to->sub, "pair parameters"));
  for (; to->nsub < pair->nsub; ++to->nsub) MD_TRY(divide_pair(&pair->sub[to->nsub], n, &to->sub[to->nsub]));
  return MD_OK;
}

/* ---- which pairs are excluded ---- */

static bool has_group(const md_model *model, int subtype, int group)
{
  const md_subtypes *s = &model->subtypes;
  for (int g = 0; g < s->ngroup; ++g)
    if (s->group[g] == group) return (s->pattern[subtype / model->ntypes] >> g & 1) != 0;
  return group == 0 || (s->whole[subtype % model->ntypes + 1] >> group & 1) != 0;
}

static bool excludes(const md_model *model, int a, int b)
{
  const int one = a % model->ntypes + 1, two = b % model->ntypes + 1;
  for (int e = 0; e < model->exclusions.ntypes; ++e) {
    const int *type = model->exclusions.types[e];
    if ((type[0] == one && type[1] == two) || (type[0] == two && type[1] == one)) return true;
  }
  for (int e = 0; e < model->exclusions.ngroups; ++e) {
    const int *group = model->exclusions.groups[e];
    if ((has_group(model, a, group[0]) && has_group(model, b, group[1])) ||
        (has_group(model, a, group[1]) && has_group(model, b, group[0])))
      return true;
  }
  return false;
}

/* ---- a style with a density ---- */

/* Copies the `numbers` of each pair of elements. */
static void copy_pairs(const md_model *model, const double *from, size_t numbers, double *to)
{
  const md_eam *eam = model->pair.eam;
  const int n = model->subtypes.n;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b, to += numbers) {
      const int of = eam->element[a % model->ntypes], by = eam->element[b % model->ntypes];
      if (!excludes(model, a, b))
        memcpy(to, from + (size_t)md_eam_pair(eam, of, by) * numbers, numbers * sizeof *to);
    }
}

/* Each subtype is an element. The tables of excluded pairs stay zero, and these never overlap. */
static md_status divide_potential(md_model *model)
{
  const md_eam *eam = model->pair.eam;
  md_subtypes *s = &model->subtypes;
  const long long pairs = (long long)s->n * s->n;
  const size_t embedding = (size_t)eam->nrho * MD_SPLINE_ROW;
  if (s->n > MD_EAM_ELEMENTS)
    return md_error(MD_USAGE,
                    "neigh_modify exclude: %d types in %d combinations of groups are too many; with pair "
                    "style %s, types times combinations must be at most %d",
                    model->ntypes, s->nclass, md_pair_style_of(model->pair.kind)->name, (int)MD_EAM_ELEMENTS);
  md_eam *to = calloc(1, sizeof *to);
  if (!to) return md_error(MD_RUNTIME, "out of memory: a potential");
  s->pair.eam = to;
  *to = *eam;
  to->nelement = s->n;
  to->nfile = 0;
  to->file = NULL;
  to->embedding = to->density = to->force = to->near2 = NULL;
  to->element = NULL;
  MD_TRY(md_array_new(&to->element, s->n, sizeof *to->element, "elements of types"));
  MD_TRY(md_array_new(&to->embedding, (long long)s->n * (long long)embedding, sizeof(double), "a potential"));
  MD_TRY(md_array_new_zero(&to->density, pairs * eam->nr * MD_SPLINE, sizeof(double), "a potential"));
  MD_TRY(md_array_new_zero(&to->force, pairs * eam->nr * MD_SPLINE_ROW, sizeof(double), "a potential"));
  MD_TRY(md_array_new_zero(&to->near2, pairs, sizeof(double), "a potential"));
  for (int a = 0; a < s->n; ++a) {
    const int element = eam->element[a % model->ntypes];
    to->element[a] = a;
    memcpy(to->embedding + (size_t)a * embedding, eam->embedding + (size_t)element * embedding,
           embedding * sizeof(double));
  }
  copy_pairs(model, eam->density, (size_t)eam->nr * MD_SPLINE, to->density);
  copy_pairs(model, eam->force, (size_t)eam->nr * MD_SPLINE_ROW, to->force);
  copy_pairs(model, eam->near2, 1, to->near2);
  return MD_OK;
}

/* ---- a three-body style ---- */

/* Each subtype is an element. Excluded pairs are no legs, and have no coefficients. */
static md_status divide_three_body(md_model *model)
{
  const md_three_body *three = model->pair.three;
  md_subtypes *s = &model->subtypes;
  if (s->n > MD_THREE_ELEMENTS)
    return md_error(MD_USAGE,
                    "neigh_modify exclude: %d types in %d combinations of groups are too many; with pair "
                    "style %s, types times combinations must be at most %d",
                    model->ntypes, s->nclass, md_pair_style_of(model->pair.kind)->name,
                    (int)MD_THREE_ELEMENTS);
  md_three_body *to = calloc(1, sizeof *to);
  if (!to) return md_error(MD_RUNTIME, "out of memory: a potential");
  s->pair.three = to;
  *to = *three;
  to->nelement = s->n;
  to->leg = NULL, to->phi = NULL, to->element = NULL;
  MD_TRY(md_array_new(&to->element, s->n, sizeof *to->element, "elements of types"));
  MD_TRY(md_array_new_zero(&to->leg, s->n * s->n, sizeof *to->leg, "a potential"));
  MD_TRY(md_array_new_zero(&to->phi, s->n * s->n, sizeof *to->phi, "a potential"));
  for (int a = 0; a < s->n; ++a) {
    const int of = three->element[a % model->ntypes];
    to->element[a] = a;
    to->cosine[a] = three->cosine[of];
    for (int b = 0; b < s->n; ++b) {
      const int pair = of * three->nelement + three->element[b % model->ntypes];
      if (excludes(model, a, b)) continue;
      to->leg[a * s->n + b] = three->leg[pair];
      memcpy(to->phi[a * s->n + b], three->phi[pair], sizeof *to->phi);
    }
  }
  return MD_OK;
}

/* ---- the model ---- */

void md_subtypes_free(md_subtypes *subtypes)
{
  free_pair(&subtypes->pair);
  free(subtypes->whole);
  *subtypes = (md_subtypes){.pair = {.kind = MD_PAIR_NONE}};
}

static md_status add_group(md_subtypes *s, int group)
{
  for (int g = 0; g < s->ngroup; ++g)
    if (s->group[g] == group) return MD_OK;
  if (group == 0) return MD_OK; /* every particle is in it */
  if (s->ngroup == MD_DIVIDING_MAX)
    return md_error(MD_USAGE,
                    "neigh_modify exclude group: at most %d groups that have only parts of types: give more "
                    "particles types "
                    "of their own",
                    (int)MD_DIVIDING_MAX);
  s->group[s->ngroup++] = group;
  return MD_OK;
}

md_status md_subtypes_groups(const md_model *model, const md_memberships *memberships, md_subtypes *subtypes)
{
  uint32_t divide = 0;
  subtypes->ngroup = 0;
  for (int t = 1; t <= model->ntypes; ++t) divide |= memberships->some[t] & memberships->missing[t];
  for (int e = 0; e < 2 * model->exclusions.ngroups; ++e) {
    const int group = model->exclusions.groups[e / 2][e % 2];
    if (divide >> group & 1) MD_TRY(add_group(subtypes, group));
  }
  return MD_OK;
}

/* Replaces a table of pairs of types by one of pairs of subtypes. */
static md_status renew_table(const md_model *model, double scale, double **k)
{
  free(*k);
  *k = NULL;
  MD_TRY(md_array_new_zero(k, md_model_pair_numbers(model), sizeof **k, "pair coefficients"));
  md_model_pair_table(model, scale, *k);
  return MD_OK;
}

static md_status divide_tables(md_model *model)
{
  const int n = md_model_subtypes(model);
  double *overlap2 = NULL;
  MD_TRY(renew_table(model, model->impulse_scale, &model->impulse_k));
  MD_TRY(renew_table(model, model->force_scale, &model->force_k));
  MD_TRY(md_array_new(&overlap2, (long long)n * n, sizeof *overlap2, "pair coefficients"));
  spread(model->overlap2, model->ntypes, n, sizeof *overlap2, overlap2);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b)
      if (excludes(model, a, b)) overlap2[(size_t)a * (size_t)n + (size_t)b] = 0.0;
  free(model->overlap2);
  model->overlap2 = overlap2;
  return MD_OK;
}

md_status md_model_divide(md_model *model, const md_memberships *memberships, const bool has[MD_PATTERNS])
{
  md_subtypes *s = &model->subtypes;
  const bool density = md_pair_has_density(&model->pair), three_body = md_pair_is_three_body(&model->pair);
  if (model->pair.kind == MD_PAIR_NONE) return MD_OK;
  if (model->exclusions.ngroups == 0 && !((density || three_body) && model->exclusions.ntypes > 0))
    return MD_OK;
  md_subtypes_free(s);
  MD_TRY(md_array_new(&s->whole, model->ntypes + 1, sizeof *s->whole, "groups of types"));
  for (int t = 1; t <= model->ntypes; ++t) s->whole[t] = memberships->some[t] & ~memberships->missing[t];
  MD_TRY(md_subtypes_groups(model, memberships, s));
  for (int pattern = 0; pattern < 1 << s->ngroup; ++pattern) {
    if (!has[pattern]) continue;
    s->class_of[pattern] = s->nclass;
    s->pattern[s->nclass++] = pattern;
  }
  s->nclass = s->nclass > 0 ? s->nclass : 1; /* without particles */
  if (model->ntypes * s->nclass > MD_TYPES_MAX)
    return md_error(MD_USAGE,
                    "neigh_modify exclude group: %d types in %d combinations of groups are too many; types "
                    "times combinations must be at most %d",
                    model->ntypes, s->nclass, (int)MD_TYPES_MAX);
  if (s->ngroup == 0 && !density && !three_body) return divide_tables(model);
  MD_TRY(divide_pair(&model->pair, model->ntypes * s->nclass, &s->pair));
  s->n = model->ntypes * s->nclass;
  if (density) MD_TRY(divide_potential(model));
  if (three_body) MD_TRY(divide_three_body(model));
  return divide_tables(model);
}

/* Excluded pairs have no force and no energy. */
void md_model_pair_table(const md_model *model, double scale, double *k)
{
  const md_pair *pair = md_model_pair(model);
  if (!model->subtypes.whole) {
    md_model_type_table(model, scale, k);
    return;
  }
  md_pair_table(pair, model->mass, scale, k);
  for (int a = 0; a < pair->ntypes; ++a)
    for (int b = a; b < pair->ntypes; ++b)
      if (excludes(model, a, b)) md_pair_exclude(pair, k, a, b);
}
