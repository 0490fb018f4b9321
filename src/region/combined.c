/* Region styles that combine other regions: union and intersect; see region.h.
 *
 * A member is tested with its own side. It may be a combined region itself, but must be defined before. */
#include "src/region/region.h"

static md_status read_members(const md_region_reader *r, md_region *region)
{
  MD_TRY(md_array_new_zero(&region->member, r->nmember, sizeof(void *), "regions"));
  region->nmember = r->nmember;
  for (int k = 0; k < r->nmember; ++k) {
    const md_region *found;
    MD_TRY(md_region_find(r->sim, r->word[1 + k], &found));
    md_region *member = r->sim->regions;
    while (member != found) member = member->next;
    region->member[k] = member;
  }
  return MD_OK;
}

md_status md_region_union_read(const md_region_reader *r, md_region *region)
{
  MD_TRY(read_members(r, region));
  for (int d = 0; d < 3; ++d) {
    region->lo[d] = (double)INFINITY;
    region->hi[d] = -(double)INFINITY;
    for (int k = 0; k < region->nmember; ++k) {
      region->lo[d] = md_min(region->lo[d], md_region_lo(region->member[k], d));
      region->hi[d] = md_max(region->hi[d], md_region_hi(region->member[k], d));
    }
  }
  return MD_OK;
}

bool md_region_union_inside(const md_region *region, const double x[3], double margin)
{
  for (int k = 0; k < region->nmember; ++k)
    if (md_region_contains_within(region->member[k], x, 3, margin)) return true;
  return false;
}

md_status md_region_intersect_read(const md_region_reader *r, md_region *region)
{
  MD_TRY(read_members(r, region));
  for (int d = 0; d < 3; ++d) {
    region->lo[d] = -(double)INFINITY;
    region->hi[d] = (double)INFINITY;
    for (int k = 0; k < region->nmember; ++k) {
      region->lo[d] = md_max(region->lo[d], md_region_lo(region->member[k], d));
      region->hi[d] = md_min(region->hi[d], md_region_hi(region->member[k], d));
    }
  }
  return MD_OK;
}

bool md_region_intersect_inside(const md_region *region, const double x[3], double margin)
{
  for (int k = 0; k < region->nmember; ++k)
    if (!md_region_contains_within(region->member[k], x, 3, margin)) return false;
  return true;
}
