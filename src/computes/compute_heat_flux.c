/* compute heat/flux: the flux of heat times the volume, of the particles of a group.
 *
 *      J = sum over i of (ke_i + pe_i) v_i  -  sum over i of S_i v_i
 *
 * S_i is the stress of the particle times its volume. c_ID[1] to c_ID[3] are J, and c_ID[4] to c_ID[6] its first sum
 * alone. Sums are exact (src/sums/exact_sum.h). Cost: that of the three computes, and a pass over the particles.
 * Reference: the LAMMPS manual, compute heat/flux. */
#include "common/ranks/reductions.h"
#include "common/tensor.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/formula/particle_values.h"
#include "src/output/observer.h"
#include "src/sums/exact_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINETIC, POTENTIAL, STRESS, VALUES = STRESS + MD_TENSOR };

typedef struct compute_flux {
  md_host_compute base;
  char name[VALUES][80]; /* of the values of particles */
  double flux[6];
} compute_flux;

/* MD_USAGE, unless the ID is that of a compute of the style. */
static md_status check_style(const md_sim *sim, const char *id, const char *style)
{
  const int index = md_compute_index(&sim->model, id, strlen(id));
  const md_host_compute *host = md_host_compute_find(sim, id, strlen(id));
  const char *is = host        ? host->style->name
                   : index < 0 ? NULL
                               : md_compute_style_of(sim->model.compute[index].kind)->name;
  if (is && strcmp(is, style) == 0) return MD_OK;
  return md_error(MD_USAGE, "compute heat/flux: '%.64s' is no compute of style %s", id, style);
}

static md_status parse(md_host_compute *base, md_sim *sim, const md_words *words)
{
  static const bool extensive[6] = {true, true, true, true, true, true};
  compute_flux *c = (compute_flux *)base;
  if (words->n != 3)
    return md_error(MD_USAGE, "compute heat/flux takes the IDs of computes ke/atom, pe/atom and stress/atom");
  MD_TRY(check_style(sim, words->word[0], "ke/atom"));
  MD_TRY(check_style(sim, words->word[1], "pe/atom"));
  MD_TRY(check_style(sim, words->word[2], "stress/atom"));
  for (int k = 0; k < STRESS; ++k) snprintf(c->name[k], sizeof c->name[k], "c_%.63s", words->word[k]);
  for (int k = 0; k < MD_TENSOR; ++k)
    snprintf(c->name[STRESS + k], sizeof c->name[STRESS + k], "c_%.63s[%d]", words->word[2], k + 1);
  base->values = (md_values){.has_vector = true, .nvector = 6, .vector = c->flux, .extensive = extensive};
  return MD_OK;
}

typedef struct summed {
  const md_model *model;
  uint32_t bit;
  double *value[VALUES];
} summed;

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const summed *s = context;
  double v[3] = {0.0};
  for (int k = 0; k < 6; ++k) term[k] = 0.0;
  if (!md_particles_in_group(p, s->bit, i)) return;
  const double energy = s->value[POTENTIAL][i] + s->value[KINETIC][i];
  for (int d = 0; d < p->dim; ++d) v[d] = md_model_velocity(s->model, p, d, i);
  for (int d = 0; d < p->dim; ++d) term[3 + d] = energy * v[d];
  for (int k = 0; k < MD_TENSOR; ++k) {
    const int a = md_tensor_row(k), b = md_tensor_column(k);
    const double stress = s->value[STRESS + k][i] / s->model->units->nktv2p;
    term[a] -= stress * v[b];
    if (a != b) term[b] -= stress * v[a];
  }
}

static md_status find_all(compute_flux *c, md_sim *sim, summed *s)
{
  for (int k = 0; k < VALUES; ++k) MD_TRY(md_particle_values_of(sim, c->name[k], s->value[k]));
  MD_TRY(md_exact_sums(sim->comm, &sim->particles, 6, terms_of, s, "compute heat/flux: the flux", c->flux));
  for (int d = 0; d < 3; ++d) c->flux[d] += c->flux[3 + d];
  return MD_OK;
}

static md_status find(md_host_compute *base, md_view *view)
{
  md_sim *sim = view->sim;
  summed s = {&sim->model, md_group_bit(base->group), {NULL}};
  md_status status = MD_OK;
  for (int k = 0; k < VALUES && status == MD_OK; ++k)
    status = md_array_new(&s.value[k], sim->particles.n, sizeof(double), "the values of particles");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_all((compute_flux *)base, sim, &s);
  for (int k = 0; k < VALUES; ++k) free(s.value[k]);
  return status;
}

const md_host_compute_style md_compute_heat_flux_style = {
    .name = "heat/flux",
    .usage = "heat/flux KE PE STRESS",
    .help =
        "flux of heat times the volume, c_ID[1] to c_ID[3], and its convective part, c_ID[4] to c_ID[6]; of\n"
        "computes ke/atom, pe/atom and stress/atom (LAMMPS takes `NULL virial` for the latter)",
    .size = sizeof(compute_flux),
    .parse = parse,
    .find = find,
};
