/* Maps of density: what the parts of dump style density share. dump_density.c reads the words of the deck and adds up
 * the particles. density_files.c writes the map: as a picture, as text, or as an HDF5 file. */
#ifndef MD_SRC_DENSITY_DENSITY_H
#define MD_SRC_DENSITY_DENSITY_H

#include "src/output/observer.h"

typedef enum md_density_file { MD_DENSITY_PNG, MD_DENSITY_TEXT, MD_DENSITY_HDF5 } md_density_file;

/* What a dump shows, and how: the words of the deck. */
typedef struct md_density {
  int bins; /* along the longer side */
  int axis; /* viewing axis: 0, 1 or 2 */
  md_density_file file;
  md_weight weight;
  int component;      /* of a velocity or momentum */
  md_compute compute; /* of MD_WEIGHT_COMPUTE */
  char quantity[72];  /* name of what is shown, such as "mass" */
  bool mean;          /* the mean over the particles of a bin, not the sum over its area */
  bool windowed;
  double window[2][2]; /* to the right and up: lower and upper bound, sigma */
  bool logarithmic;    /* colours */
} md_density;

/* A map of one step. The first row of each array is the lowest. */
typedef struct md_density_map {
  md_histogram grid;
  double lo[2], hi[2]; /* where the bins begin and end, sigma */
  int64_t *count;      /* [n[1]][n[0]], particles of each bin */
  double *value;       /* [n[1]][n[0]], the sum or mean of each bin; NaN: the mean of no particle */
  double factor;       /* of values, to the quantity that is shown: bins per area, or 1 */
  int64_t counted;     /* particles in the map */
} md_density_map;

struct md_dump;

/* Writes a map to a file that is complete when it appears under its name. Rank 0 calls it. MD_RUNTIME: the file cannot
 * be written; no file is left then. */
md_status md_density_write(const struct md_dump *dump, const md_view *view, const md_density_map *map,
                           const char *path) MD_CHECKED;

#endif
