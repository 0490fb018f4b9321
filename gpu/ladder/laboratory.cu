/* Set-up and checks of the study laboratory. Bodies begin at rest, so that velocities after the first iteration are the
 * accelerations times dt. */
#include "gpu/ladder/laboratory/laboratory.cuh"

#include <string.h>

namespace laboratory
{
static const float far_away = 1e18f; /* its square is still a float, and the inverse cube of it is 0 */

static fields fields_in(float *at, int padded)
{
  return {at, at + padded, at + 2 * padded, at + 3 * padded, at + 4 * padded, at + 5 * padded};
}

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays)
{
  const int padded = ladder_padded(c->n);
  const size_t size = (size_t)padded;
  std::vector<body> aos(size, body{far_away, far_away, far_away, 0.0f, 0.0f, 0.0f});
  std::vector<float> all(6 * size);
  for (size_t i = 0; i < size; ++i) {
    if (i < (size_t)c->n) aos[i] = {c->x[i], c->y[i], c->z[i], 0.0f, 0.0f, 0.0f};
    all[i] = aos[i].x;
    all[size + i] = aos[i].y;
    all[2 * size + i] = aos[i].z;
  }
  b.n = c->n;
  b.padded = padded;
  b.dt = c->dt;
  b.aos = arrays.device<body>(padded);
  b.host = arrays.pageable<body>(padded);
  b.device = fields_in(arrays.device<float>(6 * padded), padded);
  b.pageable = fields_in(arrays.pageable<float>(6 * padded), padded);
  b.pinned = fields_in(arrays.pinned<float>(6 * padded), padded);
  ladder_upload(b.aos, aos);
  ladder_upload(b.device.x, all);
  memcpy(b.host, aos.data(), size * sizeof(body));
  memcpy(b.pageable.x, all.data(), all.size() * sizeof(float));
  memcpy(b.pinned.x, all.data(), all.size() * sizeof(float));
}

/* The bodies after an iteration as six arrays, one after the other. */
static std::vector<float> result_of(const bodies &b, int holds)
{
  const size_t size = (size_t)b.padded;
  std::vector<float> all(6 * size);
  if (holds == FIELDS) return ladder_download(b.device.x, 6 * b.padded);
  if (holds == PAGEABLE_FIELDS) memcpy(all.data(), b.pageable.x, all.size() * sizeof(float));
  if (holds == PINNED_FIELDS) memcpy(all.data(), b.pinned.x, all.size() * sizeof(float));
  if (holds != STRUCTURES && holds != HOST_STRUCTURES) return all;
  std::vector<body> aos(b.host, b.host + b.padded);
  if (holds == STRUCTURES) aos = ladder_download(b.aos, b.padded);
  for (size_t i = 0; i < size; ++i) {
    const body &k = aos[i];
    const float field[6] = {k.x, k.y, k.z, k.vx, k.vy, k.vz};
    for (size_t f = 0; f < 6; ++f) all[f * size + i] = field[f];
  }
  return all;
}

void check(const bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result)
{
  std::vector<float> all = result_of(b, holds);
  const fields f = fields_in(all.data(), b.padded);
  std::vector<double> a[3];
  const float *const velocity[3] = {f.vx, f.vy, f.vz};
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < b.n; ++i) a[d].push_back((double)velocity[d][i] / (double)b.dt);
  result->error = ladder_error(c, a[0].data(), a[1].data(), a[2].data());
  result->right = ladder_moved(c, f.x, f.y, f.z, f.vx, f.vy, f.vz);
}
} // namespace laboratory
