/* What a picture needs to be read: a title, axes with lengths, a bar of colours with numbers. */
#ifndef MD_SRC_PICTURE_FURNITURE_H
#define MD_SRC_PICTURE_FURNITURE_H

#include "common/base/error.h"
#include "src/picture/colour_map.h"

/* Colours, rows from the top: 3 bytes a pixel, red first. */
typedef struct md_canvas {
  int width, height;
  unsigned char *rgb;
} md_canvas;

/* What the edges of a picture stand for. */
typedef struct md_axis {
  const char *name;
  double lo, hi;
} md_axis;

typedef struct md_furniture {
  const char *title;
  md_axis axis[2];      /* to the right and up */
  const char *quantity; /* what colours mean; NULL: no bar */
  double most;          /* of the bar, from 0 */
  double log_unit;      /* 0: linear; else a value q has the colour of log(1 + q / log_unit) */
} md_furniture;

/* Sets the picture map[height][width] into a white canvas, unscaled, and draws the furniture round it. Texts may hold
 * the characters of glyphs.h. The caller frees canvas->rgb. MD_RUNTIME: out of memory. */
md_status md_furniture_draw(const md_furniture *furniture, const md_canvas *map,
                            const unsigned char colour[MD_COLOURS][3], md_canvas *canvas) MD_CHECKED;

#endif
