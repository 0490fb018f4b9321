/* min_style sd: steepest descent. Each line search follows the forces.
 *
 * Robust, and slow in narrow valleys. Cost: a line search an iteration; one vector.
 */
#include "src/minimize/line_search.h"

#include <string.h>

static void follow_forces(md_minimizer *m)
{
  const md_particles *p = &m->sim->particles;
  for (int d = 0; d < p->dim; ++d)
    memcpy(m->vector[MD_MIN_U].x[d], m->force.x[d], (size_t)p->n * sizeof(double));
  memcpy(m->vector[MD_MIN_U].box, m->force.box, sizeof m->force.box);
}

static md_status iterate(md_minimizer *m)
{
  while (md_minimizer_next(m)) {
    follow_forces(m);
    m->energy_before = m->energy;
    MD_TRY(md_line_search(m));
    MD_TRY(md_line_search_test(m));
    if (m->stop != MD_MIN_GOES_ON) break;
    MD_TRY(md_minimizer_show(m));
  }
  return MD_OK;
}

const md_min_style md_min_sd = {.name = "sd", .nvector = 1, .iterate = iterate};
