/* Pictures of particles (common/sums/front.h), for dump image and dump movie.
 *
 *   1. k_draw: a thread for each particle. A pixel is one word of 64 bits: the level of the surface there, and the
 *      index of the particle. A thread looks at the word first, and replaces it by an atomic exchange only if its
 *      particle is in front. Of several at the same level, as the discs in two dimensions, the smallest id decides.
 *   2. k_sights: a thread for each pixel writes what the host needs to know of the particle that is seen there. The
 *      host finds colours and light, and merges the pictures of ranks.
 *
 * Trade-off: one pass over the particles and no order of them. Threads with large spheres hold up their warps; there
 * are few such spheres in a picture. Cost: one read of positions, and of origins (and ids, if the host's particles are
 * not in their order) where particles hide each other; 8 bytes a pixel, and 48 for those that go to the host together.
 */
#include "gpu/sums/launches.cuh"
#include "gpu/sums/output_particle.cuh"

enum { DRAW_THREADS = 256, INDEX_BITS = 32 };

/* Where a particle is shown. */
template <class T>
static __device__ __forceinline__ void shown_place(const system_view<T> &s, const draw_args &a, int i,
                                                   double x[3])
{
  const typename T::particle r = wrapped<T>(s, present_particle<T>(s, i));
  x[0] = x[1] = x[2] = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    x[d] = T::where(s.scale, d, r.x[d]);
    if (T::MIXED && s.box.periodic[d] && x[d] >= s.box.hi[d]) x[d] -= s.box.length[d];
  }
  if (a.box.triclinic) md_box_show(&a.box, x);
}

/* The id of a particle, or its original index where that has the order of ids. */
static __device__ __forceinline__ unsigned long long rank_of(const draw_args &a, int i)
{
  const int origin = origin_of(a.each.fields, i);
  return a.id ? (unsigned long long)a.id[origin] : (unsigned long long)origin;
}

/* Is the particle of word `one` in front of that of word `other`? */
static __device__ __forceinline__ bool is_before(const draw_args &a, unsigned long long one,
                                                 unsigned long long other)
{
  if (one >> INDEX_BITS != other >> INDEX_BITS) return one > other;
  return rank_of(a, (int)(unsigned)one) < rank_of(a, (int)(unsigned)other);
}

static __device__ __forceinline__ void put(const draw_args &a, unsigned long long *pixel,
                                           unsigned long long word)
{
  unsigned long long held = *(volatile unsigned long long *)pixel;
  while (held == 0 || is_before(a, word, held)) {
    const unsigned long long before = atomicCAS(pixel, held, word);
    if (before == held) break;
    held = before;
  }
}

template <class T>
static __global__ void __launch_bounds__(DRAW_THREADS)
    k_draw(const __grid_constant__ system_view<T> s, const __grid_constant__ draw_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n || !(group_of(a.each.fields, i) & a.drawing.group)) return;
  const double radius = a.radius[type_shown(a.each.fields, type_of(present(s)[i]))];
  double x[3];
  if (!(radius > 0.0)) return;
  shown_place<T>(s, a, i, x);
  const md_front &front = a.drawing.front;
  const md_disc disc = md_front_disc(&front, x, radius);
  for (int row = disc.row[0]; row <= disc.row[1]; ++row)
    for (int column = disc.column[0]; column <= disc.column[1]; ++column) {
      const unsigned level = md_front_level_at(&front, &disc, row, column);
      if (level == 0u) continue;
      put(a, &a.front[(int64_t)row * front.camera.width + column],
          (unsigned long long)level << INDEX_BITS | (unsigned)i);
    }
}

template <class T>
static __global__ void __launch_bounds__(DRAW_THREADS)
    k_sights(const __grid_constant__ system_view<T> s, const __grid_constant__ draw_args a, int64_t first,
             int count)
{
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const unsigned long long word = a.front[first + k];
  md_sight sight = {};
  if (word != 0) {
    const int i = (int)(unsigned)word;
    const md_particle p = particle_of<T>(s, a.each.fields, i);
    double v[3] = {0.0, 0.0, 0.0};
    shown_place<T>(s, a, i, sight.x);
    for (int d = 0; d < T::DIM; ++d) v[d] = md_particle_velocity(&p, d, a.each.quantum);
    const double *near = md_each_near(&a.drawing.value, origin_of(a.each.fields, i));
    if (a.drawing.valued) sight.value = md_each_value(&a.drawing.value, &p, near, sight.x, v, T::DIM);
    /* Without ids here the host finds them by original index. */
    sight.id = (int64_t)rank_of(a, i);
    sight.type = p.type;
    sight.level = (unsigned)(word >> INDEX_BITS);
  }
  a.sight[k] = sight;
}

template <class T> md_status launch_draw(const launch &l, const system_view<T> &s, const draw_args &a)
{
  if (s.n == 0) return MD_OK;
  k_draw<T><<<blocks_for(s.n, DRAW_THREADS), DRAW_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_draw");
  return MD_OK;
}

template <class T>
md_status launch_sights(const launch &l, const system_view<T> &s, const draw_args &a, int64_t first,
                        int count)
{
  k_sights<T><<<blocks_for(count, DRAW_THREADS), DRAW_THREADS, 0, l.stream>>>(s, a, first, count);
  MD_LAUNCHED("k_sights");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_draw<T>(const launch &, const system_view<T> &, const draw_args &);              \
  template md_status launch_sights<T>(const launch &, const system_view<T> &, const draw_args &, int64_t,    \
                                      int);
MD_LAYOUTS(INSTANCE)
