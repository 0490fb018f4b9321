/* The words of the command boundary; see boundary.h. */
#include "src/box/boundary.h"

#include <string.h>

static md_status read_axis(const char *word, int axis, md_box *box)
{
  static const char letters[] = "fsm";
  const size_t n = strlen(word);
  const char name = "xyz"[axis];
  if (n < 1 || n > 2 || strspn(word, "pfsm") != n)
    return md_error(MD_USAGE,
                    "boundary %c: '%.16s' is unknown; accepted are p (periodic), f (fixed), s (follows the "
                    "particles) and m (follows them outwards), or two of f, s and m, for the lower and the "
                    "upper face",
                    name, word);
  box->periodic[axis] = word[0] == 'p';
  if (box->periodic[axis] != (word[n - 1] == 'p'))
    return md_error(MD_USAGE, "boundary %c: '%s': both faces must be periodic, or neither", name, word);
  for (int side = 0; side < 2; ++side) {
    const char *letter = box->periodic[axis] ? letters : strchr(letters, word[side < (int)n ? side : 0]);
    box->face[axis][side] = (md_face)(letter - letters);
  }
  return MD_OK;
}

md_status md_boundary_read(char *const word[3], md_box *box)
{
  for (int d = 0; d < 3; ++d) MD_TRY(read_axis(word[d], d, box));
  if (box->dim == 2 && !box->periodic[2])
    return md_error(MD_USAGE, "in two dimensions the boundary along z must be p");
  return MD_OK;
}

void md_boundary_letters(const md_box *box, int axis, char letters[3])
{
  for (int side = 0; side < 2; ++side)
    letters[side] = box->periodic[axis] ? 'p' : "fsm"[box->face[axis][side]];
  letters[2] = '\0';
}
