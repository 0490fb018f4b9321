/* The columns of text dumps, and how rows are written; see dump.h.
 *
 * A row is a line with the columns of one particle and a blank between two columns. The default format is %.17g, from
 * which a reader gets the same double back. md_text_double writes it, about ten times as fast as printf.
 *
 * In two dimensions z, vz and fz are 0. Positions are those in the box, but for xu and the like, for which the run
 * counts image flags (src/follow/images.h).
 *
 * Names such as xu, v_NAME and c_ID[K] are found for all particles before a frame is written, and travel with the rows.
 */
#include "common/base/name_list.h"
#include "common/compute/measure.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/dump/dump.h"
#include "src/follow/images.h"
#include "src/formula/particle_values.h"
#include "src/formula/value_ranges.h"
#include "src/properties/property.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const md_dump_column table[] = {
    {.name = "id", .what = MD_DUMP_ID},
    {.name = "type", .what = MD_DUMP_TYPE},
    {.name = "x", .what = MD_DUMP_X, .axis = 0},
    {.name = "y", .what = MD_DUMP_X, .axis = 1},
    {.name = "z", .what = MD_DUMP_X, .axis = 2},
    {.name = "xs", .what = MD_DUMP_XS, .axis = 0},
    {.name = "ys", .what = MD_DUMP_XS, .axis = 1},
    {.name = "zs", .what = MD_DUMP_XS, .axis = 2},
    {.name = "vx", .what = MD_DUMP_V, .axis = 0},
    {.name = "vy", .what = MD_DUMP_V, .axis = 1},
    {.name = "vz", .what = MD_DUMP_V, .axis = 2},
    {.name = "fx", .what = MD_DUMP_F, .axis = 0},
    {.name = "fy", .what = MD_DUMP_F, .axis = 1},
    {.name = "fz", .what = MD_DUMP_F, .axis = 2},
    {.name = "mass", .what = MD_DUMP_MASS},
    {.name = "element", .what = MD_DUMP_ELEMENT},
};

enum { TABLE = sizeof table / sizeof table[0] };

/* A column c_ID: a compute with a value for each particle. */
static md_status compute_column(const md_sim *sim, const char *name, md_dump_column *column)
{
  const md_compute *compute;
  int k;
  MD_TRY(md_compute_named(sim, name, &compute, &k));
  if (md_compute_style_of(compute->kind)->nvalue > 0)
    return md_error(MD_USAGE, "dump: '%.80s' is one value for all particles: it is a column of thermo_style",
                    name);
  *column = (md_dump_column){.what = MD_DUMP_COMPUTE, .compute = *compute};
  snprintf(column->name, sizeof column->name, "c_%s", compute->id);
  return MD_OK;
}

static md_status no_such_value(const char *name)
{
  if (strncmp(name, "f_", 2) == 0)
    return md_error(MD_USAGE, "dump: '%.80s': this fix has no such value for each particle", name);
  if (md_property_is_name(name))
    return md_error(MD_USAGE, "dump: particles have no property '%.80s'; fix property/atom makes it", name);
  if (*name == 'v')
    return md_error(MD_USAGE, "dump: '%.80s' has no value for each particle: a variable of style atom has",
                    name);
  return md_error(MD_USAGE, "dump: '%.80s': this compute has no such value for each particle", name);
}

static md_status check_named(const md_sim *sim, const char *name)
{
  return md_images_has(name) || md_particle_values_has(sim, name) ? MD_OK : no_such_value(name);
}

/* Adds the name to the values that a frame needs, unless it is there. */
static md_status name_column(md_dump *dump, const md_sim *sim, const char *name, md_dump_column *column)
{
  md_dump_named *named = &dump->named;
  int k = 0;
  if (strlen(name) >= sizeof column->name)
    return md_error(MD_USAGE, "dump: the name '%.80s' is too long", name);
  MD_TRY(check_named(sim, name));
  while (k < named->n && strcmp(named->name[k], name) != 0) ++k;
  if (k == named->n) {
    char **names = realloc(named->name, (size_t)(k + 1) * sizeof *names);
    if (names) named->name = names;
    double **values = names ? realloc(named->value, (size_t)(k + 1) * sizeof *values) : NULL;
    if (values) named->value = values;
    if (!values || !(named->name[k] = strdup(name))) return md_error(MD_RUNTIME, "dump: out of memory");
    named->value[named->n++] = NULL;
  }
  *column = (md_dump_column){.what = MD_DUMP_NAMED, .axis = k};
  snprintf(column->name, sizeof column->name, "%s", name);
  return MD_OK;
}

static bool is_named(const md_sim *sim, const char *name)
{
  if (md_is_compute(name)) return md_host_compute_find(sim, name + 2, strcspn(name + 2, "["));
  return strncmp(name, "v_", 2) == 0 || strncmp(name, "f_", 2) == 0 || md_property_is_name(name) ||
         md_images_has(name);
}

md_status md_dump_find_column(md_dump *dump, md_sim *sim, const char *name, md_dump_column *column)
{
  if (md_images_has(name)) MD_TRY(md_images_begin(sim));
  if (is_named(sim, name)) return name_column(dump, sim, name, column);
  if (md_is_compute(name)) return compute_column(sim, name, column);
  char accepted[512] = "";
  for (int c = 0; c < TABLE; ++c) {
    if (strcmp(table[c].name, name) == 0) {
      *column = table[c];
      return MD_OK;
    }
    md_name_list_add(accepted, sizeof accepted, " ", table[c].name);
  }
  return md_error(MD_USAGE,
                  "dump %s: unknown column '%.80s'; accepted are %s " MD_IMAGE_NAMES " c_ID c_ID[K] f_ID "
                  "f_ID[K] v_NAME i_NAME d_NAME mol",
                  dump->style->name, name, accepted);
}

/* The columns of n names. The caller frees *column. */
static md_status find_columns(md_dump *dump, md_sim *sim, int n, char *const *name, md_dump_column **column)
{
  MD_TRY(md_array_new(column, n, sizeof **column, "the columns of a dump"));
  for (int c = 0; c < n; ++c) {
    const md_status status = md_dump_find_column(dump, sim, name[c], &(*column)[c]);
    if (status == MD_OK) continue;
    free(*column);
    *column = NULL;
    return status;
  }
  return MD_OK;
}

md_status md_dump_set_columns(md_dump *dump, md_sim *sim, int n, const char *const *name)
{
  md_dump_column *column = NULL;
  md_words written;
  md_status status = md_value_ranges_write(sim, &(md_words){n, (char **)name}, &written);
  if (status == MD_OK) status = find_columns(dump, sim, written.n, written.word, &column);
  if (status == MD_OK) {
    free(dump->column);
    dump->column = column;
    dump->ncolumn = written.n;
  }
  md_value_ranges_free(&written);
  return status;
}

md_status md_dump_check_columns(md_dump *dump, md_sim *sim)
{
  for (int c = 0; c < dump->ncolumn; ++c) {
    md_dump_column *column = &dump->column[c];
    if (column->what == MD_DUMP_COMPUTE) MD_TRY(compute_column(sim, column->name, column));
    if (column->what == MD_DUMP_NAMED) MD_TRY(check_named(sim, column->name));
  }
  return MD_OK;
}

md_format_kind md_dump_column_kind(const md_dump_column *column)
{
  if (column->what == MD_DUMP_ID || column->what == MD_DUMP_TYPE) return MD_FORMAT_INT;
  return column->what == MD_DUMP_ELEMENT ? MD_FORMAT_WORD : MD_FORMAT_FLOAT;
}

bool md_dump_wants_forces(const md_dump *dump)
{
  for (int c = 0; c < dump->ncolumn; ++c)
    if (dump->column[c].what == MD_DUMP_F) return true;
  for (int t = 0; t < dump->nthreshold; ++t)
    if (dump->threshold[t].column.what == MD_DUMP_F) return true;
  return false;
}

/* A component of particle i's vector. 0 for the third component in two dimensions, or without an array. */
static double component(double *const *array, int axis, int dim, int64_t i)
{
  return array && axis < dim ? array[axis][i] : 0.0;
}

/* Where particle i is shown along an axis. */
static double place(const md_frame *frame, int axis, int64_t i)
{
  const md_particles *p = frame->rows.particles;
  double x[3];
  if (!frame->model->box.triclinic) return component(p->x, axis, p->dim, i);
  md_particle_shown(p, &frame->model->box, i, x);
  return x[axis];
}

/* The velocity of particle i along an axis. */
static double velocity(const md_frame *frame, int axis, int64_t i)
{
  const md_particles *p = frame->rows.particles;
  return frame->in_run && axis < p->dim ? md_model_velocity(frame->model, p, axis, i)
                                        : component(p->v, axis, p->dim, i);
}

/* The value of a compute for particle i; 0 for a particle that is not in its group. */
static double computed(const md_compute *compute, const md_frame *frame, int64_t i)
{
  const md_particles *p = frame->rows.particles;
  const md_particle one = {.id = (uint64_t)p->id[i], .mass = md_mass_of(frame->model, p, i)};
  double v[3];
  if (compute->group != 0 && !(p->group[i] & md_group_bit(compute->group))) return 0.0;
  for (int d = 0; d < 3; ++d) v[d] = velocity(frame, d, i);
  return md_compute_each(compute->kind, &one, v, p->dim);
}

double md_dump_value(const md_dump_column *column, const md_frame *frame, int64_t i)
{
  const md_particles *p = frame->rows.particles;
  const int axis = column->axis;
  switch (column->what) {
  case MD_DUMP_X: return place(frame, axis, i);
  case MD_DUMP_XS: return md_particle_scaled(frame->rows.particles, &frame->model->box, axis, i);
  case MD_DUMP_V: return velocity(frame, axis, i);
  case MD_DUMP_F: return component(frame->rows.force, axis, p->dim, i);
  case MD_DUMP_MASS: return md_shown_mass_of(frame->model, p, i);
  case MD_DUMP_COMPUTE: return computed(&column->compute, frame, i);
  case MD_DUMP_NAMED: return frame->rows.value[axis][i];
  case MD_DUMP_ID: return (double)p->id[i];
  case MD_DUMP_TYPE:
  case MD_DUMP_ELEMENT: return p->type[i];
  }
  return 0.0;
}

/* The deck's format of a column: the column's own, else the one for its kind. "": the default. */
static const char *format_of(const md_dump *dump, const md_dump_column *column, md_format_kind kind)
{
  if (column->format[0] || kind == MD_FORMAT_WORD) return column->format;
  return kind == MD_FORMAT_INT ? dump->format_int : dump->format_float;
}

static void put_value(const md_dump *dump, const md_dump_column *column, const md_frame *frame, int64_t i,
                      md_text *text)
{
  const md_format_kind kind = md_dump_column_kind(column);
  const char *format = format_of(dump, column, kind);
  if (kind == MD_FORMAT_FLOAT) {
    const double shown = md_dump_value(column, frame, i);
    const double value = column->scale > 0.0 ? shown * column->scale : shown;
    if (format[0])
      md_text_print(text, format, value);
    else
      md_text_double(text, value, dump->precision);
  } else if (kind == MD_FORMAT_INT) {
    const md_particles *p = frame->rows.particles;
    const int64_t value = column->what == MD_DUMP_ID ? p->id[i] : (int64_t)p->type[i];
    if (format[0])
      md_text_print(text, format, (long long)value);
    else
      md_text_int(text, value);
  } else {
    const char *value = dump->element[frame->rows.particles->type[i]];
    if (format[0])
      md_text_print(text, format, value);
    else
      md_text_string(text, value);
  }
}

void md_dump_format_rows(const md_dump *dump, const md_frame *frame, int64_t first, int64_t count,
                         md_text *text)
{
  for (int64_t k = first; k < first + count; ++k) {
    const int64_t i = frame->rows.order ? frame->rows.order[k] : k;
    for (int c = 0; c < dump->ncolumn; ++c) {
      if (c > 0) md_text_add(text, " ", 1);
      put_value(dump, &dump->column[c], frame, i, text);
    }
    md_text_add(text, "\n", 1);
  }
}
