/* Taking a snapshot of a dump over into the box and the particles: the words of read_dump, and what they do. */
#ifndef MD_SRC_REPLAY_TAKE_H
#define MD_SRC_REPLAY_TAKE_H

#include "src/replay/snapshots.h"
#include "src/sim.h"

/* Fields of a particle, in the order of their names in take.c. */
enum {
  MD_FIELD_ID,
  MD_FIELD_TYPE,
  MD_FIELD_X,
  MD_FIELD_V = MD_FIELD_X + 3,
  MD_FIELD_I = MD_FIELD_V + 3,
  MD_FIELDS = MD_FIELD_I + 3
};

typedef enum md_take_add { MD_ADD_NO, MD_ADD_NEW_IDS, MD_ADD_KEEP_IDS } md_take_add;

/* The words after the step of read_dump. */
typedef struct md_take {
  bool field[MD_FIELDS];
  char label[MD_FIELDS][64]; /* the column of a field; "": the usual one */
  bool box, step;            /* the snapshot's are taken over */
  bool replace, purge, trim;
  md_take_add add;
  bool holds_flags; /* image flags stay until the next run; else only if the deck has asked for them */
} md_take;

/* What became of the particles, over all ranks. */
typedef struct md_taken {
  int64_t before, rows, purged, replaced, trimmed, added;
} md_taken;

/* Reads fields and keywords. MD_USAGE: a word is refused. */
md_status md_take_read(md_sim *sim, const char *command, const md_words *words, md_take *take) MD_CHECKED;

/* Takes the present snapshot over. Its step is the caller's. In a deck that is resumed and has not the particles of
 * this place, only the box. Collective. MD_USAGE: a column is missing, a row is wrong, a particle is outside of the
 * box. MD_RUNTIME: out of memory, or the file cannot be read. After an error in a row box and particles are taken in
 * part: sim->broken is set. */
md_status md_take_snapshot(md_sim *sim, const char *command, const md_take *take, md_snapshots *snapshots,
                           const md_snapshot *snapshot, md_taken *taken) MD_CHECKED;

#endif
