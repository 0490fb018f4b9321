/* What the files of the communicator of a single rank share: its state and its parts (common/ranks/comm.h). */
#ifndef MD_SRC_ENGINES_SERIAL_STATE_H
#define MD_SRC_ENGINES_SERIAL_STATE_H

#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/files.h"
#include "common/ranks/reductions.h"

/* The images after the ghosts; serial_exchange.c. */
typedef struct images {
  int64_t capacity;
  int32_t *source;
  int8_t *shift[3]; /* in edges of the box: -1, 0 or 1; in a tilted or a small box also more */
  md_box box;
} images;

typedef struct serial_state {
  double maxima[MD_MAX_VALUES]; /* values of max_begin */
  int nmaxima;
  double cut[2]; /* of the last call of cuts */
  images images;
} serial_state;

/* serial_exchange.c */
extern const md_comm_exchange md_serial_exchange;
void md_serial_images_free(images *);

/* serial_files.c */
extern const md_comm_files md_serial_files;

#endif
