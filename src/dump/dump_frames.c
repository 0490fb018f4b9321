/* Dump style frames: the text format of the CS267 particle homework.
 *
 * A file begins with the line `n size`: the number of particles and the side of the box. Every frame has n lines
 * `x y` (`x y z` in three dimensions) in the order of ids, and an empty line. `dump_modify precision 6` prints
 * numbers as the homework does. The format has no steps, no ids and no origin: the box is [0, size] along x. A frame
 * of another number of particles than the first is refused.
 */
#include "src/dump/dump.h"

static md_status parse(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (words->n > 0)
    return md_error(MD_USAGE, "dump frames takes nothing after the file name, found '%.80s'", words->word[0]);
  const md_box *box = &sim->model.box;
  if (box->lo[0] != 0.0 || box->lo[1] != 0.0 || box->length[0] != box->length[1])
    md_sim_explain(sim, "dump frames",
                   "the format knows only a square box at the origin; `size` is the length along x");
  return md_dump_set_columns(dump, sim, box->dim, (const char *const[]){"x", "y", "z"});
}

static void header(const md_dump *dump, const md_frame *frame, bool first, md_text *text)
{
  if (!first) return;
  md_text_int(text, frame->count);
  md_text_string(text, " ");
  md_text_double(text, frame->model->box.length[0], dump->precision);
  md_text_string(text, "\n");
}

static void trailer(const md_dump *dump, const md_frame *frame, md_text *text)
{
  (void)dump;
  (void)frame;
  md_text_string(text, "\n");
}

const md_dump_style md_dump_frames = {
    .name = "frames", .parse = parse, .header = header, .trailer = trailer, .same_rows = true};
