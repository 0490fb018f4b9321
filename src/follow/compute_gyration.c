/* compute gyration: the radius of gyration of a group and its tensor; com: its centre of mass.
 *
 *      X = sum m x / M,   G_ab = sum m (x - X)_a (x - X)_b / M,   R^2 = G_xx + G_yy + G_zz
 *
 * x begins as the unwrapped position of when the compute is defined, and goes on beyond periodic faces. Sums are exact
 * (src/sums/exact_sum.h). Cost: that of following (followed.h), and two sums, by the engine if it follows. Reference:
 * the LAMMPS manual, compute gyration and compute com. */
#include "common/ranks/reductions.h"
#include "src/computes/host_compute.h"
#include "src/follow/followed.h"
#include "src/follow/images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compute_gyration {
  md_host_compute base;
  md_followed *followed;
  double centre[3], radius, tensor[MD_TENSOR];
} compute_gyration;

static md_status follow(md_host_compute *base, md_sim *sim, const md_words *words, const char *what)
{
  MD_TRY(md_sim_need_box(sim, what));
  if (words->n > 0) return md_error(MD_USAGE, "%s: unexpected '%.64s'", what, words->word[0]);
  md_images_explain_missed(sim, what);
  return md_followed_begin(sim, what, base->group, MD_FOLLOWED_UNWRAPPED,
                           &((compute_gyration *)base)->followed);
}

static md_status parse_com(md_host_compute *base, md_sim *sim, const md_words *words)
{
  base->values = (md_values){.has_vector = true, .nvector = 3, .vector = ((compute_gyration *)base)->centre};
  return follow(base, sim, words, "compute com");
}

static md_status parse_gyration(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_gyration *c = (compute_gyration *)base;
  base->values =
      (md_values){.scalar = &c->radius, .has_vector = true, .nvector = MD_TENSOR, .vector = c->tensor};
  return follow(base, sim, words, "compute gyration");
}

/* Of the records now[], or of those of the engine (NULL). */
static md_status find_moments(compute_gyration *c, md_view *view, const md_follow_record *now)
{
  md_follow_sum s = {.kind = MD_FOLLOW_PLACES};
  double moment[4];
  MD_TRY(md_followed_sums(c->followed, view, now, &s, "a place", moment));
  for (int d = 0; d < 3; ++d) c->centre[d] = s.shift[d] = moment[0] > 0.0 ? moment[1 + d] / moment[0] : 0.0;
  if (c->base.style == &md_compute_com_style) return MD_OK;
  s.kind = MD_FOLLOW_TENSOR;
  MD_TRY(md_followed_sums(c->followed, view, now, &s, "a place", c->tensor));
  for (int k = 0; k < MD_TENSOR && moment[0] > 0.0; ++k) c->tensor[k] /= moment[0];
  c->radius = sqrt(c->tensor[0] + c->tensor[1] + c->tensor[2]);
  return MD_OK;
}

static md_status find_in_place(md_host_compute *base, md_view *view, bool *found)
{
  compute_gyration *c = (compute_gyration *)base;
  MD_TRY(md_followed_find_in_place(c->followed, view, found));
  return *found ? find_moments(c, view, NULL) : MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_gyration *c = (compute_gyration *)base;
  md_follow_record *now;
  md_status status = md_followed_find(c->followed, &now);
  if (status == MD_OK) status = find_moments(c, view, now);
  free(now);
  return status;
}

static void free_followed(md_host_compute *base) { md_followed_end(((compute_gyration *)base)->followed); }

const md_host_compute_style md_compute_com_style = {
    .name = "com",
    .usage = "com",
    .help =
        "centre of mass of the group, c_ID[1] to c_ID[3]; its places go on beyond periodic faces from the\n"
        "definition of the compute on",
    .size = sizeof(compute_gyration),
    .parse = parse_com,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_followed,
};

const md_host_compute_style md_compute_gyration_style = {
    .name = "gyration",
    .usage = "gyration",
    .help = "radius of gyration of the group, and the squares of its tensor, c_ID[1] to c_ID[6]: xx yy zz xy "
            "xz yz;\n"
            "its places go on beyond periodic faces from the definition of the compute on",
    .size = sizeof(compute_gyration),
    .parse = parse_gyration,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_followed,
};
