/* Faces of the box that follow the particles; see faces.h. */
#include "common/faces.h"
#include "common/ranks/reductions.h"

#include <math.h>

/* The largest of `out` x[i], i < n; -infinity if there is none. */
static double farthest(const double *x, int64_t n, double out)
{
  double most = -(double)INFINITY;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = md_max(most, out * x[i]);
  return most;
}

md_status md_box_follow(md_box *box, md_comm *comm, const md_particles *p)
{
  double most[6];
  if (!md_box_follows(box)) return MD_OK;
  for (int f = 0; f < 6; ++f)
    most[f] = md_box_face_follows(box, f / 2, f % 2) ? farthest(p->x[f / 2], p->n, f % 2 ? 1.0 : -1.0) : 0.0;
  MD_TRY(comm->reduce->max(comm, most, 6));
  for (int f = 0; f < 6; ++f) {
    const int d = f / 2, side = f % 2;
    const double out = side ? 1.0 : -1.0;
    if (!md_box_face_follows(box, d, side) || most[f] == -(double)INFINITY) continue;
    double at = most[f] + box->margin[d];
    if (box->face[d][side] == MD_FACE_BOUNDED) at = md_max(at, out * box->bound[d][side]);
    md_box_move_face(box, d, side, out * at);
  }
  return MD_OK;
}
