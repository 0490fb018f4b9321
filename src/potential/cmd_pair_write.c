/* The command pair_write: energy and force of a pair of types by distance, as a section of a file for pair_style table.
 *
 * The section is appended to the file. Distances are evenly spaced in r or in r^2; beyond the cutoff energy and force
 * are zero. Reference: the LAMMPS manual, pair_write.
 */
#include "common/base/memory.h"
#include "common/ranks/reductions.h"
#include "src/files/output_stream.h"
#include "src/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the words ask for. */
typedef struct request {
  int i, j; /* types, 0-based */
  int64_t n;
  bool by_square;
  double inner, outer;
  const char *file, *keyword;
} request;

static md_status read_words(const md_sim *sim, const md_words *words, request *r)
{
  char *const *w = words->word;
  int64_t type[2];
  for (int k = 0; k < 2; ++k)
    MD_TRY(md_word_int64(w[k], "a type of pair_write", 1, sim->model.ntypes, &type[k]));
  r->i = (int)type[0] - 1;
  r->j = (int)type[1] - 1;
  MD_TRY(md_word_int64(w[2], "N of pair_write", 2, MD_TABLE_VALUES_MAX, &r->n));
  r->by_square = strcmp(w[3], "rsq") == 0;
  if (!r->by_square && strcmp(w[3], "r") != 0)
    return md_error(MD_USAGE, "pair_write: '%.64s' is unknown; accepted are r and rsq", w[3]);
  MD_TRY(md_word_positive(w[4], "inner of pair_write", &r->inner));
  MD_TRY(md_word_positive(w[5], "outer of pair_write", &r->outer));
  if (!(r->inner < r->outer))
    return md_error(MD_USAGE, "pair_write: inner %g must be smaller than outer %g", r->inner, r->outer);
  r->file = w[6];
  r->keyword = w[7];
  return MD_OK;
}

static md_status check_style(const md_pair *pair)
{
  if (pair->kind == MD_PAIR_NONE)
    return md_error(MD_USAGE, "pair_write needs a pair_style other than none first");
  if (md_pair_has_density(pair) || md_pair_is_three_body(pair) || md_pair_is_all(pair))
    return md_error(MD_USAGE,
                    "pair_write: the energy of a pair of pair style %s is no function of its distance alone",
                    md_pair_style_of(pair->kind)->name);
  return MD_OK;
}

static void write_rows(const md_pair *pair, const request *r, const double *k, md_text *text)
{
  const double inner2 = r->inner * r->inner, outer2 = r->outer * r->outer;
  char line[160];
  for (int64_t n = 0; n < r->n; ++n) {
    const double part = (double)n / (double)(r->n - 1);
    const double d =
        r->by_square ? sqrt(inner2 + (outer2 - inner2) * part) : r->inner + (r->outer - r->inner) * part;
    snprintf(line, sizeof line, "%lld %.15g %.15g %.15g\n", (long long)n + 1, d,
             md_pair_energy(pair->kind, d * d, k), md_pair_force(pair->kind, d * d, k) * d);
    md_text_string(text, line);
  }
}

static void write_section(const md_sim *sim, const request *r, const double *table, md_text *text)
{
  const md_pair *pair = &sim->model.pair;
  char line[512];
  snprintf(line, sizeof line,
           "# Pair style %s, types %d and %d, units %s: index, r, energy, force\n\n%.128s\nN %lld %s %.15g "
           "%.15g\n\n",
           md_pair_style_of(pair->kind)->name, r->i + 1, r->j + 1, sim->model.units->name, r->keyword,
           (long long)r->n, r->by_square ? "RSQ" : "R", r->inner, r->outer);
  md_text_string(text, line);
  write_rows(pair, r, table + ((size_t)r->i * (size_t)pair->ntypes + (size_t)r->j) * MD_PAIR_K, text);
  md_text_string(text, "\n");
}

static md_status append(md_sim *sim, const request *r, md_text *text)
{
  md_output *output = NULL;
  MD_TRY(md_output_open(sim->comm, &output, r->file, true));
  const md_status status = md_output_write_once(output, text);
  return md_output_end(&output, status);
}

md_status md_do_pair_write(md_sim *sim, const md_words *words)
{
  request r;
  md_model *model = &sim->model;
  MD_TRY(md_sim_need_box(sim, "pair_write"));
  MD_TRY(read_words(sim, words, &r));
  MD_TRY(check_style(&model->pair));
  MD_TRY(md_pair_complete(&model->pair));
  /* A deck that is resumed has written this before. */
  if (sim->resume) return MD_OK;
  if (sim->planning.on) {
    md_sim_explain(sim, "pair_write", "nothing is written here");
    return MD_OK;
  }
  MD_TRY(md_sim_use_file(sim, MD_FILE_PAIR_WRITE, NULL, r.file));
  double *table = NULL;
  const long long numbers = md_pair_rows(&model->pair) * MD_PAIR_K;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&table, numbers, sizeof *table, "pair coefficients")));
  md_model_type_table(model, 1.0, table);
  md_text text = {0};
  write_section(sim, &r, table, &text);
  free(table);
  const md_status status = append(sim, &r, &text);
  md_text_free(&text);
  return status;
}
