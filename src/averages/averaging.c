/* Averages over time: schedules and running averages; see averaging.h. */
#include "src/averages/averaging.h"

#include <stdlib.h>
#include <string.h>

md_status md_schedule_read(md_schedule *s, const char *style, char *const word[3])
{
  MD_TRY(md_word_int64(word[0], "Nevery", 1, INT64_C(1) << 31, &s->every));
  MD_TRY(md_word_int64(word[1], "Nrepeat", 1, INT64_C(1) << 31, &s->repeat));
  MD_TRY(md_word_int64(word[2], "Nfreq", 1, INT64_C(1) << 53, &s->freq));
  if (s->freq % s->every == 0 && s->repeat * s->every <= s->freq) return MD_OK;
  return md_error(MD_USAGE,
                  "fix %s: Nfreq %s must be a multiple of Nevery %s, and at least Nrepeat %s times that",
                  style, word[2], word[0], word[1]);
}

void md_schedule_begin(md_schedule *s, int64_t step)
{
  int64_t next = step / s->freq * s->freq + s->freq;
  if (next < s->start) next += (s->start - next + s->freq - 1) / s->freq * s->freq;
  if (next - s->freq == step && s->repeat == 1)
    next = step;
  else
    next -= (s->repeat - 1) * s->every;
  s->next = next < step ? next + s->freq : next;
}

void md_schedule_catch_up(md_schedule *s, int64_t step)
{
  if (s->next >= step) return;
  s->done = 0;
  md_schedule_begin(s, step);
}

int64_t md_schedule_due(const md_schedule *s, int64_t step) { return s->next >= step ? s->next : INT64_MAX; }

bool md_schedule_count(md_schedule *s, int64_t step)
{
  ++s->done;
  const bool complete = s->done == s->repeat;
  s->next = step + (complete ? s->freq - (s->repeat - 1) * s->every : s->every);
  if (complete) s->done = 0;
  return complete;
}

void md_schedule_walk(md_schedule *s, md_fix_state *state)
{
  (void)md_fix_state_whole(state, &s->next);
  (void)md_fix_state_whole(state, &s->done);
}

md_status md_running_read(md_running *r, const char *style, const md_words *words, int *at)
{
  const char *kind = *at < words->n ? words->word[*at] : "";
  ++*at;
  r->kind = MD_RUNNING_ONE;
  if (strcmp(kind, "one") == 0) return MD_OK;
  r->kind = MD_RUNNING_ALL;
  if (strcmp(kind, "running") == 0) return MD_OK;
  r->kind = MD_RUNNING_WINDOW;
  if (strcmp(kind, "window") != 0 || *at == words->n)
    return md_error(MD_USAGE, "fix %s ave: '%.64s' is not one, running or window M", style, kind);
  return md_word_int64(words->word[(*at)++], "M of ave window", 1, 1 << 24, &r->window);
}

md_status md_running_begin(md_running *r, int64_t n)
{
  r->n = n;
  MD_TRY(md_array_new_zero(&r->total, n, sizeof *r->total, "an average"));
  return md_array_new_zero(&r->last, n * r->window, sizeof *r->last, "a window of averages");
}

void md_running_add(md_running *r, const double *average)
{
  double *leaves = r->window > 0 ? r->last + r->added % r->window * r->n : NULL;
  const bool full = r->window > 0 && r->added >= r->window;
  ++r->added;
  if (r->kind == MD_RUNNING_ONE) r->norm = 1;
  if (r->kind == MD_RUNNING_ALL || (r->kind == MD_RUNNING_WINDOW && !full)) ++r->norm;
  for (int64_t k = 0; k < r->n; ++k) {
    r->total[k] = r->kind == MD_RUNNING_ONE ? average[k] : r->total[k] + average[k];
    if (full) r->total[k] -= leaves[k];
    if (leaves) leaves[k] = average[k];
  }
}

void md_running_walk(md_running *r, md_fix_state *state)
{
  (void)md_fix_state_whole(state, &r->norm);
  (void)md_fix_state_whole(state, &r->added);
  (void)md_fix_state_reals(state, r->n, r->total);
  (void)md_fix_state_reals(state, r->n * r->window, r->last);
}

void md_running_free(md_running *r)
{
  free(r->total);
  free(r->last);
}
