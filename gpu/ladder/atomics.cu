/* Set-up and checks of the study atomics. */
#include "gpu/ladder/atomics/atomics.cuh"

namespace atomics
{
template <class T> static vectors<T> make_vectors(int64_t count, ladder_arrays &arrays)
{
  return {arrays.device<T>(count), arrays.device<T>(count), arrays.device<T>(count)};
}

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays)
{
  const int padded = ladder_padded(c->n);
  std::vector<float4> body((size_t)padded, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
  for (int i = 0; i < c->n; ++i) body[(size_t)i] = make_float4(c->x[i], c->y[i], c->z[i], c->m[i]);
  b.n = c->n;
  b.body = arrays.device<float4>(padded);
  b.f = make_vectors<float>(padded, arrays);
  b.d = make_vectors<double>(padded, arrays);
  b.q = make_vectors<fixed>(padded, arrays);
  ladder_upload(b.body, body);
}

/* Accelerations along one axis. */
static std::vector<double> result_of(const bodies &b, int holds, int axis)
{
  const float *const f[3] = {b.f.x, b.f.y, b.f.z};
  const double *const d[3] = {b.d.x, b.d.y, b.d.z};
  const fixed *const q[3] = {b.q.x, b.q.y, b.q.z};
  if (holds == DOUBLES) return ladder_download(d[axis], b.n);
  if (holds == FLOATS) {
    const std::vector<float> a = ladder_download(f[axis], b.n);
    return std::vector<double>(a.begin(), a.end());
  }
  std::vector<double> a;
  for (fixed sum : ladder_download(q[axis], b.n)) a.push_back((double)(long long)sum / (double)FIXED_SCALE);
  return a;
}

static std::vector<fixed> all_bits(const bodies &b)
{
  std::vector<fixed> all;
  for (const fixed *axis : {b.q.x, b.q.y, b.q.z})
    for (fixed sum : ladder_download(axis, b.n)) all.push_back(sum);
  return all;
}

void check(bodies &b, int holds, void (*iterate)(bodies &), const ladder_case *c, ladder_result *result)
{
  std::vector<double> a[3];
  for (int axis = 0; axis < 3; ++axis) a[axis] = result_of(b, holds, axis);
  result->error = ladder_error(c, a[0].data(), a[1].data(), a[2].data());
  if (holds != FIXED) return;
  const std::vector<fixed> bits = all_bits(b);
  time_of(iterate, b, 1);
  result->right = bits == all_bits(b);
}
} // namespace atomics
