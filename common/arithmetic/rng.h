/* Random numbers from a counter: Philox 4x32-10. A function turns a key, the seed, and a counter, (particle id, step,
 * stream), into four random words. There is no state, so that the numbers do not depend on threads, ranks or order.
 *
 * Cost: ten rounds of two multiplications for four words. Reference: Salmon, Moraes, Dror, Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011.
 */
#ifndef MD_COMMON_ARITHMETIC_RNG_H
#define MD_COMMON_ARITHMETIC_RNG_H

#include "common/arithmetic/real.h"

typedef struct md_random {
  uint32_t word[4];
} md_random;

/* Streams: uses of one seed with different streams get different numbers. */
enum {
  MD_STREAM_VELOCITY = 1,
  MD_STREAM_POSITION = 2,
  MD_STREAM_TYPE = 3,
  MD_STREAM_LANGEVIN = 4,
  MD_STREAM_SITE = 5,
  MD_STREAM_VARIABLE = 6,
  MD_STREAM_CLUSTER = 7,
  MD_STREAM_CSVR = 8,
  MD_STREAM_BROWNIAN = 9, /* and the two after it, by axis */
  MD_STREAM_CHOICE = 16,
  MD_STREAM_DISPLACE = 17,
  MD_STREAM_DEPOSIT = 18,
  MD_STREAM_EVAPORATE = 19,
  MD_STREAM_DISSIPATION = 20,
  MD_STREAM_LANGEVIN_AGAIN = 21 /* of a second half */
};

/* The four words of a particle (or of whatever else `id` counts) in a step. stream: MD_STREAM_... */
MD_FN md_random md_random_at(uint64_t seed, uint64_t id, uint64_t step, uint32_t stream)
{
  uint32_t c0 = (uint32_t)id, c1 = (uint32_t)(id >> 32), c2 = (uint32_t)step;
  uint32_t c3 = (uint32_t)(step >> 32) ^ (stream << 24);
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
    const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  md_random r;
  r.word[0] = c0;
  r.word[1] = c1;
  r.word[2] = c2;
  r.word[3] = c3;
  return r;
}

/* A number uniform in (0, 1): one of 2^32 values that are symmetric about 1/2. Exact. */
MD_FN double md_random_unit(uint32_t word) { return ((double)word + 0.5) * 0x1p-32; }

/* A number uniform in (0, 1) with 52 random bits from two words. Exact. */
MD_FN double md_random_unit53(uint32_t a, uint32_t b)
{
  const uint64_t bits = ((uint64_t)a << 32 | b) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

#endif
