/* The command `set`: sets types, masses, positions, velocities and molecules of selected particles.
 *
 * The particles are selected once, before the first keyword. Then each keyword is applied to all of
 * them. All words are checked before anything changes. The result for a particle depends only on its id, its fields and
 * the seed. So it is the same for any number of threads and ranks, and for any order of the particles.
 *
 * Units: sigma, tau; not those of the lattice, as in LAMMPS. Memory: a byte for each particle while the command runs.
 * Reference: the LAMMPS manual, command set.
 */
#include "common/arithmetic/rng.h"
#include "common/base/name_list.h"
#include "common/ranks/reductions.h"
#include "src/edit/edit.h"
#include "src/follow/images.h"
#include "src/group/groups.h"
#include "src/properties/property.h"
#include "src/region/region.h"
#include "src/sums/masses.h"

#include <stdlib.h>
#include <string.h>

/* The words of one keyword, read. */
typedef struct setting {
  int axis;
  int64_t type, count, seed;
  double value;     /* a fraction */
  bool flags[3];    /* which image flags are set, ... */
  double flag[3];   /* ... and to what */
  const char *name; /* of a property */
  md_property property;
  md_formula_value quantity; /* a mass, a coordinate or a velocity, perhaps of each particle */
} setting;

typedef struct set_keyword {
  const char *name;
  int words; /* after the name */
  const char *usage;
  int axis;
  md_status (*read)(md_sim *, char *const *word, setting *);
  /* Applies the setting to the particles of this rank with chosen[i] != 0, or sets chosen[i] to 0. Collective. */
  md_status (*apply)(md_sim *, const setting *, uint8_t *chosen);
} set_keyword;

/* ---- selections ---- */

/* The selected particles: those of a group or a region, with a type and an id within these bounds. */
typedef struct selection {
  int type_first, type_last;
  int64_t id_first, id_last;
  uint32_t group;
  const md_region *region;
} selection;

/* Reads a range of ids: ID, FIRST*LAST, *LAST, FIRST* or *. */
static md_status read_ids(const char *word, int64_t *first, int64_t *last)
{
  const char *star = strchr(word, '*');
  *first = 1;
  *last = INT64_MAX;
  if (!star) {
    MD_TRY(md_word_int64(word, "particle id", 1, INT64_MAX, first));
    *last = *first;
    return MD_OK;
  }
  char from[32];
  const size_t length = (size_t)(star - word);
  if (length >= sizeof from)
    return md_error(MD_USAGE, "set atom: '%s' is not a range of ids such as 10*20", word);
  memcpy(from, word, length);
  from[length] = '\0';
  if (length > 0) MD_TRY(md_word_int64(from, "first particle id", 1, INT64_MAX, first));
  if (star[1]) MD_TRY(md_word_int64(star + 1, "last particle id", *first, INT64_MAX, last));
  return MD_OK;
}

static md_status read_selection(const md_sim *sim, const char *style, const char *word, selection *s)
{
  int group;
  *s = (selection){1, sim->model.ntypes, 1, INT64_MAX, MD_GROUP_ALL, NULL};
  if (strcmp(style, "type") == 0)
    return md_word_types(word, sim->model.ntypes, &s->type_first, &s->type_last);
  if (strcmp(style, "atom") == 0) return read_ids(word, &s->id_first, &s->id_last);
  if (strcmp(style, "region") == 0) return md_region_find(sim, word, &s->region);
  if (strcmp(style, "group") == 0) {
    MD_TRY(md_group_find(sim, word, &group));
    s->group = md_group_bit(group);
    return MD_OK;
  }
  return md_error(MD_USAGE, "set: unknown selection '%s'; accepted are type, atom, group, region", style);
}

static void select_particles(const md_particles *p, const selection *s, uint8_t *selected)
{
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    selected[i] = p->type[i] >= s->type_first && p->type[i] <= s->type_last && p->id[i] >= s->id_first &&
                  p->id[i] <= s->id_last && md_particles_in_group(p, s->group, i) &&
                  (!s->region || md_region_has(s->region, p, i));
}

/* ---- keywords ---- */

static md_status read_type(md_sim *sim, char *const *word, setting *s)
{
  return md_word_int64(word[0], "particle type", 1, sim->model.ntypes, &s->type);
}

static md_status read_fraction(md_sim *sim, char *const *word, setting *s)
{
  MD_TRY(read_type(sim, word, s));
  MD_TRY(md_word_double(word[1], "fraction", &s->value));
  if (s->value < 0.0 || s->value > 1.0)
    return md_error(MD_USAGE, "set: the fraction '%s' is not within 0 and 1", word[1]);
  return md_word_int64(word[2], "seed", 1, INT64_MAX, &s->seed);
}

static md_status read_subset(md_sim *sim, char *const *word, setting *s)
{
  MD_TRY(read_type(sim, word, s));
  MD_TRY(md_word_int64(word[1], "number of particles", 0, INT64_MAX, &s->count));
  return md_word_int64(word[2], "seed", 1, INT64_MAX, &s->seed);
}

static md_status read_component(md_sim *sim, char *const *word, setting *s)
{
  if (s->axis >= sim->model.box.dim)
    return md_error(MD_USAGE, "set: there is no z component in two dimensions");
  return md_edit_values(sim, word[0], "value of set", &s->quantity);
}

static md_status read_mass(md_sim *sim, char *const *word, setting *s)
{
  MD_TRY(md_masses_need(sim, "set mass"));
  MD_TRY(md_edit_values(sim, word[0], "mass", &s->quantity));
  if (s->quantity.each || (s->quantity.one > 0.0 && isfinite(s->quantity.one))) return MD_OK;
  return md_error(MD_USAGE, "set mass: '%.64s' is not a positive number", word[0]);
}

static md_status read_property(md_sim *sim, char *const *word, setting *s)
{
  MD_TRY(md_property_need(sim, "set", s->name, &s->property));
  MD_TRY(md_edit_values(sim, word[0], "value of set", &s->quantity));
  return s->quantity.each ? MD_OK : md_property_check(&s->property, s->name, s->quantity.one);
}

/* MD_USAGE: no particle has a molecule of that number. */
static md_status check_molecule(double value)
{
  if (value == floor(value) && value >= 0.0 && value <= (double)UINT32_MAX) return MD_OK;
  return md_error(MD_USAGE, "set mol: the number of a molecule is a whole number within 0 and %lld, not %g",
                  (long long)UINT32_MAX, value);
}

/* With atom_style bond particles have molecules, else perhaps a property of this name. */
static md_status read_molecule(md_sim *sim, char *const *word, setting *s)
{
  if (!sim->model.bonded) return read_property(sim, word, s);
  MD_TRY(md_edit_values(sim, word[0], "value of set", &s->quantity));
  return s->quantity.each ? MD_OK : check_molecule(s->quantity.one);
}

/* Whole numbers, or NULL for a flag that stays. */
static md_status read_image(md_sim *sim, char *const *word, setting *s)
{
  for (int d = 0; d < 3; ++d) {
    int64_t flag = 0;
    s->flags[d] = strcmp(word[d], "NULL") != 0;
    if (s->flags[d])
      MD_TRY(md_word_int64(word[d], "image flag of set", -MD_IMAGE_FLAG_MOST, MD_IMAGE_FLAG_MOST, &flag));
    if (flag != 0 && !sim->model.box.periodic[d])
      return md_error(MD_USAGE, "set image: the axis %c is not periodic, so that its image flags are 0",
                      "xyz"[d]);
    s->flag[d] = (double)flag;
  }
  return MD_OK;
}

/* Flags of 0 need nothing where none are kept. */
static md_status apply_image(md_sim *sim, const setting *s, uint8_t *chosen)
{
  const int64_t n = sim->particles.n;
  double *flag[3] = {NULL, NULL, NULL};
  md_status status = MD_OK;
  if (!md_images_are_kept(sim) && s->flag[0] == 0.0 && s->flag[1] == 0.0 && s->flag[2] == 0.0) return MD_OK;
  for (int d = 0; d < 3 && status == MD_OK; ++d) {
    if (!s->flags[d]) continue;
    status = md_array_new(&flag[d], n + 1, sizeof *flag[d], "image flags");
    for (int64_t i = 0; i < n && status == MD_OK; ++i) flag[d][i] = s->flag[d];
  }
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = md_images_set(sim, chosen, flag);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return status;
}

static md_status apply_type(md_sim *sim, const setting *s, uint8_t *chosen)
{
  md_particles *p = &sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (chosen[i]) p->type[i] = (uint16_t)s->type;
  return MD_OK;
}

/* Each particle with this probability. */
static md_status apply_fraction(md_sim *sim, const setting *s, uint8_t *chosen)
{
  const md_particles *p = &sim->particles;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    const md_random r = md_random_at((uint64_t)s->seed, (uint64_t)p->id[i], 0, MD_STREAM_TYPE);
    if (s->value < 1.0 && md_random_unit53(r.word[0], r.word[1]) >= s->value) chosen[i] = 0;
  }
  return apply_type(sim, s, chosen);
}

static md_status count_chosen(md_sim *sim, const uint8_t *chosen, int64_t *count)
{
  int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
  for (int64_t i = 0; i < sim->particles.n; ++i) n += chosen[i];
  *count = n;
  return sim->comm->reduce->sum(sim->comm, count, 1);
}

static md_status apply_subset(md_sim *sim, const setting *s, uint8_t *chosen)
{
  MD_TRY(md_edit_choose(sim, chosen, s->count, (uint64_t)s->seed));
  return apply_type(sim, s, chosen);
}

/* The whole part of that fraction of the particles, as in LAMMPS. */
static md_status apply_ratio(md_sim *sim, const setting *s, uint8_t *chosen)
{
  int64_t all;
  MD_TRY(count_chosen(sim, chosen, &all));
  MD_TRY(md_edit_choose(sim, chosen, (int64_t)floor(s->value * (double)all), (uint64_t)s->seed));
  return apply_type(sim, s, chosen);
}

static md_status apply_mass(md_sim *sim, const setting *s, uint8_t *chosen)
{
  md_particles *p = &sim->particles;
  md_status status = MD_OK;
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
    if (chosen[i]) status = md_particles_set_mass(p, i, md_edit_value(&s->quantity, i));
  return md_comm_agree(sim->comm, status);
}

static md_status apply_position(md_sim *sim, const setting *s, uint8_t *chosen)
{
  md_particles *p = &sim->particles;
  MD_TRY(md_edit_keep(sim, &sim->model.box));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (chosen[i]) p->x[s->axis][i] = md_edit_wrap(&sim->model.box, s->axis, md_edit_value(&s->quantity, i));
  md_particles_show(p, &sim->model.box);
  return md_edit_check_moved(sim, "set");
}

static md_status apply_velocity(md_sim *sim, const setting *s, uint8_t *chosen)
{
  md_particles *p = &sim->particles;
  MD_TRY(md_comm_agree(sim->comm, md_particles_widen(p, false)));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (chosen[i]) p->v[s->axis][i] = md_edit_value(&s->quantity, i);
  return MD_OK;
}

static md_status apply_property(md_sim *sim, const setting *s, uint8_t *chosen)
{
  const int64_t n = sim->particles.n;
  double *value = NULL;
  md_status status = md_array_new(&value, n + 1, sizeof *value, "values of set");
  for (int64_t i = 0; i < n && status == MD_OK; ++i) {
    value[i] = md_edit_value(&s->quantity, i);
    if (chosen[i]) status = md_property_check(&s->property, s->name, value[i]);
  }
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK)
    status = md_id_values_set_column(s->property.values, s->property.column, chosen, value);
  free(value);
  return status;
}

static md_status apply_molecule(md_sim *sim, const setting *s, uint8_t *chosen)
{
  md_particles *p = &sim->particles;
  md_status status = MD_OK;
  if (!sim->model.bonded) return apply_property(sim, s, chosen);
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
    if (chosen[i]) status = check_molecule(md_edit_value(&s->quantity, i));
  MD_TRY(md_comm_agree(sim->comm, status));
  for (int64_t i = 0; i < p->n; ++i)
    if (chosen[i]) p->molecule[i] = (uint32_t)md_edit_value(&s->quantity, i);
  return MD_OK;
}

/* The keywords; a further one is a line here and its two functions. */
static const set_keyword keywords[] = {
    {"type", 1, "a type", 0, read_type, apply_type},
    {"type/fraction", 3, "a type, a fraction and a seed", 0, read_fraction, apply_fraction},
    {"type/ratio", 3, "a type, a fraction and a seed", 0, read_fraction, apply_ratio},
    {"type/subset", 3, "a type, a number and a seed", 0, read_subset, apply_subset},
    {"mass", 1, "a mass", 0, read_mass, apply_mass},
    {"x", 1, "a coordinate", 0, read_component, apply_position},
    {"y", 1, "a coordinate", 1, read_component, apply_position},
    {"z", 1, "a coordinate", 2, read_component, apply_position},
    {"vx", 1, "a velocity", 0, read_component, apply_velocity},
    {"vy", 1, "a velocity", 1, read_component, apply_velocity},
    {"vz", 1, "a velocity", 2, read_component, apply_velocity},
    {"mol", 1, "a whole number", 0, read_molecule, apply_molecule},
    {"i_NAME", 1, "a whole number", 0, read_property, apply_property},
    {"d_NAME", 1, "a number", 0, read_property, apply_property},
    {"image", 3, "three whole numbers", 0, read_image, apply_image},
};
enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

/* ---- the command ---- */

static md_status find_keyword(const char *word, const set_keyword **keyword)
{
  char known[512] = "";
  for (int k = 0; k < KEYWORDS; ++k) {
    *keyword = &keywords[k];
    const bool of_property = strstr((*keyword)->name, "_NAME") && md_property_is_name(word);
    if (strcmp(word, (*keyword)->name) == 0 || (of_property && *word == *(*keyword)->name)) return MD_OK;
    md_name_list_add(known, sizeof known, ", ", (*keyword)->name);
  }
  return md_error(MD_USAGE, "set: unknown keyword '%s'; accepted are %s", word, known);
}

/* Checks before anything changes that a subset has enough particles. */
static md_status check_subset(md_sim *sim, const set_keyword *keyword, const setting *s, int64_t selected)
{
  if (keyword->apply != apply_subset || s->count <= selected || sim->planning.checking) return MD_OK;
  return md_error(MD_USAGE, "set type/subset: %lld of %lld particles cannot be chosen", (long long)s->count,
                  (long long)selected);
}

/* Reads the keyword words[*at] and its words, and moves *at past them. */
static md_status read_setting(md_sim *sim, const md_words *words, int *at, const set_keyword **keyword,
                              setting *s)
{
  MD_TRY(find_keyword(words->word[*at], keyword));
  if (*at + (*keyword)->words >= words->n)
    return md_error(MD_USAGE, "set %s needs %s", words->word[*at], (*keyword)->usage);
  *s = (setting){.axis = (*keyword)->axis, .name = words->word[*at]};
  MD_TRY((*keyword)->read(sim, words->word + *at + 1, s));
  *at += 1 + (*keyword)->words;
  return MD_OK;
}

static md_status apply_setting(md_sim *sim, const set_keyword *keyword, const setting *s,
                               const uint8_t *selected, uint8_t *chosen)
{
  int64_t count;
  if (sim->particles.n > 0) memcpy(chosen, selected, (size_t)sim->particles.n);
  MD_TRY(keyword->apply(sim, s, chosen));
  MD_TRY(count_chosen(sim, chosen, &count));
  md_log_print(sim->log, "  %lld settings made for %s\n", (long long)count, s->name);
  return MD_OK;
}

/* Reads all words, and checks them or applies them. selected: [2 n], of which the first half says which particles. */
static md_status go_through(md_sim *sim, const md_words *words, uint8_t *selected, bool applies)
{
  const int64_t n = sim->particles.n;
  int64_t all;
  MD_TRY(count_chosen(sim, selected, &all));
  for (int at = 2; at < words->n;) {
    const set_keyword *keyword;
    setting s;
    MD_TRY(read_setting(sim, words, &at, &keyword, &s));
    const md_status status = applies ? apply_setting(sim, keyword, &s, selected, selected + n)
                                     : check_subset(sim, keyword, &s, all);
    free(s.quantity.each);
    MD_TRY(status);
  }
  return MD_OK;
}

md_status md_do_set(md_sim *sim, const md_words *words)
{
  selection what;
  uint8_t *selected;
  MD_TRY(md_sim_need_box(sim, "set"));
  MD_TRY(read_selection(sim, words->word[0], words->word[1], &what));
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&selected, 2 * sim->particles.n, 1, "the particles of set")));
  select_particles(&sim->particles, &what, selected);
  md_status status = go_through(sim, words, selected, false);
  if (status == MD_OK) {
    md_log_print(sim->log, "Setting atom values ...\n");
    status = go_through(sim, words, selected, true);
  }
  free(selected);
  return status;
}
