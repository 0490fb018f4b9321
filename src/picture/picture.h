/* Pictures of a scalar as PNG files. */
#ifndef MD_SRC_PICTURE_PICTURE_H
#define MD_SRC_PICTURE_PICTURE_H

#include "common/base/error.h"
#include <stdbool.h>

/* Rows from the top. Levels are 0 to 255 in the viridis colours (colour_map.h), one byte a pixel, and can be read back
 * from the file; colours are red, green and blue, three bytes a pixel. */
typedef struct md_picture {
  int width, height;
  const unsigned char *pixel;
  bool colours;            /* pixel holds colours, not levels */
  const char *description; /* becomes a tEXt chunk */
} md_picture;

/* Written to a temporary file and renamed when complete, so a picture is whole or absent. MD_RUNTIME: the file cannot be
 * written; nothing is left behind then. */
md_status md_picture_write(const char *path, const md_picture *picture) MD_CHECKED;

#endif
