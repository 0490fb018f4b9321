/* Pictures of a scalar as PNG files: a level for each pixel and a palette, or a colour for each pixel. */
#ifndef MD_SRC_PICTURE_PICTURE_H
#define MD_SRC_PICTURE_PICTURE_H

#include "common/base/error.h"
#include <stdbool.h>

/* A picture to write, with rows from the top. Levels are 0 to 255 in the viridis colours
 * (src/picture/colour/colour_map.h), one byte a pixel, and can be read back from the file. Colours are red, green and
 * blue, three bytes a pixel. */
typedef struct md_picture {
  int width, height;
  const unsigned char *pixel;
  bool colours;            /* pixel holds colours, not levels */
  bool smooth;             /* most neighbours are alike but not equal: differences need less room */
  const char *description; /* stored as a tEXt chunk */
} md_picture;

/* Writes a PNG file: first to a temporary file, which is renamed when it is complete. MD_RUNTIME: the file cannot
 * be written; no file is left then. */
md_status md_picture_write(const char *path, const md_picture *picture) MD_CHECKED;

/* The same as PPM, the plain format of Netpbm: colours only, without the description. */
md_status md_picture_write_ppm(const char *path, const md_picture *picture) MD_CHECKED;

#endif
