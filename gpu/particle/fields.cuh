/* The particle as fixes and computes get it (common/particle.h), from the view and the arrays that it points to. */
#ifndef MD_GPU_PARTICLE_FIELDS_CUH
#define MD_GPU_PARTICLE_FIELDS_CUH

#include "gpu/particle/view.cuh"

/* Where to find what the view does not have. */
struct particle_fields {
  const double *velocity_per_v, *mass, *v_step; /* by 0-based subtype (common/subtypes.h) */
  int types;                                    /* that groups divide into subtypes; 0: subtypes are types */
  bool wide;                                    /* are momenta wide? Then the layout is one that widens */
  int64_t *low[3];                              /* second words of wide momenta, by original index */
  const int64_t *id;                            /* by original index; NULL: unknown */
  const uint32_t *group; /* bits of groups by original index; NULL: all particles are in `all` only */
  const int *origin;     /* original index of each particle; NULL: its own index */
};

/* The original index of particle i. */
static __device__ __forceinline__ int origin_of(const particle_fields &f, int i)
{
  return f.origin ? f.origin[i] : i;
}

/* The bits of the groups of particle i. */
static __device__ __forceinline__ uint32_t group_of(const particle_fields &f, int i)
{
  return f.group ? f.group[origin_of(f, i)] : MD_GROUP_ALL;
}

/* The type, from 1, of a 0-based subtype. */
template <class F> static __device__ __forceinline__ int type_shown(const F &f, int subtype)
{
  return (f.types > 0 ? subtype % f.types : subtype) + 1;
}

/* Particle i at its present place, without its position. */
template <class T>
static __device__ __forceinline__ md_particle particle_of(const system_view<T> &s, const particle_fields &f,
                                                          int i)
{
  const int type = type_of(present(s)[i]), origin = origin_of(f, i);
  md_particle p = {};
  p.id = f.id ? (uint64_t)f.id[origin] : 0;
  p.group = f.group ? f.group[origin] : MD_GROUP_ALL;
  p.type = type_shown(f, type);
  p.mass = f.mass[type];
  p.v_step = f.v_step[type];
  p.velocity_per_v = f.velocity_per_v[type];
  p.wide = f.wide;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    p.v[d] = (double)s.v[d][i];
    if (T::WIDENS && f.wide) p.low[d] = f.low[d][origin];
  }
  return p;
}

#endif
