/* The command verify: N steps forward and N back, after which every bit must be as it was.
 *
 *   hash of each particle -> N steps -> N steps back -> hash of each particle
 *
 * One engine does both ways, and nothing is shown or written meanwhile. Then the particles of before are put back, so
 * that the command has no effect. If the hashes of the two states differ (state_hash.h), each particle's two hashes
 * meet at the home of its id (common/ranks/outbox.h). The error names the rank that has most of the particles
 * which differ.
 *
 * What this finds: a fault of a memory, a processor or a message, because it is hardly ever the same on both ways; and
 * a force that depends on more than positions and the step. Trade-off: a copy of all particles, and 16 bytes for the
 * hash of each one. Cost: 2 N steps.
 */
#include "common/ranks/exchange.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"
#include "src/backwards/check_back.h"
#include "src/backwards/state_hash.h"
#include "src/deck/check.h"
#include "src/deck/command.h"
#include "src/run/cmd_run.h"
#include "src/run/loop.h"

#include <stdlib.h>
#include <string.h>

/* The hash of a particle, before (0) or after (1) the steps, and the rank that had it then. */
typedef struct record {
  int64_t id;
  uint64_t hash;
  int32_t after, rank;
} record;

typedef struct verification {
  int64_t n;
  int flip; /* a bit of a particle of this rank is changed at the turn; -1: none */
  int64_t nrecord;
  record *record; /* of this rank before the steps, with room for those after them */
  uint64_t hash;
} verification;

static md_status add_records(verification *v, const md_sim *sim, int after)
{
  const md_particles *p = &sim->particles;
  record *larger = realloc(v->record, (size_t)(v->nrecord + p->n + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the hashes of particles");
  v->record = larger;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i)
    larger[v->nrecord + i] = (record){p->id[i], md_particle_hash(p, i), after, sim->comm->rank};
  v->nrecord += p->n;
  return MD_OK;
}

/* Fetches the present state, adds its records and finds its hash. */
static md_status take(verification *v, const md_run *run, int after, uint64_t *hash)
{
  md_sim *sim = run->sim;
  MD_TRY(md_comm_agree(sim->comm, run->kind->download(run->engine, NULL)));
  MD_TRY(md_comm_agree(sim->comm, add_records(v, sim, after)));
  return md_state_hash(sim->comm, &sim->particles, hash);
}

static int by_id(const void *a, const void *b)
{
  const record *left = a, *right = b;
  if (left->id != right->id) return left->id < right->id ? -1 : 1;
  return left->after - right->after;
}

/* Counts the particles that differ, by the rank that had them last, among the records of both states that are here.
 * first: receives for each rank the smallest id, or INT64_MAX. */
static void compare(record *r, int64_t n, int64_t *count, int64_t *first)
{
  if (n > 1) qsort(r, (size_t)n, sizeof *r, by_id);
  for (int64_t k = 0; k < n; ++k) {
    const bool both = k + 1 < n && r[k].id == r[k + 1].id;
    if (both && r[k].hash == r[k + 1].hash) {
      ++k;
      continue;
    }
    if (both) ++k;
    ++count[r[k].rank];
    if (r[k].id < first[r[k].rank]) first[r[k].rank] = r[k].id;
  }
}

/* Sends each record to the home of its id, and compares there. count, first: as compare, of this rank. */
static md_status compare_at_home(const verification *v, md_comm *comm, int64_t *count, int64_t *first)
{
  int32_t *to = NULL;
  void *here = NULL;
  int64_t n = 0;
  md_status status =
      md_comm_agree(comm, md_array_new(&to, v->nrecord + 1, sizeof *to, "records of particles"));
  for (int64_t k = 0; k < v->nrecord && status == MD_OK; ++k) to[k] = md_home_of(comm, v->record[k].id);
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, v->nrecord, to, v->record, sizeof *v->record, &here, &n);
  if (status == MD_OK) compare(here, n, count, first);
  free(here);
  free(to);
  return status;
}

/* The error that names the rank with most of the particles that differ. */
static md_status blame(const verification *v, md_comm *comm, int64_t *count, int64_t *first, int64_t natoms)
{
  int64_t all = 0;
  int worst = 0;
  MD_TRY(compare_at_home(v, comm, count, first));
  MD_TRY(comm->reduce->sum(comm, count, comm->size));
  for (int r = 0; r < comm->size; ++r) {
    all += count[r];
    if (count[r] > count[worst]) worst = r;
  }
  double id = first[worst] == INT64_MAX ? -0x1p62 : -(double)first[worst];
  MD_TRY(comm->reduce->max(comm, &id, 1));
  return md_error(
      MD_RUNTIME,
      "verify: after %lld steps forward and back %lld of %lld particles are not as they were, %lld of them "
      "on rank %d, such as particle %.0f: a fault of the memory or the processor of this rank, or a "
      "force that depends on more than positions and the step",
      (long long)v->n, (long long)all, (long long)natoms, (long long)count[worst], worst, -id);
}

static md_status report(const verification *v, md_sim *sim)
{
  md_comm *comm = sim->comm;
  int64_t *number = NULL;
  md_status status = md_array_new_zero(&number, 2 * comm->size, sizeof *number, "ranks");
  status = md_comm_agree(comm, status);
  for (int r = 0; r < comm->size && status == MD_OK; ++r) number[comm->size + r] = INT64_MAX;
  if (status == MD_OK) status = blame(v, comm, number, number + comm->size, sim->model.natoms);
  free(number);
  return status;
}

/* Changes the last bit of a momentum of this rank's first particle. */
static md_status flip_bit(md_sim *sim)
{
  md_particles *p = &sim->particles;
  if (p->n == 0) return md_error(MD_USAGE, "verify flip: rank %d has no particle", sim->comm->rank);
  p->v[0][0] += md_inertia_of(&sim->model, p, 0).v_step;
  return MD_OK;
}

/* The engine that goes back has the state with the changed bit. */
static md_status damage(md_run *run, int rank)
{
  md_sim *sim = run->sim;
  if (rank < 0) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, run->kind->download(run->engine, NULL)));
  md_run_destroy_engine(run);
  MD_TRY(md_comm_agree(sim->comm, sim->comm->rank == rank ? flip_bit(sim) : MD_OK));
  return md_run_create_engine(run);
}

static md_status go_and_return(md_run *run, verification *v)
{
  md_model *model = &run->sim->model;
  MD_TRY(md_run_advance(run, run->first + v->n));
  if (md_run_is_stopped(run)) return MD_OK;
  MD_TRY(damage(run, v->flip));
  model->backwards = true;
  const md_status status = md_run_advance(run, run->first);
  model->backwards = false;
  return status;
}

static md_status work(md_run *run)
{
  verification *v = run->verifies;
  uint64_t after;
  MD_TRY(take(v, run, 0, &v->hash));
  MD_TRY(go_and_return(run, v));
  if (md_run_is_stopped(run)) return MD_OK;
  MD_TRY(take(v, run, 1, &after));
  return after == v->hash ? MD_OK : report(v, run->sim);
}

/* What a verification changes, and puts back. */
typedef struct before {
  md_particles particles;
  md_fix *fix; /* [nfix], with their states */
  md_box box;
  int64_t run_begin, run_end, run_first, run_last;
} before;

static md_status keep(const md_sim *sim, before *b)
{
  const md_model *model = &sim->model;
  *b = (before){.box = model->box,
                .run_begin = model->run_begin,
                .run_end = model->run_end,
                .run_first = sim->run_first,
                .run_last = sim->run_last};
  md_particles_init(&b->particles, sim->particles.dim);
  MD_TRY(md_array_new(&b->fix, model->nfix + 1, sizeof *b->fix, "the fixes of before"));
  memcpy(b->fix, model->fix, (size_t)model->nfix * sizeof *b->fix);
  return md_particles_copy(&b->particles, &sim->particles);
}

/* All but the particles. */
static void put_back(md_sim *sim, const before *b)
{
  md_model *model = &sim->model;
  memcpy(model->fix, b->fix, (size_t)model->nfix * sizeof *b->fix);
  model->box = b->box;
  model->run_begin = b->run_begin;
  model->run_end = b->run_end;
  sim->run_first = b->run_first;
  sim->run_last = b->run_last;
}

/* Verifies, and puts back what was before. */
static md_status execute(md_sim *sim, verification *v)
{
  md_model *model = &sim->model;
  before b;
  md_run run = {.sim = sim, .whole_first = model->step, .last = model->step + v->n, .thermo_shown = -1};
  run.work = work;
  run.verifies = v;
  const double began = md_time();
  md_status status = md_comm_agree(sim->comm, keep(sim, &b));
  if (status == MD_OK) {
    model->run_begin = sim->run_first = model->step;
    model->run_end = sim->run_last = run.last;
    status = md_run_execute(&run);
    put_back(sim, &b);
  }
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_particles_copy(&sim->particles, &b.particles));
  md_particles_free(&b.particles);
  free(b.fix);
  MD_TRY(status);
  md_log_print(sim->log,
               "Verified in %.3g s: %lld steps forward and back return to the state %016llx of step %lld\n",
               md_time() - began, (long long)v->n, (unsigned long long)v->hash, (long long)model->step);
  return MD_OK;
}

static md_status read_words(const md_sim *sim, const md_words *words, verification *v)
{
  int64_t rank = -1;
  MD_TRY(
      md_word_int64(words->word[0], "the number of steps of verify", 1, INT64_MAX - sim->model.step, &v->n));
  if (words->n == 2 || (words->n == 3 && strcmp(words->word[1], "flip") != 0))
    return md_error(MD_USAGE, "verify: unexpected '%.64s'; accepted is flip RANK", words->word[1]);
  if (words->n == 3)
    MD_TRY(md_word_int64(words->word[2], "the rank of verify flip", 0, sim->comm->size - 1, &rank));
  v->flip = (int)rank;
  return MD_OK;
}

md_status md_do_verify(md_sim *sim, const md_words *words)
{
  verification v = {0};
  MD_TRY(md_sim_need_box(sim, "verify"));
  MD_TRY(read_words(sim, words, &v));
  MD_TRY(md_check_reversible(sim, "verify"));
  if (sim->planning.checking) return md_check_run(sim, 0);
  if (sim->planning.on || md_run_is_left_out(sim, "verify")) return MD_OK;
  if (sim->resume) {
    md_log_print(sim->log, "  verify is left out, because it was done before the restart\n");
    return MD_OK;
  }
  MD_TRY(md_sim_count(sim));
  const md_status status = execute(sim, &v);
  free(v.record);
  return status;
}
