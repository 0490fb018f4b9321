/* Writing one text frame: rows are formatted in blocks by several threads and written in order; see dump.h.
 *
 * A round gives every thread a few blocks of rows. Each block is formatted into its own buffer and, for a gzip file,
 * packed there; then one thread writes the buffers in order. So memory is bounded by the round, and the bytes do not
 * depend on the number of threads. Formatting a block knows nothing of files, as parallel output needs it.
 *
 * Cost: about 0.4 s for 10^6 particles of 8 columns on one core, and the disk.
 */
#include "src/dump.h"

#include <omp.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 4096, BLOCKS_PER_THREAD = 4 };

static md_status write_blocks(const md_text *block, int n, md_output *output)
{
  for (int b = 0; b < n; ++b) MD_TRY(md_output_write_packed(output, &block[b]));
  return MD_OK;
}

static md_status write_rows(const md_dump *dump, const md_frame *frame, int threads, md_text *block,
                            int blocks, md_output *output)
{
  const int64_t n = frame->particles->n;
  const int64_t round = (int64_t)blocks * BLOCK_ROWS;
  for (int64_t first = 0; first < n; first += round) {
    const int64_t rows = n - first < round ? n - first : round;
    const int used = (int)((rows + BLOCK_ROWS - 1) / BLOCK_ROWS);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (used > 1)
    for (int b = 0; b < used; ++b) {
      const int64_t from = (int64_t)b * BLOCK_ROWS;
      block[b].n = 0;
      md_dump_format_rows(dump, frame, first + from, rows - from < BLOCK_ROWS ? rows - from : BLOCK_ROWS,
                          &block[b]);
      md_output_pack(output, &block[b]);
    }
    MD_TRY(write_blocks(block, used, output));
  }
  return MD_OK;
}

static md_status write_text(md_text *text, md_output *output)
{
  md_status status = md_text_status(text);
  if (status == MD_OK) status = md_output_write(output, text->bytes, text->n);
  text->n = 0;
  return status;
}

md_status md_dump_write_frame(const md_dump *dump, const md_frame *frame, int threads, md_output *output)
{
  if (threads < 1) threads = omp_get_max_threads();
  const int blocks = threads * BLOCKS_PER_THREAD;
  md_text *block = calloc((size_t)blocks, sizeof *block);
  if (!block) return md_error(MD_RUNTIME, "out of memory while formatting output");
  md_text around = {0};
  dump->style->header(dump, frame, md_output_empty(output), &around);
  md_status status = write_text(&around, output);
  if (status == MD_OK) status = write_rows(dump, frame, threads, block, blocks, output);
  if (status == MD_OK && dump->style->trailer) {
    dump->style->trailer(dump, frame, &around);
    status = write_text(&around, output);
  }
  md_text_free(&around);
  for (int b = 0; b < blocks; ++b) md_text_free(&block[b]);
  free(block);
  return status;
}
