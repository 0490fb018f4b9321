/* The items of a restart but the arrays of particles; see items.h. */
#include "src/restart/items.h"
#include "common/base/mix.h"
#include "common/pair/hybrid/hybrid.h"
#include "src/restart/particles.h"

static const char format_name[] = "Myriad restart";
enum { FORMAT_VERSION = 13, FORMAT_OLDEST = 9 };

/* The versions from which on files have items about random numbers, the energies of thermostats that scale, arrays over
 * runs in place of a group for each run, and numbers of particles in the history. */
enum { HAS_DRAWS = 10, HAS_SCALED_ENERGY = 11, HAS_RUN_ARRAYS = 12, HAS_COUNTS = 13 };

typedef enum walking { HASH, WRITE, READ } walking;

typedef struct walk {
  walking mode;
  md_h5_file *file;
  const char *path;
  uint64_t hash;
  md_status status;
  int64_t version; /* of the file's format */
} walk;

static void hash_bytes(walk *w, const char *bytes)
{
  do w->hash = md_mix(w->hash ^ (unsigned char)*bytes);
  while (*bytes++);
}

/* Handles an array of values of 8 bytes, or of 1 byte for MD_H5_UINT8. */
static void numbers(walk *w, const char *name, md_h5_type type, md_h5_shape shape, void *value)
{
  if (w->status != MD_OK) return;
  if (w->mode == WRITE) w->status = md_h5->put(w->file, name, type, &shape, value);
  if (w->mode == READ) w->status = md_h5->get(w->file, name, type, &shape, value);
  if (w->status != MD_OK) return;
  int64_t n = 1;
  for (int d = 0; d < shape.n; ++d) n *= shape.size[d];
  hash_bytes(w, name);
  for (int64_t k = 0; k < n; ++k) {
    uint64_t word = 0;
    if (type == MD_H5_UINT8)
      word = ((const unsigned char *)value)[k];
    else
      memcpy(&word, (const char *)value + 8 * k, 8);
    w->hash = md_mix(w->hash ^ word);
  }
}

static void whole(walk *w, const char *name, int64_t *value)
{
  numbers(w, name, MD_H5_INT64, (md_h5_shape){0}, value);
}

static void real(walk *w, const char *name, double *value)
{
  numbers(w, name, MD_H5_DOUBLE, (md_h5_shape){0}, value);
}

static void reals(walk *w, const char *name, int64_t n, double *value)
{
  numbers(w, name, MD_H5_DOUBLE, (md_h5_shape){.n = 1, .size = {n}}, value);
}

static md_status wrong(const walk *w, const char *name)
{
  return md_error(MD_RUNTIME, "cannot read %.500s: it is damaged, /%s is not valid", w->path, name);
}

/* Has the file no such item? Items that few models or decks need are left out of it. needs: whether that which is
 * written needs it; a file that is read says so itself. Also true after an error. */
static bool lacks(const walk *w, const char *name, bool needs)
{
  return w->status != MD_OK || !(w->mode == READ ? md_h5->has(w->file, name) : needs);
}

static void limited(walk *w, const char *name, int *value, int least, int most)
{
  int64_t number = *value;
  whole(w, name, &number);
  if (w->status != MD_OK) return;
  if (number < least || number > most)
    w->status = wrong(w, name);
  else
    *value = (int)number;
}

/* A number of rows of an array: at least 1, and in a file as many as the array there has. */
static void rows_of(walk *w, const char *name, const char *array, int *value)
{
  md_h5_shape shape = {0};
  limited(w, name, value, 1, INT32_MAX - 1);
  if (w->status == MD_OK && w->mode == READ)
    if (!md_h5->has(w->file, array) || md_h5->shape(w->file, array, &shape) != MD_OK ||
        shape.size[0] != *value)
      w->status = wrong(w, name);
}

static void flags(walk *w, const char *name, int n, bool *flag)
{
  int64_t number[8];
  for (int k = 0; k < n; ++k) number[k] = flag[k];
  numbers(w, name, MD_H5_INT64, (md_h5_shape){.n = 1, .size = {n}}, number);
  for (int k = 0; k < n && w->status == MD_OK; ++k) {
    if (number[k] != 0 && number[k] != 1) w->status = wrong(w, name);
    flag[k] = number[k] != 0;
  }
}

static void text(walk *w, const char *name, char *value, size_t size)
{
  if (w->status != MD_OK) return;
  if (w->mode == WRITE) w->status = md_h5->put_text(w->file, name, value);
  if (w->mode == READ) w->status = md_h5->get_text(w->file, name, value, size);
  if (w->status != MD_OK) return;
  hash_bytes(w, name);
  hash_bytes(w, value);
}

/* Handles a value that is stored as one of n names. */
static void choice(walk *w, const char *name, const char *const *names, int n, int *value)
{
  char word[64];
  snprintf(word, sizeof word, "%s", names[*value]);
  text(w, name, word, sizeof word);
  int k = 0;
  while (k < n && strcmp(names[k], word) != 0) ++k;
  if (w->status == MD_OK && k == n)
    w->status = md_error(MD_RUNTIME, "cannot read %.500s: /%s is '%.60s', which this program does not have",
                         w->path, name, word);
  if (w->status == MD_OK) *value = k;
}

/* The item `prefix`_`name`, such as model/pair_style. */
typedef struct item_name {
  char text[64];
} item_name;

static item_name item(const char *prefix, const char *name)
{
  item_name n;
  snprintf(n.text, sizeof n.text, "%s_%s", prefix, name);
  return n;
}

static void walk_types_pairs(walk *w, const char *prefix, md_pair *pair)
{
  const int64_t types = pair->ntypes;
  reals(w, item(prefix, "defaults").text, MD_PAIR_PARAMETERS, pair->global);
  numbers(w, item(prefix, "coefficients").text, MD_H5_DOUBLE,
          (md_h5_shape){.n = 3, .size = {types, types, MD_PAIR_PARAMETERS}}, pair->parameter);
  numbers(w, item(prefix, "set").text, MD_H5_UINT8, (md_h5_shape){.n = 2, .size = {types, types}}, pair->set);
}

static void walk_style(walk *w, const char *prefix, int ntypes, md_pair *pair);

/* The sub-styles of hybrid and hybrid/overlay: model/pair_1 is the first. */
static void walk_sub_styles(walk *w, const char *prefix, md_pair *pair)
{
  const int64_t types = pair->ntypes;
  int nsub = pair->nsub, frictions = 0;
  limited(w, item(prefix, "sub_styles").text, &nsub, 1, MD_HYBRID_MOST);
  if (w->status == MD_OK && w->mode == READ) {
    w->status = md_array_new_zero(&pair->sub, nsub, sizeof *pair->sub, "sub-styles");
    if (w->status == MD_OK)
      w->status = md_array_new_zero(&pair->uses, types * types, sizeof *pair->uses, "pair parameters");
    if (w->status == MD_OK) pair->nsub = nsub;
  }
  for (int s = 0; s < nsub && w->status == MD_OK; ++s) {
    char number[16];
    snprintf(number, sizeof number, "%d", s + 1);
    walk_style(w, item(prefix, number).text, pair->ntypes, &pair->sub[s]);
    if (w->status != MD_OK) break;
    frictions += md_pair_is_dissipative(&pair->sub[s]);
    if (md_hybrid_refuses(pair->sub[s].kind) || frictions > 1)
      w->status = wrong(w, item(prefix, "sub_styles").text);
  }
  numbers(w, item(prefix, "uses").text, MD_H5_INT64, (md_h5_shape){.n = 2, .size = {types, types}},
          pair->uses);
}

/* Most models have no tail correction. */
static void walk_tail(walk *w, const char *name, md_pair *pair)
{
  if (lacks(w, name, pair->tail)) return;
  flags(w, name, 1, &pair->tail);
  if (w->status == MD_OK && pair->tail && (pair->shift || !md_pair_style_of(pair->kind)->tail))
    w->status = wrong(w, name);
}

/* A pair style, or a sub-style of one. */
static void walk_style(walk *w, const char *prefix, int ntypes, md_pair *pair)
{
  static const char *const mixings[] = {"geometric", "arithmetic", "sixthpower"};
  const char *names[MD_PAIR_KINDS + 1];
  for (int k = 0; k < MD_PAIR_KINDS; ++k) names[k] = md_pair_style_of((md_pair_kind)k)->name;
  names[MD_PAIR_NONE] = "none";
  int kind = (int)pair->kind, mixing = (int)pair->mixing;
  const long long pairs = (long long)ntypes * ntypes;
  choice(w, item(prefix, "style").text, names, MD_PAIR_KINDS + 1, &kind);
  if (w->status != MD_OK) return;
  pair->kind = (md_pair_kind)kind;
  if (kind == MD_PAIR_NONE) return;
  if (w->mode == READ) {
    w->status =
        md_array_new_zero(&pair->parameter, pairs * MD_PAIR_PARAMETERS, sizeof(double), "pair parameters");
    if (w->status == MD_OK) w->status = md_array_new_zero(&pair->set, pairs, 1, "pair parameters");
    if (w->status != MD_OK) return;
  }
  pair->ntypes = ntypes;
  flags(w, item(prefix, "shift").text, 1, &pair->shift);
  walk_tail(w, item(prefix, "tail").text, pair);
  choice(w, item(prefix, "mixing").text, mixings, 3, &mixing);
  pair->mixing = (md_mixing)mixing;
  walk_types_pairs(w, prefix, pair);
  if (md_pair_style_of(pair->kind)->hybrid) walk_sub_styles(w, prefix, pair);
}

/* Of pair_style zero; models with forces of pairs have none. */
static void walk_zero(walk *w, md_pair *pair)
{
  static const char name[] = "model/pair_zero_cutoff";
  if (pair->kind != MD_PAIR_NONE) return;
  if (lacks(w, name, pair->zero_cutoff > 0.0)) return;
  real(w, name, &pair->zero_cutoff);
  if (w->status == MD_OK && !(pair->zero_cutoff > 0.0 && pair->zero_cutoff < 0x1p60))
    w->status = wrong(w, name);
}

static void walk_pair(walk *w, md_model *m)
{
  walk_style(w, "model/pair", m->ntypes, &m->pair);
  walk_zero(w, &m->pair);
  if (w->status != MD_OK || !md_pair_is_all(&m->pair)) return;
  real(w, "model/extent", &m->extent);
  m->extent_natoms = m->natoms;
  if (w->status == MD_OK && !(m->extent >= 0.0 && m->extent < 0x1p60)) w->status = wrong(w, "model/extent");
}

/* Pairs of numbers from `least` to `most`, and how many there are; most models have none. */
static void walk_excluded(walk *w, const char *count, const char *pairs, int *n, int (*pair)[2], int least,
                          int most)
{
  int64_t number[2 * MD_EXCLUDED_MAX];
  if (lacks(w, count, *n > 0)) return;
  limited(w, count, n, 1, MD_EXCLUDED_MAX);
  for (int k = 0; k < 2 * *n; ++k) number[k] = pair[k / 2][k % 2];
  numbers(w, pairs, MD_H5_INT64, (md_h5_shape){.n = 2, .size = {*n, 2}}, number);
  for (int k = 0; k < 2 * *n && w->status == MD_OK; ++k) {
    if (number[k] < least || number[k] > most) w->status = wrong(w, pairs);
    pair[k / 2][k % 2] = (int)number[k];
  }
}

/* Exclusions by molecules. */
static void walk_molecules(walk *w, md_model *m)
{
  md_molecules *e = &m->exclusions.molecules;
  int64_t group[MD_MOLECULES_MAX];
  if (lacks(w, "model/molecules", e->n > 0)) return;
  limited(w, "model/molecules", &e->n, 1, MD_MOLECULES_MAX);
  for (int k = 0; k < e->n; ++k) group[k] = e->group[k];
  numbers(w, "model/molecule_groups", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {e->n}}, group);
  flags(w, "model/molecules_differ", e->n, e->inter);
  for (int k = 0; k < e->n && w->status == MD_OK; ++k) {
    if (group[k] < 0 || group[k] >= MD_GROUPS_MAX) w->status = wrong(w, "model/molecule_groups");
    e->group[k] = (int)group[k];
  }
}

static void walk_groups(walk *w, md_groups *groups)
{
  limited(w, "model/groups", &groups->n, 1, MD_GROUPS_MAX);
  memcpy(groups->name[0], "all", sizeof "all");
  if (w->mode == WRITE && w->status == MD_OK) w->status = md_h5->group(w->file, "model/group");
  for (int g = 1; g < groups->n && w->status == MD_OK; ++g) {
    char name[64];
    snprintf(name, sizeof name, "model/group/%d", g);
    text(w, name, groups->name[g], sizeof groups->name[g]);
  }
}

/* The fixes of the model. A model that is read gets its settings from them. */
static void walk_fixes(walk *w, md_model *m)
{
  const char *names[MD_FIX_KINDS];
  for (int k = 0; k < MD_FIX_KINDS; ++k) names[k] = md_fix_style_of((md_fix_kind)k)->name;
  limited(w, "model/fixes", &m->nfix, 0, MD_FIXES_MAX);
  if (w->mode == WRITE && w->status == MD_OK) w->status = md_h5->group(w->file, "model/fix");
  for (int k = 0; k < m->nfix && w->status == MD_OK; ++k) {
    char name[64];
    int kind = (int)m->fix[k].kind;
    snprintf(name, sizeof name, "model/fix/%d", k + 1);
    if (w->mode == WRITE) w->status = md_h5->group(w->file, name);
    snprintf(name, sizeof name, "model/fix/%d/style", k + 1);
    choice(w, name, names, MD_FIX_KINDS, &kind);
    m->fix[k].kind = (md_fix_kind)kind;
    snprintf(name, sizeof name, "model/fix/%d/group", k + 1);
    limited(w, name, &m->fix[k].group, 0, m->groups.n - 1);
    snprintf(name, sizeof name, "model/fix/%d/numbers", k + 1);
    reals(w, name, MD_FIX_K, m->fix[k].k);
    snprintf(name, sizeof name, "model/fix/%d/seed", k + 1);
    whole(w, name, &m->fix[k].seed);
    snprintf(name, sizeof name, "model/fix/%d/energy", k + 1);
    flags(w, name, 1, &m->fix[k].energy);
    snprintf(name, sizeof name, "model/fix/%d/virial", k + 1);
    if (md_fix_style_of(m->fix[k].kind)->external) flags(w, name, 1, &m->fix[k].virial);
    /* What changes during runs is no setting, by which decks are compared. */
    snprintf(name, sizeof name, "model/fix/%d/state", k + 1);
    const int nstate = md_fix_style_of(m->fix[k].kind)->nstate;
    /* An energy that an older file lacks begins with 0. */
    if (w->mode == READ && w->version < HAS_SCALED_ENERGY && !md_h5->has(w->file, name)) continue;
    if (nstate > 0 && w->mode != HASH) reals(w, name, nstate, m->fix[k].state);
  }
  if (w->mode == READ && w->status == MD_OK && md_fixes_join(m) != MD_OK) w->status = wrong(w, "model/fix");
}

/* If particles have masses of their own: the speed limit, on which the steps of their wide momenta depend. */
static void walk_masses(walk *w, md_model *m)
{
  if (w->mode == READ) m->massed = md_h5->has(w->file, "model/massed");
  if (!m->massed) return;
  flags(w, "model/massed", 1, &m->massed);
  real(w, "model/speed_limit", &m->speed_limit);
}

/* The parameters of a type of bond, if it has them. */
static void walk_bond_type(walk *w, md_bonds *b, int t, int nparameter)
{
  char name[64];
  snprintf(name, sizeof name, "model/bond/%d", t);
  if (w->mode == READ) b->set[t] = w->status == MD_OK && md_h5->has(w->file, name);
  if (b->set[t]) reals(w, name, nparameter, b->parameter[t]);
}

/* Do particles have anchors? */
static void walk_anchors(walk *w, md_model *m)
{
  if (w->mode == READ) m->anchored = md_h5->has(w->file, "model/anchored");
  if (m->anchored) flags(w, "model/anchored", 1, &m->anchored);
}

/* Do particles have external forces? */
static void walk_external(walk *w, md_model *m)
{
  if (w->mode == READ) m->pushed = md_h5->has(w->file, "model/external");
  if (m->pushed) flags(w, "model/external", 1, &m->pushed);
}

/* With atom_style bond: slots, style and parameters, and which bonded particles have no pair force. */
static void walk_bonds(walk *w, md_model *m)
{
  md_bonds *b = &m->bonds;
  const char *names[MD_BOND_KINDS + 1];
  int kind = (int)b->kind;
  if (w->status != MD_OK) return;
  if (w->mode == READ) m->bonded = md_h5->has(w->file, "model/bonded");
  if (!m->bonded) return;
  for (int k = 0; k < MD_BOND_KINDS; ++k) names[k] = md_bond_style_of((md_bond_kind)k)->name;
  names[MD_BOND_KINDS] = "none";
  flags(w, "model/bonded", 1, &m->bonded);
  limited(w, "model/bond_slots", &b->slots, 0, MD_BONDS_MAX);
  limited(w, "model/bond_types", &b->ntypes, 0, MD_BOND_TYPES_MAX);
  choice(w, "model/bond_style", names, MD_BOND_KINDS + 1, &kind);
  b->kind = (md_bond_kind)kind;
  flags(w, "model/bonds_excluded", 3, b->excluded);
  real(w, "model/bond_longest", &b->longest);
  const md_bond_style *style = md_bond_style_of(b->kind);
  if (w->mode == WRITE && w->status == MD_OK) w->status = md_h5->group(w->file, "model/bond");
  for (int t = 1; style && t <= b->ntypes; ++t) walk_bond_type(w, b, t, style->nparameter);
}

/* The box. A tilted box has the item box_tilt. Only if faces follow the particles, it has the items from box_faces on.
 * */
static void walk_box(walk *w, md_box *box)
{
  int64_t face[6];
  reals(w, "model/box_lo", 3, box->lo);
  reals(w, "model/box_hi", 3, box->hi);
  flags(w, "model/periodic", 3, box->periodic);
  if (w->status != MD_OK) return;
  if (w->mode == READ) box->triclinic = md_h5->has(w->file, "model/box_tilt");
  if (box->triclinic) reals(w, "model/box_tilt", 3, box->tilt);
  if (lacks(w, "model/box_faces", md_box_has_room(box))) return;
  for (int f = 0; f < 6; ++f) face[f] = (int64_t)box->face[f / 2][f % 2];
  numbers(w, "model/box_faces", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {6}}, face);
  for (int f = 0; f < 6 && w->status == MD_OK; ++f) {
    if (face[f] < MD_FACE_FIXED || face[f] > MD_FACE_BOUNDED) w->status = wrong(w, "model/box_faces");
    box->face[f / 2][f % 2] = (md_face)face[f];
  }
  reals(w, "model/box_bounds", 6, box->bound[0]);
  reals(w, "model/box_margins", 3, box->margin);
  real(w, "model/box_room", &box->room);
}

/* The units, where they are others than lj. */
static void walk_units(walk *w, md_model *m)
{
  char name[16];
  if (lacks(w, "model/units", m->units != &md_units_lj)) return;
  snprintf(name, sizeof name, "%s", m->units->name);
  text(w, "model/units", name, sizeof name);
  if (w->status != MD_OK) return;
  m->units = md_units_find(name);
  if (!m->units) w->status = wrong(w, "model/units");
}

/* The change of the box in the next step, if there is one. The state of a run, and no part of what it is about. */
static void walk_move(walk *w, md_box_move *move)
{
  int64_t carried[4];
  if (w->mode == HASH || w->status != MD_OK) return;
  if (w->mode == READ) move->pending = md_h5->has(w->file, "model/next_box_lo");
  if (!move->pending) return;
  for (int d = 0; d < 3; ++d) carried[d] = (int64_t)move->carried[d];
  carried[3] = (int64_t)move->sheared;
  reals(w, "model/next_box_lo", 3, move->lo);
  reals(w, "model/next_box_hi", 3, move->hi);
  reals(w, "model/next_box_stretch", 3, move->stretch);
  numbers(w, "model/next_box_groups", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {4}}, carried);
  reals(w, "model/next_box_tilt", 3, move->tilt);
  for (int d = 0; d < 3; ++d) move->carried[d] = (uint32_t)carried[d];
  move->sheared = (uint32_t)carried[3];
}

/* The items that determine the trajectory, and the grids that follow from them. */
static void walk_model(walk *w, md_model *m)
{
  limited(w, "model/dimension", &m->box.dim, 2, 3);
  limited(w, "model/types", &m->ntypes, 1, MD_TYPES_MAX);
  whole(w, "model/particles", &m->natoms);
  if (w->status == MD_OK && m->natoms < 0) w->status = wrong(w, "model/particles");
  walk_box(w, &m->box);
  walk_units(w, m);
  walk_move(w, &m->move);
  reals(w, "model/mass", m->ntypes, m->mass + 1);
  walk_pair(w, m);
  md_exclusions *e = &m->exclusions;
  walk_excluded(w, "model/excluded", "model/excluded_types", &e->ntypes, e->types, 1, m->ntypes);
  /* Groups come first (walk_groups). */
  walk_excluded(w, "model/excluded_pairs", "model/excluded_groups", &e->ngroups, e->groups, 0,
                MD_GROUPS_MAX - 1);
  walk_molecules(w, m);
  real(w, "model/timestep", &m->dt);
  walk_groups(w, &m->groups);
  walk_fixes(w, m);
  reals(w, "model/grids", sizeof m->grids / sizeof(double), &m->grids.x);
  real(w, "model/mass_reference", &m->mass_reference);
  reals(w, "model/velocity_per_v", m->ntypes, m->velocity_per_v + 1);
  flags(w, "model/wide", 1, &m->wide);
  if (md_pair_is_dissipative(&m->pair)) flags(w, "model/has_v_pair", 1, &m->has_v_pair);
  reals(w, "model/velocity_steps", m->ntypes, m->v_step + 1);
  walk_masses(w, m);
  walk_anchors(w, m);
  walk_external(w, m);
  walk_bonds(w, m);
}

static bool has_room(const md_computed *computed)
{
  return computed->n >= 0 && computed->n <= MD_COMPUTES_MAX;
}

/* Run k of a deck, of a file before HAS_RUN_ARRAYS. */
static void read_run(walk *w, int k, md_run_record *run)
{
  const md_h5_shape one = {0};
  char name[64];
  snprintf(name, sizeof name, "run/%d/deck", k + 1);
  numbers(w, name, MD_H5_INT64, one, &run->deck);
  snprintf(name, sizeof name, "run/%d/first", k + 1);
  whole(w, name, &run->first);
  snprintf(name, sizeof name, "run/%d/last", k + 1);
  whole(w, name, &run->last);
  snprintf(name, sizeof name, "run/%d/computes", k + 1);
  whole(w, name, &run->computed.n);
  if (w->status == MD_OK && !has_room(&run->computed)) w->status = wrong(w, name);
  snprintf(name, sizeof name, "run/%d/values", k + 1);
  if (w->status == MD_OK)
    numbers(w, name, MD_H5_DOUBLE, (md_h5_shape){.n = 2, .size = {run->computed.n, MD_COMPUTE_TERMS}},
            run->computed.value);
  snprintf(name, sizeof name, "run/%d/fix_energy", k + 1);
  real(w, name, &run->computed.fix_energy);
  snprintf(name, sizeof name, "run/%d/bond_energy", k + 1);
  real(w, name, &run->computed.bond_energy);
  snprintf(name, sizeof name, "run/%d/box", k + 1);
  if (md_h5->has(w->file, name)) reals(w, name, 7, run->box);
  snprintf(name, sizeof name, "run/%d/tilt", k + 1);
  if (md_h5->has(w->file, name)) reals(w, name, 3, run->box + 7);
  snprintf(name, sizeof name, "run/%d/coupled", k + 1);
  if (md_h5->has(w->file, name)) real(w, name, &run->computed.coupled);
  snprintf(name, sizeof name, "run/%d/edits", k + 1);
  /* Where the file does not say it, each run counts as one after an edit. */
  if (md_h5->has(w->file, name))
    whole(w, name, &run->edits);
  else
    run->edits = -k - 1;
  snprintf(name, sizeof name, "run/%d/model", k + 1);
  if (md_h5->has(w->file, name)) numbers(w, name, MD_H5_INT64, one, &run->model);
  snprintf(name, sizeof name, "run/%d/halted", k + 1);
  if (md_h5->has(w->file, name)) whole(w, name, &run->halted);
  snprintf(name, sizeof name, "run/%d/drawn", k + 1);
  if (w->version >= HAS_DRAWS) numbers(w, name, MD_H5_INT64, one, &run->drawn);
}

/* A value or a row of values of every run: `width` numbers of 8 bytes, 0 for one number, at `offset` of its record. */
typedef struct run_array {
  const char *name;
  md_h5_type type;
  int width;
  size_t offset;
  int64_t since; /* the first version that has it; earlier ones: -1 */
} run_array;

static const run_array run_arrays[] = {
    {"runs/deck", MD_H5_INT64, 0, offsetof(md_run_record, deck), HAS_RUN_ARRAYS},
    {"runs/first", MD_H5_INT64, 0, offsetof(md_run_record, first), HAS_RUN_ARRAYS},
    {"runs/last", MD_H5_INT64, 0, offsetof(md_run_record, last), HAS_RUN_ARRAYS},
    {"runs/computes", MD_H5_INT64, 0, offsetof(md_run_record, computed.n), HAS_RUN_ARRAYS},
    {"runs/fix_energy", MD_H5_DOUBLE, 0, offsetof(md_run_record, computed.fix_energy), HAS_RUN_ARRAYS},
    {"runs/bond_energy", MD_H5_DOUBLE, 0, offsetof(md_run_record, computed.bond_energy), HAS_RUN_ARRAYS},
    {"runs/coupled", MD_H5_DOUBLE, 0, offsetof(md_run_record, computed.coupled), HAS_RUN_ARRAYS},
    {"runs/box", MD_H5_DOUBLE, 10, offsetof(md_run_record, box), HAS_RUN_ARRAYS},
    {"runs/edits", MD_H5_INT64, 0, offsetof(md_run_record, edits), HAS_RUN_ARRAYS},
    {"runs/model", MD_H5_INT64, 0, offsetof(md_run_record, model), HAS_RUN_ARRAYS},
    {"runs/halted", MD_H5_INT64, 0, offsetof(md_run_record, halted), HAS_RUN_ARRAYS},
    {"runs/drawn", MD_H5_INT64, 0, offsetof(md_run_record, drawn), HAS_RUN_ARRAYS},
    {"runs/atoms", MD_H5_INT64, 0, offsetof(md_run_record, natoms), HAS_COUNTS},
};

static void walk_run_array(walk *w, const run_array *array, md_history *h)
{
  const int64_t n = h->nrun, width = array->width == 0 ? 1 : array->width, bytes = 8 * width;
  const md_h5_shape shape = {.n = array->width == 0 ? 1 : 2, .size = {n, width}};
  char *row = NULL;
  if (w->status == MD_OK) w->status = md_array_new(&row, n, (unsigned long)bytes, "the runs of a deck");
  if (w->status != MD_OK) return;
  for (int64_t k = 0; k < n && w->mode == WRITE; ++k)
    memcpy(row + bytes * k, (const char *)&h->run[k] + array->offset, (size_t)bytes);
  if (w->version >= array->since)
    numbers(w, array->name, array->type, shape, row);
  else
    memset(row, 0xff, (size_t)(n * bytes));
  for (int64_t k = 0; k < n && w->mode == READ && w->status == MD_OK; ++k)
    memcpy((char *)&h->run[k] + array->offset, row + bytes * k, (size_t)bytes);
  free(row);
}

/* The last values of the model's computes at the end of each run, one run after the other. */
static void walk_run_values(walk *w, md_history *h)
{
  int64_t total = 0, at = 0;
  double(*value)[MD_COMPUTE_TERMS] = NULL;
  for (int64_t k = 0; k < h->nrun && w->status == MD_OK; ++k) {
    total += h->run[k].computed.n;
    if (!has_room(&h->run[k].computed)) w->status = wrong(w, "runs/computes");
  }
  if (w->status != MD_OK || total == 0) return;
  w->status = md_array_new(&value, total, sizeof *value, "values of computes");
  if (w->status != MD_OK) return;
  for (int64_t k = 0; k < h->nrun && w->mode == WRITE; at += h->run[k++].computed.n)
    memcpy(value + at, h->run[k].computed.value, (size_t)h->run[k].computed.n * sizeof *value);
  numbers(w, "runs/values", MD_H5_DOUBLE, (md_h5_shape){.n = 2, .size = {total, MD_COMPUTE_TERMS}}, value);
  for (int64_t k = 0; k < h->nrun && w->mode == READ && w->status == MD_OK; at += h->run[k++].computed.n)
    memcpy(h->run[k].computed.value, value + at, (size_t)h->run[k].computed.n * sizeof *value);
  free(value);
}

/* The runs of a deck. A deck may loop over a hundred thousand of them, so that each item is one array over all. */
static void walk_history(walk *w, md_history *h)
{
  int runs = (int)h->nrun;
  numbers(w, "run/beginning", MD_H5_INT64, (md_h5_shape){0}, &h->beginning);
  /* Without runs, and in files of earlier versions, there are no arrays. */
  if (lacks(w, "runs/deck", runs > 0))
    limited(w, "run/runs", &runs, 0, 1 << 24);
  else
    rows_of(w, "run/runs", "runs/deck", &runs);
  if (w->status != MD_OK) return;
  if (w->mode == READ) {
    w->status = md_array_new_zero(&h->run, runs, sizeof *h->run, "the runs of a deck");
    if (w->status != MD_OK) return;
    h->nrun = runs;
  }
  if (w->version < HAS_RUN_ARRAYS) {
    for (int k = 0; k < runs; ++k) read_run(w, k, &h->run[k]);
    for (int k = 0; k < runs; ++k) h->run[k].natoms = -1;
  } else if (runs > 0) {
    for (size_t k = 0; k < sizeof run_arrays / sizeof *run_arrays; ++k) walk_run_array(w, &run_arrays[k], h);
    walk_run_values(w, h);
  }
  if (w->version >= HAS_RUN_ARRAYS || md_h5->has(w->file, "run/edits"))
    whole(w, "run/edits", &h->edits);
  else
    h->edits = -runs;
}

/* Values that formulas measured between runs; most decks have none. */
static void walk_measured(walk *w, md_history *h)
{
  int n = (int)h->nmeasured;
  if (lacks(w, "run/measured", n > 0)) return;
  rows_of(w, "run/measured", "run/measured_values", &n);
  if (w->status == MD_OK && w->mode == READ) {
    w->status = md_array_new_zero(&h->measured, n, sizeof *h->measured, "the values of a deck");
    if (w->status == MD_OK && w->version >= HAS_DRAWS)
      w->status = md_array_new_zero(&h->measured_drawn, n, sizeof *h->measured_drawn, "the values of a deck");
    if (w->status == MD_OK) h->nmeasured = n;
  }
  reals(w, "run/measured_values", n, h->measured);
  if (w->version >= HAS_DRAWS)
    numbers(w, "run/measured_drawn", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {n}}, h->measured_drawn);
}

/* Commands that a resume leaves out and that measured, drew or removed particles; most decks have none. */
static void walk_left_out(walk *w, md_history *h)
{
  int n = (int)h->nleft;
  if (w->version < HAS_DRAWS) return;
  if (lacks(w, "run/left_out", n > 0)) return;
  rows_of(w, "run/left_out", "run/left_out_commands", &n);
  if (w->status == MD_OK && w->mode == READ) {
    w->status = md_array_new_zero(&h->left, n, sizeof *h->left, "the commands of a deck");
    if (w->status == MD_OK) h->nleft = n;
  }
  /* Versions before had four numbers: without the last one. */
  enum { WIDTH = sizeof *h->left / sizeof(int64_t) };
  const int width = w->version >= HAS_COUNTS ? WIDTH : WIDTH - 1;
  int64_t *row = NULL;
  if (w->status == MD_OK)
    w->status = md_array_new(&row, (int64_t)n * width, sizeof *row, "the commands of a deck");
  for (int64_t k = 0; k < n && w->mode == WRITE; ++k) memcpy(row + k * width, &h->left[k], sizeof *h->left);
  numbers(w, "run/left_out_commands", MD_H5_INT64, (md_h5_shape){.n = 2, .size = {n, width}}, row);
  for (int64_t k = 0; k < n && w->mode == READ && w->status == MD_OK; ++k) {
    h->left[k].natoms = -1;
    memcpy(&h->left[k], row + k * width, (size_t)width * sizeof *row);
  }
  free(row);
}

/* How many random numbers formulas have drawn. */
static void walk_draws(walk *w, md_restart *r)
{
  if (w->version < HAS_DRAWS) return;
  numbers(w, "run/drawn", MD_H5_INT64, (md_h5_shape){0}, &r->drawn);
  numbers(w, "run/drawn_row", MD_H5_INT64, (md_h5_shape){0}, &r->drawn_row);
  r->has_draws = true;
}

/* The state of a compressed file; other files have none. */
static void walk_gzip(walk *w, int k, md_gzip_state *gzip)
{
  char name[64];
  int64_t crc = gzip->crc;
  snprintf(name, sizeof name, "output/%d/gzip_length", k + 1);
  if (w->mode == READ) gzip->length = -1;
  if (lacks(w, name, gzip->length >= 0)) return;
  whole(w, name, &gzip->length);
  snprintf(name, sizeof name, "output/%d/gzip_crc", k + 1);
  numbers(w, name, MD_H5_INT64, (md_h5_shape){0}, &crc);
  gzip->crc = (uint32_t)crc;
}

/* The number of frames of an HDF5 file; other files have a length in bytes. */
static void walk_frames(walk *w, int k, int64_t *frames)
{
  char name[64];
  snprintf(name, sizeof name, "output/%d/frames", k + 1);
  if (w->mode == READ) *frames = -1;
  if (lacks(w, name, *frames >= 0)) return;
  whole(w, name, frames);
}

/* The sums of an output fix; other observers have none. */
static void walk_state(walk *w, int k, md_output_mark *mark)
{
  char name[64];
  int n = (int)mark->nstate;
  snprintf(name, sizeof name, "output/%d/sums", k + 1);
  if (w->status == MD_OK && mark->nstate >= INT32_MAX)
    w->status = md_error(MD_RUNTIME, "fix %s has %lld sums; a restart holds at most 2^31", mark->id,
                         (long long)mark->nstate);
  if (lacks(w, name, n > 0)) return;
  limited(w, name, &n, 1, INT32_MAX - 1);
  if (w->status == MD_OK && w->mode == READ) {
    w->status = md_array_new_zero(&mark->state, n, sizeof *mark->state, "the sums of a fix");
    if (w->status == MD_OK) mark->nstate = n;
  }
  snprintf(name, sizeof name, "output/%d/sum_values", k + 1);
  if (w->status == MD_OK) reals(w, name, n, mark->state);
}

static void walk_outputs(walk *w, md_restart *r)
{
  char name[64];
  int n = (int)r->noutput;
  limited(w, "output/files", &n, 0, 1 << 16);
  if (w->status != MD_OK) return;
  if (w->mode == READ) {
    w->status = md_array_new_zero(&r->output, n, sizeof *r->output, "the files of a restart");
    if (w->status != MD_OK) return;
    r->noutput = n;
  }
  for (int k = 0; k < n; ++k) {
    md_output_mark *mark = &r->output[k];
    snprintf(name, sizeof name, "output/%d", k + 1);
    if (w->mode == WRITE && w->status == MD_OK) w->status = md_h5->group(w->file, name);
    snprintf(name, sizeof name, "output/%d/id", k + 1);
    text(w, name, mark->id, sizeof mark->id);
    snprintf(name, sizeof name, "output/%d/file", k + 1);
    text(w, name, mark->file, sizeof mark->file);
    snprintf(name, sizeof name, "output/%d/bytes", k + 1);
    whole(w, name, &mark->bytes);
    snprintf(name, sizeof name, "output/%d/last_step", k + 1);
    whole(w, name, &mark->last_step);
    walk_frames(w, k, &mark->frames);
    walk_gzip(w, k, &mark->gzip);
    walk_state(w, k, mark);
  }
}

/* The names and checksums of the values that fixes keep; most decks have none. */
static void walk_columns(walk *w, md_restart *r)
{
  char name[64];
  if (lacks(w, "particles/columns", r->ncolumn > 0)) return;
  limited(w, "particles/columns", &r->ncolumn, 1, MD_RESTART_COLUMNS);
  if (w->status == MD_OK && w->mode == READ)
    w->status = md_array_new_zero(&r->column, r->ncolumn, sizeof *r->column, "values of fixes");
  for (int k = 0; k < r->ncolumn && w->status == MD_OK; ++k) {
    md_restart_name_column(k, "_name", name);
    text(w, name, r->column[k].name, sizeof r->column[k].name);
  }
  if (w->status == MD_OK)
    numbers(w, "particles/column_checksum", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {r->ncolumn}},
            r->column_checksum);
}

/* Where random numbers of steps are counted from, after reset_timestep. */
static void walk_draw_shift(walk *w, int64_t *shift)
{
  static const char name[] = "run/draw_shift";
  if (lacks(w, name, *shift != 0)) return;
  whole(w, name, shift);
}

static void walk_unshown(walk *w, md_restart *r)
{
  static const char name[] = "run/unshown";
  if (lacks(w, name, r->unshown)) return;
  flags(w, name, 1, &r->unshown);
}

static void walk_header(walk *w, md_restart *r)
{
  static const char *const groups[] = {"model", "run", "runs", "output", "particles"};
  for (int g = 0; g < 5 && w->mode == WRITE && w->status == MD_OK; ++g)
    w->status = md_h5->group(w->file, groups[g]);
  text(w, "program", r->program, sizeof r->program);
  walk_model(w, &r->model);
  real(w, "model/skin", &r->model.skin);
  whole(w, "run/step", &r->model.step);
  whole(w, "run/begin", &r->model.run_begin);
  whole(w, "run/end", &r->model.run_end);
  flags(w, "run/under_way", 1, &r->under_way);
  flags(w, "run/has_energy", 1, &r->has_energy);
  real(w, "run/first_energy", &r->first_energy);
  walk_history(w, &r->history);
  walk_measured(w, &r->history);
  walk_left_out(w, &r->history);
  walk_draws(w, r);
  walk_draw_shift(w, &r->model.draw_shift);
  walk_unshown(w, r);
  walk_outputs(w, r);
  numbers(w, "particles/checksum", MD_H5_INT64, (md_h5_shape){.n = 1, .size = {MD_RESTART_FIELDS}},
          r->checksum);
  walk_columns(w, r);
}

uint64_t md_restart_model_hash(const md_model *model)
{
  walk w = {.mode = HASH};
  md_model copy = *model;
  copy.has_v_pair = false; /* a state, no physics */
  /* Faces that follow the particles are not where they were when the restart was written. */
  for (int f = 0; f < 6; ++f)
    if (md_box_face_follows(&copy.box, f / 2, f % 2)) md_box_move_face(&copy.box, f / 2, f % 2, 0.0);
  for (int k = 0; k < 3; ++k)
    if (copy.box.shears[k]) copy.box.tilt[k] = 0.0;
  walk_model(&w, &copy);
  return w.hash;
}

uint64_t md_restart_course_hash(const md_model *model)
{
  md_model copy = *model;
  copy.groups.n = 1;
  for (int d = 0; d < 3 && md_box_is_changed(&copy.box); ++d) {
    copy.box.lo[d] = copy.box.tilt[d] = 0.0;
    copy.box.hi[d] = 1.0;
  }
  return md_restart_model_hash(&copy);
}

md_status md_restart_write_items(md_h5_file *file, const char *path, md_restart *r)
{
  walk w = {.mode = WRITE, .file = file, .path = path, .version = FORMAT_VERSION};
  const md_h5_shape one = {0};
  MD_TRY(md_h5->put_text(file, "format", format_name));
  MD_TRY(md_h5->put(file, "version", MD_H5_INT64, &one, &w.version));
  walk_header(&w, r);
  MD_TRY(w.status);
  return md_h5->put(file, "checksum", MD_H5_INT64, &one, &w.hash);
}

md_status md_restart_read_items(md_h5_file *file, const char *path, md_restart *r)
{
  walk w = {.mode = READ, .file = file, .path = path};
  const md_h5_shape one = {0};
  char format[64] = "";
  int64_t version = 0;
  uint64_t checksum = 0;
  if (!md_h5->has(file, "format") || md_h5->get_text(file, "format", format, sizeof format) != MD_OK ||
      strcmp(format, format_name) != 0)
    return md_error(MD_RUNTIME, "cannot read %.500s: it is an HDF5 file, but no restart of Myriad", path);
  MD_TRY(md_h5->get(file, "version", MD_H5_INT64, &one, &version));
  if (version < FORMAT_OLDEST || version > FORMAT_VERSION)
    return md_error(
        MD_RUNTIME,
        "cannot read %.500s: it is a restart of version %lld, this program reads versions %d to %d", path,
        (long long)version, FORMAT_OLDEST, FORMAT_VERSION);
  w.version = version;
  walk_header(&w, r);
  MD_TRY(w.status);
  MD_TRY(md_h5->get(file, "checksum", MD_H5_INT64, &one, &checksum));
  if (checksum == w.hash) return MD_OK;
  return md_error(MD_RUNTIME,
                  "cannot read %.500s: it is damaged, the checksum of its model and settings is wrong", path);
}
