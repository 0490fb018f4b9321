/* The camera of a picture of particles: a parallel projection of space onto pixels.
 *
 * Units: sigma in space, pixels in the picture. A projected place has the distance from the picture's left edge, that
 * from its upper edge, and that towards the viewer from the point in the middle of the picture.
 */
#ifndef MD_SRC_PICTURE_CAMERA_H
#define MD_SRC_PICTURE_CAMERA_H

typedef struct md_camera {
  int width, height;                 /* pixels */
  double right[3], up[3], toward[3]; /* unit vectors; toward the viewer */
  double centre[3];                  /* the point in the middle of the picture */
  double per_length;                 /* pixels per sigma */
} md_camera;

/* Turns the camera: theta is the angle of the line of sight from the z axis, phi that around it, in degrees. up is
 * upwards in the picture; if the line of sight is parallel to it, y is, or x. The same bits on every machine. */
void md_camera_turn(md_camera *camera, double theta, double phi, const double up[3]);

static inline double md_dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void md_camera_project(const md_camera *c, const double x[3], double at[3])
{
  const double d[3] = {x[0] - c->centre[0], x[1] - c->centre[1], x[2] - c->centre[2]};
  at[0] = 0.5 * c->width + c->per_length * md_dot(d, c->right);
  at[1] = 0.5 * c->height - c->per_length * md_dot(d, c->up);
  at[2] = c->per_length * md_dot(d, c->toward);
}

#endif
