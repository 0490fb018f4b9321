/* What ranks tell one another about a move: where ghosts are now, and whether all may go on with their lists.
 *
 * Both are on their way while the next pass works on particles that need no ghosts (pass.c), and are taken as they come.
 * So a rank that is late, by less than that work takes, holds up nobody, and neither does a reduction over many ranks.
 * Alone, a rank has its answer at once.
 */
#include "openmp/engine.h"

md_status engine_tell(md_engine *e, double distance)
{
  double mark = md_time();
  const double mine[2] = {distance, e->fault};
  MD_TRY(e->comm->max_begin(e->comm, mine, 2));
  e->arriving = e->asking = true;
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  /* Alone, it is known already that ghosts are made anew. */
  if (e->comm->size == 1 && engine_list_ended(e, distance) && engine_cells_ended(e, distance)) return MD_OK;
  MD_TRY(e->comm->halo_begin(e->comm, e->p));
  e->coming = true;
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

static md_status ask_ranks(md_engine *e, bool wait)
{
  if (!e->asking) return MD_OK;
  bool done;
  double mark = md_time();
  MD_TRY(e->comm->max_next(e->comm, wait, e->most, &done));
  e->asking = !done;
  md_timers_lap(&e->timers, MD_PHASE_REDUCE, &mark);
  return MD_OK;
}

static md_status ask_halo(md_engine *e, bool wait)
{
  if (!e->coming) return MD_OK;
  bool done;
  double mark = md_time();
  MD_TRY(e->comm->halo_next(e->comm, e->p, wait, &done));
  e->coming = !done;
  md_timers_lap(&e->timers, MD_PHASE_HALO, &mark);
  return MD_OK;
}

md_status engine_poll(md_engine *e)
{
  MD_TRY(ask_ranks(e, false));
  return ask_halo(e, false);
}

md_status engine_finish_halo(md_engine *e) { return ask_halo(e, true); }

md_status engine_arrive(md_engine *e)
{
  if (!e->arriving) return MD_OK;
  MD_TRY(ask_ranks(e, true));
  e->arriving = false;
  const double distance = e->most[0];
  const fault agreed = (fault)e->most[1];
  if (agreed != NO_FAULT) {
    MD_TRY(engine_finish_halo(e));
    return e->comm->agree(e->comm, e->fault == agreed ? e->fault_status : MD_OK);
  }
  if (!engine_list_ended(e, distance)) return MD_OK;
  return engine_cells_ended(e, distance) ? engine_rebin(e) : engine_relist(e, distance);
}
