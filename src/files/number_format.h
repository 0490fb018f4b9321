/* Number formats: printf formats from a deck, checked before printf gets them.
 *
 * A format is literal text around exactly one conversion of the right kind: %[flags][width][.precision] and a
 * letter. Width and precision have at most two digits. The letter is d or i for whole numbers (with l or ll in
 * front, which are accepted and replaced), e f g a (or capitals) for real numbers, and s for words. %% is a
 * percent sign. * and %n are refused.
 */
#ifndef MD_SRC_FILES_NUMBER_FORMAT_H
#define MD_SRC_FILES_NUMBER_FORMAT_H

#include "common/base/error.h"

enum { MD_FORMAT_SIZE = 32, MD_NUMBER_TEXT = 512 };

typedef enum md_format_kind { MD_FORMAT_INT, MD_FORMAT_FLOAT, MD_FORMAT_WORD } md_format_kind;

/* Copies `format` to out[MD_FORMAT_SIZE], changed so that printf takes a long long, a double or a string.
 * MD_USAGE: it is not a format of that kind, or too long. `out` must not overlap `format`. */
md_status md_number_format_check(const char *format, md_format_kind kind, char *out) MD_CHECKED;

/* Prints `value` with a checked format for a double into out[MD_NUMBER_TEXT]. MD_USAGE: the text is longer. */
md_status md_number_format_print(const char *format, double value, char *out) MD_CHECKED;

/* Reads a line of formats separated by blanks, one for each of the n kinds, into out[0..n). MD_USAGE: as above, or
 * the number of formats is not n; `out` is then unchanged. */
md_status md_number_format_line(const char *line, int n, const md_format_kind *kind,
                                char (*out)[MD_FORMAT_SIZE]) MD_CHECKED;

#endif
