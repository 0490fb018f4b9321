/* Bonds of copies; see replicated.h.
 *
 * A bond across a periodic face ends in the next copy, and in the first one after the last. So chains that go through
 * faces stay whole, and each copy of a bond has the length of the bond. Cost: two exchanges a block of particles for
 * the places of partners, and 12 bytes a bond.
 */
#include "src/bonds/replicated.h"
#include "common/ranks/reductions.h"
#include "src/bonds/directory.h"
#include "src/bonds/molecules.h"

#include <stdlib.h>

enum { BLOCK = 1 << 13 };

/* Of the particles [first, last), with room for their questions. */
static md_status find_block(md_bond_directory *d, const md_sim *sim, double *const place[3], int64_t first,
                            int64_t last, int64_t *asked, md_bond_answer *answer, int32_t *shift)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  int64_t n = 0, at = 0, lost = 0;
  for (int64_t i = first; i < last; ++i)
    for (int k = 0; k < p->bonds; ++k)
      if (p->bond[k][i] != 0) asked[n++] = p->bond[k][i];
  MD_TRY(md_bond_directory_ask(d, n, asked, answer));
  for (int64_t i = first; i < last; ++i)
    for (int k = 0; k < p->bonds; ++k) {
      if (p->bond[k][i] == 0) continue;
      const md_bond_answer *a = &answer[at++];
      if (a->question < 0) lost = p->bond[k][i];
      for (int c = 0; c < p->dim && a->question >= 0; ++c)
        shift[(i * p->bonds + k) * 3 + c] =
            box->periodic[c] ? (int32_t)rint((place[c][i] - a->x[c]) / box->length[c]) : 0;
    }
  return md_comm_agree(sim->comm,
                       lost ? md_error(MD_USAGE,
                                       "replicate: there is a bond to particle %lld, which does not exist",
                                       (long long)lost)
                            : MD_OK);
}

static md_status find_blocks(md_bond_directory *d, const md_sim *sim, double *const place[3], int32_t *shift)
{
  const int64_t n = sim->particles.n, room = (int64_t)BLOCK * MD_BONDS_MAX;
  int64_t *asked = NULL;
  md_bond_answer *answer = NULL;
  double most = (double)n;
  md_status status = md_array_new(&asked, room, sizeof *asked, "partners of bonds");
  if (status == MD_OK) status = md_array_new(&answer, room, sizeof *answer, "partners of bonds");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = sim->comm->reduce->max(sim->comm, &most, 1);
  for (int64_t first = 0; first < (int64_t)most && status == MD_OK; first += BLOCK)
    status = find_block(d, sim, place, first < n ? first : n, first + BLOCK < n ? first + BLOCK : n, asked,
                        answer, shift);
  free(asked);
  free(answer);
  return status;
}

md_status md_bonds_find_shifts(md_sim *sim, double *const place[3], int32_t **shift, int64_t *molecules)
{
  const md_particles *p = &sim->particles;
  md_bond_directory d;
  if (sim->model.box.triclinic)
    return md_error(MD_USAGE, "replicate: not available for bonds in a tilted box");
  MD_TRY(md_comm_agree(
      sim->comm, md_array_new_zero(shift, p->n * p->bonds * 3 + 1, sizeof **shift, "bonds across faces")));
  md_status status = md_bond_directory_open(&d, sim->comm, p, place);
  if (status == MD_OK) status = find_blocks(&d, sim, place, *shift);
  md_bond_directory_close(&d);
  return status == MD_OK ? md_molecules_find_last(sim->comm, p, molecules) : status;
}

/* The number of the copy in which a bond of copy c ends. */
static int64_t copy_after(const int64_t count[3], int64_t c, const int32_t shift[3])
{
  const int64_t copy[3] = {c % count[0], c / count[0] % count[1], c / (count[0] * count[1])};
  int64_t to[3];
  for (int d = 0; d < 3; ++d) to[d] = ((copy[d] + shift[d]) % count[d] + count[d]) % count[d];
  return (to[2] * count[1] + to[1]) * count[0] + to[0];
}

void md_bonds_replicate(md_particles *p, int64_t n, const int64_t count[3], int64_t max_id,
                        const int32_t *shift, int64_t molecules)
{
  /* The first copy, which the others are made of, comes last. */
  for (int64_t c = count[0] * count[1] * count[2] - 1; c >= 0; --c)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = c * n + i;
      p->molecule[at] = p->molecule[i] > 0 ? p->molecule[i] + (uint32_t)(c * molecules) : 0;
      for (int k = 0; k < p->bonds; ++k) {
        const int64_t partner = p->bond[k][i];
        p->bond_type[k][at] = p->bond_type[k][i];
        p->bond[k][at] =
            partner > 0 ? partner + max_id * copy_after(count, c, shift + (i * p->bonds + k) * 3) : 0;
      }
    }
}
