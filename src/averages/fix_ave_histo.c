/* fix ave/histo: histograms of numbers, of vectors, or of a value of each particle of the group, added up over time.
 *
 * Each rank counts its own particles, by its engine if that can (value_counts of common/engine.h). Counts are whole
 * numbers, so that their sum over ranks is exact, and least and largest values do not depend on an order. Cost: a pass
 * over the particles for each value of a sample, and a reduction of 8 bytes a bin. Reference: the LAMMPS manual, fix
 * ave/histo. */
#include "common/ranks/reductions.h"
#include "common/sums/each_formulas.h"
#include "src/averages/averaging.h"
#include "src/formula/particle_values.h"
#include "src/output/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where total and missing counts (MD_VALUES_COUNTED, MD_VALUES_MISSING), and the least and largest value are, before
 * the counts of bins. */
enum { TOTAL, MISSING, LEAST, LARGEST, HEAD };

typedef struct fix_ave_histo {
  md_output_fix base;
  md_schedule schedule;
  md_running running;
  bool vectors;
  md_beyond beyond;
  double lo, hi, width;
  int n;
  char **name;
  int64_t bins;
  int64_t *count;  /* [2 + bins] of one sample: total, missing, bins */
  double *sum;     /* [HEAD + bins] of the present average */
  double *extreme; /* [window][2] least and largest value of each average in a window */
  double *head;    /* [HEAD] shown */
  double *shown;   /* [bins][3]: place, count, part of the total */
} fix_ave_histo;

/* ---- words ---- */

static md_status read_beyond(fix_ave_histo *fix, const char *word)
{
  static const char *const names[] = {"ignore", "end", "extra"};
  for (int k = MD_BEYOND_IGNORE; k <= MD_BEYOND_EXTRA; ++k) {
    fix->beyond = (md_beyond)k;
    if (strcmp(word, names[k]) == 0) return MD_OK;
  }
  return md_error(MD_USAGE, "fix ave/histo beyond: '%.64s' is not ignore, end or extra", word);
}

static md_status read_kind(const char *word)
{
  if (strcmp(word, "global") == 0 || strcmp(word, "peratom") == 0) return MD_OK;
  return md_error(
      MD_USAGE, "fix ave/histo kind: '%.64s' is not global or peratom; there are no local values here", word);
}

/* Reads the keyword words[*at] with its value, and moves *at past it. */
static md_status read_keyword(fix_ave_histo *fix, const md_words *words, int *at)
{
  const char *keyword = words->word[(*at)++];
  fix->base.overwrite = fix->base.overwrite || strcmp(keyword, "overwrite") == 0;
  if (strcmp(keyword, "overwrite") == 0) return MD_OK;
  if (*at == words->n) return md_error(MD_USAGE, "fix ave/histo %.64s: its value is missing", keyword);
  if (strcmp(keyword, "ave") == 0) return md_running_read(&fix->running, "ave/histo", words, at);
  const char *value = words->word[(*at)++];
  if (strcmp(keyword, "mode") == 0) return MD_OK; /* read before */
  if (strcmp(keyword, "kind") == 0) return read_kind(value);
  if (strcmp(keyword, "beyond") == 0) return read_beyond(fix, value);
  if (strcmp(keyword, "file") == 0) return md_output_fix_copy(value, &fix->base.path);
  if (strcmp(keyword, "start") == 0)
    return md_word_int64(value, "the step of fix ave/histo start", 0, INT64_C(1) << 53, &fix->schedule.start);
  return md_output_fix_read_title(&fix->base, keyword, value,
                                  "mode scalar|vector, kind global|peratom, beyond ignore|end|extra, ave "
                                  "one|running|window M, start STEP, file NAME, overwrite");
}

/* Finds `mode`, on which the meaning of the values before it depends. */
static md_status read_mode(fix_ave_histo *fix, const md_words *words)
{
  for (int w = 6; w + 1 < words->n; ++w) {
    if (strcmp(words->word[w], "mode") != 0) continue;
    fix->vectors = strcmp(words->word[w + 1], "vector") == 0;
    if (fix->vectors || strcmp(words->word[w + 1], "scalar") == 0) return MD_OK;
    return md_error(MD_USAGE, "fix ave/histo mode: '%.64s' is not scalar or vector", words->word[w + 1]);
  }
  return MD_OK;
}

static md_status read_range(fix_ave_histo *fix, char *const *word)
{
  MD_TRY(md_word_double(word[0], "the lower end of fix ave/histo", &fix->lo));
  MD_TRY(md_word_double(word[1], "the upper end of fix ave/histo", &fix->hi));
  MD_TRY(md_word_int64(word[2], "the bins of fix ave/histo", 1, 1 << 24, &fix->bins));
  if (fix->lo < fix->hi) return MD_OK;
  return md_error(MD_USAGE, "fix ave/histo: the range from %s to %s does not increase", word[0], word[1]);
}

/* Names of particles stand as they are; ranges of others are written out. */
static md_status read_values(fix_ave_histo *fix, md_sim *sim, const md_words *words)
{
  if (!fix->vectors || !md_particle_values_has(sim, words->word[0]))
    return md_value_names(sim, words, fix->vectors, &fix->n, &fix->name);
  MD_TRY(md_array_new_zero(&fix->name, words->n, sizeof *fix->name, "the names of values"));
  for (int k = 0; k < words->n; ++k) {
    if (!md_particle_values_has(sim, words->word[k]))
      return md_error(MD_USAGE,
                      "fix ave/histo: '%.64s' has no value for each particle, as the values before it",
                      words->word[k]);
    MD_TRY(md_output_fix_copy(words->word[k], &fix->name[fix->n++]));
  }
  return MD_OK;
}

/* Sets the bins: with `beyond extra` there is one more at each end. */
static md_status allocate(fix_ave_histo *fix)
{
  const int64_t extra = fix->beyond == MD_BEYOND_EXTRA ? 1 : 0;
  fix->width = (fix->hi - fix->lo) / (double)fix->bins;
  fix->bins += 2 * extra;
  MD_TRY(md_array_new_zero(&fix->count, 2 + fix->bins, sizeof *fix->count, "bins"));
  MD_TRY(md_array_new_zero(&fix->sum, HEAD + fix->bins, sizeof *fix->sum, "bins"));
  MD_TRY(md_array_new_zero(&fix->head, HEAD, sizeof *fix->head, "bins"));
  MD_TRY(md_array_new_zero(&fix->shown, 3 * fix->bins, sizeof *fix->shown, "bins"));
  MD_TRY(md_array_new_zero(&fix->extreme, 2 * fix->running.window, sizeof *fix->extreme, "a window"));
  MD_TRY(md_running_begin(&fix->running, HEAD + fix->bins));
  for (int64_t b = 0; b < fix->bins; ++b)
    fix->shown[3 * b] = fix->lo + ((double)(b - extra) + 0.5) * fix->width;
  if (extra) {
    fix->shown[0] = fix->lo;
    fix->shown[3 * (fix->bins - 1)] = fix->hi;
  }
  fix->base.values = (md_values){.has_vector = true,
                                 .nvector = HEAD,
                                 .vector = fix->head,
                                 .rows = fix->bins,
                                 .columns = 3,
                                 .array = fix->shown};
  return MD_OK;
}

static md_status set_title(fix_ave_histo *fix)
{
  md_text line[3] = {{0}};
  md_text_print(&line[0], "# Histogrammed data for fix %s", fix->base.id);
  md_text_string(&line[1], "# TimeStep Number-of-bins Total-counts Missing-counts Min-value Max-value");
  md_text_string(&line[2], "# Bin Coord Count Count/Total");
  return md_output_fix_set_title(&fix->base, 3, line);
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_ave_histo *fix = (fix_ave_histo *)base;
  int n = 0;
  while (6 + n < words->n &&
         (md_is_value_name(words->word[6 + n]) || md_particle_values_has(sim, words->word[6 + n])))
    ++n;
  if (n == 0)
    return md_error(
        MD_USAGE, "fix ave/histo takes Nevery Nrepeat Nfreq LO HI NBIN and at least one value, such as c_ke");
  base->schedule = &fix->schedule;
  MD_TRY(md_schedule_read(&fix->schedule, "ave/histo", words->word));
  MD_TRY(read_range(fix, words->word + 3));
  MD_TRY(read_mode(fix, words));
  MD_TRY(read_values(fix, sim, &(md_words){n, words->word + 6}));
  for (int at = 6 + n; at < words->n;) MD_TRY(read_keyword(fix, words, &at));
  MD_TRY(set_title(fix));
  MD_TRY(allocate(fix));
  return MD_OK;
}

/* ---- samples ---- */

/* What is counted, of one value after the other. */
static md_value_counts counts_of(const fix_ave_histo *fix)
{
  return (md_value_counts){.group = md_group_bit(fix->base.observer.group),
                           .lo = fix->lo,
                           .hi = fix->hi,
                           .per = 1.0 / fix->width,
                           .bins = fix->bins,
                           .beyond = fix->beyond};
}

/* Counts a value. range: the least and the largest one so far; 0 has no sign there. */
static void count(const md_value_counts *c, double value, int64_t *counts, double range[2])
{
  const int64_t bin = md_value_bin(c, value);
  range[0] = md_min(range[0], value + 0.0);
  range[1] = md_max(range[1], value + 0.0);
  ++counts[bin < 0 ? MISSING : TOTAL];
  if (bin >= 0) ++counts[MD_VALUES_BINS + bin];
}

/* Adds the counts of a sample, of all ranks, and widens the range. */
static void add_counts(fix_ave_histo *fix, const double range[2])
{
  fix->sum[TOTAL] += (double)fix->count[TOTAL];
  fix->sum[MISSING] += (double)fix->count[MISSING];
  fix->sum[LEAST] = md_min(fix->sum[LEAST], range[0]);
  fix->sum[LARGEST] = md_max(fix->sum[LARGEST], range[1]);
  for (int64_t b = 0; b < fix->bins; ++b) fix->sum[HEAD + b] += (double)fix->count[2 + b];
}

/* Counts the particles by the engine. *made = false: it is for the host. */
static md_status count_in_place(fix_ave_histo *fix, md_view *view, const char *name, double range[2],
                                bool *made)
{
  md_value_counts c = counts_of(fix);
  *made = view->engine && view->kind->value_counts && md_particle_values_in_place(view->sim, name, &c.value);
  if (!*made) return MD_OK;
  return md_comm_agree(view->sim->comm, view->kind->value_counts(view->engine, &c, fix->count, range, made));
}

static md_status count_on_host(fix_ave_histo *fix, md_view *view, const char *name, double range[2])
{
  md_sim *sim = view->sim;
  const md_particles *p = &sim->particles;
  const md_value_counts c = counts_of(fix);
  double *value;
  MD_TRY(md_view_particles(view));
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value, p->n, sizeof *value, "values of particles")));
  const md_status status = md_particle_values_of(sim, name, value);
  for (int64_t i = 0; i < p->n && status == MD_OK; ++i)
    if (md_particles_in_group(p, c.group, i)) count(&c, value[i], fix->count, range);
  free(value);
  return status;
}

static md_status count_particles(fix_ave_histo *fix, md_view *view, const char *name, double range[2])
{
  md_sim *sim = view->sim;
  bool made;
  MD_TRY(count_in_place(fix, view, name, range, &made));
  if (!made) MD_TRY(count_on_host(fix, view, name, range));
  MD_TRY(sim->comm->reduce->sum(sim->comm, fix->count, (int)fix->bins + 2));
  range[0] = -range[0];
  MD_TRY(sim->comm->reduce->max(sim->comm, range, 2));
  range[0] = -range[0];
  return MD_OK;
}

static md_status count_vector(fix_ave_histo *fix, md_sim *sim, const char *name, double range[2])
{
  const md_value_counts c = counts_of(fix);
  md_vector v = {.n = 1};
  if (fix->vectors)
    MD_TRY(md_value_vector(sim, name, &v));
  else
    MD_TRY(md_value_number(sim, name, &v.own[0]));
  for (int64_t k = 0; k < v.n; ++k) count(&c, v.at ? v.at[k * v.stride] : v.own[k], fix->count, range);
  return MD_OK;
}

static md_status sample(fix_ave_histo *fix, md_view *view, const char *name)
{
  md_sim *sim = view->sim;
  double range[2] = {(double)INFINITY, -(double)INFINITY};
  memset(fix->count, 0, (size_t)(2 + fix->bins) * sizeof *fix->count);
  if (fix->vectors && md_particle_values_has(sim, name))
    MD_TRY(count_particles(fix, view, name, range));
  else
    MD_TRY(count_vector(fix, sim, name, range));
  add_counts(fix, range);
  return MD_OK;
}

/* The least and largest value of the averages in the total. */
static void show_range(fix_ave_histo *fix)
{
  const md_running *r = &fix->running;
  const bool anew = r->kind != MD_RUNNING_ALL || r->added == 1;
  double *least = &fix->head[LEAST], *largest = &fix->head[LARGEST];
  if (r->window > 0) {
    fix->extreme[2 * ((r->added - 1) % r->window)] = fix->sum[LEAST];
    fix->extreme[2 * ((r->added - 1) % r->window) + 1] = fix->sum[LARGEST];
  }
  *least = anew ? fix->sum[LEAST] : md_min(*least, fix->sum[LEAST]);
  *largest = anew ? fix->sum[LARGEST] : md_max(*largest, fix->sum[LARGEST]);
  for (int64_t k = 0; r->window > 0 && k < r->norm; ++k) {
    *least = md_min(*least, fix->extreme[2 * k]);
    *largest = md_max(*largest, fix->extreme[2 * k + 1]);
  }
}

/* Ends an average. Counts of a running average are sums, not means, as in LAMMPS. */
static void end_average(fix_ave_histo *fix)
{
  const double range[2] = {fix->sum[LEAST], fix->sum[LARGEST]};
  fix->sum[LEAST] = fix->sum[LARGEST] = 0.0; /* an infinite value of no particle has no place in a sum */
  md_running_add(&fix->running, fix->sum);
  fix->sum[LEAST] = range[0];
  fix->sum[LARGEST] = range[1];
  const double *total = fix->running.total;
  fix->head[TOTAL] = total[TOTAL];
  fix->head[MISSING] = total[MISSING];
  show_range(fix);
  for (int64_t b = 0; b < fix->bins; ++b) {
    fix->shown[3 * b + 1] = total[HEAD + b];
    fix->shown[3 * b + 2] = total[TOTAL] > 0.0 ? total[HEAD + b] / total[TOTAL] : 0.0;
  }
}

static void write_rows(fix_ave_histo *fix, int64_t step)
{
  md_text *text = &fix->base.text;
  const double *head = fix->head;
  md_text_print(text, "%lld %lld %g %g %g %g\n", (long long)step, (long long)fix->bins, head[TOTAL],
                head[MISSING], head[LEAST], head[LARGEST]);
  for (int64_t b = 0; b < fix->bins; ++b) {
    md_text_int(text, b + 1);
    for (int k = 0; k < 3; ++k) md_text_number(text, " %g", fix->shown[3 * b + k]);
    md_text_string(text, "\n");
  }
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_ave_histo *fix = (fix_ave_histo *)base;
  if (fix->schedule.done == 0) {
    memset(fix->sum, 0, (size_t)(HEAD + fix->bins) * sizeof *fix->sum);
    fix->sum[LEAST] = (double)INFINITY;
    fix->sum[LARGEST] = -(double)INFINITY;
  }
  for (int k = 0; k < fix->n; ++k) MD_TRY(sample(fix, view, fix->name[k]));
  if (!md_schedule_count(&fix->schedule, view->step)) return MD_OK;
  end_average(fix);
  if (base->path) write_rows(fix, view->step);
  return md_text_status(&base->text);
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_ave_histo *fix = (fix_ave_histo *)base;
  md_schedule_walk(&fix->schedule, state);
  md_running_walk(&fix->running, state);
  (void)md_fix_state_reals(state, HEAD + fix->bins, fix->sum);
  (void)md_fix_state_reals(state, 2 * fix->running.window, fix->extreme);
  (void)md_fix_state_reals(state, HEAD, fix->head);
  (void)md_fix_state_reals(state, 3 * fix->bins, fix->shown);
  return MD_OK;
}

static void free_bins(md_output_fix *base)
{
  fix_ave_histo *fix = (fix_ave_histo *)base;
  md_value_names_free(fix->n, fix->name);
  free(fix->count);
  free(fix->sum);
  free(fix->extreme);
  free(fix->head);
  free(fix->shown);
  md_running_free(&fix->running);
}

const md_output_fix_style md_fix_ave_histo_style = {
    .name = "ave/histo",
    .usage = "ave/histo NEVERY NREPEAT NFREQ LO HI NBIN VALUE ... [KEYWORDS]",
    .help = "histogram of values between LO and HI, over NREPEAT samples as for ave/time: of c_ID[I],\n"
            "f_ID[I] or v_NAME; with mode vector of vectors, or of x vx fx and the like, c_ID or an atom\n"
            "variable of each particle of the group. f_ID[1] to f_ID[4] are counts, counts beyond, least\n"
            "and largest value; f_ID[I][1] to f_ID[I][3] are place, count and part of bin I. Keywords: mode\n"
            "scalar|vector, kind global|peratom, beyond ignore|end|extra, ave one|running|window M, start\n"
            "STEP, file NAME, overwrite, title1, title2, title3 TEXT",
    .size = sizeof(fix_ave_histo),
    .keeps_step = true,
    .parse = parse,
    .look = look,
    .walk = walk,
    .free = free_bins,
};
