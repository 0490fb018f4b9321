/* Bond words: what atom_style bond gives a particle, as words of 8 bytes that migrate with it between GPUs.
 *
 *   word     0 ......... bonds ............ bonds + specials ................. count
 *              partners     special ids        molecule (4 bytes), types of bonds (2 bytes each)
 *
 * The host fills and reads them. On the device a rebin reads partners, special ids and types (gpu/bonds/rows.cu).
 * Trade-off: the words of one particle lie together, so that a migrant is one piece; reading one word of all particles
 * takes more memory traffic. Only rebins and downloads do that.
 */
#ifndef MD_GPU_RANKS_BOND_WORDS_H
#define MD_GPU_RANKS_BOND_WORDS_H

#include "common/particles.h"

#include <string.h>

/* Half words of 2 bytes in front of the types of bonds: those of the molecule. */
enum { BOND_WORD_TYPES = 2 };

/* The number of words of each particle; 0 without atom_style bond. */
static inline int bond_words(int bonded, int bonds, int specials)
{
  return bonded ? bonds + specials + (bonds + BOND_WORD_TYPES + 3) / 4 : 0;
}

/* Fills the words of particle i. */
static inline void bond_words_fill(const md_particles *p, int64_t i, int64_t *word)
{
  uint16_t half[BOND_WORD_TYPES + MD_BONDS_MAX + 2] = {0};
  const int before = p->bonds + p->specials, count = bond_words(1, p->bonds, p->specials);
  for (int k = 0; k < p->bonds; ++k) word[k] = p->bond[k][i];
  for (int k = 0; k < p->specials; ++k) word[p->bonds + k] = p->special[k][i];
  memcpy(half, &p->molecule[i], sizeof p->molecule[i]);
  for (int k = 0; k < p->bonds; ++k) half[BOND_WORD_TYPES + k] = p->bond_type[k][i];
  memcpy(word + before, half, (size_t)(count - before) * sizeof *word);
}

/* Takes molecule and types of bonds from word number w, which is after the special ids. */
static inline void bond_words_take(md_particles *p, int64_t i, int w, int64_t word)
{
  uint16_t half[4];
  const int first = 4 * (w - p->bonds - p->specials) - BOND_WORD_TYPES;
  memcpy(half, &word, sizeof half);
  if (first < 0) memcpy(&p->molecule[i], half, sizeof p->molecule[i]);
  for (int h = first < 0 ? BOND_WORD_TYPES : 0; h < 4; ++h)
    if (first + h < p->bonds) p->bond_type[first + h][i] = half[h];
}

#endif
