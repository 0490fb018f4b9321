/* Furniture: the parts around a picture that explain it: a title, axes with numbers, and a colour bar with
 * numbers. */
#ifndef MD_SRC_PICTURE_FURNITURE_H
#define MD_SRC_PICTURE_FURNITURE_H

#include "common/base/error.h"
#include "src/picture/colour/colour_map.h"

/* An image in colours. Rows from the top; 3 bytes a pixel, red first. */
typedef struct md_canvas {
  int width, height;
  unsigned char *rgb;
} md_canvas;

/* The quantity along an edge of a picture, and its range. */
typedef struct md_axis {
  const char *name;
  double lo, hi;
} md_axis;

typedef struct md_furniture {
  const char *title;
  md_axis axis[2];      /* pointing right and up; names of NULL: none */
  const char *quantity; /* the quantity that the colours show; NULL: no bar */
  double least, most;   /* smallest and largest value of the bar; least: 0 unless it is linear */
  double log_unit;      /* 0: linear; otherwise a value q has the colour of log(1 + q / log_unit) */
  double scale_bar;     /* a bar of a round length below the picture: lengths in a pixel; 0: none */
  const char *length_name;
} md_furniture;

/* The name of a unit for texts in pictures: its symbol if it has no name (units lj). */
static inline const char *md_furniture_unit(const char *name, const char *symbol)
{
  return name[0] ? name : symbol;
}

/* Copies the picture `map`, unscaled, into a white canvas, and draws the furniture around it. Texts may contain
 * the characters of glyphs.h. The caller frees canvas->rgb. MD_RUNTIME: out of memory. */
md_status md_furniture_draw(const md_furniture *furniture, const md_canvas *map,
                            const unsigned char colour[MD_COLOURS][3], md_canvas *canvas) MD_CHECKED;

#endif
