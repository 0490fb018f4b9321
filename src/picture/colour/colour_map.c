/* The viridis colour map, interpolated between 17 anchors; see colour_map.h.
 *
 * viridis (van der Walt and Smith, 2015) is perceptually uniform: equal steps of the value look equally large,
 * also in grey and to colour-blind readers. The anchors are a least-squares fit of straight pieces to it. The
 * result differs by at most 4 of 255 from the original, which is not visible.
 */
#include "src/picture/colour/colour_map.h"

enum { PIECES = 16 };

static const unsigned char anchor[PIECES + 1][3] = {
    {68, 1, 84},    {72, 24, 107},  {71, 45, 124},  {66, 64, 134},  {59, 82, 139},  {51, 99, 142},
    {44, 114, 142}, {38, 129, 142}, {32, 144, 141}, {30, 159, 137}, {38, 174, 129}, {61, 188, 116},
    {92, 201, 99},  {129, 212, 77}, {171, 220, 50}, {213, 226, 23}, {254, 231, 33},
};

void md_colour_map_viridis(unsigned char colour[MD_COLOURS][3])
{
  for (int level = 0; level < MD_COLOURS; ++level) {
    const int place = level * PIECES;
    int piece = place / (MD_COLOURS - 1);
    if (piece == PIECES) --piece;
    const int into = place - piece * (MD_COLOURS - 1);
    for (int k = 0; k < 3; ++k) {
      const int low = anchor[piece][k], high = anchor[piece + 1][k];
      const int sum = low * (MD_COLOURS - 1 - into) + high * into;
      colour[level][k] = (unsigned char)((sum + (MD_COLOURS - 1) / 2) / (MD_COLOURS - 1));
    }
  }
}
