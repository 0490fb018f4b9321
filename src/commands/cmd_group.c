/* The command group: named sets of particles; see common/groups.h.
 *
 * A group is fixed when the command is given. A particle that is made later is in no group but `all`. A second command
 * with the same name adds particles, as in LAMMPS.
 */
#include "common/ranks/reductions.h"
#include "src/commands/groups.h"
#include "src/particles/lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

md_status md_group_find(const md_sim *sim, const char *name, int *group)
{
  const md_groups *groups = &sim->model.groups;
  char known[512] = "";
  for (int g = 0; g < groups->n; ++g) {
    *group = g;
    if (strcmp(groups->name[g], name) == 0) return MD_OK;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, " %s", groups->name[g]);
  }
  return md_error(MD_USAGE, "unknown group '%.64s'; there are:%s", name, known);
}

/* The group with this name; a new and empty one if there is none. */
static md_status find_or_make(md_sim *sim, const char *name, int *group)
{
  md_groups *groups = &sim->model.groups;
  for (int g = 0; g < groups->n; ++g)
    if (strcmp(groups->name[g], name) == 0) {
      *group = g;
      return MD_OK;
    }
  if (strlen(name) >= sizeof groups->name[0])
    return md_error(MD_USAGE, "group: the name '%.80s' is longer than %zu letters", name,
                    sizeof groups->name[0] - 1);
  if (groups->n == MD_GROUPS_MAX)
    return md_error(MD_USAGE, "group: at most %d groups are accepted, with `all`", MD_GROUPS_MAX);
  MD_TRY(md_comm_agree(sim->comm, md_particles_make_groups(&sim->particles)));
  *group = groups->n++;
  snprintf(groups->name[*group], sizeof groups->name[0], "%s", name);
  return MD_OK;
}

/* ---- which particles ---- */

typedef struct selection {
  const char *style;
  uint16_t *type; /* [ntypes + 1]; of style type: 1 if chosen. Owned */
  int64_t first, last, step;
  const md_region *region;
  uint32_t any, all, none; /* particles in one of `any`, in all of `all` and in none of `none` */
} selection;

static bool selects(const selection *s, const md_particles *p, int64_t i)
{
  if (s->type) return s->type[p->type[i]] != 0;
  if (s->step) return p->id[i] >= s->first && p->id[i] <= s->last && (p->id[i] - s->first) % s->step == 0;
  if (s->region) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    return md_region_contains(s->region, x, p->dim);
  }
  const uint32_t word = p->group[i];
  return (word & s->any) != 0 && (word & s->all) == s->all && (word & s->none) == 0;
}

static void add_selected(md_particles *p, const selection *s, uint32_t bit)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (selects(s, p, i)) p->group[i] |= bit;
}

/* N, N:M or N:M:STEP */
static md_status read_ids(const char *word, selection *s)
{
  char part[3][32] = {"", "", "1"};
  int n = 0;
  for (const char *at = word; n < 3; ++n) {
    const size_t length = strcspn(at, ":");
    if (length == 0 || length >= sizeof part[0]) break;
    memcpy(part[n], at, length);
    part[n][length] = '\0';
    at += length;
    if (*at == '\0') {
      ++n;
      break;
    }
    ++at;
  }
  if (n == 1) memcpy(part[1], part[0], sizeof part[1]);
  MD_TRY(md_word_int64(part[0], "an id of group", 1, INT64_MAX, &s->first));
  MD_TRY(md_word_int64(part[1], "an id of group (write N, N:M or N:M:STEP)", s->first, INT64_MAX, &s->last));
  return md_word_int64(part[2], "the step between ids of group", 1, INT64_MAX, &s->step);
}

static md_status by_ids(md_sim *sim, const md_words *list, uint32_t bit)
{
  for (int check = 1; check >= 0; --check)
    for (int k = 0; k < list->n; ++k) {
      selection s = {0};
      MD_TRY(read_ids(list->word[k], &s));
      if (!check) add_selected(&sim->particles, &s, bit);
    }
  return MD_OK;
}

static md_status by_types(md_sim *sim, const md_words *list, uint32_t bit)
{
  selection s = {0};
  const int ntypes = sim->model.ntypes;
  MD_TRY(md_array_new_zero(&s.type, ntypes + 1, sizeof *s.type, "types of a group"));
  md_status status = MD_OK;
  for (int k = 0; k < list->n && status == MD_OK; ++k) {
    int first = 1, last = 0;
    status = md_word_types(list->word[k], ntypes, &first, &last);
    for (int t = first; t <= last && status == MD_OK; ++t) s.type[t] = 1;
  }
  if (status == MD_OK) add_selected(&sim->particles, &s, bit);
  free(s.type);
  return status;
}

static md_status by_region(md_sim *sim, const md_words *list, uint32_t bit)
{
  selection s = {0};
  if (list->n != 1) return md_error(MD_USAGE, "group region takes one region");
  MD_TRY(md_region_find(sim, list->word[0], &s.region));
  add_selected(&sim->particles, &s, bit);
  return MD_OK;
}

/* union, intersect or subtract of other groups. */
static md_status by_groups(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  selection s = {.any = UINT32_MAX};
  uint32_t first = 0, all = 0;
  for (int k = 0; k < list->n; ++k) {
    int group;
    MD_TRY(md_group_find(sim, list->word[k], &group));
    if (k == 0) first = md_group_bit(group);
    all |= md_group_bit(group);
  }
  if (strcmp(style, "union") == 0)
    s.any = all;
  else if (strcmp(style, "intersect") == 0)
    s.all = all;
  else {
    s.any = first;
    s.none = all & ~first;
  }
  add_selected(&sim->particles, &s, bit);
  return MD_OK;
}

/* ---- the command ---- */

static md_status select_particles(md_sim *sim, const md_words *words, uint32_t bit)
{
  const char *style = words->word[1];
  const md_words list = {words->n - 2, words->word + 2};
  if (strcmp(style, "clear") == 0) {
    for (int64_t i = 0; i < sim->particles.n; ++i) sim->particles.group[i] &= ~bit;
    return MD_OK;
  }
  if (list.n == 0) return md_error(MD_USAGE, "group %s: nothing follows", style);
  if (strcmp(style, "type") == 0) return by_types(sim, &list, bit);
  if (strcmp(style, "id") == 0) return by_ids(sim, &list, bit);
  if (strcmp(style, "region") == 0) return by_region(sim, &list, bit);
  if (strcmp(style, "union") == 0 || strcmp(style, "intersect") == 0 || strcmp(style, "subtract") == 0)
    return by_groups(sim, style, &list, bit);
  return md_error(
      MD_USAGE,
      "group: unknown style '%.64s'; accepted are type, id, region, union, intersect, subtract, clear",
      style);
}

md_status md_groups_count(md_sim *sim)
{
  md_groups *groups = &sim->model.groups;
  const md_particles *p = &sim->particles;
  int64_t count[MD_GROUPS_MAX] = {0};
  if (groups->n == 1) return MD_OK;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (int64_t i = 0; i < p->n; ++i)
    for (int g = 0; g < groups->n; ++g) count[g] += p->group[i] >> g & 1;
  MD_TRY(sim->comm->reduce->sum(sim->comm, count, groups->n));
  memcpy(groups->count, count, sizeof count);
  return MD_OK;
}

md_status md_do_group(md_sim *sim, const md_words *words)
{
  const md_groups before = sim->model.groups;
  int group;
  MD_TRY(md_sim_need_box(sim, "group"));
  if (strcmp(words->word[0], "all") == 0) return md_error(MD_USAGE, "group: `all` cannot be changed");
  MD_TRY(find_or_make(sim, words->word[0], &group));
  const md_status status = md_comm_agree(sim->comm, select_particles(sim, words, md_group_bit(group)));
  if (status != MD_OK) {
    sim->model.groups = before;
    return status;
  }
  MD_TRY(md_groups_count(sim));
  md_log_print(sim->log, "%lld particles in group %s\n", (long long)sim->model.groups.count[group],
               words->word[0]);
  return MD_OK;
}
