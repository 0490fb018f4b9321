/* One thread: the loops of the CPU, on one thread of the GPU.
 *
 * This is where a port begins: the text is that of a CPU's program, and the results can be compared. The GPU has
 * thousands of threads, and here all but one are idle. That one is slow by itself, because it waits for each
 * result, while a CPU works on what does not need it.
 *
 * On the GPUs of the publication: 72.4, 36.7 and 68.1 times slower than a thread of a CPU.
 */
#include "gpu/ladder/porting/porting.cuh"

namespace porting
{
static __global__ void k_force(star *s, int n, float softening)
{
  for (int i = 0; i < n; ++i) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; ++j) {
      if (i != j) {
        const float dx = s[j].x - s[i].x, dy = s[j].y - s[i].y, dz = s[j].z - s[i].z;
        const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
        const float pull = s[j].m * inverse * inverse * inverse;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
      }
    }
    s[i].ax = ax;
    s[i].ay = ay;
    s[i].az = az;
  }
}

void one_thread(bodies &b) { k_force<<<1, 1>>>(b.aos, b.n, PORTING_SOFTENING); }
} // namespace porting
