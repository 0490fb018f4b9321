/* A scene: the surface that is seen at each pixel of a picture, with its colour and the direction it faces; lines in
 * it, and light.
 */
#ifndef MD_SRC_PICTURE_SCENE_H
#define MD_SRC_PICTURE_SCENE_H

#include "src/picture/camera.h"
#include "src/picture/colour/colour_names.h"

/* The surface at a pixel as a word: 24 bits of colour, and two of 16 bits for the parts of its unit normal to the right
 * and up. Its part toward the viewer is positive. */
int64_t md_surface_pack(const md_colour *colour, double right, double up);

typedef struct md_scene {
  const md_front *front; /* camera and depths */
  double *level;         /* [height][width], by md_front_level; 0: background */
  int64_t *surface;      /* [height][width], packed */
} md_scene;

typedef struct md_light {
  md_colour background;
  double shine;     /* strength of highlights, 0 to 1 */
  bool flat;        /* colours as they are, without light */
  double occlusion; /* strength of ambient occlusion, 0 to 1; 0: none */
  double reach;     /* from where surfaces shade each other, pixels */
  double turn;      /* by which the directions of occlusion are turned, turns */
} md_light;

/* The surface of a sphere at the pixel with the number `pixel`, which it covers. Discs of more than 4 pixels have a
 * dark rim. */
int64_t md_scene_sphere(const md_front *front, const double x[3], double radius, md_colour colour,
                        int64_t pixel);

/* Draws a rod of a radius from a to b, sigma. It is in front of a sphere at the same depth. */
void md_scene_line(md_scene *scene, const double a[3], const double b[3], double radius,
                   const md_colour *colour);

/* Lights the scene: rgb[3 * width * height]. */
void md_scene_paint(const md_scene *scene, const md_light *light, unsigned char *rgb);

#endif
