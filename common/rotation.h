/* The rotation of a body of particles: its angular velocity, from its angular momentum and its inertia. */
#ifndef MD_COMMON_ROTATION_H
#define MD_COMMON_ROTATION_H

/* Solves I omega = L, for the tensor of inertia xx yy zz xy xz yz. omega is 0 about an axis without extent. */
void md_rotation_of(const double inertia[6], const double angular[3], double omega[3]);

#endif
