/* fix ave/atom: averages over time of values of each particle.
 *
 * At each sample the values are added to sums, which are kept by id (id_values.h), as particles go from rank to rank.
 * A sum adds the samples of one particle in the order of time, so that its bits are the same everywhere. After the
 * last sample the sums, divided by their number, become f_ID or f_ID[K] until the next average.
 *
 * Cost: at each sample, the values and two messages a particle. Memory: 16 bytes a value and particle. Reference: the
 * LAMMPS manual, fix ave/atom. */
#include "src/averages/averaging.h"
#include "src/formula/particle_values.h"

#include <stdlib.h>
#include <string.h>

typedef struct fix_ave_atom {
  md_output_fix base;
  md_schedule schedule;
  md_id_values *sum; /* of the samples so far */
  int n;
  char (*name)[64]; /* [n] */
} fix_ave_atom;

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  fix_ave_atom *fix = (fix_ave_atom *)base;
  if (words->n < 4)
    return md_error(MD_USAGE, "fix ave/atom takes Nevery Nrepeat Nfreq, and values of particles such as vx");
  base->schedule = &fix->schedule;
  MD_TRY(md_schedule_read(&fix->schedule, "ave/atom", words->word));
  fix->n = words->n - 3;
  MD_TRY(md_array_new_zero(&fix->name, fix->n, sizeof *fix->name, "names of values"));
  for (int k = 0; k < fix->n; ++k) {
    const char *word = words->word[3 + k];
    if (strlen(word) >= sizeof *fix->name || !md_particle_values_has(sim, word))
      return md_error(
          MD_USAGE,
          "fix ave/atom: '%.80s' is no value of particles; accepted are x y z vx vy vz fx fy fz and the "
          "like, c_ID, c_ID[K], f_ID, f_ID[K], d_NAME, i_NAME and v_NAME of style atom",
          word);
    memcpy(fix->name[k], word, strlen(word) + 1);
  }
  MD_TRY(md_id_values_new(sim, "ave/atom sum", base->id, fix->n, &fix->sum));
  return md_id_values_new(sim, "ave/atom", base->id, fix->n, &base->each);
}

/* Adds a sample to sum[particles][n]. */
static md_status add_sample(const fix_ave_atom *fix, md_sim *sim, double *value, double *sum)
{
  const md_particles *p = &sim->particles;
  const uint32_t bit = md_group_bit(fix->base.observer.group);
  for (int k = 0; k < fix->n; ++k) {
    MD_TRY(md_particle_values_of(sim, fix->name[k], value));
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, bit, i)) sum[i * fix->n + k] += value[i];
  }
  return MD_OK;
}

static md_status take_sample(fix_ave_atom *fix, md_view *view, double *value, double *sum)
{
  md_sim *sim = view->sim;
  const int64_t numbers = sim->particles.n * fix->n;
  if (fix->schedule.done > 0) MD_TRY(md_id_values_get(fix->sum, sum));
  MD_TRY(add_sample(fix, sim, value, sum));
  if (!md_schedule_count(&fix->schedule, view->step)) return md_id_values_set(fix->sum, NULL, sum);
  for (int64_t k = 0; k < numbers; ++k) sum[k] /= (double)fix->schedule.repeat;
  return md_id_values_set(fix->base.each, NULL, sum);
}

static md_status look(md_output_fix *base, md_view *view)
{
  fix_ave_atom *fix = (fix_ave_atom *)base;
  double *value = NULL, *sum = NULL;
  MD_TRY(md_view_particles(view));
  const int64_t n = view->sim->particles.n;
  md_status status = md_array_new(&value, n + 1, sizeof *value, "averages of particles");
  if (status == MD_OK) status = md_array_new_zero(&sum, n * fix->n + 1, sizeof *sum, "averages of particles");
  status = md_comm_agree(view->sim->comm, status);
  if (status == MD_OK) status = take_sample(fix, view, value, sum);
  free(value);
  free(sum);
  return status;
}

static md_status walk(md_output_fix *base, md_fix_state *state)
{
  md_schedule_walk(&((fix_ave_atom *)base)->schedule, state);
  return MD_OK;
}

static void free_averages(md_output_fix *base)
{
  fix_ave_atom *fix = (fix_ave_atom *)base;
  md_id_values_free(fix->sum);
  md_id_values_free(base->each);
  free(fix->name);
}

const md_output_fix_style md_fix_ave_atom_style = {
    .name = "ave/atom",
    .usage = "ave/atom NEVERY NREPEAT NFREQ VALUE ...",
    .help = "averages of values of each particle over NREPEAT samples as for ave/time, f_ID, or f_ID[K] if\n"
            "there are several; 0 for particles outside the group, and before the first average. VALUE is\n"
            "x, vx, fx or the like, c_ID, c_ID[K], f_ID, f_ID[K], d_NAME, i_NAME or v_NAME of each particle",
    .size = sizeof(fix_ave_atom),
    .keeps_step = true,
    .parse = parse,
    .look = look,
    .walk = walk,
    .free = free_averages,
};
