/* compute msd: the mean square displacement of a group; vacf: its velocity autocorrelation; displace/atom: the
 * displacement of each particle.
 *
 *      msd = 1/N sum (x - x0)^2,   vacf = 1/N sum v v0
 *
 * x0 and v0 are those of when the compute was defined, and x goes on beyond periodic faces. With `com yes` the motion
 * of the centre of mass is taken out. Sums are exact (src/sums/exact_sum.h). Cost: that of following (followed.h),
 * and two sums, by the engine if it follows.
 * Reference: Allen and Tildesley, Computer Simulation of Liquids, sections 2.7 and 8.5; the LAMMPS manual. */
#include "common/ranks/reductions.h"
#include "src/computes/host_compute.h"
#include "src/follow/followed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compute_follow {
  md_host_compute base;
  md_followed *followed;
  bool com;
  double value[4];
} compute_follow;

/* ---- words ---- */

static md_status offer(compute_follow *c, md_sim *sim, const char *name, md_followed_what what)
{
  MD_TRY(md_sim_need_box(sim, name));
  c->base.values = (md_values){.has_vector = true, .nvector = 4, .vector = c->value};
  return md_followed_begin(sim, name, c->base.group, what, &c->followed);
}

static md_status parse_msd(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_follow *c = (compute_follow *)base;
  for (int w = 0; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    bool yes, com = strcmp(keyword, "com") == 0;
    if (!com && strcmp(keyword, "average") != 0)
      return md_error(MD_USAGE, "compute msd: unknown keyword '%.64s'; accepted are com yes|no, average no",
                      keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "compute msd %s: its value is missing", keyword);
    MD_TRY(md_word_bool(words->word[w + 1], "a keyword of compute msd", &yes));
    if (com) c->com = yes;
    if (!com && yes) return md_error(MD_USAGE, "compute msd: average yes is not available");
  }
  return offer(c, sim, "compute msd", MD_FOLLOWED_PLACES);
}

static md_status parse_vacf(md_host_compute *base, md_sim *sim, const md_words *words)
{
  if (words->n > 0) return md_error(MD_USAGE, "compute vacf: unexpected '%.64s'", words->word[0]);
  return offer((compute_follow *)base, sim, "compute vacf", MD_FOLLOWED_VELOCITIES);
}

static md_status parse_displace(md_host_compute *base, md_sim *sim, const md_words *words)
{
  if (words->n > 0) return md_error(MD_USAGE, "compute displace/atom: unexpected '%.64s'", words->word[0]);
  MD_TRY(offer((compute_follow *)base, sim, "compute displace/atom", MD_FOLLOWED_EACH));
  base->values = (md_values){0};
  base->columns = 4;
  base->vector = true;
  return MD_OK;
}

/* ---- values ---- */

/* Of the records now[], or of those of the engine (NULL). */
static md_status find_mean(compute_follow *c, md_view *view, const md_follow_record *now)
{
  const bool velocities = c->base.style == &md_compute_vacf_style;
  md_follow_sum s = {.kind = MD_FOLLOW_MOMENTS};
  double moment[5];
  MD_TRY(md_followed_sums(c->followed, view, now, &s, "a displacement", moment));
  for (int d = 0; d < 3 && c->com && moment[1] > 0.0; ++d) s.shift[d] = moment[2 + d] / moment[1];
  s.kind = velocities ? MD_FOLLOW_PRODUCTS : MD_FOLLOW_SQUARES;
  MD_TRY(md_followed_sums(c->followed, view, now, &s, "a displacement or velocity", c->value));
  for (int k = 0; k < 4 && moment[0] > 0.0; ++k) c->value[k] /= moment[0];
  return MD_OK;
}

static void find_each(compute_follow *c, const md_sim *sim, const md_follow_record *now)
{
  const md_particles *p = &sim->particles;
  for (int64_t i = 0; i < p->n; ++i) {
    double r2 = 0.0, moved[3];
    if (!md_particles_in_group(p, md_group_bit(c->base.group), i)) continue;
    md_followed_displacement(c->followed, &now[i], moved);
    for (int d = 0; d < 3; ++d) {
      c->base.each[4 * i + d] = moved[d];
      r2 = fma(moved[d], moved[d], r2);
    }
    c->base.each[4 * i + 3] = sqrt(r2);
  }
}

static md_status find_in_place(md_host_compute *base, md_view *view, bool *found)
{
  compute_follow *c = (compute_follow *)base;
  MD_TRY(md_followed_find_in_place(c->followed, view, found));
  return *found ? find_mean(c, view, NULL) : MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_follow *c = (compute_follow *)base;
  md_follow_record *now;
  md_status status = md_followed_find(c->followed, &now);
  if (status == MD_OK && base->columns > 0)
    find_each(c, view->sim, now);
  else if (status == MD_OK)
    status = find_mean(c, view, now);
  free(now);
  return status;
}

static void free_followed(md_host_compute *base) { md_followed_end(((compute_follow *)base)->followed); }

const md_host_compute_style md_compute_msd_style = {
    .name = "msd",
    .usage = "msd [com yes|no]",
    .help = "mean square displacement of the group since the compute was defined, c_ID[1] to c_ID[4]: along "
            "each axis\n"
            "and their sum, through periodic faces; com yes: without the motion of the centre of mass",
    .size = sizeof(compute_follow),
    .parse = parse_msd,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_followed,
};

const md_host_compute_style md_compute_vacf_style = {
    .name = "vacf",
    .usage = "vacf",
    .help = "velocity autocorrelation of the group with the velocities of when the compute was defined, "
            "c_ID[1] to\n"
            "c_ID[4]: mean of v v0 along each axis, and their sum",
    .size = sizeof(compute_follow),
    .parse = parse_vacf,
    .find_in_place = find_in_place,
    .find = find,
    .free = free_followed,
};

const md_host_compute_style md_compute_displace_atom_style = {
    .name = "displace/atom",
    .usage = "displace/atom",
    .help = "displacement of each particle since the compute was defined, through periodic faces: c_ID[1]\n"
            "to c_ID[3], and its length, c_ID[4]",
    .size = sizeof(compute_follow),
    .parse = parse_displace,
    .find = find,
    .free = free_followed,
};
