/* Regions that move: the keywords move and rotate, and shapes of variables; see region.h.
 *
 * The region stays as it was defined, and a point goes back to where it was relative to it: shifted, then turned about
 * the axis by Rodrigues's formula. Variables give shift and angle at each step. Sines are those of
 * common/arithmetic/real.h, so that every machine finds the same particles. Cost: some 30 operations for each point
 * that is tested. Reference: the LAMMPS manual, command region. */
#include "src/formula/variable.h"
#include "src/region/region.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reads v_NAME, or NULL where that is accepted. */
static md_status read_variable(const char *keyword, const char *word, bool may_lack, char name[64])
{
  if (may_lack && strcmp(word, "NULL") == 0) return MD_OK;
  if (strncmp(word, "v_", 2) == 0 && word[2] && snprintf(name, 64, "%s", word) < 64) return MD_OK;
  return md_error(MD_USAGE, "region %s: '%.64s' is not v_NAME, a variable of style equal%s", keyword, word,
                  may_lack ? ", or NULL" : "");
}

md_status md_region_read_move(char *const *word, md_region *region)
{
  region->moves = true;
  for (int d = 0; d < 3; ++d) MD_TRY(read_variable("move", word[d], true, region->motion.shift_by[d]));
  return MD_OK;
}

md_status md_region_read_rotate(const md_region_reader *r, char *const *word, md_region *region)
{
  md_region_motion *m = &region->motion;
  double length2 = 0.0;
  region->moves = true;
  MD_TRY(read_variable("rotate", word[0], false, m->turn_by));
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_word_double(word[1 + d], "the point of region rotate", &m->centre[d]));
    MD_TRY(md_word_double(word[4 + d], "the axis of region rotate", &m->axis[d]));
    m->centre[d] *= md_region_unit(r, d);
    length2 += m->axis[d] * m->axis[d];
  }
  if (!(length2 > 0.0 && isfinite(length2)))
    return md_error(MD_USAGE, "region rotate: the axis must not be 0 0 0");
  if (r->sim->model.box.dim == 2 && (m->axis[0] != 0.0 || m->axis[1] != 0.0))
    return md_error(MD_USAGE, "region rotate: in two dimensions the axis is 0 0 1 or 0 0 -1");
  for (int d = 0; d < 3; ++d) m->axis[d] /= sqrt(length2);
  return MD_OK;
}

md_status md_region_read_varied(const md_region_reader *r, int at, const char *what, int d, int k,
                                md_region *region)
{
  if (strncmp(r->word[at], "v_", 2) != 0) return md_region_length(r, at, what, d, &region->k[k]);
  region->moves = true;
  region->motion.unit[k] = md_region_unit(r, d);
  return read_variable("centre or radius", r->word[at], false, region->motion.set_by[k]);
}

static md_status settle(const md_sim *sim, const char *id, const char *name, double *value)
{
  *value = 0.0;
  if (!name[0] || sim->planning.checking) return MD_OK;
  md_status status = md_variables_formula(sim->variables, name, value);
  if (status == MD_OK && !isfinite(*value)) status = md_error(MD_USAGE, "%s is not finite", name);
  if (status != MD_OK) md_error_prefix("region %s: ", id);
  return status;
}

/* Finds centre and radius, where variables give them. */
static md_status settle_shape(const md_sim *sim, md_region *region)
{
  const md_region_motion *m = &region->motion;
  for (int k = 0; k < 4; ++k) {
    if (!m->set_by[k][0]) continue;
    MD_TRY(settle(sim, region->id, m->set_by[k], &region->k[k]));
    region->k[k] *= m->unit[k];
    if (k == 3 && region->k[k] < 0.0)
      return md_error(MD_USAGE, "region %s: the radius %s must not be negative, and is %g", region->id,
                      m->set_by[k], region->k[k]);
  }
  return MD_OK;
}

md_status md_region_settle(const md_sim *sim, md_region *region)
{
  md_region_motion *m = &region->motion;
  double angle;
  for (int k = 0; k < region->nmember; ++k) MD_TRY(md_region_settle(sim, region->member[k]));
  if (!region->moves) return MD_OK;
  MD_TRY(settle_shape(sim, region));
  for (int d = 0; d < 3; ++d) MD_TRY(settle(sim, region->id, m->shift_by[d], &m->shift[d]));
  MD_TRY(settle(sim, region->id, m->turn_by, &angle));
  double turns = angle / 0x1.921fb54442d18p2; /* 2 pi */
  turns -= rint(turns);
  const double half = md_sin_turns(0.5 * turns);
  m->sine = md_sin_turns(turns);
  m->versine = 2.0 * half * half;
  return MD_OK;
}

void md_region_move_back(const md_region *region, double x[3])
{
  const md_region_motion *m = &region->motion;
  double way[3], side[3], in[3];
  for (int d = 0; d < 3; ++d) way[d] = x[d] - m->shift[d] - m->centre[d];
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    side[d] = m->axis[e] * way[f] - m->axis[f] * way[e];
  }
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    in[d] = m->axis[e] * side[f] - m->axis[f] * side[e];
  }
  for (int d = 0; d < 3; ++d) x[d] = m->centre[d] + way[d] - m->sine * side[d] + m->versine * in[d];
}
