/* Mailboxes: messages between the GPUs of one host, by stores into each other's memory.
 *
 * Every rank has one mailbox in the memory of its GPU. The other ranks have it mapped (CUDA: peer access). A mailbox
 * has a channel for each stripe of the messages of each rank.
 *
 *      the rank that sends                         the mailbox of the rank that receives
 *      message  ---- store ---------------------->  chunk[filled % CHUNKS]  ---- load ---->  message
 *      its mailbox: emptied  <---- store ---------  number of chunks that were read
 *
 *   1. A message is cut into stripes. Each stripe has a block on either side, and a channel.
 *   2. The block that sends stores a chunk of its stripe into the channel, and then how many chunks it has stored
 *      since the beginning. Where all chunks of the channel are full, it waits until one was read.
 *   3. The block that receives waits for that number, and loads the chunk.
 *   4. A maximum over ranks: each rank stores its words into all mailboxes, each with the number of the maximum
 *      beside it, and waits for the words of the others.
 *
 * In a launch blocks that send come first, and all blocks have room on the GPU at the same time. So two ranks that send
 * to each other both go on, however long their messages are.
 *
 * Trade-off: a message is stored once more than by a copy between GPUs, and blocks that wait keep their places on
 * multiprocessors. In return a rank knows no address of another rank but its mailbox, and the host takes no part.
 * Cost: a launch, and the time of two stores over the link; 66 kB a stripe and rank; messages of more than some
 * megabytes go at the speed of as many blocks as there are stripes. Two ranks have more stripes than several, because
 * the blocks of all messages must have room at the same time.
 * Reference: the memory model of PTX (CUDA, PTX ISA), release and acquire at the scope of the system.
 */
#ifndef MD_GPU_RANKS_MAILBOX_H
#define MD_GPU_RANKS_MAILBOX_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  MAILBOX_RANKS = 16,    /* most ranks */
  MAILBOX_LIST = 64,     /* most messages of a list that are sent, and that are received */
  MAILBOX_CHUNKS = 4,    /* chunks of a channel */
  MAILBOX_CHUNK = 16384, /* bytes of a chunk */
  MAILBOX_WORDS = 16     /* most words of a maximum */
};

/* What a stripe of the messages between its owner and one other rank needs. Counts are of chunks, since the beginning,
 * modulo 2^32. The other rank writes the first two and the chunks. */
typedef struct mailbox_channel {
  uint32_t filled; /* chunks that the other rank has stored here */
  uint32_t line_of_filled[31];
  uint32_t emptied; /* chunks that the other rank has read in its mailbox */
  uint32_t line_of_emptied[31];
  uint32_t sent; /* chunks that the owner has stored there */
  uint32_t read; /* chunks that the owner has read here */
  uint32_t line_of_counts[30];
  char chunk[MAILBOX_CHUNKS][MAILBOX_CHUNK];
} mailbox_channel;

/* It has mailbox_bytes(). */
typedef struct mailbox {
  uint64_t word[2][MAILBOX_RANKS]
               [MAILBOX_WORDS]; /* by the last bit of the number: number of the maximum, word */
  mailbox_channel channel[];    /* [ranks][stripes], by the other rank */
} mailbox;

/* Most stripes of a message. */
static inline int mailbox_stripes(int ranks) { return ranks <= 2 ? 64 : 16; }

static inline size_t mailbox_bytes(int ranks)
{
  return sizeof(mailbox) + (size_t)ranks * (size_t)mailbox_stripes(ranks) * sizeof(mailbox_channel);
}

/* The mailboxes as one rank sees them. */
typedef struct mailboxes {
  mailbox *of[MAILBOX_RANKS]; /* device memory, mapped where it is another rank's */
  int rank, ranks, stripes;
  const uint32_t *given_up; /* host memory that the device reads: not 0 if blocks must not wait any more */
} mailboxes;

/* Messages in one direction. */
typedef struct mailbox_list {
  int n;
  int rank[MAILBOX_LIST];      /* the other rank */
  char *at[MAILBOX_LIST];      /* device memory */
  int64_t bytes[MAILBOX_LIST]; /* more than 0 */
} mailbox_list;

/* Sends and receives messages in the order of the stream (a cudaStream_t). Between the same two ranks they match in the
 * order of the lists. All ranks that the messages name must call it. The host does not wait. */
md_status mailbox_exchange(const mailboxes *, const mailbox_list *sent, const mailbox_list *received,
                           void *stream) MD_CHECKED;

/* In place, the maximum over ranks of each of n <= MAILBOX_WORDS values on the device, in the order of the stream.
 * number: of this call on every rank, from 1 on, modulo 2^32. Collective. The host does not wait. */
md_status mailbox_max(const mailboxes *, uint32_t *values, int n, uint32_t number, void *stream) MD_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
