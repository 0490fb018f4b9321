/* One particle, as fixes and computes get it. Engines fill it from their arrays, and take changes back. C and CUDA. */
#ifndef MD_COMMON_PARTICLE_H
#define MD_COMMON_PARTICLE_H

#include "common/model.h"
#include "common/step/motion.h"

typedef struct md_particle {
  uint64_t id;
  uint32_t group;                      /* bit g is set if the particle is in group g (groups.h) */
  int type;                            /* 1 and on */
  double mass, v_step, velocity_per_v; /* its inertia (common/step/motion.h) */
  double x[3]; /* on a periodic axis any image: the drift uses it, and others after md_wrap */
  double v[3]; /* p/m_reference, or the first words of a wide momentum */
  bool wide;
  int64_t low[3];    /* second words of a wide momentum */
  double impulse[3]; /* for md_NAME_drift: of the kick before the drift, in units of v */
} md_particle;

/* Owned particle i of the host's arrays, of a prepared model. */
static inline md_particle md_particle_of(const md_model *model, const md_particles *p, int64_t i)
{
  const md_inertia inertia = md_inertia_of(model, p, i);
  md_particle one = {.id = (uint64_t)p->id[i],
                     .group = p->group ? p->group[i] : MD_GROUP_ALL,
                     .type = p->type[i],
                     .mass = inertia.mass,
                     .v_step = inertia.v_step,
                     .velocity_per_v = inertia.velocity_per_v,
                     .wide = p->wide};
  for (int d = 0; d < p->dim; ++d) {
    one.x[d] = p->x[d][i];
    one.v[d] = p->v[d][i];
    if (one.wide) one.low[d] = p->v_low[d][i];
  }
  return one;
}

/* The factor that an action has for a type. */
MD_FN double md_action_scale(const md_action *a, int type)
{
  for (int n = 0; n < (int)a->k[MD_SCALES]; ++n)
    if (a->k[MD_SCALES + 1 + 2 * n] == (double)type) return a->k[MD_SCALES + 2 + 2 * n];
  return 1.0;
}

/* p/m_reference along axis d as a double; quantum: grids.v. */
MD_FN double md_particle_momentum(const md_particle *p, int d, double quantum)
{
  return p->wide ? md_momentum_value(p->v[d], p->low[d], quantum) : p->v[d];
}

/* The same without the bias of the velocity. */
MD_FN double md_particle_thermal(const md_particle *p, int d, double quantum, const md_bias *bias)
{
  const double v = md_particle_momentum(p, d, quantum);
  return v - md_bias_of(bias, d, p->x, v, p->velocity_per_v);
}

/* The velocity along axis d, as md_model_velocity. */
MD_FN double md_particle_velocity(const md_particle *p, int d, double quantum)
{
  return md_particle_momentum(p, d, quantum) * p->velocity_per_v;
}

#endif
