/* Tail corrections; see tail.h. Cost: a few operations for each pair of types, once before a run. */
#include "common/pair/tail.h"

#include <math.h>
#include <string.h>

static const double TWO_PI = 2.0 * 3.14159265358979323846;

bool md_pair_has_tail(const md_pair *pair)
{
  bool has = pair->tail;
  for (int s = 0; s < pair->nsub; ++s) has = has || pair->sub[s].tail;
  return has;
}

/* Adds the terms of two 0-based types of a style without sub-styles. pairs: N_a N_b. */
static void add_types(const md_pair *pair, int a, int b, double pairs, md_tail *tail)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  double k[MD_PAIR_K];
  if (!pair->tail) return;
  md_pair_row(pair, a, b, false, 1.0, k);
  const double rc2 = k[0], rc = sqrt(rc2);
  if (!(rc > 0.0)) return;
  /* So that there is an energy at the cutoff. */
  k[0] = (double)INFINITY;
  const double integral = style->tail(pair->parameter + (a * pair->ntypes + b) * MD_PAIR_PARAMETERS);
  tail->energy += pairs * TWO_PI * integral;
  tail->pressure += pairs * TWO_PI * (integral + rc2 * rc * md_pair_energy(pair->kind, rc2, k) / 3.0);
}

md_tail md_pair_tail(const md_pair *pair, const int64_t *count)
{
  md_tail tail = {0.0, 0.0};
  if (!md_pair_has_tail(pair)) return tail;
  for (int a = 0; a < pair->ntypes; ++a)
    for (int b = 0; b < pair->ntypes; ++b) {
      const double pairs = (double)count[a + 1] * (double)count[b + 1];
      if (pair->nsub == 0) add_types(pair, a, b, pairs, &tail);
      for (int s = 0; s < pair->nsub; ++s)
        if (pair->uses[a * pair->ntypes + b] >> s & 1) add_types(&pair->sub[s], a, b, pairs, &tail);
    }
  return tail;
}
