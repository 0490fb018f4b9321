/* A keyed permutation of 0 .. n-1, which can be evaluated at any point without state or memory.
 *
 * 1. A Feistel network permutes the numbers of b bits, with 2^(b-1) < n <= 2^b. Each round exchanges the two
 *    halves of the bits, and xors one of them with a hash of the other. A round can be undone, so it is one to
 *    one.
 * 2. A result of n or above is permuted again until it is below n (cycle walking). This takes less than two
 *    permutations on average.
 *
 * Trade-off: shuffling an array would be sequential and cost 8 bytes a particle. This permutation needs about 30
 * ns per number, and is not secure against attackers.
 *
 * Reference: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
 */
#ifndef MD_SRC_CREATE_PERMUTATION_H
#define MD_SRC_CREATE_PERMUTATION_H

#include "common/arithmetic/rng.h"
#include "common/base/mix.h"

enum { MD_PERMUTATION_ROUNDS = 8 }; /* even, so that each half ends at its first place */

typedef struct md_permutation {
  uint64_t n;
  int bits[2]; /* bits of the upper and the lower half */
  uint64_t key[MD_PERMUTATION_ROUNDS];
} md_permutation;

/* Makes the permutation of 0 .. n-1 for a seed; 1 <= n <= 2^62. */
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

/* The number to which k < n is permuted. */
static inline uint64_t md_permute(const md_permutation *p, uint64_t k)
{
  do {
    int lower_bits = p->bits[1];
    const int bits = p->bits[0] + p->bits[1];
    for (int round = 0; round < MD_PERMUTATION_ROUNDS; ++round) {
      const uint64_t upper = k >> lower_bits, lower = k & ((UINT64_C(1) << lower_bits) - 1);
      const uint64_t hash = md_mix(lower + p->key[round]);
      lower_bits = bits - lower_bits;
      k = lower << lower_bits | (upper ^ (hash & ((UINT64_C(1) << lower_bits) - 1)));
    }
  } while (k >= p->n);
  return k;
}

#endif
