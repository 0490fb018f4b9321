/* The commands restart, write_restart and read_restart. */
#include "src/restart/cmd_restart.h"
#include "common/ranks/reductions.h"
#include "src/create/create.h"
#include "src/deck/deck.h"
#include "src/files/new_file.h"
#include "src/files/step_name.h"
#include "src/follow/images.h"
#include "src/particles/pair_velocities.h"
#include "src/restart/candidates.h"
#include "src/restart/particles.h"
#include "src/restart/restart.h"
#include "src/steps.h"

#include <stdlib.h>

static md_status copy_name(const char *word, const char *after, char **name)
{
  const size_t size = strlen(word) + strlen(after) + 1;
  *name = malloc(size);
  if (!*name) return md_error(MD_RUNTIME, "out of memory for the name of a restart");
  snprintf(*name, size, "%s%s", word, after);
  return MD_OK;
}

static md_status check_name(const char *command, const char *word, bool star_allowed)
{
  const char *star = strchr(word, '*');
  if (*word == '\0') return md_error(MD_USAGE, "%s: the file name is empty", command);
  if (strlen(word) > 900)
    return md_error(MD_USAGE, "%s: the file name '%.80s...' is too long", command, word);
  if (strchr(word, '%'))
    return md_error(
        MD_USAGE, "%s: file name '%.300s' has a %%; a file per processor is not offered, all write into one",
        command, word);
  if (star && (!star_allowed || strchr(star + 1, '*')))
    return md_error(MD_USAGE, "%s: file name '%.300s' has %s", command, word,
                    star_allowed ? "more than one *" : "a *, which only a single name may have");
  return MD_OK;
}

md_status md_restart_read_words(const md_words *words, int64_t *every, char *name[2])
{
  name[0] = name[1] = NULL;
  MD_TRY(md_word_int64(words->word[0], "the number of steps between restarts", 0, INT64_MAX, every));
  if (*every == 0) {
    if (words->n > 1)
      return md_error(MD_USAGE, "restart 0 takes no file name, found '%.80s'", words->word[1]);
    return MD_OK;
  }
  if (words->n < 2) return md_error(MD_USAGE, "restart %s needs a file name, or two", words->word[0]);
  const bool two = words->n == 3;
  for (int k = 1; k < words->n; ++k) MD_TRY(check_name("restart", words->word[k], !two));
  if (two && strcmp(words->word[1], words->word[2]) == 0)
    return md_error(MD_USAGE, "restart: both files have the name '%.300s'", words->word[1]);
  const bool star = strchr(words->word[1], '*');
  MD_TRY(copy_name(words->word[1], two || star ? "" : ".1", &name[0]));
  if (star) return MD_OK;
  const md_status status = copy_name(words->word[two ? 2 : 1], two ? "" : ".2", &name[1]);
  if (status != MD_OK) free(name[0]);
  return status;
}

/* Checks the names before the first step, as far as rank 0 can. */
static md_status check_kind(md_comm *comm, char *const name[2])
{
  md_status status = MD_OK;
  for (int k = 0; k < 2 && comm->rank == 0 && status == MD_OK; ++k)
    if (name[k]) status = md_file_need_regular(name[k], "a restart");
  return md_comm_agree(comm, status);
}

md_status md_do_restart(md_sim *sim, const md_words *words)
{
  int64_t every;
  char *name[2];
  MD_TRY(md_h5_need("restart"));
  MD_TRY(md_restart_read_words(words, &every, name));
  const md_status status = check_kind(sim->comm, name);
  if (status != MD_OK) {
    for (int k = 0; k < 2; ++k) free(name[k]);
    return status;
  }
  md_restarts *restarts = &sim->restarts;
  md_file_unuse(sim->files, MD_FILE_RESTART, NULL);
  for (int k = 0; k < 2; ++k) {
    free(restarts->name[k]);
    restarts->name[k] = name[k];
  }
  restarts->every = every;
  restarts->next = 0;
  for (int k = 0; k < 2; ++k)
    if (name[k]) MD_TRY(md_sim_use_file(sim, MD_FILE_RESTART, NULL, name[k]));
  return MD_OK;
}

int64_t md_restart_due(const md_restarts *restarts, int64_t step)
{
  if (restarts->every <= 0) return INT64_MAX;
  return md_step_multiple_but(step, restarts->every, restarts->last_step);
}

int64_t md_restart_due_back(const md_restarts *restarts, int64_t step)
{
  return restarts->every > 0 ? md_step_multiple_back(step, restarts->every, restarts->last_step) : -1;
}

static md_status write_named(md_sim *sim, const char *name)
{
  md_restarts *restarts = &sim->restarts;
  char *path = NULL;
  md_status status = md_comm_agree(sim->comm, md_step_name(name, sim->model.step, 0, &path));
  if (status == MD_OK) status = md_restart_write(sim, path, true);
  if (status == MD_OK) {
    snprintf(restarts->last, sizeof restarts->last, "%s", path);
    restarts->last_step = sim->model.step;
    restarts->last_run = sim->history.nrun;
    if (restarts->name[1]) restarts->next = 1 - restarts->next;
  }
  free(path);
  return status;
}

bool md_restart_begins_file(const md_sim *sim)
{
  for (const md_observer *o = sim->observers; o; o = o->next)
    if (o->appends && !o->marked) return true;
  return false;
}

md_status md_restart_observe(md_sim *sim, md_view *view)
{
  md_restarts *restarts = &sim->restarts;
  if (restarts->last_step == sim->model.step && restarts->last_run == sim->history.nrun &&
      !md_restart_begins_file(sim))
    return MD_OK;
  for (md_observer *o = sim->observers; o; o = o->next)
    if (o->finish) MD_TRY(o->finish(o, sim));
  MD_TRY(md_comm_agree(sim->comm, md_log_file_status(sim->log)));
  if (!view->have_particles) MD_TRY(md_comm_agree(sim->comm, view->kind->download(view->engine, NULL)));
  MD_TRY(write_named(sim, restarts->every > 0 ? restarts->name[restarts->next] : restarts->stop));
  for (md_observer *o = sim->observers; o; o = o->next) o->marked = true;
  return MD_OK;
}

md_status md_do_write_restart(md_sim *sim, const md_words *words)
{
  MD_TRY(md_sim_need_box(sim, "write_restart"));
  MD_TRY(md_h5_need("write_restart"));
  MD_TRY(check_name("write_restart", words->word[0], true));
  if (sim->planning.on) {
    md_sim_explain(sim, "write_restart", "nothing is written here");
    return MD_OK;
  }
  char *path = NULL;
  MD_TRY(md_sim_count(sim));
  md_status status = md_comm_agree(sim->comm, md_step_name(words->word[0], sim->model.step, 0, &path));
  if (status == MD_OK) status = md_sim_use_file(sim, MD_FILE_WRITE_RESTART, NULL, path);
  if (status == MD_OK) status = md_restart_write(sim, path, false);
  free(path);
  return status;
}

/* Takes over what LAMMPS also takes from a restart. The deck must give fixes, dumps and the like again; fixes then find
 * their state. */
static void take_model(md_sim *sim, md_restart *r)
{
  md_model *m = &sim->model;
  memcpy(m->mass, r->model.mass, sizeof m->mass);
  md_pair_free(&m->pair);
  m->pair = r->model.pair;
  r->model.pair = (md_pair){.kind = MD_PAIR_NONE};
  m->units = r->model.units;
  m->dt = r->model.dt;
  m->skin = r->model.skin;
  m->extent = r->model.extent;
  m->extent_natoms = r->model.natoms;
  m->step = r->model.step;
  m->draw_shift = r->model.draw_shift;
  m->groups = r->model.groups;
  sim->from_restart = true;
  for (int f = 0; f < r->model.nfix; ++f)
    if (md_fix_style_of(r->model.fix[f].kind)->nstate > 0) sim->restored[sim->nrestored++] = r->model.fix[f];
}

static md_status read_open(md_sim *sim, const char *path, md_h5_file *file, md_restart *r)
{
  md_model *m = &sim->model;
  m->move = r->model.move;
  m->box.dim = r->model.box.dim;
  m->massed = r->model.massed;
  m->anchored = r->model.anchored;
  m->pushed = r->model.pushed;
  m->bonded = r->model.bonded;
  m->bonds = r->model.bonds;
  m->box = r->model.box;
  MD_TRY(
      md_box_create(sim, m->box.lo, m->box.hi, m->box.triclinic ? r->model.box.tilt : NULL, r->model.ntypes));
  m->box = r->model.box;
  MD_TRY(md_restart_particles(sim->comm, file, path, r, &sim->particles));
  MD_TRY(md_id_columns_take(sim, r->ncolumn, r->column));
  MD_TRY(md_images_restore(sim));
  /* Converts from the engine's form to velocities with the factors of the file, whatever the deck changes later. */
  m->one_mass = !m->massed;
  for (int t = 1; t <= r->model.ntypes; ++t) {
    m->velocity_per_v[t] = r->model.velocity_per_v[t];
    m->v_step[t] = r->model.v_step[t];
    if (m->velocity_per_v[t] != 1.0) m->one_mass = false;
  }
  m->grids = r->model.grids;
  m->wide = r->model.wide;
  m->mass_reference = r->model.mass_reference;
  m->speed_limit = r->model.speed_limit;
  if (r->under_way) md_model_leave(m, &sim->particles);
  take_model(sim, r);
  return md_pair_velocities_mark(sim);
}

/* The file with the largest step among those of a name in which a * stands for it. The caller frees *path. */
static md_status find_newest(md_sim *sim, const char *pattern, char **path)
{
  md_candidates all = {0};
  const size_t at = (size_t)(strchr(pattern, '*') - pattern);
  long long newest = -1;
  md_status status = md_candidates_add(&all, pattern);
  *path = NULL;
  for (int64_t k = 0; k < all.n && status == MD_OK; ++k) {
    const long long step = strtoll(all.list[k].path + at, NULL, 10);
    if (step <= newest) continue;
    newest = step;
    free(*path);
    *path = strdup(all.list[k].path);
    if (!*path) status = md_error(MD_RUNTIME, "out of memory for the name of a restart");
  }
  md_candidates_free(&all);
  if (status == MD_OK && newest < 0)
    status =
        md_error(MD_RUNTIME, "read_restart: there is no file %.300s with a step in place of the *", pattern);
  MD_TRY(md_comm_agree(sim->comm, status));
  return md_deck_check_same(sim, *path);
}

static md_status read_file(md_sim *sim, const char *path)
{
  md_h5_file *file = NULL;
  md_restart r = {0};
  MD_TRY(md_sim_use_file(sim, MD_FILE_READ_RESTART, NULL, path));
  md_status status = md_comm_agree(sim->comm, md_restart_open(path, &file, &r));
  const double began = md_time(), megabytes = md_restart_megabytes(&r);
  if (status == MD_OK) status = read_open(sim, path, file, &r);
  const double seconds = md_time() - began;
  status = md_h5_close_after(&file, status);
  const int64_t step = r.model.step;
  md_restart_free(&r);
  MD_TRY(md_comm_agree(sim->comm, status));
  MD_TRY(md_sim_count(sim));
  md_log_print(sim->log, "  %lld atoms, step %lld; %.4g MB in %.3g s, %.4g MB/s\n",
               (long long)sim->model.natoms, (long long)step, megabytes, seconds,
               megabytes / md_max(seconds, 1e-9));
  return MD_OK;
}

md_status md_do_read_restart(md_sim *sim, const md_words *words)
{
  char *newest = NULL;
  if (sim->has_box)
    return md_error(MD_USAGE, "read_restart: there is a simulation box already; a deck has one box");
  MD_TRY(md_h5_need("read_restart"));
  if (!strchr(words->word[0], '*')) return read_file(sim, words->word[0]);
  md_status status = find_newest(sim, words->word[0], &newest);
  if (status == MD_OK) status = read_file(sim, newest);
  free(newest);
  return status;
}
