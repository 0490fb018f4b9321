/* Pictures of a scalar as PNG files. */
#ifndef MD_SRC_PICTURE_H
#define MD_SRC_PICTURE_H

#include "common/error.h"

/* Draws level[height][width], rows from the top, in the viridis colours (colour_map.h); `description` becomes a tEXt
 * chunk. Written to a temporary file and renamed when complete, so a picture is whole or absent. MD_RUNTIME: the
 * file cannot be written; nothing is left behind then. */
md_status md_picture_write(const char *path, int width, int height, const unsigned char *level,
                           const char *description) MD_CHECKED;

#endif
