/* Sums over the pairs and bonds of each particle; see pair_sums.h. Formulas and rounding are those of the engines'
 * measures (measure_pair in src/engines/naive.c), and the sums are integers.
 *
 * Styles whose force needs more than a distance have a search before: for the densities of embedded atoms, or for the
 * sums over the legs of three-body centres. What a particle keeps of it goes along in the second search. Of the energy
 * and virial of a triple each of the three particles has a third, as in LAMMPS. A leg's share needs no loop over
 * triples. With the names of common/pair/three_body/three_body.h, the energy of the triples that have it is
 * g A - (1 - C)^2 g^2. The virial of a triple of the legs j and k is r_j n_j f_j + r_k n_k f_k. Over all k, its first
 * part is that of the force on j, and the second one follows from moments of the legs, with u = n_j.n_k:
 *
 *   r_k n_k f_k = - g_j [ r_k g_k' (u - C)^2 n_k n_k + 2 g_k (u - C) n_k (n_j - u n_k) ]
 *
 * Cost: that of one or two searches of pairs (neighbours.h), with both orders of each pair. */
#include "src/computes/pair_sums.h"
#include "common/arithmetic/exact.h"
#include "common/bond/partners.h"
#include "common/faults.h"
#include "common/pair/tables/density.h"
#include "common/pair/three_body/three_force.h"
#include "common/ranks/reductions.h"
#include "common/tensor.h"
#include "src/computes/neighbours.h"
#include "src/sums/exact_sum.h"

#include <stdlib.h>
#include <string.h>

/* Energies of a particle: of pairs and bonds, and of its triples. Virials: as many of each. Between groups: twice the
 * energy, and the force. */
enum { PAIRS, TRIPLES, ENERGIES, VIRIALS = 2 * MD_TENSOR, BETWEEN = 4 };

/* The moments of the legs of a centre, of which virials need those of degrees 2, 3 and 4. */
enum { MOMENTS = 6 + 10 + 15 };

/* What is summed: energies, virials, or energies and forces between two groups. */
typedef enum sums_of { OF_ENERGY, OF_VIRIAL, OF_GROUPS } sums_of;

typedef struct summing {
  md_sim *sim;
  const md_model *model;
  const md_pair *pair; /* the style, with its tables */
  md_pair_sums_wanted wanted;
  sums_of what;
  uint32_t own, other; /* bits of the groups of i and j */
  int n;               /* sums of a particle */
  md_fine *sum;        /* [particle][n] */
  int ndensity;        /* 0: the style has no first search */
  int64_t *density;    /* [particle][ndensity]: sums of the first search */
  md_fine *moment;     /* [particle][MOMENTS]: more of them, for virials of triples */
  int nkept;
  double *kept; /* [particle][nkept]: what a particle keeps of them; the last number may be its molecule */
  const double *theirs;
  md_overlap overlap;
} summing;

bool md_pair_sums_keyword(const char *word, md_pair_sums_wanted *wanted)
{
  static const char *const nothing[] = {"angle", "dihedral", "improper", "kspace", "fix"};
  bool known = false;
  for (size_t k = 0; k < sizeof nothing / sizeof nothing[0]; ++k)
    known = known || strcmp(word, nothing[k]) == 0;
  const bool pair = strcmp(word, "pair") == 0, bond = strcmp(word, "bond") == 0;
  wanted->pairs = wanted->pairs || pair;
  wanted->bonds = wanted->bonds || bond;
  return known || pair || bond;
}

/* ---- a pair ---- */

static void note(summing *s, int64_t i, int64_t j, double r2)
{
#pragma omp critical(pair_sums)
  md_overlap_add(&s->overlap, i, j, r2);
}

static bool has_id(int n, int64_t *const *ids, int64_t i, int64_t id)
{
  int k = 0;
  while (k < n && ids[k][i] != id) ++k;
  return k < n;
}

static const double *kept_by(const summing *s, const md_neighbour *i)
{
  return s->kept + (int64_t)i->index * s->nkept;
}

static const double *kept_by_other(const summing *s, const md_neighbour *j)
{
  return s->theirs + (int64_t)j->index * s->nkept;
}

/* Have the particles no pair force, because of their molecules, or because bonds connect them? */
static bool is_excluded(const summing *s, const md_neighbour *i, const md_neighbour *j)
{
  const md_molecules *molecules = &s->model->exclusions.molecules;
  const int last = s->nkept - 1;
  int64_t *const *ids;
  if (molecules->n > 0 &&
      md_molecules_exclude(molecules, i->group & j->group, kept_by(s, i)[last] == kept_by_other(s, j)[last]))
    return true;
  const int n = md_excluded_ids(s->model, &s->sim->particles, &ids);
  return has_id(n, ids, i->index, j->id);
}

static void add_energy(summing *s, const md_neighbour *i, int of, double energy)
{
  md_fine_add(&s->sum[(int64_t)i->index * s->n + of], energy / (s->model->grids.e * MD_FINE));
}

/* f: force over distance, in quanta of force. */
static void add_virial(summing *s, const md_neighbour *i, const double delta[3], double f)
{
  const double per_w = s->model->grids.f / s->model->grids.w;
  for (int c = 0; c < MD_TENSOR; ++c) {
    const int a = md_tensor_row(c), b = md_tensor_column(c);
    if (b < s->model->box.dim)
      md_fine_add(&s->sum[(int64_t)i->index * s->n + c], f * delta[a] * delta[b] * per_w);
  }
}

/* The energy is added twice, or once where the pair is visited in both orders. */
static void add_between(summing *s, const md_neighbour *i, const md_neighbour *j, const double delta[3],
                        double f, double energy)
{
  const bool both = (i->group & s->other) != 0 && (j->group & s->own) != 0;
  add_energy(s, i, 0, energy);
  if (!both) add_energy(s, i, 0, energy);
  for (int d = 0; d < s->model->box.dim; ++d)
    md_fine_add(&s->sum[(int64_t)i->index * s->n + 1 + d], f * delta[d]);
}

static int subtype(const summing *s, const md_neighbour *v)
{
  return md_subtype(s->model, v->type, v->group);
}

/* The row of a pair in the tables of the model. */
static int64_t row_of(const summing *s, const md_neighbour *i, const md_neighbour *j)
{
  return (int64_t)subtype(s, i) * md_model_subtypes(s->model) + subtype(s, j);
}

/* A pair of a style whose force is a function of the distance. */
static void add_plain(summing *s, const md_neighbour *i, const md_neighbour *j, const double delta[3],
                      double r2)
{
  const md_model *model = s->model;
  const int64_t row = row_of(s, i, j);
  const double *k = model->force_k + row * MD_PAIR_K;
  if (r2 < model->overlap2[row])
    note(s, i->id, j->id, r2);
  else if (r2 < k[0] && s->what == OF_GROUPS)
    add_between(s, i, j, delta, md_pair_force(model->pair.kind, r2, k),
                md_pair_energy(model->pair.kind, r2, k));
  else if (r2 < k[0] && s->what == OF_VIRIAL)
    add_virial(s, i, delta, md_pair_force(model->pair.kind, r2, k));
  else if (r2 < k[0])
    add_energy(s, i, PAIRS, md_pair_energy(model->pair.kind, r2, k));
}

static void add_embedded(summing *s, const md_neighbour *i, const md_neighbour *j, const double delta[3],
                         double r2)
{
  const md_eam *eam = s->pair->eam;
  const md_pair_term term =
      md_density_force(eam, eam->element[subtype(s, i)], eam->element[subtype(s, j)], kept_by(s, i)[0],
                       kept_by_other(s, j)[0], delta, s->model->box.dim, r2, s->model->force_scale);
  if (term.overlap)
    note(s, i->id, j->id, r2);
  else if (s->what == OF_VIRIAL)
    add_virial(s, i, delta, term.f);
  else
    add_energy(s, i, PAIRS, term.energy);
}

/* ---- triples ---- */

/* A leg as its centre sees it. */
typedef struct leg_term {
  double r, inverse, n[3]; /* n: the unit vector from the centre */
  double g, slope, rest2;  /* rest2: (1 - C)^2 */
  double along;            /* n.M n - 2 C n.V + C^2 S */
  double p[3];             /* M n - C V */
} leg_term;

/* delta: from the centre, dim components. kept: of the centre. */
static leg_term leg_term_of(const md_leg *leg, double cosine, const double *kept, const double delta[3],
                            int dim, double r2)
{
  leg_term t = {.inverse = md_rsqrt(r2), .rest2 = (1.0 - cosine) * (1.0 - cosine)};
  t.r = r2 * t.inverse;
  for (int d = 0; d < dim; ++d) t.n[d] = delta[d] * t.inverse;
  t.g = md_leg_value(leg, t.r, &t.slope);
  const double m[3][3] = {
      {kept[0], kept[5], kept[4]}, {kept[5], kept[1], kept[3]}, {kept[4], kept[3], kept[2]}};
  t.along = kept[9];
  for (int a = 0; a < 3; ++a) {
    t.p[a] = -kept[6 + a];
    for (int b = 0; b < 3; ++b) t.p[a] = fma(m[a][b], t.n[b], t.p[a]);
    t.along = fma(t.n[a], t.p[a] - kept[6 + a], t.along);
  }
  return t;
}

/* The place of a product of components of n among those of its degree, of which there are 6, 10 and 15. */
static int product_at(int degree, const int *axis)
{
  int not_x = 0, z = 0;
  for (int k = 0; k < degree; ++k) {
    not_x += axis[k] != 0;
    z += axis[k] == 2;
  }
  return not_x * (not_x + 1) / 2 + z;
}

/* Adds a leg to the moments of its centre: sums over legs of products of two, three and four components of n, times
 * C^2 r g', 2 C (g - r g') and r g' - 2 g. */
static void add_moments(const summing *s, const md_leg *leg, double cosine, double r, const double n[3],
                        md_fine *sum)
{
  double slope, power[3][5];
  const double g = md_leg_value(leg, r, &slope), per = s->pair->three->quanta / MD_FINE;
  const double factor[3] = {cosine * cosine * r * slope, 2.0 * cosine * (g - r * slope), r * slope - 2.0 * g};
  for (int d = 0; d < 3; ++d) {
    power[d][0] = 1.0;
    for (int k = 1; k < 5; ++k) power[d][k] = power[d][k - 1] * n[d];
  }
  for (int degree = 2; degree <= 4; ++degree)
    for (int not_x = 0; not_x <= degree; ++not_x)
      for (int z = 0; z <= not_x; ++z)
        md_fine_add(sum++, factor[degree - 2] * per *
                               (power[0][degree - not_x] * power[1][not_x - z] * power[2][z]));
}

/* The sum over all legs k of a centre, but this one, of r n_a f_b of the force on k by the triple that has this leg. */
static double other_legs(const leg_term *t, const double *moment, int a, int b)
{
  double sum = moment[product_at(2, (int[]){a, b})];
  for (int c = 0; c < 3; ++c) {
    sum += moment[6 + product_at(3, (int[]){a, b, c})] * t->n[c];
    for (int d = 0; d < 3; ++d) sum += moment[16 + product_at(4, (int[]){a, b, c, d})] * (t->n[c] * t->n[d]);
  }
  return -t->g * (sum - t->r * t->slope * t->rest2 * (t->n[a] * t->n[b]) + 2.0 * (t->p[a] * t->n[b]));
}

/* Virials of triples of a centre and this leg. of_leg: that of all triples that have the leg, which counts for the leg;
 * else that of the force on the leg, which counts for the centre. */
static void add_triples(summing *s, const md_neighbour *i, const leg_term *t, double cosine,
                        const double *kept, bool of_leg, double scale)
{
  double force[3];
  md_three_leg_force(t->g, t->slope, cosine, kept, t->n, t->inverse, force);
  for (int c = 0; c < MD_TENSOR; ++c) {
    const int a = md_tensor_row(c), b = md_tensor_column(c);
    double w = t->r * (t->n[a] * force[b]);
    if (of_leg) w += other_legs(t, kept + MD_THREE_SUMS, a, b);
    if (b < s->model->box.dim)
      md_fine_add(&s->sum[(int64_t)i->index * s->n + MD_TENSOR + c],
                  w * scale * s->model->grids.f / s->model->grids.w);
  }
}

/* Particle i as a leg of j, and as a centre with the leg j. */
static void add_three_body(summing *s, const md_neighbour *i, const md_neighbour *j, const double delta[3],
                           double r2)
{
  const md_model *model = s->model;
  const md_three_body *three = s->pair->three;
  const int dim = model->box.dim, a = three->element[subtype(s, i)], b = three->element[subtype(s, j)];
  const double *k = model->force_k + row_of(s, i, j) * MD_PAIR_K;
  const md_leg *of_a = three->leg + (a * three->nelement + b), *of_b = three->leg + (b * three->nelement + a);
  double energy = 0.0, phi = 0.0;
  if (r2 < three->overlap2 && (k[0] > 0.0 || of_a->cut2 > 0.0 || of_b->cut2 > 0.0)) {
    note(s, i->id, j->id, r2);
    return;
  }
  if (r2 < k[0]) phi = md_three_phi(model->pair.kind, r2, k, &energy);
  if (s->what == OF_VIRIAL)
    add_virial(s, i, delta, phi);
  else
    add_energy(s, i, PAIRS, energy);
  if (r2 < of_b->cut2) {
    const double *kept = kept_by_other(s, j);
    const leg_term t = leg_term_of(of_b, three->cosine[b], kept, delta, dim, r2);
    if (s->what == OF_VIRIAL)
      add_triples(s, i, &t, three->cosine[b], kept, true, k[1]);
    else
      add_energy(s, i, TRIPLES, t.g * (t.along - t.rest2 * t.g));
  }
  if (s->what == OF_VIRIAL && r2 < of_a->cut2) {
    const double *kept = kept_by(s, i), back[3] = {-delta[0], -delta[1], -delta[2]};
    const leg_term t = leg_term_of(of_a, three->cosine[a], kept, back, dim, r2);
    add_triples(s, i, &t, three->cosine[a], kept, false, k[1]);
  }
}

/* The bond of a pair, if there is one. A bond is between nearest images: none is longer than half of a side. */
static void add_bond(summing *s, const md_neighbour *i, const md_neighbour *j, const double delta[3],
                     double r2)
{
  const md_model *model = s->model;
  const md_particles *p = &s->sim->particles;
  for (int k = 0; k < p->bonds; ++k) {
    const int type = p->bond_type[k][i->index];
    md_bond_term t = {{delta[0], delta[1], delta[2]}, r2, 0.0};
    if (p->bond[k][i->index] != j->id || !(r2 < model->bonds.force_k[type][0])) continue;
    if (!md_bond_evaluate(model->bonds.kind, model->bonds.force_k[type], model->box.dim, &t))
      note(s, i->id, j->id, MD_OVERLAP_OF_BOND);
    else if (s->what == OF_VIRIAL)
      add_virial(s, i, delta, t.f);
    else
      add_energy(s, i, PAIRS, md_bond_energy(model->bonds.kind, r2, model->bonds.force_k[type]));
  }
}

static void visit(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                  const double delta[3], double r2)
{
  summing *s = context;
  (void)thread;
  if (s->wanted.bonds) add_bond(s, i, j, delta, r2);
  if (!s->wanted.pairs || is_excluded(s, i, j)) return;
  if (md_pair_has_density(s->pair))
    add_embedded(s, i, j, delta, r2);
  else if (md_pair_is_three_body(s->pair))
    add_three_body(s, i, j, delta, r2);
  else
    add_plain(s, i, j, delta, r2);
}

/* ---- the first search ---- */

static void visit_first(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                        const double delta[3], double r2)
{
  summing *s = context;
  (void)thread;
  if (is_excluded(s, i, j)) return;
  if (md_pair_has_density(s->pair)) {
    const md_eam *eam = s->pair->eam;
    s->density[i->index] +=
        md_density_term(eam, eam->element[subtype(s, i)], eam->element[subtype(s, j)], r2);
  } else {
    const md_three_body *three = s->pair->three;
    const int a = three->element[subtype(s, i)], b = three->element[subtype(s, j)];
    const md_leg *leg = three->leg + (a * three->nelement + b);
    md_three_add(three, leg, delta, r2, s->density + (int64_t)i->index * MD_THREE_SUMS);
    if (s->what != OF_VIRIAL || !(r2 < leg->cut2) || r2 < three->overlap2) return;
    const double inverse = md_rsqrt(r2);
    double n[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < s->model->box.dim; ++d) n[d] = -(delta[d] * inverse);
    add_moments(s, leg, three->cosine[a], r2 * inverse, n, s->moment + (int64_t)i->index * MOMENTS);
  }
}

/* What particle i keeps, and its energy. */
static void keep(summing *s, int64_t i)
{
  const int element = md_subtype_of(s->model, &s->sim->particles, i);
  const double per_e = 1.0 / (s->model->grids.e * MD_FINE);
  if (md_pair_has_density(s->pair)) {
    const double energy =
        md_eam_embedding(s->pair->eam, s->pair->eam->element[element], s->density[i], &s->kept[i * s->nkept]);
    if (s->what != OF_VIRIAL) s->sum[i * s->n + PAIRS] = md_embedding_twice(energy, per_e);
  } else {
    const double energy = md_three_centre(s->pair->three, s->pair->three->element[element],
                                          s->density + i * MD_THREE_SUMS, s->kept + i * s->nkept);
    if (s->what != OF_VIRIAL) md_fine_add(&s->sum[i * s->n + TRIPLES], energy * per_e);
    for (int k = 0; k < MOMENTS && s->what == OF_VIRIAL; ++k)
      s->kept[i * s->nkept + MD_THREE_SUMS + k] =
          md_fine_value(s->moment[i * MOMENTS + k]) / s->pair->three->quanta;
  }
}

/* ---- both ---- */

/* A search of i in one group and j in another, which visits by that function. */
static md_status search(summing *s, uint32_t group, uint32_t other, double cutoff, md_neighbour_visit by)
{
  const md_neighbour_search pairs = {.cutoff = cutoff,
                                     .group = group,
                                     .other = other,
                                     .visit = by,
                                     .context = s,
                                     .nvalue = s->nkept,
                                     .value = s->nkept > 0 ? s->kept : NULL,
                                     .theirs = &s->theirs};
  return md_neighbours_visit(s->sim, &pairs);
}

static md_status search_both(summing *s)
{
  const md_model *model = s->model;
  const double cutoff = md_max(model->cutoff, model->bonds.reach);
  if (!(cutoff > 0.0)) return MD_OK;
  if (s->ndensity > 0) {
    MD_TRY(search(s, MD_GROUP_ALL, MD_GROUP_ALL, cutoff, visit_first));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->sim->particles.n; ++i) keep(s, i);
  }
  MD_TRY(search(s, s->own, s->other, cutoff, visit));
  return md_comm_agree(s->sim->comm, md_overlap_status(&s->overlap, model));
}

static md_status allocate(summing *s)
{
  const int64_t n = s->sim->particles.n;
  MD_TRY(md_array_new_zero(&s->sum, n * s->n + 1, sizeof *s->sum, "sums over pairs"));
  MD_TRY(md_array_new_zero(&s->kept, n * s->nkept + 1, sizeof *s->kept, "sums over pairs"));
  for (int64_t i = 0; i < n && s->model->exclusions.molecules.n > 0; ++i)
    s->kept[(i + 1) * s->nkept - 1] = (double)s->sim->particles.molecule[i];
  if (s->ndensity == 0) return MD_OK;
  MD_TRY(md_array_new_zero(&s->density, n * s->ndensity + 1, sizeof *s->density, "sums over pairs"));
  return s->what == OF_VIRIAL && s->ndensity > 1
             ? md_array_new_zero(&s->moment, n * MOMENTS + 1, sizeof *s->moment, "sums over pairs")
             : MD_OK;
}

/* Makes the sums of what s asks for; the caller ends with end(), also after an error. */
static md_status make_sums(summing *s, md_sim *sim, const md_pair_sums_wanted *wanted)
{
  static const int sums[] = {[OF_ENERGY] = ENERGIES, [OF_VIRIAL] = VIRIALS, [OF_GROUPS] = BETWEEN};
  s->sim = sim;
  s->model = &sim->model;
  s->pair = md_model_pair(&sim->model);
  s->wanted = (md_pair_sums_wanted){wanted->pairs, wanted->bonds && sim->model.bonds.ntypes > 0};
  s->overlap = md_overlap_none();
  s->n = sums[s->what];
  if (wanted->pairs && md_pair_has_density(s->pair)) s->ndensity = 1;
  if (wanted->pairs && md_pair_is_three_body(s->pair)) s->ndensity = MD_THREE_SUMS;
  s->nkept = s->ndensity + (sim->model.exclusions.molecules.n > 0);
  if (s->what == OF_VIRIAL && s->ndensity > 1) s->nkept += MOMENTS;
  if (md_pair_is_all(&sim->model.pair))
    return md_error(MD_USAGE, "pair style %s has no cutoff, which sums over the pairs of each particle need",
                    md_pair_style_of(sim->model.pair.kind)->name);
  MD_TRY(md_comm_agree(sim->comm, allocate(s)));
  return search_both(s);
}

static void end(summing *s)
{
  free(s->sum);
  free(s->density);
  free(s->moment);
  free(s->kept);
}

md_status md_pair_energies(md_sim *sim, int group, md_pair_sums_wanted wanted, double *energy)
{
  summing s = {.what = OF_ENERGY, .own = md_group_bit(group), .other = MD_GROUP_ALL};
  const double e = sim->model.grids.e;
  const md_status status = make_sums(&s, sim, &wanted);
  for (int64_t i = 0; i < sim->particles.n && status == MD_OK; ++i) {
    if (!md_particles_in_group(&sim->particles, md_group_bit(group), i)) continue;
    const md_fine *sum = s.sum + i * ENERGIES;
    energy[i] += 0.5 * md_fine_value(sum[PAIRS]) * e + md_fine_value(sum[TRIPLES]) * e / 3.0;
  }
  end(&s);
  return status;
}

md_status md_pair_virials(md_sim *sim, int group, md_pair_sums_wanted wanted, double *virial)
{
  const md_pair *pair = &sim->model.pair;
  if (wanted.pairs && md_pair_is_dissipative(pair))
    return md_error(
        MD_USAGE,
        "compute stress/atom: the friction and noise of pair style %s are not available, because this "
        "search of pairs has no velocities; the pressure of all particles has them",
        md_pair_style_of(pair->kind)->name);
  summing s = {.what = OF_VIRIAL, .own = md_group_bit(group), .other = MD_GROUP_ALL};
  const md_status status = make_sums(&s, sim, &wanted);
  const double w = sim->model.grids.w;
  for (int64_t i = 0; i < sim->particles.n && status == MD_OK; ++i)
    for (int c = 0; c < MD_TENSOR; ++c) {
      const md_fine *sum = s.sum + i * VIRIALS + c;
      virial[i * MD_TENSOR + c] += 0.5 * md_fine_value(sum[0]) * w + md_fine_value(sum[MD_TENSOR]) * w / 3.0;
    }
  end(&s);
  return status;
}

/* ---- between groups ---- */

typedef struct between {
  const summing *sums;
  double e, f;
} between;

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const between *b = context;
  const md_fine *sum = b->sums->sum + i * BETWEEN;
  (void)p;
  term[0] = 0.5 * md_fine_value(sum[0]) * b->e;
  for (int d = 0; d < 3; ++d) term[1 + d] = md_fine_value(sum[1 + d]) * b->f;
}

md_status md_pair_between(md_sim *sim, int group, int other, double sum[4])
{
  const md_pair *pair = &sim->model.pair;
  const md_pair_sums_wanted pairs = {true, false};
  summing s = {.what = OF_GROUPS, .own = md_group_bit(group), .other = md_group_bit(other)};
  const between b = {&s, sim->model.grids.e, sim->model.grids.f};
  if (md_pair_has_density(pair) || md_pair_is_three_body(pair) || md_pair_is_dissipative(pair))
    return md_error(
        MD_USAGE,
        "compute group/group: forces of pair style %s are no functions of a distance, so that groups share "
        "no energy",
        md_pair_style_of(pair->kind)->name);
  md_status status = make_sums(&s, sim, &pairs);
  if (status == MD_OK)
    status = md_exact_sums(sim->comm, &sim->particles, BETWEEN, terms_of, &b, "compute group/group", sum);
  end(&s);
  return status;
}
