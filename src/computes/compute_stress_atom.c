/* compute stress/atom: the stress of each particle times its volume, in units of pressure times volume.
 *
 *      S_ab = - m v_a v_b - 1/2 sum over its pairs and bonds of r_a f_b,   ab = xx yy zz xy xz yz
 *
 * r and f point from the partner to the particle. Velocities are the thermal ones, if a temperature is given. The sums
 * over pairs are exact integers, rounded as engines round the virial. So the values have the same bits everywhere. The
 * sum over all particles is minus pressure times dim times volume. Fixes add nothing. Cost: that of the search of pairs
 * (neighbours.h). Reference: Thompson, Plimpton and Mattson, J. Chem. Phys. 131 (2009) 154107; the LAMMPS manual. */
#include "common/ranks/reductions.h"
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
  bool kinetic;
  md_pair_sums_wanted wanted;
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
    return md_error(
        MD_USAGE,
        "compute stress/atom takes a temperature or NULL, and perhaps ke, pair, bond, fix or virial");
  MD_TRY(read_temperature(c, sim, words->word[0]));
  c->kinetic = words->n == 1;
  c->wanted = (md_pair_sums_wanted){c->kinetic, c->kinetic};
  for (int w = 1; w < words->n; ++w) {
    const char *word = words->word[w];
    if (strcmp(word, "ke") == 0)
      c->kinetic = true;
    else if (strcmp(word, "virial") == 0)
      c->wanted = (md_pair_sums_wanted){true, true};
    else if (!md_pair_sums_keyword(word, &c->wanted))
      return md_error(
          MD_USAGE,
          "compute stress/atom: unknown keyword '%.64s'; accepted are ke, virial, " MD_PAIR_SUMS_KEYWORDS,
          word);
  }
  base->columns = MD_TENSOR;
  base->vector = true;
  return MD_OK;
}

static md_status subtract_pairs(compute_stress *c, md_sim *sim)
{
  const int64_t n = sim->particles.n * MD_TENSOR;
  double *virial;
  MD_TRY(
      md_comm_agree(sim->comm, md_array_new_zero(&virial, n + 1, sizeof *virial, "stresses of particles")));
  const md_status status = md_pair_virials(sim, c->base.group, c->wanted, virial);
  for (int64_t k = 0; k < n && status == MD_OK; ++k) c->base.each[k] -= virial[k] * sim->model.units->nktv2p;
  free(virial);
  return status;
}

static md_status subtract_kinetic(compute_stress *c, md_sim *sim)
{
  const md_particles *p = &sim->particles;
  md_bias bias;
  uint32_t bit; /* of the temperature, whose group does not matter here, as in LAMMPS */
  MD_TRY(md_temperature_bias(sim, "compute stress/atom", c->temperature, &bias, &bit));
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
  if (c->wanted.pairs || c->wanted.bonds) MD_TRY(subtract_pairs(c, view->sim));
  return c->kinetic ? subtract_kinetic(c, view->sim) : MD_OK;
}

const md_host_compute_style md_compute_stress_atom_style = {
    .name = "stress/atom",
    .usage = "stress/atom TEMP|NULL [ke] [pair] [bond] [fix] [virial]",
    .help = "stress of each particle times its volume, c_ID[1] to c_ID[6]: xx yy zz xy xz yz, of the\n"
            "kinetic energy (without the flow of the temperature TEMP), of pairs and of bonds; virial is\n"
            "all but ke; fix, angle, dihedral, improper and kspace add nothing here",
    .size = sizeof(compute_stress),
    .parse = parse,
    .find = find,
};
