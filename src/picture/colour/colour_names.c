/* Colours by name, and the looks of elements: two lists and a search through them; see colour_names.h. */
#include "src/picture/colour/colour_names.h"

#include <string.h>

static const struct {
  const char *name;
  md_colour colour;
} colours[] = {
#define MD_COLOUR(name, red, green, blue) {#name, {{red, green, blue}}},
#include "src/picture/colour/colour_names.def"
#undef MD_COLOUR
};

static const struct {
  const char *symbol;
  md_colour colour;
  int picometres;
} elements[] = {
#define MD_ELEMENT(symbol, red, green, blue, radius) {#symbol, {{red, green, blue}}, radius},
#include "src/picture/colour/element_looks.def"
#undef MD_ELEMENT
};

bool md_colour_named(const char *name, md_colour *colour)
{
  for (size_t k = 0; k < sizeof colours / sizeof colours[0]; ++k) {
    if (strcmp(colours[k].name, name) != 0) continue;
    *colour = colours[k].colour;
    return true;
  }
  return false;
}

void md_element_look(const char *symbol, md_colour *colour, double *radius)
{
  size_t k = sizeof elements / sizeof elements[0] - 1;
  while (k > 0 && strcmp(elements[k].symbol, symbol) != 0) --k; /* the first is X */
  *colour = elements[k].colour;
  *radius = 0.01 * elements[k].picometres;
}
