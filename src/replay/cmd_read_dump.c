/* The command read_dump: the state of one step, out of a text dump, replaces that of the deck. Reference: the LAMMPS
 * manual, command read_dump. */
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/replay/take.h"

static md_status find_step(md_snapshots *snapshots, int64_t step, const char *path,
                           const md_snapshot **snapshot)
{
  do MD_TRY(md_snapshots_next(snapshots, snapshot));
  while (*snapshot && (*snapshot)->step != step);
  return *snapshot
             ? MD_OK
             : md_error(MD_USAGE, "read_dump: %.500s has no snapshot of step %lld", path, (long long)step);
}

static void report(md_sim *sim, const md_taken *taken)
{
  const md_box *box = &sim->model.box;
  md_log_print(
      sim->log,
      "Reading snapshot from dump file ...\n"
      "  orthogonal box = (%.8g %.8g %.8g) to (%.8g %.8g %.8g)\n"
      "  %lld atoms before read\n  %lld atoms in snapshot\n  %lld atoms purged\n  %lld atoms replaced\n"
      "  %lld atoms trimmed\n  %lld atoms added\n  %lld atoms after read\n",
      box->lo[0], box->lo[1], box->lo[2], box->hi[0], box->hi[1], box->hi[2], (long long)taken->before,
      (long long)taken->rows, (long long)taken->purged, (long long)taken->replaced, (long long)taken->trimmed,
      (long long)taken->added, (long long)sim->model.natoms);
}

static md_status read_snapshot(md_sim *sim, md_snapshots *snapshots, int64_t step, const char *path,
                               const md_take *take)
{
  const md_snapshot *snapshot;
  md_taken taken;
  MD_TRY(md_comm_agree(sim->comm, find_step(snapshots, step, path, &snapshot)));
  MD_TRY(md_take_snapshot(sim, "read_dump", take, snapshots, snapshot, &taken));
  MD_TRY(md_comm_agree(sim->comm, md_snapshots_end(snapshots)));
  report(sim, &taken);
  if (take->step) md_model_set_step(&sim->model, step);
  return MD_OK;
}

md_status md_do_read_dump(md_sim *sim, const md_words *words)
{
  const char *path = words->word[0];
  int64_t step;
  md_take take;
  md_snapshots *snapshots;
  MD_TRY(md_sim_need_box(sim, "read_dump"));
  MD_TRY(md_word_int64(words->word[1], "the step of read_dump", 0, INT64_MAX, &step));
  MD_TRY(md_take_read(sim, "read_dump", &(md_words){words->n - 2, words->word + 2}, &take));
  take.holds_flags = true;
  if (take.step && step != sim->model.step) MD_TRY(md_output_fixes_reset(sim, "read_dump", step));
  if (sim->planning.checking) {
    MD_TRY(md_snapshots_check_files(1, &words->word[0]));
    if (take.step) md_model_set_step(&sim->model, step);
    return MD_OK;
  }
  MD_TRY(md_sim_use_file(sim, MD_FILE_INCLUDE, NULL, path));
  md_status status = md_comm_agree(sim->comm, md_snapshots_open(&snapshots, 1, &words->word[0]));
  if (status == MD_OK) status = read_snapshot(sim, snapshots, step, path, &take);
  md_snapshots_close(snapshots);
  return status;
}
