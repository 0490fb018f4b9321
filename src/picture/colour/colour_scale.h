/* Colour scales: which colour a value has. These are the colour maps of LAMMPS's dump_modify amap.
 *
 * A scale has a range, whose ends are numbers or the smallest and the largest value of a picture. Values outside are
 * moved to its ends. A continuous scale has colours at places of the range, and colours between them are interpolated.
 * A discrete one has a colour for each part of the range, of which the first that holds a value counts. A sequential
 * one has a colour for each bin of the range, and begins again after the last.
 */
#ifndef MD_SRC_PICTURE_COLOUR_COLOUR_SCALE_H
#define MD_SRC_PICTURE_COLOUR_COLOUR_SCALE_H

#include "src/picture/colour/colour_names.h"

typedef enum md_scale_style { MD_SCALE_CONTINUOUS, MD_SCALE_DISCRETE, MD_SCALE_SEQUENTIAL } md_scale_style;

/* A place of the range: a value or, with `fraction`, a part of the range. Infinite: the end of the range. */
typedef struct md_scale_entry {
  double lo, hi; /* of continuous scales both are the place of the colour */
  md_colour colour;
} md_scale_entry;

typedef struct md_colour_scale {
  md_scale_style style;
  bool fraction;         /* places are parts of the range, 0 to 1 */
  bool from_min, to_max; /* an end of the range follows the values of a picture */
  double lo, hi;         /* the range; the caller sets an end that follows */
  double bin;            /* of sequential scales */
  int n;
  md_scale_entry *entry; /* [n], the owner frees it */
} md_colour_scale;

/* The colour of a value. A value that is no number has the colour of the lower end. */
md_colour md_colour_scale_at(const md_colour_scale *scale, double value);

#endif
