/* Measures over all ranks; see measure.h. */
#include "src/measure.h"
#include "common/force/external.h"
#include "common/ranks/reductions.h"

#include <string.h>

enum { MOST_SUMS = 3 + MD_TENSOR + MD_TERMS_MAX };

/* The wanted sums of a measure; returns their number. */
static int sums_of(const md_model *model, md_wanted wanted, md_measure *m, md_wide *sum[MOST_SUMS])
{
  int n = 0;
  if (wanted.pairs) sum[n++] = &m->pair_energy2;
  if (wanted.pairs && model->bonds.ntypes > 0) sum[n++] = &m->bond_energy2;
  if (md_wants_virial(wanted)) sum[n++] = &m->virial2;
  for (int c = 0; wanted.tensor && c < MD_TENSOR; ++c) sum[n++] = &m->tensor2[c];
  for (int s = 0; s < model->nsummand; ++s)
    for (int t = 0; wanted.summands >> s & 1 && t < model->summand[s].n; ++t)
      sum[n++] = &m->term[model->summand[s].first + t];
  return n;
}

/* The limbs of wide sums are summed separately, without carries; see common/arithmetic/exact.h. */
static md_status reduce(md_comm *comm, md_wide *const *sum, int n, int64_t *count)
{
  int64_t values[MOST_SUMS * MD_WIDE_LIMBS + 1];
  for (int k = 0; k < n; ++k) memcpy(values + k * MD_WIDE_LIMBS, sum[k]->limb, sizeof sum[k]->limb);
  values[n * MD_WIDE_LIMBS] = *count;
  MD_TRY(comm->reduce->sum(comm, values, n * MD_WIDE_LIMBS + 1));
  for (int k = 0; k < n; ++k) {
    memcpy(sum[k]->limb, values + k * MD_WIDE_LIMBS, sizeof sum[k]->limb);
    md_wide_normalise(sum[k]);
  }
  *count = values[n * MD_WIDE_LIMBS];
  return MD_OK;
}

/* The virial that fix external is given. */
static void take_virial(const md_model *model, md_measure *measure)
{
  const int f = md_fixes_external(model);
  if (f < 0 || !model->fix[f].virial) return;
  memcpy(measure->fix_virial, &model->fix[f].state[MD_EXTERNAL_VIRIAL], sizeof measure->fix_virial);
}

md_status md_measure_ranks(const md_engine_kind *kind, md_engine *engine, md_comm *comm,
                           const md_model *model, md_wanted wanted, md_measure *measure)
{
  md_wide *sum[MOST_SUMS];
  if (wanted.tensor && md_pair_is_all(&model->pair))
    return md_error(MD_USAGE, "the components of the pressure are not available for pair style %s",
                    md_pair_style_of(model->pair.kind)->name);
  MD_TRY(md_comm_agree(comm, kind->measure(engine, wanted, measure)));
  take_virial(model, measure);
  return reduce(comm, sum, sums_of(model, wanted, measure, sum), &measure->count);
}
