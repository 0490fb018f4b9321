/* Glyphs: a small font of dots for texts in pictures. */
#ifndef MD_SRC_PICTURE_GLYPHS_H
#define MD_SRC_PICTURE_GLYPHS_H

#include <stdint.h>

enum { MD_GLYPH_COLUMNS = 5, MD_GLYPH_ROWS = 8, MD_GLYPH_ADVANCE = 6 };

/* The columns, from the left, of the UTF-8 character that begins at *text; bit 0 is the highest dot. Moves *text
 * after the character. Known are ASCII and σ τ ² ³; any other character looks like a question mark. The result is
 * static. */
const uint8_t *md_glyph_next(const char **text);

/* The number of characters of a text. */
int md_glyph_count(const char *text);

#endif
