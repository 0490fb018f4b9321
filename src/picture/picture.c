/* PNG output with libpng; see picture.h.
 *
 * A picture of levels has one byte a pixel and a palette of 256 colours. It is smaller than a picture of colours,
 * and its levels can be read back.
 */
#include "src/picture/picture.h"
#include "common/base/open_file.h"
#include "src/files/new_file.h"
#include "src/picture/colour/colour_map.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* libpng reports an error by a jump. This function keeps its text for the message. */
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
  char key[] = "Description", text[400];
  snprintf(text, sizeof text, "%s", im->description);
  png_text description = {
      .compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = text, .text_length = strlen(text)};
  png_set_IHDR(png, info, (png_uint_32)im->width, (png_uint_32)im->height, 8,
               im->colours ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  /* Maps of particles are noise. For noise, differences of pixels need more room than the pixels. */
  png_set_filter(png, PNG_FILTER_TYPE_BASE, im->smooth ? PNG_ALL_FILTERS : PNG_FILTER_NONE);
  if (!im->colours) set_palette(png, info);
  png_set_text(png, info, &description, 1);
  png_write_info(png, info);
}

/* Encodes the picture. Returns false if libpng failed; reason[128] then says why. */
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

static bool put_ppm(FILE *file, const md_picture *im, char *reason)
{
  const size_t bytes = 3 * (size_t)im->width * (size_t)im->height;
  (void)reason;
  return fprintf(file, "P6\n%d %d\n255\n", im->width, im->height) > 0 &&
         fwrite(im->pixel, 1, bytes, file) == bytes;
}

/* Writes a file with one of the two functions above. */
static md_status write_file(const char *path, const md_picture *im,
                            bool (*put)(FILE *, const md_picture *, char *))
{
  FILE *file = md_open_write(path, false);
  if (!file) return md_error(MD_RUNTIME, "cannot write %.500s: %s", path, md_open_reason(errno));
  char reason[128] = "out of memory";
  errno = 0;
  bool good = put(file, im, reason);
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
  md_new_file file;
  MD_TRY(md_new_file_begin(&file, path));
  return md_new_file_end(&file, write_file(file.path, picture, encode));
}

md_status md_picture_write_ppm(const char *path, const md_picture *picture)
{
  md_new_file file;
  MD_TRY(md_new_file_begin(&file, path));
  return md_new_file_end(&file, write_file(file.path, picture, put_ppm));
}
