/* Commands that do not change the system: variable, print, info. */
#include "common/pair/hybrid/hybrid.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/deck/deck.h"
#include "src/files/output_stream.h"
#include "src/files/printed_files.h"
#include "src/follow/images.h"
#include "src/script/group_functions.h"
#include "src/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files and the environment may differ from rank to rank. */
static md_status check_value(md_sim *sim, const char *name)
{
  char *text;
  MD_TRY(md_variables_text(sim->variables, name, &text));
  const md_status status = md_deck_check_same(sim, text);
  free(text);
  return status;
}

md_status md_do_variable(md_sim *sim, const md_words *words)
{
  const bool of_machine = strcmp(words->word[1], "file") == 0 || strcmp(words->word[1], "getenv") == 0;
  const md_status status = md_variables_define(sim->variables, words->n, words->word);
  if (!of_machine) {
    for (int k = 2; k < words->n; ++k)
      sim->unwraps = sim->unwraps || md_group_functions_unwrap(words->word[k]);
    return status == MD_OK && sim->has_box ? md_images_expect(sim, false) : status;
  }
  MD_TRY(md_comm_agree(sim->comm, status));
  return check_value(sim, words->word[0]);
}

/* The places where print writes, in addition to the log. */
typedef struct print_to {
  bool screen;
  const char *file; /* NULL: none */
  bool append;
} print_to;

static md_status read_print_keywords(const md_words *words, print_to *to)
{
  for (int k = 1; k < words->n; k += 2) {
    const char *keyword = words->word[k];
    const bool screen = strcmp(keyword, "screen") == 0, file = strcmp(keyword, "file") == 0;
    if (!screen && !file && strcmp(keyword, "append") != 0)
      return md_error(MD_USAGE,
                      "print: unexpected '%.64s'; put the text in quotes; accepted after it are screen "
                      "yes|no, file F and append F",
                      keyword);
    if (k + 1 == words->n)
      return md_error(MD_USAGE, "print %s needs %s", keyword, screen ? "yes or no" : "a file name");
    if (screen) {
      MD_TRY(md_word_bool(words->word[k + 1], "print screen", &to->screen));
    } else {
      to->file = words->word[k + 1];
      to->append = !file;
    }
  }
  return MD_OK;
}

static md_status write_line(md_comm *comm, const char *text, const print_to *to)
{
  md_output *output = NULL;
  md_text line = {0};
  MD_TRY(md_output_open(comm, &output, to->file, to->append));
  md_text_string(&line, text);
  md_text_string(&line, "\n");
  const md_status status = md_output_write_once(output, &line);
  md_text_free(&line);
  return md_output_end(&output, status);
}

/* Whether the file has the text already, from a job that was killed after the restart from which this one goes on. */
static md_status was_printed(md_sim *sim, const char *text, const print_to *to, bool *was)
{
  md_printed_file *file;
  bool found = false;
  *was = false;
  if (!sim->printed) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_printed_note(sim->printed, to->file, &file)));
  if (!file || file->from < 0) return MD_OK;
  md_status status = MD_OK;
  if (!to->append)
    file->from = -1;
  else if (sim->comm->rank == 0)
    status = md_printed_find(file, text, &found);
  MD_TRY(md_comm_agree(sim->comm, status));
  double any = found;
  MD_TRY(sim->comm->reduce->max(sim->comm, &any, 1));
  *was = any > 0.0;
  if (!*was) file->from = -1;
  return MD_OK;
}

static md_status print_text(md_sim *sim, const char *text, const print_to *to)
{
  md_log *log = sim->log;
  FILE *screen = log->screen;
  if (!to->screen) log->screen = NULL;
  md_log_print(log, "%s\n", text);
  log->screen = screen;
  /* A deck that is resumed has written this text to the file before. For a frame only that file is written. */
  if (!to->file || sim->resume || sim->frame) return MD_OK;
  if (sim->planning.on) {
    md_sim_explain(sim, "print", "nothing is written here");
    return MD_OK;
  }
  MD_TRY(md_sim_use_file(sim, MD_FILE_PRINT, NULL, to->file));
  bool was;
  MD_TRY(was_printed(sim, text, to, &was));
  return was ? MD_OK : write_line(sim->comm, text, to);
}

md_status md_do_print(md_sim *sim, const md_words *words)
{
  print_to to = {.screen = true};
  MD_TRY(read_print_keywords(words, &to));
  char *text = NULL;
  MD_TRY(md_variables_substitute(sim->variables, words->word[0], &text));
  const md_status status = print_text(sim, text, &to);
  free(text);
  return status;
}

static void info_system(md_sim *sim)
{
  const md_model *m = &sim->model;
  md_log *log = sim->log;
  md_log_print(log, "  units %s, dimension %d, timestep %.15g, step %lld, skin %.15g\n", m->units->name,
               m->box.dim, m->dt, (long long)m->step, m->skin);
  if (!sim->has_box) {
    md_log_print(log, "  no box yet: create_box or read_data makes one\n");
    return;
  }
  for (int d = 0; d < m->box.dim; ++d)
    md_log_print(log, "  box %c: %.15g to %.15g, %s\n", 'x' + d, m->box.lo[d], m->box.hi[d],
                 m->box.periodic[d] ? "periodic"
                 : md_box_face_follows(&m->box, d, 0) || md_box_face_follows(&m->box, d, 1)
                     ? "follows the particles"
                     : "fixed");
  if (m->box.triclinic)
    md_log_print(log, "  tilt factors %.15g %.15g %.15g\n", m->box.tilt[MD_XY], m->box.tilt[MD_XZ],
                 m->box.tilt[MD_YZ]);
  md_log_print(log, "  %lld particles of %d type%s\n", (long long)m->natoms, m->ntypes,
               m->ntypes == 1 ? "" : "s");
  if (m->massed) md_log_print(log, "  each particle has a mass of its own\n");
  for (int type = 1; type <= m->ntypes && !m->massed; ++type) {
    if (m->mass[type] > 0.0)
      md_log_print(log, "  mass of type %d: %.15g\n", type, md_units_mass(m->units, m->mass[type]));
    else
      md_log_print(log, "  mass of type %d: not set\n", type);
  }
}

static void info_coefficients(md_sim *sim, const md_pair *pair, int i, int j)
{
  const md_pair_style *style = md_pair_style_of(pair->kind);
  const size_t at = (size_t)i * (size_t)pair->ntypes + (size_t)j;
  md_log_print(sim->log, "  types %d %d:", i + 1, j + 1);
  if (!pair->set[at])
    md_log_print(sim->log, " %s",
                 style->needs_no_coeff ? "the style's defaults"
                 : i == j              ? "not set"
                                       : "to be mixed");
  for (int p = 0; p < style->nparameter && pair->set[at]; ++p) {
    const double value = pair->parameter[at * MD_PAIR_PARAMETERS + (size_t)p];
    if (value == value) md_log_print(sim->log, " %s %.15g", style->parameter[p].name, value);
  }
  md_log_print(sim->log, "%s\n", pair->set[at] == 2 ? " (mixed)" : "");
}

static void info_style(md_sim *sim, const char *what, const md_pair *pair)
{
  static const char *const mixing[] = {[MD_MIX_GEOMETRIC] = "geometric",
                                       [MD_MIX_ARITHMETIC] = "arithmetic",
                                       [MD_MIX_SIXTHPOWER] = "sixthpower"};
  md_log_print(sim->log, "  %s %s, shift %s, mixing %s%s\n", what, md_pair_style_of(pair->kind)->name,
               pair->shift ? "yes" : "no", mixing[pair->mixing], pair->tail ? ", tail yes" : "");
}

/* The coefficients of a sub-style, of the types that use it. */
static void info_sub_style(md_sim *sim, int s)
{
  const md_pair *pair = &sim->model.pair;
  char what[32];
  snprintf(what, sizeof what, "sub-style %d,", s + 1);
  info_style(sim, what, &pair->sub[s]);
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j)
      if (md_hybrid_uses(pair, s, i, j)) info_coefficients(sim, &pair->sub[s], i, j);
}

static void info_hybrid(md_sim *sim)
{
  const md_pair *pair = &sim->model.pair;
  md_log_print(sim->log, "  pair style %s\n", md_pair_style_of(pair->kind)->name);
  for (int s = 0; s < pair->nsub; ++s) info_sub_style(sim, s);
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j) {
      const size_t at = (size_t)i * (size_t)pair->ntypes + (size_t)j;
      if (pair->uses[at] == 0)
        md_log_print(sim->log, "  types %d %d: %s\n", i + 1, j + 1,
                     pair->set[at] ? "none"
                     : i == j      ? "not set"
                                   : "to be mixed");
    }
}

static void info_pair(md_sim *sim)
{
  const md_pair *pair = &sim->model.pair;
  if (pair->zero_cutoff > 0.0) {
    md_log_print(sim->log, "  pair style zero, cutoff %.15g\n", pair->zero_cutoff);
    return;
  }
  if (pair->kind == MD_PAIR_NONE) {
    md_log_print(sim->log, "  pair style none\n");
    return;
  }
  if (pair->nsub > 0) {
    info_hybrid(sim);
    return;
  }
  info_style(sim, "pair style", pair);
  for (int i = 0; i < pair->ntypes; ++i)
    for (int j = i; j < pair->ntypes; ++j) info_coefficients(sim, pair, i, j);
}

static void info_fixes(md_sim *sim)
{
  int index = 0;
  for (const md_fix_name *fix = sim->fixes; fix; fix = fix->next)
    md_log_print(sim->log, "  fix %s: %s\n", fix->id,
                 fix->output ? md_output_fix_find(sim, fix->id, strlen(fix->id))->style->name
                             : md_fix_style_of(sim->model.fix[index++].kind)->name);
  const md_model *m = &sim->model;
  for (int d = 0; d < m->box.dim; ++d)
    for (int side = 0; side < 2; ++side)
      if (m->wall[d][side])
        md_log_print(sim->log, "  wall %c%s at %.15g\n", "xyz"[d], side ? "hi" : "lo", m->wall_at[d][side]);
}

static void info_output(md_sim *sim)
{
  if (sim->thermo.rows.variable[0])
    md_log_print(sim->log, "  thermo at steps of %s\n", sim->thermo.rows.variable);
  else
    md_log_print(sim->log, "  thermo every %lld steps\n", (long long)sim->thermo.rows.every);
  for (const md_observer *o = sim->observers; o; o = o->next)
    md_log_print(sim->log, "  observer %s\n", o->id);
  const md_restarts *r = &sim->restarts;
  if (r->every > 0)
    md_log_print(sim->log, "  restart every %lld steps: %s %s\n", (long long)r->every, r->name[0],
                 r->name[1] ? r->name[1] : "");
}

static void info_engine(md_sim *sim)
{
  md_log_print(sim->log, "  engine %s, %d rank%s\n", sim->engine ? sim->engine->name : "not chosen",
               sim->comm->size, sim->comm->size == 1 ? "" : "s");
}

static const struct {
  const char *name;
  void (*print)(md_sim *sim);
} info_sections[] = {{"system", info_system},
                     {"pair", info_pair},
                     {"fixes", info_fixes},
                     {"output", info_output},
                     {"engine", info_engine}};
enum { INFO_SECTIONS = sizeof info_sections / sizeof info_sections[0] };

md_status md_do_info(md_sim *sim, const md_words *words)
{
  bool wanted[INFO_SECTIONS] = {false};
  bool all = words->n == 0;
  for (int k = 0; k < words->n; ++k) {
    int s = 0;
    while (s < INFO_SECTIONS && strcmp(info_sections[s].name, words->word[k]) != 0) ++s;
    if (s < INFO_SECTIONS)
      wanted[s] = true;
    else if (strcmp(words->word[k], "all") == 0)
      all = true;
    else
      return md_error(MD_USAGE,
                      "info '%.64s' is unknown; accepted are all, system, pair, fixes, output and engine",
                      words->word[k]);
  }
  for (int s = 0; s < INFO_SECTIONS; ++s) {
    if (!all && !wanted[s]) continue;
    md_log_print(sim->log, "Info %s:\n", info_sections[s].name);
    info_sections[s].print(sim);
  }
  return MD_OK;
}
