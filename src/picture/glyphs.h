/* Letters for pictures: a small font of dots. */
#ifndef MD_SRC_PICTURE_GLYPHS_H
#define MD_SRC_PICTURE_GLYPHS_H

#include <stdint.h>

enum { MD_GLYPH_COLUMNS = 5, MD_GLYPH_ROWS = 8, MD_GLYPH_ADVANCE = 6 };

/* The columns of the character that begins at *text in UTF-8, from the left; bit 0 is the highest dot. *text moves
 * behind it. Known are ASCII and σ τ ² ³; anything else looks like a question mark. */
const uint8_t *md_glyph_next(const char **text);

/* Characters of a text. */
int md_glyph_count(const char *text);

#endif
