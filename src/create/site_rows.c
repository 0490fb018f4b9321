/* Rows of sites; see site_rows.h. */
#include "src/create/site_rows.h"
#include "common/base/memory.h"
#include "common/ranks/domains.h"
#include "common/ranks/reductions.h"
#include "src/particles/share.h"
#include "src/sums/masses.h"

enum { SLABS = 256, ROW = 4096 /* ids, where rows are ids */ };

/* Lets the first particles be made in slabs if the engine will have slabs. */
static void choose_domains(md_sim *sim, double expected)
{
  const int64_t from = sim->engine ? sim->engine->slabs_from : 0;
  const md_box *box = &sim->model.box;
  if (from == 0 || box->dim != 2 || box->periodic[0] || box->periodic[1] || sim->model.natoms > 0) return;
  if (sqrt(expected) >= (double)from * sim->comm->size)
    sim->comm->domains->prefer_slabs(sim->comm, MD_SLAB_ANY);
}

md_sites md_sites_begin(md_sim *sim, int type, double expected)
{
  choose_domains(sim, expected);
  md_sites s = {.box = &sim->model.box, .first_id = sim->max_id + 1, .type = (uint16_t)type};
  sim->comm->domains->domain(sim->comm, s.box, s.lo, s.hi);
  return s;
}

bool md_sites_own_point(const md_sites *s, const double x[3])
{
  double at[3] = {x[0], x[1], x[2]};
  bool own = true;
  if (s->box->triclinic) md_box_wrap(s->box, at);
  for (int d = 0; d < 3 && d < s->box->dim; ++d) {
    const double inside = md_max(at[d], s->box->lo[d]);
    own = own && inside >= s->lo[d] && (inside < s->hi[d] || s->hi[d] >= s->box->hi[d]);
  }
  return own;
}

void md_sites_put(const md_sites *s, md_particles *p, int64_t at, int64_t id, const double x[3])
{
  p->id[at] = id;
  p->type[at] = s->type;
  if (p->grouped) p->group[at] = MD_GROUP_ALL;
  if (p->massed) p->mass[at] = MD_MASS_OF_SPHERE;
  md_particles_set_alone(p, at);
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][at] = x[d];
    p->v[d][at] = 0.0;
  }
}

md_status md_sites_make_room(md_particles *p, int64_t n)
{
  MD_TRY(md_particles_widen(p, false));
  return md_particles_reserve(p, n);
}

static int64_t slab_begin(const md_sites *s, int slab) { return md_share_begin(s->nrow, SLABS, slab); }

md_status md_sites_append(md_sim *sim, const md_sites *s)
{
  md_particles *p = &sim->particles;
  int64_t start[SLABS + 1] = {0};
  if (sim->planning.checking) return MD_OK;
#pragma omp parallel for schedule(static)
  for (int slab = 0; slab < SLABS; ++slab) {
    int64_t count = 0;
    for (int64_t row = slab_begin(s, slab); row < slab_begin(s, slab + 1); ++row) count += s->count(s, row);
    start[slab + 1] = count;
  }
  start[0] = p->n;
  for (int slab = 0; slab < SLABS; ++slab) start[slab + 1] += start[slab];
  p->nghost = 0;
  /* Room for some particles of other ranks spares copies of the arrays. It is no memory before it is used. */
  const int64_t room = sim->comm->size > 1 ? start[SLABS] + start[SLABS] / 64 : start[SLABS];
  MD_TRY(md_comm_agree(sim->comm, md_sites_make_room(p, room < MD_PARTICLES_MAX ? room : start[SLABS])));
#pragma omp parallel for schedule(static)
  for (int slab = 0; slab < SLABS; ++slab) {
    int64_t at = start[slab];
    for (int64_t row = slab_begin(s, slab); row < slab_begin(s, slab + 1); ++row) at = s->fill(s, row, p, at);
  }
  p->n = start[SLABS];
  return MD_OK;
}

md_status md_sites_check_total(const md_sim *sim, md_wide_integer global)
{
  if (global > (md_wide_integer)MD_PARTICLES_MAX * sim->comm->size - sim->model.natoms)
    return md_error(MD_USAGE, "%.6g new particles are too many: a rank holds at most %lld; use more ranks",
                    (double)global, (long long)MD_PARTICLES_MAX);
  if (global > INT64_MAX - sim->max_id)
    return md_error(MD_USAGE, "ids end at 2^63 - 1: no room for %lld more after id %lld", (long long)global,
                    (long long)sim->max_id);
  const int64_t share = (int64_t)(global / sim->comm->size);
  if (sim->planning.checking) return MD_OK;
  return md_comm_agree(sim->comm, md_memory_for_particles(sim->comm, &sim->particles, share));
}

void md_site_ids(const md_sites *s, int64_t row, int64_t *first, int64_t *after)
{
  const int64_t begin = s->begin + row * ROW;
  *first = s->first_id + begin;
  *after = s->first_id + (s->end - begin < ROW ? s->end : begin + ROW);
}

static int64_t count_ids(const md_sites *s, int64_t row)
{
  int64_t first, after;
  md_site_ids(s, row, &first, &after);
  return after - first;
}

void md_sites_share_ids(md_sites *s, const md_comm *comm, int64_t n)
{
  s->begin = md_share_begin(n, comm->size, comm->rank);
  s->end = md_share_begin(n, comm->size, comm->rank + 1);
  s->nrow = (s->end - s->begin + ROW - 1) / ROW;
  s->count = count_ids;
}
