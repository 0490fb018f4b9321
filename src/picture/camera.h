/* The camera of a picture of particles (common/sums/front.h): how it is turned. */
#ifndef MD_SRC_PICTURE_CAMERA_H
#define MD_SRC_PICTURE_CAMERA_H

#include "common/sums/front.h"

/* Turns the camera: theta is the angle of the line of sight from the z axis, phi that around it, in degrees. up is
 * upwards in the picture. If the line of sight is parallel to it, theta is a little larger, or smaller than 180, as in
 * LAMMPS. The same bits on every machine. */
void md_camera_turn(md_camera *camera, double theta, double phi, const double up[3]);

#endif
