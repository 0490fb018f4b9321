/* The command read_data: its keywords, and the file that md_data_read reads.
 *
 * With `add` the file's particles join those that are there, and the box is extended. That is an edit of particles, as
 * those of src/edit. Reference: the LAMMPS manual, command read_data.
 */
#include "common/base/open_file.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/bonds/molecules.h"
#include "src/data/data_file.h"
#include "src/edit/edit.h"
#include "src/group/groups.h"
#include "src/particles/unique_ids.h"
#include "src/properties/property.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The words of a keyword that are read into options. */
typedef struct read_call {
  md_sim *sim;
  char *const *word; /* after the keyword */
  int n, more;       /* how many there are; how many were read besides those that the keyword needs */
  md_data_options *options;
} read_call;

/* append; merge; or offsets of ids and, if a second number follows, of molecules. */
static md_status read_add(read_call *c)
{
  md_data_options *o = c->options;
  o->add = true;
  if (strcmp(c->word[0], "append") == 0) {
    o->id_offset = c->sim->max_id;
    return md_molecules_find_last(c->sim->comm, &c->sim->particles, &o->molecule_offset);
  }
  o->merge = true;
  if (strcmp(c->word[0], "merge") == 0) return MD_OK;
  MD_TRY(md_word_int64(c->word[0], "read_data add (append, merge or an offset of ids)", 0, INT64_MAX,
                       &o->id_offset));
  if (c->n < 2 || c->word[1][0] < '0' || c->word[1][0] > '9') return MD_OK;
  c->more = 1;
  return md_word_int64(c->word[1], "read_data add (an offset of molecules)", 0, UINT32_MAX,
                       &o->molecule_offset);
}

/* Types, and types of bonds; then angles, dihedrals and impropers, which do not exist here. */
static md_status read_offset(read_call *c)
{
  int64_t ignored;
  for (int k = 2; k < 5; ++k) MD_TRY(md_word_int64(c->word[k], "read_data offset", 0, INT64_MAX, &ignored));
  MD_TRY(md_word_int64(c->word[1], "read_data offset", 0, MD_BOND_TYPES_MAX, &c->options->bond_type_offset));
  return md_word_int64(c->word[0], "read_data offset", 0, MD_TYPES_MAX, &c->options->type_offset);
}

static md_status read_shift(read_call *c)
{
  for (int d = 0; d < 3; ++d) MD_TRY(md_word_double(c->word[d], "read_data shift", &c->options->shift[d]));
  if (c->sim->model.box.dim == 2 && c->options->shift[2] != 0.0)
    return md_error(MD_USAGE, "read_data shift: in two dimensions the z component must be 0, not %s",
                    c->word[2]);
  return MD_OK;
}

static md_status read_extra(read_call *c)
{
  return md_word_int64(c->word[0], "read_data extra/atom/types", 0, MD_TYPES_MAX, &c->options->extra_types);
}

/* fix ID NULL SECTION: the section has an id and the values of a fix property/atom in each line. */
static md_status read_fix(read_call *c)
{
  md_data_options *o = c->options;
  if (strcmp(c->word[1], "NULL") != 0)
    return md_error(MD_USAGE,
                    "read_data fix: a fix property/atom has no line in the header: write NULL, not '%.64s'",
                    c->word[1]);
  if (o->nfix == MD_DATA_FIXES)
    return md_error(MD_USAGE, "read_data: sections of at most %d fixes are accepted", MD_DATA_FIXES);
  md_data_fix *fix = &o->fix[o->nfix++];
  MD_TRY(md_property_of_fix(c->sim, c->word[0], &fix->values));
  if (fix->values->columns > MD_DATA_VALUES)
    return md_error(MD_USAGE, "read_data fix: a section has at most %d values of each particle",
                    MD_DATA_VALUES);
  const char *section = strcmp(c->word[2], "NULL") == 0 ? c->word[0] : c->word[2];
  if (strlen(section) >= sizeof fix->section || strchr(section, ' '))
    return md_error(MD_USAGE, "read_data fix: '%.80s' is no title of one word for a section", section);
  memcpy(fix->section, section, strlen(section) + 1);
  return MD_OK;
}

static md_status read_nocoeff(read_call *c)
{
  c->options->no_coefficients = true;
  return MD_OK;
}

/* The group is made when the words are right and the box is there (join_group). */
static md_status read_group(read_call *c)
{
  if (strcmp(c->word[0], "all") != 0) return MD_OK;
  return md_error(MD_USAGE, "read_data group: all particles are in `all`; name another group");
}

static const struct {
  const char *name;
  int words;
  const char *usage;
  md_status (*read)(read_call *);
} keywords[] = {{"add", 1, "append, merge or an offset", read_add},
                {"offset", 5, "five numbers", read_offset},
                {"shift", 3, "three numbers", read_shift},
                {"extra/atom/types", 1, "a number", read_extra},
                {"group", 1, "a name", read_group},
                {"fix", 3, "an ID, NULL and the title of a section", read_fix},
                {"nocoeff", 0, "nothing", read_nocoeff}};
enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

/* *group: the name of the group that the particles join; NULL: none. */
static md_status read_keywords(md_sim *sim, const md_words *words, md_data_options *options,
                               const char **group)
{
  for (int at = 1; at < words->n;) {
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, words->word[at]) != 0) ++k;
    if (k == KEYWORDS)
      return md_error(
          MD_USAGE,
          "read_data: unknown keyword '%.64s'; accepted are add, offset, shift, extra/atom/types, "
          "group, fix, nocoeff",
          words->word[at]);
    if (at + keywords[k].words >= words->n)
      return md_error(MD_USAGE, "read_data %s needs %s", keywords[k].name, keywords[k].usage);
    read_call call = {sim, words->word + at + 1, words->n - at - 1, 0, options};
    MD_TRY(keywords[k].read(&call));
    if (strcmp(keywords[k].name, "group") == 0) *group = words->word[at + 1];
    at += 1 + keywords[k].words + call.more;
  }
  return MD_OK;
}

static md_status check_box(const md_sim *sim, const md_data_options *o)
{
  if (!o->add && (o->type_offset || o->bond_type_offset || o->shift[0] != 0.0 || o->shift[1] != 0.0 ||
                  o->shift[2] != 0.0))
    return md_error(MD_USAGE, "read_data offset and shift are for particles that are added: give add too");
  if (o->add) {
    MD_TRY(md_sim_need_box(sim, "read_data add"));
    return md_edit_need_no_wall(sim, "read_data add");
  }
  if (sim->has_box)
    return md_error(MD_USAGE, "read_data: there is a simulation box already; a deck has one box, to which "
                              "`add` adds particles");
  return MD_OK;
}

/* MD_USAGE: an id occurs twice. */
static md_status check_ids(md_sim *sim, const char *name)
{
  int64_t twice;
  MD_TRY(md_ids_find_twice(sim->comm, &sim->particles, &twice));
  if (twice == 0) return MD_OK;
  return md_error(MD_USAGE,
                  "read_data: the id %lld of %s is that of a particle that is there; use add append",
                  (long long)twice, name);
}

/* A group that the file is the first to name exists before the box has particles, so that they get words of groups. */
static md_status join_group(md_sim *sim, const char *name, md_data_options *options)
{
  int group;
  if (!name) return MD_OK;
  MD_TRY(md_group_find_or_make(sim, name, &group));
  options->group = md_group_bit(group);
  return MD_OK;
}

static md_status read_file(md_sim *sim, const char *name, const char *group, md_data_options *options)
{
  FILE *file = md_open_read(name);
  md_status status = file ? MD_OK : md_error(MD_RUNTIME, "cannot open %s: %s", name, md_open_reason(errno));
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = join_group(sim, group, options);
  if (status == MD_OK && options->add)
    status = md_comm_agree(sim->comm, md_particles_widen(&sim->particles, false));
  if (status == MD_OK) status = md_data_read(sim, file, name, options);
  if (file) fclose(file);
  return status;
}

md_status md_do_read_data(md_sim *sim, const md_words *words)
{
  md_data_options options = {0};
  const char *name = words->word[0], *group = NULL;
  MD_TRY(read_keywords(sim, words, &options, &group));
  MD_TRY(check_box(sim, &options));
  MD_TRY(md_sim_use_file(sim, MD_FILE_READ_DATA, NULL, name));
  const int64_t before = options.add ? sim->model.natoms : 0;
  MD_TRY(read_file(sim, name, group, &options));
  if (options.merge && !sim->resume) MD_TRY(check_ids(sim, name));
  MD_TRY(md_edit_follow(sim));
  md_log_print(sim->log, "  %lld atoms\n", (long long)(sim->model.natoms - before));
  return MD_OK;
}
