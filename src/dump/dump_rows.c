/* Writing one text frame: the header of the style, the rows (src/files/rows.h), and the trailer of the style; see
 * dump.h. */
#include "src/dump/dump.h"

typedef struct dumped {
  const md_dump *dump;
  const md_frame *frame;
} dumped;

static void format_rows(const void *context, const md_rows *rows, int64_t first, int64_t count, md_text *text)
{
  const dumped *d = context;
  md_frame frame = *d->frame;
  frame.rows = *rows;
  md_dump_format_rows(d->dump, &frame, first, count, text);
}

md_status md_dump_write_frame(const md_dump *dump, const md_frame *frame, md_comm *comm, int threads,
                              md_output *output)
{
  md_text around = {0};
  dump->style->header(dump, frame, md_output_empty(output), &around);
  md_status status = md_output_write_once(output, &around);
  if (status == MD_OK)
    status = md_rows_write(comm, &frame->rows, threads, format_rows, &(dumped){dump, frame}, output);
  if (status == MD_OK && dump->style->trailer) {
    dump->style->trailer(dump, frame, &around);
    status = md_output_write_once(output, &around);
  }
  md_text_free(&around);
  return status == MD_OK ? md_output_settle(output) : status;
}
