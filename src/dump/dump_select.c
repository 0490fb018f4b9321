/* Which particles a dump shows, and the values that its rows need beside their fields; see dump.h.
 *
 * A particle of the group is shown if it is in the region, and on the right side of all thresholds. Comparisons are of
 * doubles that are the same everywhere, so that the same particles are shown on every engine.
 * Cost: a pass over the particles for each named value, and one for the selection. */
#include "common/ranks/reductions.h"
#include "src/dump/dump.h"
#include "src/follow/images.h"
#include "src/formula/particle_values.h"
#include "src/region/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const operators[] = {
    [MD_DUMP_LESS] = "<",   [MD_DUMP_LESS_EQUAL] = "<=", [MD_DUMP_MORE] = ">",    [MD_DUMP_MORE_EQUAL] = ">=",
    [MD_DUMP_EQUAL] = "==", [MD_DUMP_NOT_EQUAL] = "!=",  [MD_DUMP_EITHER] = "|^",
};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

/* ---- keywords of dump_modify ---- */

static md_status read_threshold(md_sim *sim, md_dump *dump, char **arg, md_dump_threshold *threshold)
{
  int k = 0;
  while (k < OPERATORS && strcmp(operators[k], arg[1]) != 0) ++k;
  if (k == OPERATORS)
    return md_error(MD_USAGE, "dump_modify thresh: '%.80s' is no operator; accepted are < <= > >= == != |^",
                    arg[1]);
  if (strcmp(arg[2], "LAST") == 0)
    return md_error(MD_USAGE,
                    "dump_modify thresh: LAST is not available, since restarts hold no earlier frame; "
                    "accepted is a number");
  threshold->is = (md_dump_operator)k;
  MD_TRY(md_word_double(arg[2], "the bound of dump_modify thresh", &threshold->bound));
  return md_dump_find_column(dump, sim, arg[0], &threshold->column);
}

md_status md_dump_set_threshold(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  if (strcmp(arg[0], "none") == 0) {
    dump->nthreshold = 0;
    return MD_OK;
  }
  if (left < 3)
    return md_error(MD_USAGE, "dump_modify thresh takes none, or a column, an operator and a number");
  *used = 3;
  md_dump_threshold *larger = realloc(dump->threshold, (size_t)(dump->nthreshold + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "dump: out of memory");
  dump->threshold = larger;
  MD_TRY(read_threshold(sim, dump, arg, &larger[dump->nthreshold]));
  ++dump->nthreshold;
  return MD_OK;
}

md_status md_dump_set_region(md_sim *sim, md_dump *dump, char **arg, int left, int *used)
{
  const md_region *region;
  (void)left, (void)used;
  dump->region[0] = '\0';
  if (strcmp(arg[0], "none") == 0) return MD_OK;
  MD_TRY(md_region_find(sim, arg[0], &region));
  memcpy(dump->region, region->id, sizeof dump->region);
  return MD_OK;
}

/* ---- selection ---- */

static bool passes(const md_dump_threshold *t, double value)
{
  const double bound = t->bound;
  switch (t->is) {
  case MD_DUMP_LESS: return value < bound;
  case MD_DUMP_LESS_EQUAL: return value <= bound;
  case MD_DUMP_MORE: return value > bound;
  case MD_DUMP_MORE_EQUAL: return value >= bound;
  case MD_DUMP_EQUAL: return value == bound;
  case MD_DUMP_NOT_EQUAL: return value != bound;
  case MD_DUMP_EITHER: return (value == 0.0) != (bound == 0.0);
  }
  return false;
}

static bool is_shown(const md_dump *dump, const md_region *region, const md_frame *frame, int64_t i)
{
  if (region && !md_region_has(region, frame->rows.particles, i)) return false;
  for (int t = 0; t < dump->nthreshold; ++t)
    if (!passes(&dump->threshold[t], md_dump_value(&dump->threshold[t].column, frame, i))) return false;
  return true;
}

static md_status find_named(md_dump *dump, md_sim *sim)
{
  md_dump_named *named = &dump->named;
  for (int k = 0; k < named->n; ++k) {
    MD_TRY(md_comm_agree(
        sim->comm, md_array_new(&named->value[k], sim->particles.n, sizeof(double), "the values of a dump")));
    MD_TRY(md_images_or_values(sim, named->name[k], named->value[k]));
  }
  return MD_OK;
}

void md_dump_forget_named(md_dump *dump)
{
  for (int k = 0; k < dump->named.n; ++k) {
    free(dump->named.value[k]);
    dump->named.value[k] = NULL;
  }
}

/* Keeps the rows that are shown. */
static md_status choose(const md_dump *dump, md_view *view, md_rows *rows, int32_t **chosen)
{
  const md_sim *sim = view->sim;
  const md_region *region = NULL;
  const md_frame frame = {.model = &sim->model, .rows = *rows, .in_run = view->engine != NULL};
  const int32_t *order = rows->order;
  const int64_t n = rows->n;
  if (dump->region[0]) MD_TRY(md_region_find(sim, dump->region, &region));
  if (!*chosen) MD_TRY(md_array_new(chosen, n, sizeof **chosen, "the particles of a dump"));
  rows->n = 0;
  for (int64_t k = 0; k < n; ++k)
    if (is_shown(dump, region, &frame, order[k])) (*chosen)[rows->n++] = order[k];
  rows->order = *chosen;
  return MD_OK;
}

md_status md_dump_select(md_dump *dump, md_view *view, md_rows *rows, int32_t **chosen, int64_t *count)
{
  md_sim *sim = view->sim;
  const bool leaves_out = dump->nthreshold > 0 || dump->region[0];
  *count = md_dump_count(dump, &sim->model);
  MD_TRY(md_comm_agree(sim->comm, md_dump_rows(dump, view, rows, chosen)));
  MD_TRY(find_named(dump, sim));
  rows->nvalue = dump->named.n;
  rows->value = dump->named.value;
  if (!leaves_out) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, choose(dump, view, rows, chosen)));
  *count = rows->n;
  return sim->comm->reduce->sum(sim->comm, count, 1);
}
