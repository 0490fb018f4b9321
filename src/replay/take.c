/* Taking a snapshot of a dump over; see take.h. Words and meaning are those of LAMMPS's read_dump.
 *
 * 1. The box becomes that of the snapshot.
 * 2. Every rank reads all rows, and changes its own particles of the same ids.
 * 3. To add particles, the ranks sum up which rows found a particle on any rank, and read the rows again. Row k without
 *    one becomes a particle of rank k mod P.
 * 4. Image flags are those of the fields ix iy iz, and how often an unwrapped coordinate went through the box. If the
 *    snapshot has neither, all flags are forgotten, and displacements go on to the nearest images.
 *
 * The result does not depend on ranks, nor on the order of particles. Trade-off: no messages but one sum, and reading
 * is not faster on more ranks. Memory: a table of the rank's ids, and to add particles 8 bytes a row. */
#include "src/replay/take.h"
#include "common/groups.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/create/create.h"
#include "src/edit/edit.h"
#include "src/follow/followed.h"
#include "src/follow/images.h"
#include "src/particles/id_table.h"
#include "src/particles/unique_ids.h"
#include "src/properties/id_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const field_names[MD_FIELDS] = {"id", "type", "x",  "y",  "z", "vx",
                                                   "vy", "vz",   "ix", "iy", "iz"};

/* ---- words ---- */

static int field_named(const char *name)
{
  int f = 0;
  while (f < MD_FIELDS && strcmp(field_names[f], name) != 0) ++f;
  return f;
}

/* Fields that LAMMPS has and that are nothing here. */
static md_status refuse_field(const char *command, const char *word)
{
  static const char *const forces[] = {"fx", "fy", "fz"};
  for (int d = 0; d < 3; ++d)
    if (strcmp(word, forces[d]) == 0)
      return md_error(MD_USAGE, "%s: %s is not taken, since forces follow from positions", command, word);
  if (strcmp(word, "q") == 0)
    return md_error(MD_USAGE, "%s: q is not taken: particles have no charges", command);
  return MD_OK;
}

typedef struct keyword {
  const char *name;
  int words;
  md_status (*read)(md_take *, const char *what, char *const *word);
} keyword;

#define YES_OR_NO(name)                                                                                      \
  static md_status read_##name(md_take *t, const char *what, char *const *word)                              \
  {                                                                                                          \
    return md_word_bool(word[0], what, &t->name);                                                            \
  }
YES_OR_NO(box)
YES_OR_NO(step)
YES_OR_NO(replace)
YES_OR_NO(purge)
YES_OR_NO(trim)
#undef YES_OR_NO

static md_status read_add(md_take *t, const char *what, char *const *word)
{
  bool yes = true;
  if (strcmp(word[0], "keep") == 0) {
    t->add = MD_ADD_KEEP_IDS;
    return MD_OK;
  }
  MD_TRY(md_word_bool(word[0], what, &yes));
  t->add = yes ? MD_ADD_NEW_IDS : MD_ADD_NO;
  return MD_OK;
}

static md_status read_label(md_take *t, const char *what, char *const *word)
{
  const int f = field_named(word[0]);
  if (f == MD_FIELDS) return md_error(MD_USAGE, "%s: '%.64s' is no field", what, word[0]);
  if (strlen(word[1]) >= sizeof t->label[f])
    return md_error(MD_USAGE, "%s: the name '%.80s' is too long", what, word[1]);
  memcpy(t->label[f], word[1], strlen(word[1]) + 1);
  return MD_OK;
}

static md_status read_format(md_take *t, const char *what, char *const *word)
{
  (void)t;
  if (strcmp(word[0], "native") == 0) return MD_OK;
  return md_error(MD_USAGE,
                  "%s: '%.64s' is not available, only native, the text of dump styles custom and atom", what,
                  word[0]);
}

static md_status refuse_wrapped(md_take *t, const char *what, char *const *word)
{
  (void)t, (void)word;
  return md_error(MD_USAGE, "%s: native dumps say it by their columns, x xs xu or xsu: leave it out", what);
}

static const keyword keywords[] = {
    {"box", 1, read_box},       {"timestep", 1, read_step},    {"replace", 1, read_replace},
    {"purge", 1, read_purge},   {"trim", 1, read_trim},        {"add", 1, read_add},
    {"label", 2, read_label},   {"scaled", 1, refuse_wrapped}, {"wrapped", 1, refuse_wrapped},
    {"format", 1, read_format},
};
enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status read_keyword(const char *command, const md_words *words, int *at, md_take *take)
{
  const char *word = words->word[*at];
  char what[64];
  int k = 0;
  while (k < KEYWORDS && strcmp(keywords[k].name, word) != 0) ++k;
  if (k == KEYWORDS)
    return md_error(MD_USAGE,
                    "%s: unknown word '%.64s'; accepted are the fields x y z vx vy vz ix iy iz, then box, "
                    "timestep, replace, purge, trim, add, label, format",
                    command, word);
  if (*at + keywords[k].words >= words->n)
    return md_error(MD_USAGE, "%s %s: its value is missing", command, word);
  snprintf(what, sizeof what, "%s %s", command, word);
  MD_TRY(keywords[k].read(take, what, words->word + *at + 1));
  *at += 1 + keywords[k].words;
  return MD_OK;
}

static md_status check_combination(const char *command, const md_take *take)
{
  if (take->purge && (take->replace || take->trim))
    return md_error(MD_USAGE, "%s: with purge yes there is nothing to replace or trim: give replace no",
                    command);
  return MD_OK;
}

md_status md_take_read(md_sim *sim, const char *command, const md_words *words, md_take *take)
{
  int at = 0;
  *take = (md_take){.box = true, .step = true, .replace = true};
  for (int f; at < words->n && (f = field_named(words->word[at])) < MD_FIELDS; ++at) {
    if (f < MD_FIELD_X)
      return md_error(MD_USAGE, "%s: %s is always read if it is needed; leave it out", command,
                      words->word[at]);
    if (take->field[f])
      return md_error(MD_USAGE, "%s: the field %s is there twice", command, words->word[at]);
    take->field[f] = true;
  }
  if (at < words->n) MD_TRY(refuse_field(command, words->word[at]));
  if (at == 0)
    return md_error(MD_USAGE, "%s needs the fields to take over, out of x y z vx vy vz ix iy iz", command);
  if (sim->model.box.dim == 2)
    take->field[MD_FIELD_X + 2] = take->field[MD_FIELD_V + 2] = take->field[MD_FIELD_I + 2] = false;
  while (at < words->n) MD_TRY(read_keyword(command, words, &at, take));
  return check_combination(command, take);
}

/* ---- columns ---- */

typedef struct taking {
  md_sim *sim;
  const char *command;
  const md_take *take;
  md_snapshots *snapshots;
  const md_snapshot *snapshot;
  int column[MD_FIELDS];     /* -1: not read */
  bool scaled[MD_FIELDS];    /* of a coordinate: in units of the side */
  bool unwrapped[MD_FIELDS]; /* of a coordinate: it goes on through periodic faces */
  bool flagged;              /* the snapshot has image flags, or unwrapped coordinates */
  double *flag[3];           /* [flags_room] if flagged: of the particles that have been given some */
  uint8_t *given;            /* [flags_room] */
  int64_t flags_room;
  md_id_table ids; /* own particles: index + 1, negative once a row has been its */
  int64_t *found;  /* [room] to add particles: 1 if the row is that of a particle */
  int64_t room;    /* rows that found[] holds */
  md_taken *taken;
} taking;

static int column_named(const md_snapshot *s, const char *name)
{
  for (int c = 0; c < s->ncolumn; ++c)
    if (strcmp(s->column[c], name) == 0) return c;
  return -1;
}

static md_status find_column(taking *t, int f)
{
  static const char *const endings[] = {"", "s", "u", "su"};
  const char *label = t->take->label[f];
  char name[8];
  t->column[f] = -1;
  if (label[0]) t->column[f] = column_named(t->snapshot, label);
  for (int e = 0; e < 4 && !label[0] && t->column[f] < 0; ++e) {
    if (e > 0 && (f < MD_FIELD_X || f >= MD_FIELD_V)) break;
    snprintf(name, sizeof name, "%s%s", field_names[f], endings[e]);
    t->column[f] = column_named(t->snapshot, name);
    t->scaled[f] = endings[e][0] == 's';
    t->unwrapped[f] = strchr(endings[e], 'u') != NULL;
  }
  if (t->column[f] >= 0) return MD_OK;
  return md_error(MD_USAGE, "%s: the snapshot of step %lld has no column for %s%s%s", t->command,
                  (long long)t->snapshot->step, field_names[f], label[0] ? " named " : "", label);
}

static md_status find_columns(taking *t)
{
  for (int f = 0; f < MD_FIELDS; ++f) {
    const bool needed =
        f == MD_FIELD_ID || (f == MD_FIELD_TYPE && t->take->add != MD_ADD_NO) || t->take->field[f];
    t->column[f] = -1;
    if (needed) MD_TRY(find_column(t, f));
    t->flagged = t->flagged || (needed && (t->unwrapped[f] || f >= MD_FIELD_I));
  }
  return MD_OK;
}

/* ---- rows ---- */

static md_status read_whole(const taking *t, char *const *word, int f, int64_t most, int64_t *value)
{
  char *end;
  errno = 0;
  *value = strtoll(word[t->column[f]], &end, 10);
  if (*end == '\0' && errno == 0 && *value >= 1 && *value <= most) return MD_OK;
  return md_snapshots_wrong(t->snapshots, f == MD_FIELD_ID ? "the id must be a positive whole number"
                                                           : "the type is not one of the box");
}

static md_status read_real(const taking *t, char *const *word, int f, double *value)
{
  char *end;
  *value = strtod(word[t->column[f]], &end);
  if (*end != '\0' || end == word[t->column[f]] || !isfinite(*value))
    return md_snapshots_wrong(t->snapshots, "a coordinate or velocity is no number");
  return MD_OK;
}

/* Reads a coordinate. *flag: gets more by the sides between it and its image in the box. */
static md_status read_place(const taking *t, char *const *word, int d, double *x, double *flag)
{
  const md_box *box = &t->sim->model.box;
  double place;
  MD_TRY(read_real(t, word, MD_FIELD_X + d, &place));
  /* The faces of the box that take part here may follow the particles: they are not those of the snapshot. */
  const double lo = t->snapshot->lo[d], hi = t->snapshot->hi[d];
  if (t->scaled[MD_FIELD_X + d]) place = lo + place * (hi - lo);
  *x = md_edit_wrap(box, d, place);
  if (box->periodic[d]) *flag += rint((place - *x) / box->length[d]);
  return MD_OK;
}

/* Reads an image flag, which an unwrapped coordinate does not need. */
static md_status read_flag(const taking *t, char *const *word, int d, double *flag)
{
  const char *text = word[t->column[MD_FIELD_I + d]];
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < -MD_IMAGE_FLAG_MOST || value > MD_IMAGE_FLAG_MOST)
    return md_snapshots_wrong(t->snapshots, "an image flag must be a whole number of at most 2^30");
  if (!t->unwrapped[MD_FIELD_X + d]) *flag = (double)value;
  return MD_OK;
}

/* Makes room for the image flags of particle i. */
static md_status make_flags_room(taking *t, int64_t i)
{
  if (i < t->flags_room) return MD_OK;
  const int64_t room = 2 * i + 1024;
  uint8_t *given;
  MD_TRY(md_array_new_zero(&given, room, 1, "image flags"));
  if (t->flags_room > 0) memcpy(given, t->given, (size_t)t->flags_room);
  free(t->given);
  t->given = given;
  for (int d = 0; d < 3; ++d) {
    double *flag;
    MD_TRY(md_array_new_zero(&flag, room, sizeof *flag, "image flags"));
    if (t->flags_room > 0) memcpy(flag, t->flag[d], (size_t)t->flags_room * sizeof *flag);
    free(t->flag[d]);
    t->flag[d] = flag;
  }
  t->flags_room = room;
  return MD_OK;
}

/* Writes the fields of a row into particle i. */
static md_status put_fields(taking *t, char *const *word, int64_t i)
{
  md_particles *p = &t->sim->particles;
  double flag[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < p->dim; ++d) {
    if (t->take->field[MD_FIELD_I + d]) MD_TRY(read_flag(t, word, d, &flag[d]));
    if (t->take->field[MD_FIELD_X + d]) MD_TRY(read_place(t, word, d, &p->x[d][i], &flag[d]));
    if (!t->take->field[MD_FIELD_V + d]) continue;
    MD_TRY(read_real(t, word, MD_FIELD_V + d, &p->v[d][i]));
    if (p->wide) p->v_low[d][i] = 0;
  }
  if (!t->flagged) return MD_OK;
  MD_TRY(make_flags_room(t, i));
  t->given[i] = 1;
  for (int d = 0; d < 3; ++d) t->flag[d][i] = flag[d];
  return MD_OK;
}

/* Makes room in found[] for row k. It grows with the rows that are read, because the number in the header may be that
 * of a damaged file. */
static md_status make_room(taking *t, int64_t k)
{
  if (t->take->add == MD_ADD_NO || k < t->room) return MD_OK;
  const int64_t room = 2 * t->room + 1024;
  int64_t *found;
  MD_TRY(md_array_new_zero(&found, room, sizeof *found, "the rows of a snapshot"));
  if (t->room > 0) memcpy(found, t->found, (size_t)t->room * sizeof *found);
  free(t->found);
  t->found = found;
  t->room = room;
  return MD_OK;
}

static md_status replace_row(taking *t, int64_t k)
{
  char **word;
  int64_t id;
  MD_TRY(md_snapshots_row(t->snapshots, &word));
  MD_TRY(make_room(t, k));
  MD_TRY(read_whole(t, word, MD_FIELD_ID, INT64_MAX, &id));
  int32_t *place = md_id_table_find(&t->ids, id);
  if (!place) return MD_OK;
  if (*place < 0) return md_snapshots_wrong(t->snapshots, "the id occurs twice in this snapshot");
  if (t->found) t->found[k] = 1;
  if (t->take->replace) MD_TRY(put_fields(t, word, *place - 1));
  t->taken->replaced += t->take->replace;
  *place = -*place;
  return MD_OK;
}

static md_status list_ids(taking *t)
{
  const md_particles *p = &t->sim->particles;
  MD_TRY(md_id_table_init(&t->ids, t->sim->comm->size == 1 ? p->n : 0));
  for (int64_t i = 0; i < p->n; ++i) MD_TRY(md_id_table_add(&t->ids, p->id[i], (int32_t)(i + 1)));
  return MD_OK;
}

static md_status replace(taking *t)
{
  MD_TRY(list_ids(t));
  for (int64_t k = 0; k < t->snapshot->n; ++k) MD_TRY(replace_row(t, k));
  return MD_OK;
}

static md_status trim(taking *t)
{
  md_particles *p = &t->sim->particles;
  uint8_t *gone;
  MD_TRY(md_array_new_zero(&gone, p->n, 1, "particles to delete"));
  for (int64_t i = 0; i < p->n; ++i) {
    gone[i] = *md_id_table_find(&t->ids, p->id[i]) > 0;
    t->taken->trimmed += gone[i];
  }
  for (int64_t i = 0, kept = 0; i < p->n && i < t->flags_room; ++i) {
    if (gone[i]) continue;
    for (int d = 0; d < 3; ++d) t->flag[d][kept] = t->flag[d][i];
    t->given[kept++] = t->given[i];
  }
  md_particles_remove(p, gone);
  free(gone);
  return MD_OK;
}

/* ---- adding ---- */

static md_status add_row(taking *t, char *const *word, int64_t new_id)
{
  md_particles *p = &t->sim->particles;
  const int64_t i = p->n;
  int64_t id, type;
  MD_TRY(read_whole(t, word, MD_FIELD_ID, INT64_MAX, &id));
  MD_TRY(read_whole(t, word, MD_FIELD_TYPE, t->sim->model.ntypes, &type));
  if (p->n == p->capacity) MD_TRY(md_particles_reserve(p, 2 * p->n + 1024));
  p->id[i] = t->take->add == MD_ADD_KEEP_IDS ? id : new_id;
  p->type[i] = (uint16_t)type;
  if (p->grouped) p->group[i] = MD_GROUP_ALL;
  md_particles_set_alone(p, i);
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = t->sim->model.box.lo[d];
    p->v[d][i] = 0.0;
    if (p->wide) p->v_low[d][i] = 0;
  }
  ++p->n;
  return put_fields(t, word, i);
}

static md_status add_rows(taking *t, int64_t max_id)
{
  const md_comm *comm = t->sim->comm;
  char **word;
  MD_TRY(md_snapshots_rewind(t->snapshots));
  for (int64_t k = 0; k < t->snapshot->n; ++k) {
    MD_TRY(md_snapshots_row(t->snapshots, &word));
    if (t->found[k]) continue;
    ++t->taken->added;
    if (max_id > INT64_MAX - t->taken->added)
      return md_snapshots_wrong(t->snapshots, "there are no more ids");
    if (k % comm->size == comm->rank) MD_TRY(add_row(t, word, max_id + t->taken->added));
  }
  return MD_OK;
}

static md_status find_rows(taking *t)
{
  enum { PART = 65536 };
  for (int64_t k = 0; k < t->snapshot->n; k += PART) {
    const int64_t left = t->snapshot->n - k;
    MD_TRY(t->sim->comm->reduce->sum(t->sim->comm, t->found + k, (int)(left < PART ? left : PART)));
  }
  return MD_OK;
}

static md_status add(taking *t)
{
  md_sim *sim = t->sim;
  int64_t twice;
  if (sim->model.massed)
    return md_error(MD_USAGE, "%s add: with atom_style sphere the mass of a new particle would be unknown",
                    t->command);
  MD_TRY(find_rows(t));
  MD_TRY(md_sim_count(sim)); /* the largest id */
  MD_TRY(md_comm_agree(sim->comm, add_rows(t, sim->model.natoms > 0 ? sim->max_id : 0)));
  MD_TRY(md_ids_find_twice(sim->comm, &sim->particles, &twice));
  if (twice == 0) return MD_OK;
  return md_error(MD_USAGE, "%s: the id %lld occurs twice in the snapshot of step %lld", t->command,
                  (long long)twice, (long long)t->snapshot->step);
}

/* ---- the snapshot ---- */

static md_status take_box(taking *t)
{
  md_box *box = &t->sim->model.box;
  bool same = true;
  for (int d = 0; d < box->dim; ++d)
    same = same && box->lo[d] == t->snapshot->lo[d] && box->hi[d] == t->snapshot->hi[d];
  if (same) return MD_OK;
  MD_TRY(md_edit_need_no_wall(t->sim, t->command));
  for (int d = 0; d < box->dim; ++d) {
    MD_TRY(md_box_check(t->snapshot->lo[d], t->snapshot->hi[d], d));
    box->lo[d] = t->snapshot->lo[d];
    box->hi[d] = t->snapshot->hi[d];
    box->length[d] = box->hi[d] - box->lo[d];
  }
  if (md_box_follows(box)) md_faces_begin(box);
  return MD_OK;
}

static md_status take_rows(taking *t)
{
  md_sim *sim = t->sim;
  if (t->take->purge) {
    t->taken->purged = sim->particles.n;
    sim->particles.n = 0;
    /* Computes follow an id on, as in a rerun; fixes begin anew with its particle. */
    MD_TRY(md_id_values_trim(sim));
  }
  MD_TRY(md_comm_agree(sim->comm, replace(t)));
  if (t->take->trim) {
    MD_TRY(md_comm_agree(sim->comm, trim(t)));
    MD_TRY(md_edit_forget_removed(sim));
  }
  if (t->take->add != MD_ADD_NO) MD_TRY(add(t));
  MD_TRY(md_edit_check_inside(sim, t->command));
  MD_TRY(md_faces_follow(sim));
  int64_t sums[] = {t->taken->purged, t->taken->replaced, t->taken->trimmed};
  MD_TRY(sim->comm->reduce->sum(sim->comm, sums, 3));
  t->taken->purged = sums[0];
  t->taken->replaced = sums[1];
  t->taken->trimmed = sums[2];
  return md_sim_count(sim);
}

/* Gives the particles the image flags of the snapshot. */
static md_status give_flags(taking *t)
{
  md_sim *sim = t->sim;
  if (!t->flagged) {
    md_images_forget(sim);
    return MD_OK;
  }
  MD_TRY(md_comm_agree(sim->comm, make_flags_room(t, sim->particles.n)));
  if (t->take->holds_flags || md_images_are_kept(sim)) MD_TRY(md_images_set(sim, t->given, t->flag));
  return md_followed_place(sim, t->given, t->flag);
}

md_status md_take_snapshot(md_sim *sim, const char *command, const md_take *take, md_snapshots *snapshots,
                           const md_snapshot *snapshot, md_taken *taken)
{
  taking t = {.sim = sim, .command = command, .take = take, .snapshots = snapshots, .snapshot = snapshot};
  t.taken = taken;
  *taken = (md_taken){.before = sim->model.natoms, .rows = snapshot->n};
  const bool passed = sim->resume && sim->history.nrun > 0;
  if (!passed) MD_TRY(find_columns(&t));
  if (take->box) MD_TRY(take_box(&t));
  if (passed) return MD_OK;
  sim->particles.nghost = 0;
  md_status status = take_rows(&t);
  if (status == MD_OK) status = give_flags(&t);
  md_id_table_free(&t.ids);
  free(t.found);
  free(t.given);
  for (int d = 0; d < 3; ++d) free(t.flag[d]);
  sim->broken = status != MD_OK;
  return status;
}
