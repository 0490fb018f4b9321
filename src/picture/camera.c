/* Directions of a camera; see camera.h. Sines are those of common/arithmetic/real.h, not of the C library. */
#include "src/picture/camera.h"
#include "common/arithmetic/real.h"

#include <math.h>
#include <string.h>

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int d = 0; d < 3; ++d) c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static void normalise(double a[3])
{
  const double length = sqrt(md_dot(a, a));
  for (int d = 0; d < 3; ++d) a[d] /= length;
}

void md_camera_turn(md_camera *c, double theta, double phi, const double up[3])
{
  static const double parallel = 1e-12;
  const double t = theta / 360.0, p = phi / 360.0, s = md_sin_turns(t), c_theta = md_sin_turns(t + 0.25);
  const double toward[3] = {s * md_sin_turns(p + 0.25), s * md_sin_turns(p), c_theta};
  memcpy(c->toward, toward, sizeof toward);
  normalise(c->toward);
  cross(up, c->toward, c->right);
  if (md_dot(c->right, c->right) < parallel * md_dot(up, up)) {
    const double sign = theta == 180.0 ? -1.0 : 1.0, along = sign * c_theta;
    cross(up, (double[3]){along * md_sin_turns(p + 0.25), along * md_sin_turns(p), -sign * s}, c->right);
  }
  normalise(c->right);
  cross(c->toward, c->right, c->up);
}
