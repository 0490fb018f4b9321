/* Several ranks in one process, for unit tests. Each rank is a thread with a communicator, which sums, agrees, delivers
 * and writes files through shared memory. There are no functions for domains, so that these ranks cannot run engines.
 *
 * Each thread has its own error message, as each process has with MPI. Every call of the communicator waits for all
 * ranks: once until all have shown their data, and once until all have read them.
 */
#ifndef MD_VALIDATE_UNIT_SUPPORT_THREAD_RANKS_H
#define MD_VALIDATE_UNIT_SUPPORT_THREAD_RANKS_H

#include "common/ranks/exchange.h"
#include "common/ranks/files.h"
#include "common/ranks/reductions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 8 };

typedef struct thread_ranks {
  int size;
  pthread_barrier_t barrier;
  const void *shown[RANKS_MAX];
  int64_t count[RANKS_MAX];
  const int32_t *to[RANKS_MAX];
  md_error_record error[RANKS_MAX];
  FILE *file;
} thread_ranks;

struct md_comm_file {
  FILE *file;
};

static inline void ranks_wait(md_comm *c)
{
  thread_ranks *all = c->state;
  pthread_barrier_wait(&all->barrier);
}

/* Shows an address to the other ranks, and waits until all ranks have shown theirs. They may read it until the next
 * wait. */
static inline thread_ranks *ranks_show(md_comm *c, const void *place)
{
  thread_ranks *all = c->state;
  all->shown[c->rank] = place;
  ranks_wait(c);
  return all;
}

static inline md_status ranks_sum(md_comm *c, int64_t *values, int n)
{
  int64_t *mine = malloc((size_t)n * sizeof *mine + 1);
  if (!mine) abort();
  memcpy(mine, values, (size_t)n * sizeof *mine);
  const thread_ranks *all = ranks_show(c, mine);
  for (int k = 0; k < n; ++k) {
    values[k] = 0;
    for (int r = 0; r < all->size; ++r) values[k] += ((const int64_t *)all->shown[r])[k];
  }
  ranks_wait(c);
  free(mine);
  return MD_OK;
}

static inline md_status ranks_max(md_comm *c, double *values, int n)
{
  double mine[8];
  if (n > 8) abort();
  memcpy(mine, values, (size_t)n * sizeof *mine);
  const thread_ranks *all = ranks_show(c, mine);
  for (int k = 0; k < n; ++k)
    for (int r = 0; r < all->size; ++r)
      if (((const double *)all->shown[r])[k] > values[k]) values[k] = ((const double *)all->shown[r])[k];
  ranks_wait(c);
  return MD_OK;
}

static inline md_status ranks_before(md_comm *c, int64_t *value)
{
  const int64_t mine = *value;
  const thread_ranks *all = ranks_show(c, &mine);
  *value = 0;
  for (int r = 0; r < c->rank; ++r) *value += *(const int64_t *)all->shown[r];
  ranks_wait(c);
  return MD_OK;
}

static inline md_status ranks_agree(md_comm *c, md_status status)
{
  thread_ranks *all = c->state;
  md_error_save(&all->error[c->rank], status);
  ranks_wait(c);
  const md_error_record *speaker = &all->error[0];
  for (const md_error_record *e = all->error; e < all->error + all->size; ++e)
    if (e->status > speaker->status || (e->status == speaker->status && e->about[0] < speaker->about[0]))
      speaker = e;
  const md_status worst = speaker->status;
  if (worst != MD_OK) (void)md_error_restore(speaker);
  ranks_wait(c);
  return worst;
}

/* Records arrive in the order of ranks from the last to the first, because the order of ranks is not promised. */
static inline md_status ranks_deliver(md_comm *c, int64_t n, const int32_t *to, const void *records,
                                      int64_t size, void **received, int64_t *count)
{
  thread_ranks *all = c->state;
  all->count[c->rank] = n;
  all->to[c->rank] = to;
  ranks_show(c, records);
  *count = 0;
  for (int r = 0; r < all->size; ++r)
    for (int64_t k = 0; k < all->count[r]; ++k) *count += all->to[r][k] == c->rank;
  char *at = malloc((size_t)(*count * size) + 1);
  if (!at) abort();
  *received = at;
  for (int r = all->size - 1; r >= 0; --r)
    for (int64_t k = 0; k < all->count[r]; ++k)
      if (all->to[r][k] == c->rank) {
        memcpy(at, (const char *)all->shown[r] + k * size, (size_t)size);
        at += size;
      }
  ranks_wait(c);
  return MD_OK;
}

static inline md_status ranks_file_open(md_comm *c, const char *path, bool append, md_comm_file **file,
                                        int64_t *bytes)
{
  thread_ranks *all = c->state;
  if (c->rank == 0) all->file = fopen(path, append ? "ab" : "wb");
  ranks_wait(c);
  *file = calloc(1, sizeof **file);
  if (!*file) abort();
  (*file)->file = all->file;
  *bytes = all->file ? (int64_t)ftell(all->file) : 0;
  ranks_wait(c);
  if ((*file)->file) return MD_OK;
  free(*file);
  return md_error(MD_RUNTIME, "cannot write %s", path);
}

static inline md_status ranks_file_append(md_comm *c, md_comm_file *f, const void *bytes, int64_t n)
{
  const thread_ranks *all = c->state;
  bool written = true;
  for (int r = 0; r < all->size; ++r) {
    if (r == c->rank && n > 0) written = fwrite(bytes, 1, (size_t)n, f->file) == (size_t)n;
    ranks_wait(c);
  }
  return ranks_agree(c, written ? MD_OK : md_error(MD_RUNTIME, "cannot write"));
}

static inline md_status ranks_file_back(md_comm *c, md_comm_file *f, int64_t n)
{
  ranks_wait(c);
  const bool moved = c->rank != 0 || fseek(f->file, -(long)n, SEEK_CUR) == 0;
  return ranks_agree(c, moved ? MD_OK : md_error(MD_RUNTIME, "cannot go back"));
}

static inline md_status ranks_file_close(md_comm *c, md_comm_file *f)
{
  ranks_wait(c);
  const bool closed = c->rank != 0 || fclose(f->file) == 0;
  free(f);
  return ranks_agree(c, closed ? MD_OK : md_error(MD_RUNTIME, "cannot write"));
}

static const md_comm_reductions ranks_reductions = {
    .sum = ranks_sum, .max = ranks_max, .exclusive_sum = ranks_before, .agree = ranks_agree};
static const md_comm_exchange ranks_exchange = {.sparse_exchange = ranks_deliver};
static const md_comm_files ranks_files = {
    .open = ranks_file_open, .append = ranks_file_append, .back = ranks_file_back, .close = ranks_file_close};

/* The work of one rank. It must not assert: it leaves its results in `context`, and the main thread checks them. */
typedef void (*rank_work)(md_comm *comm, void *context);

typedef struct rank_thread {
  md_comm comm;
  rank_work work;
  void *context;
} rank_thread;

static inline void *rank_main(void *argument)
{
  rank_thread *t = argument;
  t->work(&t->comm, t->context);
  return NULL;
}

/* Runs the work on `size` ranks, and waits for all of them. */
static inline void run_ranks(int size, rank_work work, void *context)
{
  static thread_ranks all;
  static rank_thread thread[RANKS_MAX];
  pthread_t handle[RANKS_MAX];
  all = (thread_ranks){.size = size};
  if (size > RANKS_MAX || pthread_barrier_init(&all.barrier, NULL, (unsigned)size) != 0) abort();
  for (int r = 0; r < size; ++r) {
    thread[r] = (rank_thread){.comm = {.rank = r,
                                       .size = size,
                                       .state = &all,
                                       .reduce = &ranks_reductions,
                                       .exchange = &ranks_exchange,
                                       .files = &ranks_files},
                              .work = work,
                              .context = context};
    if (pthread_create(&handle[r], NULL, rank_main, &thread[r]) != 0) abort();
  }
  for (int r = 0; r < size; ++r) pthread_join(handle[r], NULL);
  pthread_barrier_destroy(&all.barrier);
}

#endif
