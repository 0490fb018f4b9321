/* The command group: named sets of particles; see common/groups.h.
 *
 * A group is fixed when the command is given, unless it is dynamic (dynamic_group.h). A particle that is made later is
 * in no group but `all`. A second command with the same name adds particles, as in LAMMPS.
 */
#include "common/base/name_list.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"
#include "src/formula/particle_values.h"
#include "src/group/dynamic_group.h"
#include "src/group/groups.h"
#include "src/region/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

md_status md_group_find(const md_sim *sim, const char *name, int *group)
{
  const md_groups *groups = &sim->model.groups;
  char known[512] = "";
  for (int g = 0; g < groups->n; ++g) {
    if (!groups->name[g][0]) continue;
    *group = g;
    if (strcmp(groups->name[g], name) == 0) return MD_OK;
    md_name_list_add(known, sizeof known, " ", groups->name[g]);
  }
  return md_error(MD_USAGE, "unknown group '%.64s'; there are: %s", name, known);
}

md_status md_group_find_or_make(md_sim *sim, const char *name, int *group)
{
  md_groups *groups = &sim->model.groups;
  int unused = groups->n;
  if (!*name) return md_error(MD_USAGE, "group: the name is empty");
  for (int g = 0; g < groups->n; ++g) {
    *group = g;
    if (strcmp(groups->name[g], name) == 0) return MD_OK;
    if (!groups->name[g][0] && unused == groups->n) unused = g;
  }
  if (strlen(name) >= sizeof groups->name[0])
    return md_error(MD_USAGE, "group: the name '%.80s' is longer than %zu letters", name,
                    sizeof groups->name[0] - 1);
  if (unused == MD_GROUPS_MAX)
    return md_error(MD_USAGE, "group: at most %d groups are accepted, with `all`", MD_GROUPS_MAX);
  MD_TRY(md_comm_agree(sim->comm, md_particles_make_groups(&sim->particles)));
  *group = unused;
  if (unused == groups->n) ++groups->n;
  snprintf(groups->name[*group], sizeof groups->name[0], "%s", name);
  return MD_OK;
}

/* ---- which particles ---- */

enum number { NO_NUMBER, TYPE, ID, MOLECULE };

/* Particles are chosen by a number that they have, by a region or by their groups: the first that is given. */
typedef struct selection {
  enum number by;
  bool not ; /* the numbers outside of first..last */
  int64_t first, last, step;
  const md_region *region;
  uint32_t any, all, none; /* particles in one of `any`, in all of `all` and in none of `none` */
} selection;

static bool selects(const selection *s, const md_particles *p, int64_t i)
{
  if (s->by != NO_NUMBER) {
    const int64_t n = s->by == TYPE ? p->type[i] : s->by == ID ? p->id[i] : (int64_t)p->molecule[i];
    const bool within = n >= s->first && n <= s->last;
    return within != s->not &&(s->step == 1 || (n - s->first) % s->step == 0);
  }
  if (s->region) return md_region_has(s->region, p, i);
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
static md_status read_range(const char *word, selection *s)
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
  const char *const one[] = {[TYPE] = "a type", [ID] = "an id", [MOLECULE] = "a molecule"};
  const char *const many[] = {[TYPE] = "types", [ID] = "ids", [MOLECULE] = "molecules"};
  char first[64], last[64], step[64];
  snprintf(first, sizeof first, "%s of group", one[s->by]);
  snprintf(last, sizeof last, "the last %s of group (write N, N:M or N:M:STEP)",
           one[s->by] + (s->by == ID ? 3 : 2));
  snprintf(step, sizeof step, "the step between %s of group", many[s->by]);
  /* The molecule 0 is that of particles in none. */
  MD_TRY(md_word_int64(part[0], first, s->by == MOLECULE ? 0 : 1, INT64_MAX, &s->first));
  MD_TRY(md_word_int64(part[1], last, s->first, INT64_MAX, &s->last));
  return md_word_int64(part[2], step, 1, INT64_MAX, &s->step);
}

/* A type as elsewhere (2, *, 2*, *3, 2*3), or a range. */
static md_status read_item(const md_sim *sim, const char *word, selection *s)
{
  int first, last;
  if (s->by != TYPE || strchr(word, ':')) return read_range(word, s);
  MD_TRY(md_word_types(word, sim->model.ntypes, &first, &last));
  s->first = first;
  s->last = last;
  s->step = 1;
  return MD_OK;
}

static md_status by_list(md_sim *sim, const md_words *list, enum number by, uint32_t bit)
{
  for (int check = 1; check >= 0; --check)
    for (int k = 0; k < list->n; ++k) {
      selection s = {.by = by};
      MD_TRY(read_item(sim, list->word[k], &s));
      if (!check) add_selected(&sim->particles, &s, bit);
    }
  return MD_OK;
}

/* The comparisons of LAMMPS. Each is a range of numbers, or what is outside of one: `first` and `last` say whether the
 * number, the number next to it or no limit is that end. */
enum end { ALL, HERE, NEXT };
static const struct {
  const char *name;
  enum end first, last;
  bool not ;
} comparisons[] = {{"<", ALL, NEXT, false},  {">", NEXT, ALL, false},   {"<=", ALL, HERE, false},
                   {">=", HERE, ALL, false}, {"==", HERE, HERE, false}, {"!=", HERE, HERE, true},
                   {"<>", HERE, HERE, false}};
enum { COMPARISONS = sizeof comparisons / sizeof comparisons[0] };

static int comparison_of(const char *word)
{
  int c = 0;
  while (c < COMPARISONS && strcmp(comparisons[c].name, word) != 0) ++c;
  return c;
}

/* Reads `< N`, `<> N M` and so on. */
static md_status by_comparison(md_sim *sim, const md_words *list, enum number by, uint32_t bit)
{
  const int c = comparison_of(list->word[0]);
  const bool between = strcmp(list->word[0], "<>") == 0;
  if (list->n != 2 + between)
    return md_error(MD_USAGE, "group: '%s' takes %s after it, not %d", list->word[0],
                    between ? "two numbers" : "one number", list->n - 1);
  selection s = {.by = by, .step = 1, .not = comparisons[c].not };
  int64_t a, b;
  MD_TRY(md_word_int64(list->word[1], "the number of a comparison", 0, INT64_MAX - 1, &a));
  b = a;
  if (between)
    MD_TRY(md_word_int64(list->word[2], "the second number of a comparison", a, INT64_MAX - 1, &b));
  s.first = comparisons[c].first == ALL ? INT64_MIN : a + (comparisons[c].first == NEXT);
  s.last = comparisons[c].last == ALL ? INT64_MAX : b - (comparisons[c].last == NEXT);
  add_selected(&sim->particles, &s, bit);
  return MD_OK;
}

static md_status by_numbers(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  const enum number by = strcmp(style, "type") == 0 ? TYPE : strcmp(style, "id") == 0 ? ID : MOLECULE;
  if (by == MOLECULE && !sim->model.bonded)
    return md_error(MD_USAGE, "group molecule: particles have no molecules; use atom_style bond");
  return comparison_of(list->word[0]) < COMPARISONS ? by_comparison(sim, list, by, bit)
                                                    : by_list(sim, list, by, bit);
}

static md_status by_region(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  selection s = {0};
  if (list->n != 1) return md_error(MD_USAGE, "group %s takes one region", style);
  MD_TRY(md_region_find(sim, list->word[0], &s.region));
  add_selected(&sim->particles, &s, bit);
  return MD_OK;
}

/* The particles for which a variable of style atom is not 0. */
static md_status by_variable(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  md_particles *p = &sim->particles;
  double *value;
  char name[256];
  if (list->n != 1 || !md_variables_is_atom(sim->variables, list->word[0]))
    return md_error(MD_USAGE, "group %s takes the name of one variable of style atom, not '%.64s'", style,
                    list->word[list->n - 1]);
  snprintf(name, sizeof name, "v_%s", list->word[0]);
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value, p->n, sizeof *value, "the values of a variable")));
  const md_status status = md_particle_values_of(sim, name, value);
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
    if (value[i] != 0.0) p->group[i] |= bit;
  free(value);
  return status;
}

/* union, intersect or subtract of other groups. */
static md_status by_groups(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  if (list->n < 2 && strcmp(style, "union") != 0)
    return md_error(MD_USAGE, "group %s takes at least two groups, not %d", style, list->n);
  selection s = {.any = UINT32_MAX};
  uint32_t first = 0, all = 0, rest = 0;
  for (int k = 0; k < list->n; ++k) {
    int group;
    MD_TRY(md_group_find(sim, list->word[k], &group));
    if (k == 0)
      first = md_group_bit(group);
    else
      rest |= md_group_bit(group);
    all |= md_group_bit(group);
  }
  if (strcmp(style, "union") == 0)
    s.any = all;
  else if (strcmp(style, "intersect") == 0)
    s.all = all;
  else {
    s.any = first;
    s.none = rest;
  }
  add_selected(&sim->particles, &s, bit);
  return MD_OK;
}

static void clear_group(md_particles *p, uint32_t bit)
{
  for (int64_t i = 0; i < p->n; ++i) p->group[i] &= ~bit;
}

static md_status clear(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  (void)style, (void)list;
  clear_group(&sim->particles, bit);
  return MD_OK;
}

static md_status add_none(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  (void)sim, (void)style, (void)list, (void)bit;
  return MD_OK;
}

static md_status refuse(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  (void)sim, (void)list, (void)bit;
  return md_error(
      MD_USAGE, "group %s: the molecules of other particles are not looked for; name them by group molecule",
      style);
}

/* The number of the group with this bit. */
static int group_of(uint32_t bit)
{
  int group = 0;
  while (md_group_bit(group) != bit) ++group;
  return group;
}

static md_status make_dynamic(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  (void)style;
  return md_dynamic_group_make(sim, group_of(bit), list);
}

static md_status make_static(md_sim *sim, const char *style, const md_words *list, uint32_t bit)
{
  (void)style, (void)list;
  return md_dynamic_group_end(sim, group_of(bit));
}

/* ---- the command ---- */

static const struct {
  const char *name;
  bool listed; /* a list follows; otherwise nothing does */
  md_status (*apply)(md_sim *, const char *style, const md_words *list, uint32_t bit);
} styles[] = {{"type", true, by_numbers},    {"id", true, by_numbers},        {"region", true, by_region},
              {"union", true, by_groups},    {"intersect", true, by_groups},  {"subtract", true, by_groups},
              {"clear", false, clear},       {"empty", false, add_none},      {"molecule", true, by_numbers},
              {"include", true, refuse},     {"variable", true, by_variable}, {"dynamic", true, make_dynamic},
              {"static", false, make_static}};

/* MD_USAGE: the group is dynamic, and the style would add particles or take them out. */
static md_status need_static(const md_sim *sim, const char *style, uint32_t bit)
{
  const int group = group_of(bit);
  if (!md_dynamic_group_is(sim, group) || strcmp(style, "dynamic") == 0 || strcmp(style, "static") == 0)
    return MD_OK;
  return md_error(MD_USAGE, "group %s: the group %s is dynamic; make it static first", style,
                  sim->model.groups.name[group]);
}

static md_status select_particles(md_sim *sim, const md_words *words, uint32_t bit)
{
  const char *style = words->word[1];
  const md_words list = {words->n - 2, words->word + 2};
  MD_TRY(need_static(sim, style, bit));
  for (size_t k = 0; k < sizeof styles / sizeof *styles; ++k) {
    if (strcmp(styles[k].name, style) != 0) continue;
    if (styles[k].listed && list.n == 0) return md_error(MD_USAGE, "group %s: nothing follows", style);
    if (!styles[k].listed && list.n > 0)
      return md_error(MD_USAGE, "group %s: unexpected word '%.64s'", style, list.word[0]);
    return styles[k].apply(sim, style, &list, bit);
  }
  return md_error(MD_USAGE,
                  "group: unknown style '%.64s'; accepted are type, id, region, union, intersect, subtract, "
                  "variable, dynamic, static, clear, empty, delete",
                  style);
}

/* MD_USAGE: something has the group, so that another group of the same number would take its place. */
static md_status need_unused(const md_sim *sim, int group)
{
  const char *name = sim->model.groups.name[group], *user = NULL;
  for (int k = 0; k < sim->model.nfix; ++k)
    if (sim->model.fix[k].group == group || md_fix_couples(&sim->model.fix[k], group))
      user = "a fix (unfix it first)";
  for (int k = 0; k < sim->model.ncompute; ++k)
    if (sim->model.compute[k].group == group) user = "a compute (uncompute it first)";
  for (const md_host_compute *host = sim->host_computes; host; host = host->next)
    if (host->group == group || host->other_group == group) user = "a compute (uncompute it first)";
  for (int k = 0; k < sim->comm->balance.ngroup; ++k)
    if (sim->comm->balance.group[k] == md_group_bit(group))
      user = "the weights of balance (give others first)";
  if (md_dynamic_group_has_parent(sim, group)) user = "a dynamic group, as its parent (make it static first)";
  for (int k = 0; k < 2 * sim->model.exclusions.ngroups; ++k)
    if (sim->model.exclusions.groups[k / 2][k % 2] == group)
      user = "neigh_modify exclude (exclude none first)";
  for (int k = 0; k < sim->model.exclusions.molecules.n; ++k)
    if (sim->model.exclusions.molecules.group[k] == group)
      user = "neigh_modify exclude molecule (exclude none first)";
  for (const md_observer *o = sim->observers; o; o = o->next)
    if (o->group == group) user = md_is_output_fix(o) ? "a fix (unfix it first)" : "a dump (undump it first)";
  return user ? md_error(MD_USAGE, "group '%s' cannot be deleted: it is that of %s", name, user) : MD_OK;
}

/* The other groups keep their numbers. The free number goes to the next group that is made. */
static md_status delete_group(md_sim *sim, const md_words *words)
{
  md_groups *groups = &sim->model.groups;
  int group;
  if (words->n > 2) return md_error(MD_USAGE, "group delete: unexpected word '%.64s'", words->word[2]);
  MD_TRY(md_group_find(sim, words->word[0], &group));
  MD_TRY(need_unused(sim, group));
  MD_TRY(md_dynamic_group_end(sim, group));
  clear_group(&sim->particles, md_group_bit(group));
  groups->name[group][0] = '\0';
  groups->count[group] = 0;
  return MD_OK;
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
  if (strcmp(words->word[1], "delete") == 0) {
    ++sim->history.edits;
    return delete_group(sim, words);
  }
  MD_TRY(md_group_find_or_make(sim, words->word[0], &group));
  /* A fix may have the particles of a group that changes. */
  if (sim->model.groups.n == before.n) ++sim->history.edits;
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
