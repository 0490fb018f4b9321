/* Is each particle moved by one fix? See moved_once.h. */
#include "src/fixes/moved_once.h"
#include "common/ranks/reductions.h"

/* Is more than one bit set? */
static bool is_several(uint32_t bits) { return (bits & (bits - 1)) != 0; }

md_status md_check_moved_once(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  const uint32_t moving = sim->model.moving;
  int64_t twice = 0;
  if (!is_several(moving)) return MD_OK;
  for (int64_t i = 0; i < p->n && p->grouped; ++i) twice += is_several(p->group[i] & moving);
  MD_TRY(sim->comm->reduce->sum(sim->comm, &twice, 1));
  if (twice == 0) return MD_OK;
  return md_error(
      MD_USAGE,
      "%lld particle%s in the groups of two fixes that move %s, and would be moved twice: give these fixes "
      "groups without a common particle",
      (long long)twice, twice == 1 ? " is" : "s are", twice == 1 ? "it" : "them");
}
