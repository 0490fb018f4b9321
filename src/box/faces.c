/* Faces of the box that follow the particles, outside of engines; see faces.h. */
#include "src/box/faces.h"
#include "common/faces.h"
#include "src/create/create.h"

#include <string.h>

#define MARGIN 1e-4 /* of the side; that of LAMMPS */

void md_faces_begin(md_box *box)
{
  for (int d = 0; d < box->dim; ++d) {
    const double lo = box->lo[d], hi = box->hi[d], margin = MARGIN * box->length[d];
    box->margin[d] = margin;
    box->bound[d][0] = lo;
    box->bound[d][1] = hi;
    if (!box->periodic[d] && box->face[d][0] == MD_FACE_SHRINKS) md_box_move_face(box, d, 0, lo - margin);
    if (!box->periodic[d] && box->face[d][1] == MD_FACE_SHRINKS) md_box_move_face(box, d, 1, hi + margin);
  }
  box->room = 0.0;
}

md_status md_faces_follow(md_sim *sim)
{
  md_box *box = &sim->model.box;
  if (!md_box_follows(box)) return MD_OK;
  MD_TRY(md_box_follow(box, sim->comm, &sim->particles));
  for (int d = 0; d < box->dim; ++d) MD_TRY(md_box_check(box->lo[d], box->hi[d], d));
  return MD_OK;
}

md_status md_faces_widen(md_sim *sim, int grown)
{
  MD_TRY(md_faces_follow(sim));
  const md_box shown = sim->model.box;
  md_model_widen_box(&sim->model, &shown, grown);
  return MD_OK;
}

void md_faces_put(const md_box *box, double to[10])
{
  if (!md_box_has_room(box) && !md_box_is_changed(box)) return;
  memcpy(to, box->lo, sizeof box->lo);
  memcpy(to + 3, box->hi, sizeof box->hi);
  to[6] = box->room;
  memcpy(to + 7, box->tilt, sizeof box->tilt);
}

void md_faces_take(md_box *box, const double from[10])
{
  if (!(from[3] > from[0])) return;
  for (int d = 0; d < box->dim; ++d)
    for (int side = 0; side < 2; ++side) md_box_move_face(box, d, side, from[d + 3 * side]);
  box->room = from[6];
  if (box->triclinic) md_box_set_tilt(box, from + 7);
}
