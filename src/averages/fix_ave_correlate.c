/* fix ave/correlate: time correlation functions of numbers, C_ij(k) = <V_i(t) V_j(t + k NEVERY)>, k < NREPEAT.
 *
 * The last NREPEAT samples are kept in a ring. Each new sample is multiplied with those before it:
 *
 *    sample   |  n-3  |  n-2  |  n-1  |   n   |
 *    adds to     C(3)    C(2)    C(1)    C(0)
 *
 * Cost: that of measuring the values, every NEVERY steps, and NREPEAT products for each pair. Memory: 24 bytes each.
 * Reference: the LAMMPS manual, fix ave/correlate; Allen and Tildesley, Computer Simulation of Liquids, chapter 8. */
#include "src/averages/averaging.h"
#include "src/steps.h"

#include <stdlib.h>
#include <string.h>

/* Which pairs i, j: those with i = j, i < j, and i > j. */
typedef struct pairing {
  const char *name;
  bool same, upper, lower;
} pairing;

static const pairing pairings[] = {{"auto", true, false, false},      {"upper", false, true, false},
                                   {"lower", false, false, true},     {"auto/upper", true, true, false},
                                   {"auto/lower", true, false, true}, {"full", true, true, true}};
enum { PAIRINGS = sizeof pairings / sizeof pairings[0] };

typedef struct fix_ave_correlate {
  md_output_fix base;
  md_schedule schedule; /* its next step alone */
  bool running;
  const pairing *type;
  double prefactor;
  int n, npair;
  char **name;
  int64_t nsample, newest; /* samples in the ring, and the place of the newest */
  double *ring;            /* [repeat][n] */
  double *count, *sum;     /* [repeat], [repeat][npair] */
  double *shown;           /* [repeat][2 + npair]: time, samples, correlations */
} fix_ave_correlate;

static bool pairs(const pairing *type, int i, int j)
{
  return i == j ? type->same : i < j ? type->upper : type->lower;
}

/* ---- words ---- */

static md_status read_type(fix_ave_correlate *fix, const char *word)
{
  for (int k = 0; k < PAIRINGS; ++k) {
    fix->type = &pairings[k];
    if (strcmp(word, pairings[k].name) == 0) return MD_OK;
  }
  return md_error(MD_USAGE,
                  "fix ave/correlate type: '%.64s' is not auto, upper, lower, auto/upper, auto/lower or full",
                  word);
}

static md_status read_ave(fix_ave_correlate *fix, const char *word)
{
  fix->running = strcmp(word, "running") == 0;
  if (fix->running || strcmp(word, "one") == 0) return MD_OK;
  return md_error(MD_USAGE, "fix ave/correlate ave: '%.64s' is not one or running", word);
}

/* Reads the keyword words[*at] with its value, and moves *at past it. */
static md_status read_keyword(fix_ave_correlate *fix, const md_words *words, int *at)
{
  const char *keyword = words->word[(*at)++];
  fix->base.overwrite = fix->base.overwrite || strcmp(keyword, "overwrite") == 0;
  if (strcmp(keyword, "overwrite") == 0) return MD_OK;
  if (*at == words->n) return md_error(MD_USAGE, "fix ave/correlate %.64s: its value is missing", keyword);
  const char *value = words->word[(*at)++];
  if (strcmp(keyword, "type") == 0) return read_type(fix, value);
  if (strcmp(keyword, "ave") == 0) return read_ave(fix, value);
  if (strcmp(keyword, "file") == 0) return md_output_fix_copy(value, &fix->base.path);
  if (strcmp(keyword, "prefactor") == 0)
    return md_word_double(value, "fix ave/correlate prefactor", &fix->prefactor);
  if (strcmp(keyword, "start") == 0)
    return md_word_int64(value, "the step of fix ave/correlate start", 0, INT64_C(1) << 53,
                         &fix->schedule.start);
  return md_output_fix_read_title(
      &fix->base, keyword, value,
      "type TYPE, ave one|running, start STEP, prefactor P, file NAME, overwrite");
}

static md_status set_title(fix_ave_correlate *fix)
{
  md_text line[3] = {{0}};
  md_text_print(&line[0], "# Time-correlated data for fix %s", fix->base.id);
  md_text_string(&line[1], "# Timestep Number-of-time-windows");
  md_text_string(&line[2], "# Index TimeDelta Ncount");
  for (int i = 0; i < fix->n; ++i)
    for (int j = 0; j < fix->n; ++j)
      if (pairs(fix->type, i, j)) md_text_print(&line[2], " %s*%s", fix->name[i], fix->name[j]);
  return md_output_fix_set_title(&fix->base, 3, line);
}

static md_status allocate(fix_ave_correlate *fix)
{
  const int64_t repeat = fix->schedule.repeat;
  for (int i = 0; i < fix->n; ++i)
    for (int j = 0; j < fix->n; ++j) fix->npair += pairs(fix->type, i, j);
  if (fix->npair == 0)
    return md_error(MD_USAGE, "fix ave/correlate type %s needs two values", fix->type->name);
  MD_TRY(md_array_new_zero(&fix->ring, repeat * fix->n, sizeof *fix->ring, "samples"));
  MD_TRY(md_array_new_zero(&fix->count, repeat, sizeof *fix->count, "samples"));
  MD_TRY(md_array_new_zero(&fix->sum, repeat * fix->npair, sizeof *fix->sum, "correlations"));
  MD_TRY(md_array_new_zero(&fix->shown, repeat * (fix->npair + 2), sizeof *fix->shown, "correlations"));
  for (int64_t k = 0; k < repeat; ++k) fix->shown[k * (fix->npair + 2)] = (double)(k * fix->schedule.every);
  fix->base.values = (md_values){.rows = repeat, .columns = fix->npair + 2, .array = fix->shown};
  return MD_OK;
}

/* The windows of ave/time do not overlap; a correlation may reach over NFREQ steps if it runs on. */
static md_status read_steps(fix_ave_correlate *fix, char *const word[3])
{
  md_schedule *s = &fix->schedule;
  MD_TRY(md_word_int64(word[0], "Nevery", 1, INT64_C(1) << 31, &s->every));
  MD_TRY(md_word_int64(word[1], "Nrepeat", 1, 1 << 24, &s->repeat));
  MD_TRY(md_word_int64(word[2], "Nfreq", 1, INT64_C(1) << 53, &s->freq));
  if (s->freq % s->every == 0) return MD_OK;
  return md_error(MD_USAGE, "fix ave/correlate: Nfreq %s must be a multiple of Nevery %s", word[2], word[0]);
}

/* Finds the first sample. Samples on both sides of a gap are not correlated. */
static void begin(md_output_fix *base, int64_t step)
{
  fix_ave_correlate *fix = (fix_ave_correlate *)base;
  md_schedule *s = &fix->schedule;
  if (base->last_step >= 0 && s->next >= step) return;
  fix->nsample = 0;
  s->next = md_step_multiple(step > s->start ? step : s->start, s->every);
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_ave_correlate *fix = (fix_ave_correlate *)base;
  md_schedule *s = &fix->schedule;
  int n = 0;
  while (3 + n < words->n && md_is_value_name(words->word[3 + n])) ++n;
  if (n == 0)
    return md_error(MD_USAGE,
                    "fix ave/correlate takes Nevery Nrepeat Nfreq and at least one value, such as v_pxy");
  MD_TRY(read_steps(fix, words->word));
  MD_TRY(md_value_names(sim, &(md_words){n, words->word + 3}, false, &fix->n, &fix->name));
  fix->type = &pairings[0];
  fix->prefactor = 1.0;
  for (int at = 3 + n; at < words->n;) MD_TRY(read_keyword(fix, words, &at));
  if (!fix->running && s->freq < (s->repeat - 1) * s->every)
    return md_error(MD_USAGE,
                    "fix ave/correlate: with ave one, Nfreq %s must be at least (Nrepeat - 1) Nevery",
                    words->word[2]);
  MD_TRY(set_title(fix));
  MD_TRY(allocate(fix));
  begin(base, sim->model.step);
  return MD_OK;
}

/* ---- samples ---- */

static int64_t due(const md_output_fix *base, int64_t step)
{
  return md_schedule_due(&((const fix_ave_correlate *)base)->schedule, step);
}

/* Multiplies the newest sample with those in the ring, from itself backwards. */
static void correlate(fix_ave_correlate *fix)
{
  const int64_t repeat = fix->schedule.repeat;
  const double *now = fix->ring + fix->newest * fix->n;
  for (int64_t k = 0; k < fix->nsample; ++k) {
    const double *then = fix->ring + (fix->newest + repeat - k) % repeat * fix->n;
    double *sum = fix->sum + k * fix->npair;
    ++fix->count[k];
    for (int i = 0; i < fix->n; ++i)
      for (int j = 0; j < fix->n; ++j)
        if (pairs(fix->type, i, j)) *sum++ += then[i] * now[j];
  }
}

static void show(fix_ave_correlate *fix)
{
  for (int64_t k = 0; k < fix->schedule.repeat; ++k) {
    double *row = fix->shown + k * (fix->npair + 2);
    row[1] = fix->count[k];
    for (int p = 0; p < fix->npair; ++p)
      row[2 + p] = row[1] > 0.0 ? fix->prefactor * fix->sum[k * fix->npair + p] / row[1] : 0.0;
  }
}

static void write_rows(fix_ave_correlate *fix, int64_t step)
{
  md_text *text = &fix->base.text;
  md_text_print(text, "%lld %lld\n", (long long)step, (long long)fix->schedule.repeat);
  for (int64_t k = 0; k < fix->schedule.repeat; ++k) {
    const double *row = fix->shown + k * (fix->npair + 2);
    md_text_print(text, "%lld %.0f %.0f", (long long)k + 1, row[0], row[1]);
    for (int p = 0; p < fix->npair; ++p)
      if (row[1] > 0.0)
        md_text_print(text, " %g", row[2 + p]);
      else
        md_text_string(text, " 0.0");
    md_text_string(text, "\n");
  }
}

/* Begins anew, with the newest sample alone: it ends one average and begins the next, as in LAMMPS. */
static void begin_anew(fix_ave_correlate *fix)
{
  memset(fix->count, 0, (size_t)fix->schedule.repeat * sizeof *fix->count);
  memset(fix->sum, 0, (size_t)(fix->schedule.repeat * fix->npair) * sizeof *fix->sum);
  fix->nsample = 1;
  correlate(fix);
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_ave_correlate *fix = (fix_ave_correlate *)base;
  md_schedule *s = &fix->schedule;
  fix->newest = (fix->newest + 1) % s->repeat;
  for (int i = 0; i < fix->n; ++i)
    MD_TRY(md_value_number(view->sim, fix->name[i], &fix->ring[fix->newest * fix->n + i]));
  if (fix->nsample < s->repeat) ++fix->nsample;
  s->next = view->step + s->every;
  correlate(fix);
  if (view->step % s->freq != 0) return MD_OK;
  show(fix);
  if (base->path) write_rows(fix, view->step);
  if (!fix->running) begin_anew(fix);
  return md_text_status(&base->text);
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  fix_ave_correlate *fix = (fix_ave_correlate *)base;
  const int64_t repeat = fix->schedule.repeat;
  md_schedule_walk(&fix->schedule, state);
  (void)md_fix_state_whole(state, &fix->nsample);
  (void)md_fix_state_whole(state, &fix->newest);
  (void)md_fix_state_reals(state, repeat * fix->n, fix->ring);
  (void)md_fix_state_reals(state, repeat, fix->count);
  (void)md_fix_state_reals(state, repeat * fix->npair, fix->sum);
  (void)md_fix_state_reals(state, repeat * (fix->npair + 2), fix->shown);
  return MD_OK;
}

static void free_samples(md_output_fix *base)
{
  fix_ave_correlate *fix = (fix_ave_correlate *)base;
  md_value_names_free(fix->n, fix->name);
  free(fix->ring);
  free(fix->count);
  free(fix->sum);
  free(fix->shown);
}

const md_output_fix_style md_fix_ave_correlate_style = {
    .name = "ave/correlate",
    .usage = "ave/correlate NEVERY NREPEAT NFREQ VALUE ... [KEYWORDS]",
    .help = "time correlation functions of the values at NREPEAT times, NEVERY steps apart, shown at\n"
            "multiples of NFREQ; f_ID[I][1] is the time in steps, f_ID[I][2] the number of samples, after\n"
            "them the pairs. Keywords: type auto|upper|lower|auto/upper|auto/lower|full (which pairs;\n"
            "default auto), ave one|running, start STEP, prefactor P, file NAME, overwrite, title1, title2,\n"
            "title3 TEXT",
    .size = sizeof(fix_ave_correlate),
    .keeps_step = true,
    .parse = parse,
    .begin = begin,
    .due = due,
    .look = look,
    .walk = walk,
    .free = free_samples,
};
