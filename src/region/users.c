/* Numbers of regions in fixes and computes; see users.h. */
#include "src/region/users.h"
#include "src/computes/computes.h"
#include "src/fixes/fixes.h"

md_status md_regions_take(md_sim *sim)
{
  MD_TRY(md_fixes_find_regions(sim));
  return md_computes_find_regions(sim);
}
