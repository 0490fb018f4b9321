/* PNG output through libpng; see picture.h.
 *
 * Levels are one byte a pixel and a palette of 256 colours: smaller than colours, and the levels can be read back.
 */
#include "src/picture.h"
#include "src/colour_map.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libpng reports errors by jumping; what it says is kept for the message. */
static void on_error(png_structp png, png_const_charp message)
{
  char *reason = png_get_error_ptr(png);
  snprintf(reason, 128, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
  (void)png;
  (void)message;
}

static void set_palette(png_structp png, png_infop info)
{
  unsigned char colour[MD_COLOURS][3];
  png_color palette[MD_COLOURS];
  md_colour_map_viridis(colour);
  for (int c = 0; c < MD_COLOURS; ++c) palette[c] = (png_color){colour[c][0], colour[c][1], colour[c][2]};
  png_set_PLTE(png, info, palette, MD_COLOURS);
}

static void put_chunks(png_structp png, png_infop info, const md_picture *im)
{
  char key[] = "Description", text[256];
  snprintf(text, sizeof text, "%s", im->description);
  png_text description = {
      .compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = text, .text_length = strlen(text)};
  png_set_IHDR(png, info, (png_uint_32)im->width, (png_uint_32)im->height, 8,
               im->colours ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  /* Of noise, which pictures of particles are, differences of pixels take more room than the pixels. */
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
  if (!im->colours) set_palette(png, info);
  png_set_text(png, info, &description, 1);
  png_write_info(png, info);
}

/* false: libpng failed, and reason[128] says why. */
static bool encode(FILE *file, const md_picture *im, char *reason)
{
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, reason, on_error, on_warning);
  if (!png) return false;
  png_infop info = png_create_info_struct(png);
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_init_io(png, file);
  put_chunks(png, info, im);
  const size_t bytes = (size_t)im->width * (im->colours ? 3 : 1);
  for (int row = 0; row < im->height; ++row) png_write_row(png, im->pixel + (size_t)row * bytes);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  return true;
}

static md_status write_file(const char *path, const md_picture *im)
{
  FILE *file = fopen(path, "wb");
  if (!file) return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, strerror(errno));
  char reason[128] = "out of memory";
  errno = 0;
  bool good = encode(file, im, reason);
  if (good && fflush(file) != 0) good = false;
  if (!good && errno) snprintf(reason, sizeof reason, "%s", strerror(errno));
  if (fclose(file) != 0 && good) {
    good = false;
    snprintf(reason, sizeof reason, "%s", strerror(errno));
  }
  return good ? MD_OK : md_error(MD_RUNTIME, "cannot write %.500s: %s", path, reason);
}

md_status md_picture_write(const char *path, const md_picture *picture)
{
  const size_t size = strlen(path) + sizeof ".tmp";
  char *temporary = malloc(size);
  if (!temporary) return md_error(MD_RUNTIME, "out of memory while drawing %.500s", path);
  snprintf(temporary, size, "%s.tmp", path);
  md_status status = write_file(temporary, picture);
  if (status == MD_OK && rename(temporary, path) != 0)
    status = md_error(MD_RUNTIME, "cannot rename %.500s to %.500s: %s", temporary, path, strerror(errno));
  if (status != MD_OK) remove(temporary);
  free(temporary);
  return status;
}
