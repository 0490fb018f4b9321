/* Writing a line of text for each particle; see rows.h.
 *
 * A single rank writes a few blocks per thread at a time. With several ranks, each rank writes a whole window of
 * rows at a time, because the window of the next rank follows it in the file.
 *
 * Cost: about 0.4 s for 10^6 particles with 8 columns on one core, and the disk. With several ranks also a copy of
 * the text and of the particles (src/particles/by_id.h).
 */
#include "src/files/rows.h"
#include "common/ranks/reductions.h"

#include <locale.h>
#include <omp.h>
#include <stdlib.h>

enum { BLOCK_ROWS = MD_ROW_BLOCK, BLOCKS_PER_THREAD = 4, WINDOW_ROWS = 131072 };

typedef struct writer {
  md_comm *comm;
  md_output *output;
  md_row_format format;
  const void *context;
  int threads;
  md_output_piece *block;
  int64_t blocks;
} writer;

static md_status reserve_blocks(writer *w, int64_t blocks)
{
  if (w->block && blocks <= w->blocks) return MD_OK;
  md_output_piece *larger = realloc(w->block, (size_t)(blocks + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory while formatting output");
  for (int64_t b = w->blocks; b < blocks; ++b) larger[b] = (md_output_piece){0};
  w->block = larger;
  w->blocks = blocks;
  return MD_OK;
}

/* Formats and writes rows [first, first + count) at once. Each rank has its own range. Collective. */
static md_status write_part(writer *w, const md_rows *rows, int64_t first, int64_t count)
{
  const int64_t used = (count + BLOCK_ROWS - 1) / BLOCK_ROWS;
  MD_TRY(md_comm_agree(w->comm, reserve_blocks(w, used)));
  /* The caller may have a locale of its own, in which numbers have a point (src/library/myriad.c). */
  const locale_t locale = uselocale((locale_t)0);
#pragma omp parallel num_threads(w->threads) if (used > 1)
  {
    const locale_t own = uselocale(locale);
#pragma omp for schedule(dynamic, 1)
    for (int64_t b = 0; b < used; ++b) {
      const int64_t from = b * BLOCK_ROWS;
      w->block[b].text.n = 0;
      w->format(w->context, rows, first + from, count - from < BLOCK_ROWS ? count - from : BLOCK_ROWS,
                &w->block[b].text);
      md_output_pack(w->output, &w->block[b]);
    }
    uselocale(own);
  }
  return md_output_write_packed(w->output, w->block, (int)used);
}

static md_status write_alone(writer *w, const md_rows *rows)
{
  const int64_t n = rows->n, part = (int64_t)w->threads * BLOCKS_PER_THREAD * BLOCK_ROWS;
  for (int64_t first = 0; first < n; first += part)
    MD_TRY(write_part(w, rows, first, n - first < part ? n - first : part));
  return MD_OK;
}

/* All ranks do as many rounds as the rank with the most rows needs, because a write is collective. */
static md_status write_unsorted(writer *w, const md_rows *rows)
{
  const int64_t n = rows->n;
  double most = (double)n;
  MD_TRY(w->comm->reduce->max(w->comm, &most, 1));
  for (int64_t first = 0; first < (int64_t)most; first += WINDOW_ROWS) {
    const int64_t left = n > first ? n - first : 0;
    MD_TRY(write_part(w, rows, first, left < WINDOW_ROWS ? left : WINDOW_ROWS));
  }
  return MD_OK;
}

static md_status write_sorted(writer *w, const md_rows *rows)
{
  md_by_id deal;
  md_rows window;
  bool more = true;
  md_status status = md_by_id_begin(&deal, w->comm, rows);
  while (status == MD_OK && more) {
    status = md_by_id_next(&deal, &window, &more);
    if (status == MD_OK && more) status = write_part(w, &window, 0, window.n);
  }
  md_by_id_end(&deal);
  return status;
}

md_status md_rows_write(md_comm *comm, const md_rows *rows, int threads, md_row_format format,
                        const void *context, md_output *output)
{
  writer w = {.comm = comm,
              .output = output,
              .format = format,
              .context = context,
              .threads = threads > 0 ? threads : omp_get_max_threads()};
  const md_status status = comm->size == 1 ? write_alone(&w, rows)
                           : rows->order   ? write_sorted(&w, rows)
                                           : write_unsorted(&w, rows);
  for (int64_t b = 0; b < w.blocks; ++b) md_text_free(&w.block[b].text);
  free(w.block);
  return status;
}
