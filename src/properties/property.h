/* Properties of particles: numbers of each particle that a deck names, as fix property/atom makes them. i_NAME is a
 * whole number, d_NAME a real one, and mol a whole number, the label of a molecule or of another set of particles. */
#ifndef MD_SRC_PROPERTIES_PROPERTY_H
#define MD_SRC_PROPERTIES_PROPERTY_H

#include "src/properties/id_values.h"

typedef struct md_property {
  md_id_values *values;
  int column;
  bool whole;
} md_property;

/* Finds a property by its name, such as d_WEIGHT. false: there is none. */
bool md_property_find(const md_sim *sim, const char *name, md_property *property);

/* Is the name that of a property, whether or not there is such a one? */
bool md_property_is_name(const char *name);

/* The same as md_property_find. MD_USAGE: there is none; `command` names the caller in the message. */
md_status md_property_need(const md_sim *sim, const char *command, const char *name,
                           md_property *property) MD_CHECKED;

/* Are the values those of the fix property/atom with this ID? */
bool md_property_is_of_fix(const md_id_values *values, const char *id);

/* The values of the fix property/atom with this ID. MD_USAGE: there is no such fix. */
md_status md_property_of_fix(md_sim *sim, const char *id, md_id_values **values) MD_CHECKED;

/* Has a column of values only whole numbers? */
bool md_property_is_whole(const md_id_values *values, int column);

/* MD_USAGE: a property of whole numbers cannot have that value. */
md_status md_property_check(const md_property *property, const char *name, double value) MD_CHECKED;

#endif
