/* Properties of particles by name; see property.h. */
#include "src/properties/property.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool md_property_is_name(const char *name)
{
  const bool prefixed = (name[0] == 'i' || name[0] == 'd') && name[1] == '_' && name[2];
  return prefixed || strcmp(name, "mol") == 0;
}

bool md_property_is_whole(const md_id_values *values, int column)
{
  return values->property[column][0] != 'd';
}

bool md_property_find(const md_sim *sim, const char *name, md_property *property)
{
  if (!md_property_is_name(name)) return false;
  for (md_id_values *v = sim->id_values; v; v = v->next)
    for (int k = 0; k < v->columns && v->property; ++k)
      if (strcmp(v->property[k], name) == 0) {
        *property = (md_property){v, k, md_property_is_whole(v, k)};
        return true;
      }
  return false;
}

md_status md_property_need(const md_sim *sim, const char *command, const char *name, md_property *property)
{
  if (md_property_find(sim, name, property)) return MD_OK;
  return md_error(MD_USAGE, "%s: particles have no property '%.64s'; fix property/atom makes it", command,
                  name);
}

md_status md_property_check(const md_property *property, const char *name, double value)
{
  if (!property->whole || (value == floor(value) && fabs(value) <= 0x1p53)) return MD_OK;
  return md_error(MD_USAGE, "%.64s takes whole numbers, and not %g", name, value);
}

bool md_property_is_of_fix(const md_id_values *values, const char *id)
{
  char name[sizeof values->name];
  snprintf(name, sizeof name, "property/atom %.63s", id);
  return values->property && strcmp(values->name, name) == 0;
}

md_status md_property_of_fix(md_sim *sim, const char *id, md_id_values **values)
{
  for (*values = sim->id_values; *values; *values = (*values)->next)
    if (md_property_is_of_fix(*values, id)) return MD_OK;
  return md_error(MD_USAGE, "read_data fix: there is no fix property/atom '%.64s'", id);
}
