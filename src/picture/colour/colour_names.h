/* Colours by name, and the usual looks of elements. */
#ifndef MD_SRC_PICTURE_COLOUR_COLOUR_NAMES_H
#define MD_SRC_PICTURE_COLOUR_COLOUR_NAMES_H

#include <stdbool.h>

/* A colour: red, green and blue. */
typedef struct md_colour {
  unsigned char rgb[3];
} md_colour;

/* The colour of one of the names of CSS, such as tomato (colour_names.def). false: there is no such name. */
bool md_colour_named(const char *name, md_colour *colour);

/* The usual colour of an element, and its covalent radius, angstrom. An unknown symbol looks like X. */
void md_element_look(const char *symbol, md_colour *colour, double *radius);

#endif
