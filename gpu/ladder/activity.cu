/* Set-up and checks of the study activity. Bodies begin at rest, so that velocities after the first iteration are the
 * accelerations times dt. */
#include "gpu/ladder/activity/activity.cuh"

namespace activity
{
void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays)
{
  const int padded = ladder_padded(c->n);
  std::vector<body> aos((size_t)padded);
  std::vector<float> x((size_t)padded), y((size_t)padded), m((size_t)padded);
  for (int i = 0; i < c->n; ++i) {
    const size_t k = (size_t)i;
    aos[k] = {c->x[i], c->y[i], 0.0f, 0.0f, c->m[i]};
    x[k] = c->x[i];
    y[k] = c->y[i];
    m[k] = c->m[i];
  }
  b.n = c->n;
  b.dt = c->dt;
  b.aos = arrays.device<body>(padded);
  for (float **field : {&b.x, &b.y, &b.m, &b.vx, &b.vy, &b.x_next, &b.y_next})
    *field = arrays.device<float>(padded);
  b.map = arrays.device<unsigned>(MAP_CELLS * MAP_CELLS);
  ladder_upload(b.aos, aos);
  ladder_upload(b.x, x);
  ladder_upload(b.y, y);
  ladder_upload(b.m, m);
}

void check(const bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result)
{
  const std::vector<body> aos = ladder_download(b.aos, b.n);
  std::vector<float> x = ladder_download(b.x, b.n), y = ladder_download(b.y, b.n);
  std::vector<float> vx = ladder_download(b.vx, b.n), vy = ladder_download(b.vy, b.n);
  std::vector<double> ax((size_t)b.n), ay((size_t)b.n);
  for (size_t i = 0; i < (size_t)b.n; ++i) {
    if (holds == STRUCTURES) {
      x[i] = aos[i].x;
      y[i] = aos[i].y;
      vx[i] = aos[i].vx;
      vy[i] = aos[i].vy;
    }
    ax[i] = (double)vx[i] / (double)b.dt;
    ay[i] = (double)vy[i] / (double)b.dt;
  }
  const std::vector<unsigned> map = ladder_download(b.map, MAP_CELLS * MAP_CELLS);
  result->error = ladder_error(c, ax.data(), ay.data(), nullptr);
  result->right = ladder_moved(c, x.data(), y.data(), nullptr, vx.data(), vy.data(), nullptr) &&
                  ladder_mapped(c, x.data(), y.data(), map.data());
}
} // namespace activity
