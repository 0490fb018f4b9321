/* Messages between ranks after a move: the positions of ghosts, and one answer of all ranks.
 *
 * Every rank tells the largest distance of its particles from where the list was built, and its fault if it found one.
 * The answer is the largest of each over all ranks. It decides whether the list holds. The messages are under way while
 * the next pass works on particles that need no ghosts (openmp/force/pass.c).
 *
 * States, one of each row:
 *
 *                  engine_tell             the answer comes            engine_verdict
 *   MOVE_SETTLED -------------> MOVE_ASKED ---------------> MOVE_ANSWERED ------> MOVE_SETTLED
 *                                                                           |
 *                                              LIST_HOLDS   go on           |
 *                                              LIST_RELIST  engine_relist   +--> step.c acts
 *                                              LIST_REBIN   engine_rebin    |
 *
 *                  engine_tell                 the last message comes
 *   HALO_PRESENT -------------> HALO_UNDER_WAY ----------------------> HALO_PRESENT
 *
 * Advantage: a rank that is late, by less than the work without ghosts takes, delays no other rank. Disadvantage: work
 * by a list that turns out to be stale is lost. Cost: a message for each face of the domain, and a reduction of two
 * numbers. On one rank the answer is there at once.
 */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "openmp/engine.h"

md_status engine_tell(md_engine *e, double distance)
{
  double mark = md_time();
  const double mine[2] = {distance, e->fault};
  MD_TRY(e->comm->reduce->max_begin(e->comm, mine, 2));
  e->move = MOVE_ASKED;
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  /* One rank knows already that its ghosts will be made anew. */
  if (e->comm->size == 1 && engine_list_ended(e, distance) && engine_cells_ended(e, distance)) return MD_OK;
  MD_TRY(e->comm->exchange->halo_begin(e->comm, &e->model->box, e->p));
  e->halo_state = HALO_UNDER_WAY;
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

static md_status ask_ranks(md_engine *e, bool wait)
{
  if (e->move != MOVE_ASKED) return MD_OK;
  bool done;
  double mark = md_time();
  MD_TRY(e->comm->reduce->max_next(e->comm, wait, e->most, &done));
  if (done) e->move = MOVE_ANSWERED;
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  return MD_OK;
}

static md_status ask_halo(md_engine *e, bool wait)
{
  if (e->halo_state == HALO_PRESENT) return MD_OK;
  bool done;
  double mark = md_time();
  MD_TRY(e->comm->exchange->halo_next(e->comm, e->p, wait, &done));
  if (done) e->halo_state = HALO_PRESENT;
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

md_status engine_poll(md_engine *e)
{
  MD_TRY(ask_ranks(e, false));
  return ask_halo(e, false);
}

md_status engine_finish_halo(md_engine *e) { return ask_halo(e, true); }

md_status engine_verdict(md_engine *e, list_verdict *verdict)
{
  *verdict = LIST_HOLDS;
  if (e->move == MOVE_SETTLED) return MD_OK;
  MD_TRY(ask_ranks(e, true));
  e->move = MOVE_SETTLED;
  const double distance = e->most[0];
  const fault worst = (fault)e->most[1];
  if (worst != NO_FAULT) {
    MD_TRY(engine_finish_halo(e));
    return md_comm_agree(e->comm, e->fault == worst ? e->fault_status : MD_OK);
  }
  if (engine_list_ended(e, distance)) *verdict = engine_cells_ended(e, distance) ? LIST_REBIN : LIST_RELIST;
  return MD_OK;
}
