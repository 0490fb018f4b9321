/* compute group/group: the energy of all pairs of a particle in the compute's group and one in another group, and the
 * force on the group by the other.
 *
 * Terms are those of the engines' measures (pair_sums.h). So values have the same bits everywhere. Cost: that of the
 * search of pairs (neighbours.h). Reference: the LAMMPS manual, compute group/group. */
#include "src/computes/host_compute.h"
#include "src/computes/pair_sums.h"
#include "src/group/groups.h"
#include "src/output/observer.h"

#include <string.h>

typedef struct compute_groups {
  md_host_compute base;
  double value[4]; /* energy, force */
} compute_groups;

static md_status read_keyword(const char *keyword, const char *value)
{
  static const struct {
    const char *keyword, *value;
  } accepted[] = {
      {"pair", "yes"}, {"kspace", "no"}, {"boundary", "yes"}, {"boundary", "no"}, {"molecule", "off"}};
  for (size_t k = 0; k < sizeof accepted / sizeof accepted[0]; ++k)
    if (strcmp(keyword, accepted[k].keyword) == 0 && strcmp(value, accepted[k].value) == 0) return MD_OK;
  return md_error(
      MD_USAGE,
      "compute group/group: '%.64s %.64s' is not available; accepted are pair yes, kspace no, boundary "
      "yes|no, molecule off",
      keyword, value);
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  static const bool extensive[3] = {true, true, true};
  compute_groups *c = (compute_groups *)base;
  if (words->n < 1 || words->n % 2 == 0)
    return md_error(MD_USAGE,
                    "compute group/group takes the name of another group, then keywords with a value");
  MD_TRY(md_group_find(sim, words->word[0], &base->other_group));
  for (int w = 1; w < words->n; w += 2) MD_TRY(read_keyword(words->word[w], words->word[w + 1]));
  base->values = (md_values){
      .scalar = c->value, .has_vector = true, .nvector = 3, .vector = c->value + 1, .extensive = extensive};
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_groups *c = (compute_groups *)base;
  return md_pair_between(view->sim, base->group, base->other_group, c->value);
}

const md_host_compute_style md_compute_group_group_style = {
    .name = "group/group",
    .usage = "group/group GROUP [pair yes] [kspace no] [boundary yes|no] [molecule off]",
    .help = "energy of the pairs of a particle in the group and one in GROUP, c_ID, and the force on the "
            "group by\n"
            "GROUP, c_ID[1] to c_ID[3]",
    .size = sizeof(compute_groups),
    .parse = parse,
    .find = find,
};
