/* The embedded-atom method: pair styles with a density between two passes. C and CUDA.
 *
 *   E = sum over i of F(rho_i) + sum over pairs of phi(r)        rho_i = sum over j of density(r_ij)
 *
 * F, the densities and z = r phi are cubic splines through the values of a potential file: ((a p + b) p + c) p + d, p
 * being the fraction of an interval. Beyond its last density F goes on as a straight line. A row of a table has what a
 * pass needs of an interval, in groups of four numbers, so that a pair costs one or two loads of vectors:
 *   densities   a b c d of the density                                                            pass 1
 *   forces      3a/dr 2b/dr c/dr 0 of the density, which give its slope; and a b c d of z         pass 2
 *   embedding   3a/drho 2b/drho c/drho 0 and a b c d of F
 *
 * A force is found in two passes:
 *   1  the density of each particle. Each term is rounded to a quantum, and the sum is an integer, so that it does not
 *      depend on order, threads, ranks or engine. Then the slope F' of each particle;
 *   2  the force of each pair, F'_i density_ij' + F'_j density_ji' + phi'. It is symmetric in i and j to the last bit:
 *      both products are rounded, then added. Its impulse is rounded once, as that of every pair style.
 * On several ranks the slopes of ghosts come from their owners (halo_values of common/ranks/exchange.h).
 *
 * Trade-off: a sum of particles must be complete before pass 2, so that a step has one exchange more. The splines are
 * tables of some 10 to 100 kB for each pair of elements, which caches hold.
 * References: Daw and Baskes, Phys. Rev. B 29 (1984) 6443; Foiles, Baskes and Daw, Phys. Rev. B 33 (1986) 7983; the
 * LAMMPS manual, pair_style eam.
 */
#ifndef MD_COMMON_PAIR_TABLES_EAM_H
#define MD_COMMON_PAIR_TABLES_EAM_H

#include "common/arithmetic/exact.h"
#include "common/base/error.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_SPLINE = 4, MD_SPLINE_ROW = 2 * MD_SPLINE, MD_EAM_ELEMENTS = 32 };

/* The values of a potential, before splines are made of them: embedding [nelement][nrho]; density and r phi
 * [a nelement + b][nr]. */
typedef struct md_eam_values {
  int nelement, nr, nrho;
  double dr, drho, cutoff;
  double mass[MD_EAM_ELEMENTS];
  char name[MD_EAM_ELEMENTS][16];
  double *embedding, *density, *pair;
} md_eam_values;

/* A potential: tables by element, 0-based, with rows as above. Distances begin at 0, in steps of dr, and densities in
 * steps of drho. Kernels get a copy whose tables are in the memory of their device. */
typedef struct md_eam {
  int nelement, nr, nrho;
  double dr, drho, cutoff;
  double cutoff2;
  double overlap2;              /* the largest of near2 */
  double mass[MD_EAM_ELEMENTS]; /* in the unit of the file */
  double *embedding;            /* [nelement][nrho][MD_SPLINE_ROW] */
  double *density;              /* at an element a, of an element b: [a nelement + b][nr][MD_SPLINE] */
  double *force;                /* likewise: [a nelement + b][nr][MD_SPLINE_ROW]; z is symmetric */
  double *near2;         /* [a nelement + b], squared distance: nearer particles overlap. It is that of a
                                   step, or more, where the force of the pair is out of range (common/model.c) */
  int *element;          /* by type, 0-based; -1: not given yet */
  double quanta;         /* of density in a unit of it: a power of two */
  double per_r, per_rho; /* 1/dr, 1/drho */
  int nfile;             /* of pair style eam, to which another pair_coeff may add one: */
  md_eam_values *file;   /* the files, each of one element; `pair` has its charge */
} md_eam;

void md_eam_values_free(md_eam_values *values);

/* Makes a potential of values, for ntypes types that have no element yet. The caller frees *made with md_eam_free.
 * MD_USAGE: fewer than 5 values. MD_RUNTIME: out of memory. */
md_status md_eam_new(md_eam **made, const md_eam_values *values, int ntypes) MD_CHECKED;
void md_eam_free(md_eam *eam);

/* A number that two potentials rarely share, below 2^53. */
double md_eam_checksum(const md_eam *eam);

/* The row of a spline of n values, at x steps from its beginning, x >= 0. *p: the fraction of the interval. */
MD_FN int md_spline_row(double x, int n, double *p)
{
  const double whole = floor(md_min(x, (double)(n - 2)));
  *p = md_min(x - whole, 1.0);
  return (int)whole;
}

/* The four numbers of a spline. */
typedef struct md_spline {
  double a, b, c, d;
} md_spline;

MD_FN md_spline md_spline_load(const double *row)
{
#ifdef __CUDA_ARCH__
  const double2 low = __ldg((const double2 *)row), high = __ldg((const double2 *)row + 1);
  return md_spline{low.x, low.y, high.x, high.y};
#else
  const md_spline s = {row[0], row[1], row[2], row[3]};
  return s;
#endif
}

MD_FN double md_spline_value(md_spline s, double p) { return fma(fma(fma(s.a, p, s.b), p, s.c), p, s.d); }

/* Of the first half of a row of slopes. */
MD_FN double md_spline_slope(md_spline s, double p) { return fma(fma(s.a, p, s.b), p, s.c); }

/* The slope of a value's spline, in a step. */
MD_FN double md_spline_rise(md_spline s, double p) { return fma(fma(3.0 * s.a, p, s.b + s.b), p, s.c); }

/* The index of a pair of elements, and of a row in the tables of pairs. */
MD_FN int md_eam_pair(const md_eam *eam, int a, int b) { return a * eam->nelement + b; }
MD_FN int64_t md_eam_row(const md_eam *eam, int a, int b, int row)
{
  return (int64_t)md_eam_pair(eam, a, b) * eam->nr + row;
}

/* Where a squared distance r2 > 0 lies in the tables of pairs. */
typedef struct md_eam_point {
  double inverse; /* 1/r */
  double p;       /* the fraction of the interval */
  int row;        /* the interval */
} md_eam_point;

MD_FN md_eam_point md_eam_point_of(const md_eam *eam, double r2)
{
  md_eam_point at = {md_rsqrt(r2), 0.0, 0};
  at.row = md_spline_row(r2 * at.inverse * eam->per_r, eam->nr, &at.p);
  return at;
}

/* The density at a point whose interval has these numbers, in quanta. */
MD_FN int64_t md_eam_density_at(const md_eam *eam, md_spline s, double p)
{
  return md_count(md_spline_value(s, p) * eam->quanta);
}

MD_FN bool md_eam_overlaps(const md_eam *eam, int a, int b, double r2)
{
  return r2 < eam->overlap2 && r2 < eam->near2[md_eam_pair(eam, a, b)];
}

/* The density at an element a by an element b at squared distance r2 > 0, in quanta. */
MD_FN int64_t md_eam_density(const md_eam *eam, int a, int b, double r2)
{
  const md_eam_point at = md_eam_point_of(eam, r2);
  return md_eam_density_at(eam, md_spline_load(eam->density + md_eam_row(eam, a, b, at.row) * MD_SPLINE),
                           at.p);
}

/* F and its slope for an element in a density of `count` quanta. */
MD_FN double md_eam_embedding(const md_eam *eam, int element, int64_t count, double *slope)
{
  const double rho = (double)count / eam->quanta, most = (double)(eam->nrho - 1) * eam->drho;
  double p;
  const int row = md_spline_row(md_max(rho, 0.0) * eam->per_rho, eam->nrho, &p);
  const double *at = eam->embedding + ((int64_t)element * eam->nrho + row) * MD_SPLINE_ROW;
  *slope = md_spline_slope(md_spline_load(at), p);
  const double energy = md_spline_value(md_spline_load(at + MD_SPLINE), p);
  return rho > most ? fma(*slope, rho - most, energy) : energy;
}

/* What a force needs of an interval: the slopes of the densities at a by b and at b by a, and z. */
typedef struct md_eam_splines {
  md_spline at_a, at_b, z;
} md_eam_splines;

/* F/r of the force at a point, positive apart, of particles that have the slopes slope_a and slope_b. *energy: phi. */
MD_FN double md_eam_force_at(const md_eam *eam, md_eam_splines s, md_eam_point at, double slope_a,
                             double slope_b, double *energy)
{
  const double phi = md_spline_value(s.z, at.p) * at.inverse;
  const double phi_slope = fma(md_spline_rise(s.z, at.p), eam->per_r, -phi) * at.inverse;
  const double by_a = slope_a * md_spline_slope(s.at_a, at.p);
  const double by_b = slope_b * md_spline_slope(s.at_b, at.p);
  *energy = phi;
  return -((by_a + by_b) + phi_slope) * at.inverse;
}

/* The splines of elements a and b in an interval. */
MD_FN md_eam_splines md_eam_splines_of(const md_eam *eam, int a, int b, int row)
{
  const double *of_a = eam->force + md_eam_row(eam, a, b, row) * MD_SPLINE_ROW;
  const md_spline at_a = md_spline_load(of_a), z = md_spline_load(of_a + MD_SPLINE);
  const md_eam_splines s = {
      at_a, a == b ? at_a : md_spline_load(eam->force + md_eam_row(eam, b, a, row) * MD_SPLINE_ROW), z};
  return s;
}

/* F/r of the force between elements a and b at squared distance r2 > 0, as above. */
MD_FN double md_eam_force(const md_eam *eam, int a, int b, double slope_a, double slope_b, double r2,
                          double *energy)
{
  const md_eam_point at = md_eam_point_of(eam, r2);
  return md_eam_force_at(eam, md_eam_splines_of(eam, a, b, at.row), at, slope_a, slope_b, energy);
}

#ifdef __cplusplus
}
#endif
#endif
