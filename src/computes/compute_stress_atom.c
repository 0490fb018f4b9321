/* compute stress/atom: the stress of each particle times its volume, in units of pressure times volume.
 *
 *      S_ab = - m v_a v_b - 1/2 sum over its pairs of r_a f_b,   ab = xx yy zz xy xz yz
 *
 * r and f point from the partner to the particle. Velocities are the thermal ones, if a temperature is given. The sums
 * over pairs are exact integers, rounded as engines round the virial. So the values have the same bits everywhere. The
 * sum over all particles is minus pressure times dim times volume. Fixes add nothing. Cost: that of the search of pairs
 * (neighbours.h). Reference: Thompson, Plimpton and Mattson, J. Chem. Phys. 131 (2009) 154107; the LAMMPS manual. */
#include "common/tensor.h"
#include "src/computes/host_compute.h"
#include "src/computes/pair_sums.h"
#include "src/output/observer.h"
#include "src/sums/temperature.h"

#include <stdlib.h>
#include <string.h>

typedef struct compute_stress {
  md_host_compute base;
  char temperature[64]; /* ""; velocities are whole */
  bool kinetic, pairs;
} compute_stress;

static md_status read_temperature(compute_stress *c, const md_sim *sim, const char *word)
{
  int index;
  if (strcmp(word, "NULL") == 0) return MD_OK;
  MD_TRY(md_compute_temperature(&sim->model, "compute stress/atom", word, true, &index));
  memcpy(c->temperature, sim->model.compute[index].id, sizeof c->temperature);
  return MD_OK;
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  compute_stress *c = (compute_stress *)base;
  if (words->n < 1)
    return md_error(MD_USAGE,
                    "compute stress/atom takes a temperature or NULL, and perhaps ke, pair, fix or virial");
  MD_TRY(read_temperature(c, sim, words->word[0]));
  c->kinetic = c->pairs = words->n == 1;
  for (int w = 1; w < words->n; ++w) {
    const char *word = words->word[w];
    if (strcmp(word, "ke") == 0)
      c->kinetic = true;
    else if (strcmp(word, "pair") == 0 || strcmp(word, "virial") == 0)
      c->pairs = true;
    else if (strcmp(word, "fix") != 0)
      return md_error(
          MD_USAGE, "compute stress/atom: unknown keyword '%.64s'; accepted are ke, pair, fix, virial", word);
  }
  base->columns = MD_TENSOR;
  base->vector = true;
  return MD_OK;
}

static void add(const md_model *model, const double delta[3], double r2, const double *k, md_fine *sum)
{
  const double f = md_pair_force(model->pair.kind, r2, k), per_w = model->grids.f / model->grids.w;
  for (int c = 0; c < MD_TENSOR; ++c) {
    const int a = md_tensor_row(c), b = md_tensor_column(c);
    if (b < model->box.dim) md_fine_add(&sum[c], f * delta[a] * delta[b] * per_w);
  }
}

static md_status subtract_pairs(compute_stress *c, md_sim *sim)
{
  md_fine *sum;
  if (md_pair_is_dissipative(&sim->model.pair))
    return md_error(
        MD_USAGE,
        "compute stress/atom: the friction and noise of pair style %s are not available, because this "
        "search of pairs has no velocities; the pressure of all particles has them",
        md_pair_style_of(sim->model.pair.kind)->name);
  MD_TRY(md_pair_sums(sim, c->base.group, MD_TENSOR, add, &sum));
  for (int64_t k = 0; k < sim->particles.n * MD_TENSOR; ++k)
    c->base.each[k] -= 0.5 * md_fine_value(sum[k]) * sim->model.grids.w * sim->model.units->nktv2p;
  free(sum);
  return MD_OK;
}

static md_status subtract_kinetic(compute_stress *c, md_sim *sim)
{
  const md_particles *p = &sim->particles;
  md_bias bias;
  MD_TRY(md_temperature_bias(sim, "compute stress/atom", c->temperature, &bias));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    const double mass = md_mass_of(&sim->model, p, i) * sim->model.units->nktv2p;
    double v[3] = {0.0}, x[3] = {0.0};
    if (!md_particles_in_group(p, md_group_bit(c->base.group), i)) continue;
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    for (int d = 0; d < p->dim; ++d) {
      v[d] = md_model_velocity(&sim->model, p, d, i);
      v[d] -= md_bias_of(&bias, d, x, v[d], 1.0);
    }
    for (int k = 0; k < MD_TENSOR; ++k)
      c->base.each[i * MD_TENSOR + k] -= mass * v[md_tensor_row(k)] * v[md_tensor_column(k)];
  }
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  compute_stress *c = (compute_stress *)base;
  if (c->pairs) MD_TRY(subtract_pairs(c, view->sim));
  return c->kinetic ? subtract_kinetic(c, view->sim) : MD_OK;
}

const md_host_compute_style md_compute_stress_atom_style = {
    .name = "stress/atom",
    .usage = "stress/atom TEMP|NULL [ke] [pair] [fix] [virial]",
    .help = "stress of each particle times its volume, c_ID[1] to c_ID[6]: xx yy zz xy xz yz, of the kinetic "
            "energy\n"
            "(without the flow of the temperature TEMP) and of pairs; virial is all but ke; fix adds nothing "
            "here",
    .size = sizeof(compute_stress),
    .parse = parse,
    .find = find,
};
