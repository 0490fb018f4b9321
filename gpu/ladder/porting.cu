/* Set-up and checks of the study porting, and the search for the CPU's best share in its rung hybrid. */
#include "gpu/ladder/porting/porting.cuh"

#include <omp.h>
#include <stdio.h>
#include <string.h>

namespace porting
{
template <class real> static fields<real> fields_in(real *at, int64_t padded)
{
  return {at,
          at + padded,
          at + 2 * padded,
          at + 3 * padded,
          at + 4 * padded,
          at + 5 * padded,
          at + 6 * padded,
          at + 7 * padded,
          at + 8 * padded,
          at + 9 * padded};
}

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays)
{
  const int64_t padded = ladder_padded(c->n);
  const size_t size = (size_t)padded;
  std::vector<star> aos(size);
  std::vector<float> all(10 * size);
  for (size_t i = 0; i < (size_t)c->n; ++i) {
    aos[i] = {c->m[i], c->x[i], c->y[i], c->z[i]};
    all[i] = c->m[i];
    all[size + i] = c->x[i];
    all[2 * size + i] = c->y[i];
    all[3 * size + i] = c->z[i];
  }
  b.n = c->n;
  b.padded = (int)padded;
  b.aos = arrays.device<star>(padded);
  b.f = fields_in(arrays.device<float>(10 * padded), padded);
  b.d = fields_in(arrays.device<double>(10 * padded), padded);
  b.host = fields_in(arrays.pinned<float>(10 * padded), padded);
  b.host_stars = c->n / 10;
  ladder_upload(b.aos, aos);
  ladder_upload(b.f.m, all);
  ladder_upload(b.d.m, std::vector<double>(all.begin(), all.end()));
  memcpy(b.host.m, all.data(), all.size() * sizeof(float));
}

void check(bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result)
{
  std::vector<double> a[3];
  const float *const single[3] = {b.f.ax, b.f.ay, b.f.az};
  const double *const twice[3] = {b.d.ax, b.d.ay, b.d.az};
  for (int d = 0; d < 3; ++d) {
    const std::vector<float> s = ladder_download(single[d], b.n);
    a[d] = holds == DOUBLES ? ladder_download(twice[d], b.n) : std::vector<double>(s.begin(), s.end());
  }
  if (holds == STRUCTURES) {
    const std::vector<star> aos = ladder_download(b.aos, b.n);
    for (size_t i = 0; i < aos.size(); ++i) {
      a[0][i] = (double)aos[i].ax;
      a[1][i] = (double)aos[i].ay;
      a[2][i] = (double)aos[i].az;
    }
  }
  result->error = ladder_error(c, a[0].data(), a[1].data(), a[2].data());
  if (holds == TENTH || holds == BEST_SHARE) result->threads = omp_get_max_threads();
}

/* Tries no star, and then a share from 1/4096 on, each twice the one before, until the CPU needs far too long. */
void tune(bodies &b, int holds, void (*iterate)(bodies &))
{
  if (holds != BEST_SHARE) return;
  b.host_stars = 0;
  int best = 0;
  double least = std::min(time_of(iterate, b, 1), time_of(iterate, b, 1));
  for (int parts = 4096; parts > 1; parts /= 2) {
    b.host_stars = b.n / parts;
    const double ms = std::min(time_of(iterate, b, 1), time_of(iterate, b, 1));
    if (ms > 2.0 * least) break;
    if (ms >= least) continue;
    least = ms;
    best = b.host_stars;
  }
  b.host_stars = best;
  fprintf(stderr, "ladder-gpu: porting/hybrid-best: %d of %d stars for the CPU\n", best, b.n);
}
} // namespace porting
