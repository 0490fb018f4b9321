/* printf formats that come from a deck, checked before printf sees them.
 *
 * A format is literal text around exactly one conversion of the right class: %[flags][width][.precision] with
 * width and precision of at most two digits, then d or i for whole numbers (l or ll in front is accepted and
 * replaced), e f g a (or capitals) for real ones, s for words. %% is a percent sign; * and %n are refused.
 */
#ifndef MD_SRC_FILES_NUMBER_FORMAT_H
#define MD_SRC_FILES_NUMBER_FORMAT_H

#include "common/base/error.h"

enum { MD_FORMAT_SIZE = 32 };

typedef enum md_format_kind { MD_FORMAT_INT, MD_FORMAT_FLOAT, MD_FORMAT_WORD } md_format_kind;

/* Copies `format` to out[MD_FORMAT_SIZE] in the form printf wants for a long long, a double or a string.
 * MD_USAGE: not a format of that kind, or too long. `out` may not overlap `format`. */
md_status md_number_format_check(const char *format, md_format_kind kind, char *out) MD_CHECKED;

/* A line of formats separated by blanks, one for each of the n kinds, to out[0..n). MD_USAGE as above, and for a
 * wrong number of them; `out` is then untouched. */
md_status md_number_format_line(const char *line, int n, const md_format_kind *kind,
                                char (*out)[MD_FORMAT_SIZE]) MD_CHECKED;

#endif
