/* Swaps of momenta between two slabs; see swaps.h. */
#include "common/swap/swaps.h"
#include "common/arithmetic/exact.h"
#include "common/faces.h"
#include "common/ranks/reductions.h"
#include "common/step/motion.h"

#include <math.h>
#include <string.h>

/* A particle that may be swapped. */
typedef struct candidate {
  double wanted; /* the larger, the sooner */
  int64_t id;
  double mass, p[3]; /* p/m_reference */
} candidate;

/* The most wanted particles of a slab, sorted. */
typedef struct candidates {
  int n, most;
  candidate of[MD_SWAPS_MAX];
} candidates;

/* ---- words ---- */

static md_status read_axis(const md_fix *fix, const char *word, int dim, double *axis)
{
  if (word[0] >= 'x' && word[0] < 'x' + dim && !word[1]) {
    *axis = word[0] - 'x';
    return MD_OK;
  }
  return md_error(MD_USAGE, "fix %s: '%.16s' is no axis of the box; accepted are %s",
                  md_fix_style_of(fix->kind)->name, word, dim == 2 ? "x and y" : "x, y and z");
}

static md_status read_keyword(md_fix *fix, const char *keyword, const char *value, bool target)
{
  int64_t n;
  if (strcmp(keyword, "swap") == 0) {
    MD_TRY(md_word_int64(value, "the number of swaps", 1, MD_SWAPS_MAX, &n));
    fix->k[3] = (double)n;
    return MD_OK;
  }
  if (target && strcmp(keyword, "vtarget") == 0) {
    if (strcmp(value, "INF") == 0) return MD_OK;
    return md_word_positive(value, "vtarget of fix viscosity", &fix->k[5]);
  }
  return md_error(MD_USAGE, "fix %s: unknown keyword '%.64s'; accepted %s", md_fix_style_of(fix->kind)->name,
                  keyword, target ? "are swap N and vtarget V|INF" : "is swap N");
}

md_status md_swaps_parse(md_fix *fix, const md_words *words, int dim, int axes, bool target)
{
  const int few = 2 + axes;
  int64_t every, slabs;
  if (words->n < few || (words->n - few) % 2 != 0)
    return md_error(MD_USAGE, "fix %s takes N, %s, a number of slabs, and perhaps keywords with a value each",
                    md_fix_style_of(fix->kind)->name, axes == 1 ? "an axis" : "two axes");
  MD_TRY(md_word_int64(words->word[0], "N of a swap", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  fix->k[3] = 1.0;
  fix->k[4] = fix->k[5] = -1.0;
  if (axes == 2) MD_TRY(read_axis(fix, words->word[1], dim, &fix->k[4]));
  MD_TRY(read_axis(fix, words->word[axes], dim, &fix->k[1]));
  MD_TRY(md_word_int64(words->word[1 + axes], "the number of slabs", 2, 1 << 20, &slabs));
  if (slabs % 2 != 0)
    return md_error(MD_USAGE, "the number of slabs must be even, not %s", words->word[1 + axes]);
  fix->k[2] = (double)slabs;
  for (int w = few; w < words->n; w += 2)
    MD_TRY(read_keyword(fix, words->word[w], words->word[w + 1], target));
  return MD_OK;
}

md_status md_swaps_check(const md_fix *fix, const md_model *model)
{
  const double *k = fix->k;
  const int dim = model->box.dim;
  const bool good = k[0] >= 1.0 && k[0] <= 0x1p53 && k[1] >= 0.0 && k[1] < dim && k[2] >= 2.0 &&
                    k[2] <= 0x1p20 && k[3] >= 1.0 && k[3] <= MD_SWAPS_MAX && k[4] >= -1.0 && k[4] < dim &&
                    (k[5] == -1.0 || k[5] > 0.0);
  if (good) return MD_OK;
  return md_error(MD_USAGE, "fix %s: its numbers are not valid", md_fix_style_of(fix->kind)->name);
}

/* ---- candidates ---- */

static bool comes_before(const candidate *a, const candidate *b)
{
  return a->wanted > b->wanted || (a->wanted == b->wanted && a->id < b->id);
}

static void add(candidates *list, const candidate *c)
{
  int k = list->n < list->most ? list->n++ : list->n - 1;
  if (k == list->most - 1 && list->n == list->most && list->of[k].id > 0 && !comes_before(c, &list->of[k]))
    return;
  for (; k > 0 && comes_before(c, &list->of[k - 1]); --k) list->of[k] = list->of[k - 1];
  list->of[k] = *c;
}

/* How much the particle is wanted in the lowest slab (middle = false), or in the middle. false: not at all. */
static bool find_wanted(const md_fix *fix, double velocity_per_v, bool middle, int dim, candidate *c)
{
  const int axis = (int)fix->k[4];
  if (axis < 0) {
    double v2 = 0.0;
    for (int d = 0; d < dim; ++d) {
      const double v = c->p[d] * velocity_per_v;
      v2 = fma(v, v, v2);
    }
    c->wanted = middle ? -(c->mass * v2) : c->mass * v2;
    return true;
  }
  const double along = c->p[axis] * velocity_per_v, v = middle ? -along : along;
  c->wanted = fix->k[5] > 0.0 ? -fabs(v - fix->k[5]) : v;
  return v >= 0.0;
}

/* The coordinate of particle i, within the faces. In a tilted box it is that of the image in the parallelepiped, as in
 * LAMMPS, which along x is another than that in the brick. */
static double place_along(const md_box *box, const md_particles *p, int axis, int64_t i)
{
  double x[3];
  if (!box->triclinic) return p->x[axis][i];
  md_particle_shown(p, box, i, x);
  return box->periodic[axis] ? md_wrap(x[axis], box->lo[axis], box->hi[axis], box->length[axis]) : x[axis];
}

/* box: as it is shown. */
static md_status collect(const md_fix *fix, const md_model *model, const md_box *box, const md_particles *p,
                         candidates slab[2])
{
  const int axis = (int)fix->k[1], dim = p->dim;
  const double lo = box->lo[axis], width = box->length[axis] / fix->k[2];
  const double middle = lo + 0.5 * box->length[axis];
  const uint32_t bit = md_group_bit(fix->group);
  for (int64_t i = 0; i < p->n; ++i) {
    const double x = place_along(box, p, axis, i);
    const bool low = x >= lo && x < lo + width, high = x >= middle && x < middle + width;
    if (!(low || high) || !md_particles_in_group(p, bit, i)) continue;
    if (p->id[i] > INT64_C(1) << 53)
      return md_error(MD_USAGE, "fix %s: the id %lld is above 2^53", md_fix_style_of(fix->kind)->name,
                      (long long)p->id[i]);
    candidate c = {.id = p->id[i], .mass = md_mass_of(model, p, i)};
    for (int d = 0; d < dim; ++d) c.p[d] = p->v[d][i];
    if (find_wanted(fix, md_inertia_of(model, p, i).velocity_per_v, high, dim, &c)) add(&slab[high], &c);
  }
  return MD_OK;
}

/* Tells all ranks the next candidate of all; `at` is that of this rank. *found: there is one. */
static md_status next_of_all(md_comm *comm, const candidates *own, int *at, candidate *next, bool *found)
{
  const candidate *mine = *at < own->n ? &own->of[*at] : NULL;
  double most = mine ? mine->wanted : -(double)INFINITY;
  MD_TRY(comm->reduce->max(comm, &most, 1));
  *found = most > -(double)INFINITY;
  if (!*found) return MD_OK;
  double id = mine && mine->wanted == most ? -(double)mine->id : -(double)INFINITY;
  MD_TRY(comm->reduce->max(comm, &id, 1));
  int64_t word[4] = {0};
  if (mine && mine->wanted == most && (double)mine->id == -id) {
    memcpy(word, &mine->mass, sizeof mine->mass);
    memcpy(word + 1, mine->p, sizeof mine->p);
    ++*at;
  }
  MD_TRY(comm->reduce->sum(comm, word, 4));
  *next = (candidate){.wanted = most, .id = (int64_t)-id};
  memcpy(&next->mass, word, sizeof next->mass);
  memcpy(next->p, word + 1, sizeof next->p);
  return MD_OK;
}

/* The most wanted particles of all ranks. */
static md_status merge(md_comm *comm, candidates *slab)
{
  candidates all = {.most = slab->most};
  bool found = true;
  for (int at = 0; found && all.n < all.most; all.n += found)
    MD_TRY(next_of_all(comm, slab, &at, &all.of[all.n], &found));
  *slab = all;
  return MD_OK;
}

/* ---- swaps ---- */

/* Lets two particles collide, and returns what the second one gets: energy, or momentum along the axis k4. */
static double collide(const md_fix *fix, const md_model *model, candidate *a, candidate *b)
{
  const int axis = (int)fix->k[4];
  const double per_p = model->mass_reference / b->mass;
  double moved = 0.0;
  for (int d = 0; d < model->box.dim; ++d) {
    if (axis >= 0 && d != axis) continue;
    const double sum = a->p[d] + b->p[d], before = b->p[d];
    a->p[d] = a->mass == b->mass
                  ? b->p[d]
                  : md_round_to(2.0 * a->mass * (sum / (a->mass + b->mass)) - a->p[d], model->grids.v);
    b->p[d] = sum - a->p[d];
    moved += axis >= 0 ? model->mass_reference / model->units->mvv2e * (b->p[d] - before)
                       : 0.5 * b->mass * per_p * per_p * (b->p[d] * b->p[d] - before * before);
  }
  return moved;
}

md_status md_swaps_choose(md_fix *fix, const md_model *model, const md_particles *particles, md_comm *comm,
                          const md_action *first, md_action *action, int *n)
{
  candidates slab[2] = {{.most = (int)fix->k[3]}, {.most = (int)fix->k[3]}};
  *n = 0;
  if (model->wide)
    return md_error(
        MD_USAGE,
        "fix %s: masses are so far apart, or the timestep is so short, that momenta need two words, and this "
        "fix swaps momenta of one word; use a longer timestep, or masses that are closer to one another",
        md_fix_style_of(fix->kind)->name);
  /* Faces that follow the particles lie beyond them where the engine has them. */
  md_box box = model->box;
  MD_TRY(md_box_follow(&box, comm, particles));
  MD_TRY(md_comm_agree(comm, collect(fix, model, &box, particles, slab)));
  for (int s = 0; s < 2; ++s) MD_TRY(merge(comm, &slab[s]));
  for (int k = 0; k < slab[0].n && k < slab[1].n; ++k) {
    fix->state[0] += collide(fix, model, &slab[0].of[k], &slab[1].of[k]);
    for (int s = 0; s < 2; ++s) {
      const candidate *c = &slab[s].of[k];
      action[*n] = *first;
      action[*n].k[0] = (double)c->id;
      memcpy(&action[(*n)++].k[1], c->p, sizeof c->p);
    }
  }
  return MD_OK;
}
