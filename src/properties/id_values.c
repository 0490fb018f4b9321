/* Values of particles by id; see id_values.h. */
#include "src/properties/id_values.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"
#include "src/restart/restart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "values of particles";

/* ---- the list ---- */

static md_id_values *find(md_sim *sim, const char *name)
{
  md_id_values *v = sim->id_values;
  while (v && strcmp(v->name, name) != 0) v = v->next;
  return v;
}

static md_status add(md_sim *sim, const char *name, int columns, md_id_values **values)
{
  md_id_values *v = calloc(1, sizeof *v), **at = &sim->id_values;
  if (!v) return md_error(MD_RUNTIME, "out of memory for %s", what);
  snprintf(v->name, sizeof v->name, "%s", name);
  v->sim = sim;
  v->columns = columns;
  while (*at) at = &(*at)->next;
  *at = *values = v;
  return MD_OK;
}

md_status md_id_values_new(md_sim *sim, const char *style, const char *id, int columns, md_id_values **values)
{
  char name[sizeof(*values)->name];
  snprintf(name, sizeof name, "%.20s %.63s", style, id);
  *values = find(sim, name);
  if (!*values) MD_TRY(add(sim, name, columns, values));
  const int there = (*values)->columns;
  if (there != columns) {
    *values = NULL;
    return md_error(MD_USAGE, "the restart has %d values of each particle for fix %s, not %d", there, id,
                    columns);
  }
  (*values)->claimed = true;
  return MD_OK;
}

void md_id_values_free(md_id_values *values)
{
  if (!values) return;
  md_id_values **at = &values->sim->id_values;
  while (*at != values) at = &(*at)->next;
  *at = values->next;
  free(values->id);
  free(values->value);
  free(values);
}

void md_id_values_free_all(md_sim *sim)
{
  for (md_id_values *v = sim->id_values, *next; v; v = next) {
    next = v->next;
    free(v->id);
    free(v->value);
    free(v);
  }
  sim->id_values = NULL;
}

/* ---- messages ---- */

/* A question to a home. The answer is its number, and the values. */
typedef struct question {
  int64_t id, rank, number;
} question;

static int by_id(const void *a, const void *b)
{
  const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
  return one < other ? -1 : one > other;
}

/* ---- values for the particles of this rank ---- */

static md_status ask(md_sim *sim, question **received, int64_t *n)
{
  const md_particles *p = &sim->particles;
  md_outbox out;
  MD_TRY(md_outbox_open(&out, sim->comm, p->n, sizeof **received, what));
  for (int64_t i = 0; i < p->n; ++i)
    *(question *)md_outbox_add(&out, md_home_of(sim->comm, p->id[i])) =
        (question){p->id[i], sim->comm->rank, i};
  return md_outbox_send(&out, received, n);
}

/* The place of an id at this home, or -1. On one rank it follows from the first one, if a deck has removed no ids. */
static int64_t place_of(const md_id_values *v, int64_t id)
{
  if (v->n == 0) return -1;
  const int64_t guess = id - v->id[0];
  if (guess >= 0 && guess < v->n && v->id[guess] == id) return guess;
  const int64_t *at = bsearch(&id, v->id, (size_t)v->n, sizeof *v->id, by_id);
  return at ? at - v->id : -1;
}

/* The values of an id at this home; NULL: none were set. */
static const double *look_up(const md_id_values *v, int64_t id)
{
  const int64_t at = place_of(v, id);
  return at < 0 ? NULL : v->value + at * v->columns;
}

static md_status answer(md_sim *sim, const md_id_values *v, const question *q, int64_t n, double *value)
{
  const size_t bytes = (size_t)v->columns * sizeof *value;
  const int64_t size = (int64_t)(sizeof(int64_t) + bytes);
  md_outbox out;
  char *received;
  int64_t count;
  MD_TRY(md_outbox_open(&out, sim->comm, n, size, what));
  for (int64_t k = 0; k < n; ++k) {
    const double *found = look_up(v, q[k].id);
    char *record = md_outbox_add(&out, (int32_t)q[k].rank);
    memset(record, 0, (size_t)size);
    memcpy(record, &q[k].number, sizeof q[k].number);
    if (found) memcpy(record + sizeof q[k].number, found, bytes);
  }
  MD_TRY(md_outbox_send(&out, &received, &count));
  for (int64_t k = 0; k < count; ++k) {
    int64_t number;
    memcpy(&number, received + k * size, sizeof number);
    memcpy(value + number * v->columns, received + k * size + sizeof number, bytes);
  }
  free(received);
  return MD_OK;
}

/* On one rank all ids are at home here. */
static void copy_own(const md_id_values *v, double *value)
{
  const md_particles *p = &v->sim->particles;
  const size_t bytes = (size_t)v->columns * sizeof *value;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    const double *found = look_up(v, p->id[i]);
    if (found)
      memcpy(value + i * v->columns, found, bytes);
    else
      memset(value + i * v->columns, 0, bytes);
  }
}

md_status md_id_values_get(const md_id_values *values, double *value)
{
  md_sim *sim = values->sim;
  question *questions;
  int64_t n;
  if (sim->comm->size == 1) {
    copy_own(values, value);
    return MD_OK;
  }
  MD_TRY(ask(sim, &questions, &n));
  const md_status status = answer(sim, values, questions, n, value);
  free(questions);
  return status;
}

/* ---- new values ---- */

/* Joins n records, in the order of ids, with the values that are there, and frees those. Records come first. */
static md_status join(md_id_values *v, const char *records, int64_t n, int64_t size)
{
  const size_t bytes = (size_t)v->columns * sizeof(double);
  int64_t *id = NULL, count = 0, old = 0, k = 0;
  double *value = NULL;
  MD_TRY(md_array_new(&id, v->n + n + 1, sizeof *id, what));
  md_status status = md_array_new(&value, (v->n + n) * v->columns + 1, sizeof *value, what);
  if (status != MD_OK) {
    free(id);
    return status;
  }
  while (k < n || old < v->n) {
    int64_t one = INT64_MAX;
    if (k < n) memcpy(&one, records + k * size, sizeof one);
    const bool is_new = k < n && (old == v->n || one <= v->id[old]);
    id[count] = is_new ? one : v->id[old];
    memcpy(value + count * v->columns,
           is_new ? (const void *)(records + k * size + 8) : v->value + old * v->columns, bytes);
    if (old < v->n && v->id[old] == id[count]) ++old;
    k += is_new;
    ++count;
  }
  free(v->id);
  free(v->value);
  v->id = id;
  v->value = value;
  v->n = count;
  return MD_OK;
}

/* On one rank, puts values into the places of their ids. false: an id is new, or one has gone, and nothing was put. */
static bool put_own(md_id_values *v, const uint8_t *chosen, const double *value)
{
  const md_particles *p = &v->sim->particles;
  bool here = v->sim->comm->size == 1 && (chosen || p->n == v->n);
  if (!here) return false;
#pragma omp parallel for schedule(static) reduction(&& : here)
  for (int64_t i = 0; i < p->n; ++i) here = here && ((chosen && !chosen[i]) || place_of(v, p->id[i]) >= 0);
  if (!here) return false;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    if (!chosen || chosen[i])
      memcpy(v->value + place_of(v, p->id[i]) * v->columns, value + i * v->columns,
             (size_t)v->columns * sizeof *value);
  return true;
}

/* Sends the values of particles to the homes of their ids, in records of an id and its values. */
static md_status send_home(const md_id_values *v, const uint8_t *chosen, const double *value, int64_t size,
                           char **received, int64_t *n)
{
  const md_particles *p = &v->sim->particles;
  md_outbox out;
  MD_TRY(md_outbox_open(&out, v->sim->comm, p->n, size, what));
  for (int64_t i = 0; i < p->n; ++i) {
    if (chosen && !chosen[i]) continue;
    char *record = md_outbox_add(&out, md_home_of(v->sim->comm, p->id[i]));
    memcpy(record, &p->id[i], sizeof p->id[i]);
    memcpy(record + sizeof p->id[i], value + i * v->columns, (size_t)v->columns * sizeof *value);
  }
  return md_outbox_send(&out, received, n);
}

md_status md_id_values_set(md_id_values *v, const uint8_t *chosen, const double *value)
{
  const int64_t size = (int64_t)(sizeof(int64_t) + (size_t)v->columns * sizeof *value);
  char *received;
  int64_t count;
  if (put_own(v, chosen, value)) return MD_OK;
  MD_TRY(send_home(v, chosen, value, size, &received, &count));
  if (count > 0) qsort(received, (size_t)count, (size_t)size, by_id);
  if (!chosen) v->n = 0;
  const md_status status = md_comm_agree(v->sim->comm, join(v, received, count, size));
  free(received);
  return status;
}

/* ---- columns ---- */

static md_status get_each(const md_id_values *v, double **each)
{
  md_comm *comm = v->sim->comm;
  MD_TRY(md_comm_agree(comm, md_array_new(each, v->sim->particles.n * v->columns + 1, sizeof **each, what)));
  const md_status status = md_id_values_get(v, *each);
  if (status == MD_OK) return MD_OK;
  free(*each);
  return status;
}

md_status md_id_values_get_column(const md_id_values *v, int column, double *value)
{
  double *each;
  MD_TRY(get_each(v, &each));
  for (int64_t i = 0; i < v->sim->particles.n; ++i) value[i] = each[i * v->columns + column];
  free(each);
  return MD_OK;
}

md_status md_id_values_set_column(md_id_values *v, int column, const uint8_t *chosen, const double *value)
{
  double *each;
  MD_TRY(get_each(v, &each));
  for (int64_t i = 0; i < v->sim->particles.n; ++i) each[i * v->columns + column] = value[i];
  const md_status status = md_id_values_set(v, chosen, each);
  free(each);
  return status;
}

/* ---- all values ---- */

static int columns_of_all(const md_sim *sim)
{
  int columns = 0;
  for (const md_id_values *v = sim->id_values; v; v = v->next) columns += v->columns;
  return columns;
}

md_status md_id_values_get_all(md_sim *sim, double **all)
{
  const int64_t n = sim->particles.n;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(all, n * columns_of_all(sim) + 1, sizeof **all, what)));
  double *value = *all;
  for (const md_id_values *v = sim->id_values; v; value += n * v->columns, v = v->next) {
    const md_status status = md_id_values_get(v, value);
    if (status == MD_OK) continue;
    free(*all);
    *all = NULL;
    return status;
  }
  return MD_OK;
}

md_status md_id_values_set_all(md_sim *sim, const double *all)
{
  for (md_id_values *v = sim->id_values; v; all += sim->particles.n * v->columns, v = v->next)
    MD_TRY(md_id_values_set(v, NULL, all));
  return MD_OK;
}

md_status md_id_values_trim(md_sim *sim)
{
  double *all;
  MD_TRY(md_id_values_get_all(sim, &all));
  const md_status status = md_id_values_set_all(sim, all);
  free(all);
  return status;
}

/* ---- restarts ---- */

void md_id_columns_free(int n, md_id_column *column)
{
  for (int k = 0; k < n; ++k) free(column[k].value);
  free(column);
}

/* Adds the columns of some values, of which each[n][columns] are for the particles of this rank. */
static md_status split(const md_id_values *v, int64_t particles, const double *each, int *n,
                       md_id_column *column)
{
  for (int c = 0; c < v->columns; ++c) {
    md_id_column *one = &column[*n];
    MD_TRY(md_array_new(&one->value, particles + 1, sizeof *one->value, what));
    ++*n;
    snprintf(one->name, sizeof one->name, "%.80s/%d", v->name, c + 1);
    for (int64_t i = 0; i < particles; ++i) one->value[i] = each[i * v->columns + c];
  }
  return MD_OK;
}

md_status md_id_columns_get(md_sim *sim, int *n, md_id_column **column)
{
  const int64_t particles = sim->particles.n;
  const int columns = columns_of_all(sim);
  double *all = NULL;
  *n = 0;
  *column = NULL;
  if (columns == 0) return MD_OK;
  if (columns > MD_RESTART_COLUMNS)
    return md_error(MD_USAGE,
                    "a restart holds at most %d values of each particle for fixes, and there are %d",
                    MD_RESTART_COLUMNS, columns);
  MD_TRY(md_id_values_get_all(sim, &all));
  md_status status = md_array_new_zero(column, columns, sizeof **column, what);
  const double *each = all;
  for (const md_id_values *v = sim->id_values; v && status == MD_OK;
       each += particles * v->columns, v = v->next)
    if (v->claimed) status = split(v, particles, each, n, *column);
  free(all);
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) return MD_OK;
  md_id_columns_free(*n, *column);
  *column = NULL;
  *n = 0;
  return status;
}

/* The number of columns from `first` on that belong to the same values, and their name without the column. */
static int same(int n, const md_id_column *column, int first, char name[96])
{
  const char *slash = strrchr(column[first].name, '/');
  const size_t length = slash ? (size_t)(slash - column[first].name) : strlen(column[first].name);
  int k = first;
  memcpy(name, column[first].name, length);
  name[length] = '\0';
  while (k < n && strncmp(column[k].name, name, length) == 0 && column[k].name[length] == '/' &&
         !strchr(column[k].name + length + 1, '/'))
    ++k;
  return k > first ? k - first : 1;
}

md_status md_id_columns_take(md_sim *sim, int n, const md_id_column *column)
{
  const int64_t particles = sim->particles.n;
  char name[96];
  for (int first = 0; first < n;) {
    const int columns = same(n, column, first, name);
    md_id_values *v = find(sim, name);
    double *each = NULL;
    md_status status = v ? MD_OK : add(sim, name, columns, &v);
    if (status == MD_OK && v->columns != columns)
      status = md_error(MD_USAGE, "the restart has %d values of each particle for '%s', not %d", columns,
                        name, v->columns);
    if (status == MD_OK) status = md_array_new(&each, particles * columns + 1, sizeof *each, what);
    status = md_comm_agree(sim->comm, status);
    for (int64_t k = 0; k < particles * columns && status == MD_OK; ++k)
      each[k] = column[first + k % columns].value[k / columns];
    if (status == MD_OK) status = md_id_values_set(v, NULL, each);
    free(each);
    MD_TRY(status);
    first += columns;
  }
  return MD_OK;
}
