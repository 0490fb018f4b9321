/* A source of commands: an open deck file, from which one command is read at a time.
 *
 * Lines are joined into one command while they end with & or stand inside triple quotes. A source may be read from its
 * beginning again, and may go on with another file (jump). Sources form a stack: `below` is the source whose command
 * `include` opened this one.
 *
 * Time is proportional to the bytes that are read, memory is the longest command, at most 1 MiB.
 */
#ifndef MD_SRC_SCRIPT_SOURCE_H
#define MD_SRC_SCRIPT_SOURCE_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum md_quoting {
  MD_QUOTE_NONE,
  MD_QUOTE_SINGLE,
  MD_QUOTE_DOUBLE,
  MD_QUOTE_TRIPLE,
  MD_QUOTE_COMMENT
} md_quoting;

typedef struct md_source {
  struct md_source *below; /* NULL: none */
  FILE *file;
  char *name; /* of the file, for messages */
  bool owned; /* the file is closed with the source */
  bool end;   /* the last line was read */
  int64_t line;
  int64_t first_line; /* of the present command */
  char *text;         /* the present command, and its comment */
  size_t n;
  size_t scanned;    /* text[0, scanned) was scanned ... */
  md_quoting state;  /* ... and the scan ended in this state */
  size_t comment_at; /* place where the comment begins, or n */
} md_source;

/* Begins to read `file`. owned: the source closes it. The caller calls md_source_close, also after an error.
 * MD_RUNTIME: out of memory; the file is then closed by md_source_close too. */
md_status md_source_open(md_source *source, FILE *file, const char *name, bool owned) MD_CHECKED;
void md_source_close(md_source *source);

/* Reads the next command into `text`; at the end of the file an empty one may come. MD_USAGE: it is longer than 1 MiB,
 * has a byte that is not text, or its quotes are not closed. MD_RUNTIME: the file cannot be read. */
md_status md_source_read(md_source *source) MD_CHECKED;

/* Goes back to the first line. MD_USAGE: the file is a pipe. */
md_status md_source_rewind(md_source *source) MD_CHECKED;

/* Goes on with the first line of another file, which the source then owns. MD_RUNTIME: out of memory; the caller then
 * closes the file. */
md_status md_source_replace(md_source *source, FILE *file, const char *name) MD_CHECKED;

/* The number of the first line that is the command `label LABEL`; 0: there is none. The place of reading
 * stays. MD_USAGE: the file is a pipe. */
md_status md_source_find_label(md_source *source, const char *label, int64_t *line) MD_CHECKED;

/* The place in `text` where its comment begins, or its length. */
size_t md_source_comment(char *text);

/* Whether the first word of `text` is `word`. */
bool md_source_begins_with(const char *text, const char *word);

#endif
