/* A keyed permutation of 0 .. n-1, evaluated at any point without state or memory.
 *
 * A Feistel network permutes the numbers of b bits, 2^(b-1) < n <= 2^b: each round replaces one half by the
 * other and the other by itself xor a hash of it, which can be undone and is therefore one to one. A number
 * that lands at n or above is sent through again (cycle walking) until it is below n; less than twice on
 * average. Shuffling an array instead would be sequential and cost 8 bytes a particle.
 *
 * Cost: about 30 ns. Not for secrets. Reference: Black and Rogaway, "Ciphers with arbitrary finite domains",
 * CT-RSA 2002.
 */
#ifndef MD_SRC_PARTICLES_PERMUTATION_H
#define MD_SRC_PARTICLES_PERMUTATION_H

#include "common/rng.h"

enum { MD_PERMUTATION_ROUNDS = 8 }; /* even: the halves end where they began */

typedef struct md_permutation {
  uint64_t n;
  int bits[2]; /* of the upper and the lower half */
  uint64_t key[MD_PERMUTATION_ROUNDS];
} md_permutation;

/* The permutation of 0 .. n-1 that belongs to a seed; 1 <= n <= 2^62. */
static inline md_permutation md_permutation_of(uint64_t n, uint64_t seed)
{
  int bits = 2;
  while ((UINT64_C(1) << bits) < n) ++bits;
  md_permutation p = {.n = n, .bits = {bits / 2, bits - bits / 2}};
  for (uint64_t round = 0; round < MD_PERMUTATION_ROUNDS; ++round) {
    const md_random r = md_random_at(seed, round, 0, MD_STREAM_SITE);
    p.key[round] = (uint64_t)r.word[0] << 32 | r.word[1];
  }
  return p;
}

/* Where k < n goes. */
static inline uint64_t md_permute(const md_permutation *p, uint64_t k)
{
  do {
    int lower_bits = p->bits[1];
    const int bits = p->bits[0] + p->bits[1];
    for (int round = 0; round < MD_PERMUTATION_ROUNDS; ++round) {
      const uint64_t upper = k >> lower_bits, lower = k & ((UINT64_C(1) << lower_bits) - 1);
      uint64_t hash = lower + p->key[round];
      hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
      hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
      hash ^= hash >> 31;
      lower_bits = bits - lower_bits;
      k = lower << lower_bits | (upper ^ (hash & ((UINT64_C(1) << lower_bits) - 1)));
    }
  } while (k >= p->n);
  return k;
}

#endif
