/* Reads a data file in LAMMPS's format as a stream; see data_file.h.
 *
 * First comes the header (counts and bounds, in any order). Then come the sections Masses, Pair Coeffs, PairIJ
 * Coeffs, Bond Coeffs, Atoms, Velocities and Bonds, each with exactly the promised number of lines. Coefficients are
 * those of the style that the deck has chosen, in the form that pair_coeff and bond_coeff take. Everything is checked
 * where it is read, so that each error has its line. The promised numbers of particles and bonds are compared with the
 * size of the file before memory is allocated, so a damaged header cannot ask for all memory.
 *
 * Every rank reads header, masses and coefficients, because they are short. The lines of Atoms, Velocities and Bonds
 * are divided among the ranks (data_rounds.c): a hash of its id names the rank that keeps a particle. That rank has a
 * table from ids to its particles (src/particles/id_table.h), which finds ids that occur twice and the owners of
 * velocities, in any order of lines. Migration brings the particles to their domains when a run begins.
 *
 * With atom_style sphere a line of Atoms has diameter and density, from which the particle's mass is made as in LAMMPS.
 * Nothing else depends on the diameter.
 *
 * Text that this program or LAMMPS wrote with 17 digits gives the same bits: positions inside the box are not
 * changed. Positions outside a periodic axis are wrapped.
 *
 * Units: as in the file, lj. Cost: about 1 us a particle. Reference: the LAMMPS manual, command read_data.
 */
#include "common/base/memory.h"
#include "common/base/open_file.h"
#include "common/ranks/reductions.h"
#include "src/box/faces.h"
#include "src/create/create.h"
#include "src/data/data_reader.h"
#include "src/follow/images.h"
#include "src/properties/property.h"
#include "src/sums/masses.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A position this many boxes away is an error in the file. No particle travels so far. */
static const double images_max = 0x1p30;

/* ---- sections ---- */

static md_status begin_section(reader *r, const char *name, bool *done, char *title)
{
  if (*done) return WRONG(r, "section %s is given twice", name);
  *done = true;
  snprintf(title, sizeof r->comment, "%s", r->comment);
  return MD_OK;
}

/* Reads a type of the file, and makes it one of the box. */
static md_status read_type(const reader *r, const char *field, int64_t *type)
{
  MD_TRY(md_data_whole(r, field, "type", type));
  if (*type < 1 || *type > r->header.ntypes)
    return WRONG(r, "there is no type %lld: the header says %lld atom types", (long long)*type,
                 (long long)r->header.ntypes);
  *type += r->options.type_offset;
  return MD_OK;
}

static md_status read_masses(reader *r)
{
  if (r->sim->model.massed)
    return WRONG(r, "section Masses: with atom_style sphere each particle has a mass of its own");
  bool seen[MD_TYPES_MAX + 1] = {false};
  for (int64_t k = 0; k < r->header.ntypes; ++k) {
    int64_t type;
    double mass;
    MD_TRY(md_data_next_line(r));
    MD_TRY(md_data_check_line(r, "Masses", k, r->header.ntypes, 2, 2, "type mass"));
    MD_TRY(read_type(r, r->field[0], &type));
    MD_TRY(md_data_real(r, r->field[1], "mass", &mass));
    if (mass <= 0.0)
      return WRONG(r, "the mass of type %lld must be positive, not %s", (long long)type, r->field[1]);
    if (seen[type]) return WRONG(r, "the mass of type %lld is given twice", (long long)type);
    seen[type] = true;
    r->sim->model.mass[type] = mass * r->sim->model.units->mvv2e;
  }
  return md_data_end_section(r, "Masses", r->header.ntypes);
}

/* Passes a line of coefficients to pair_coeff. The first `types` fields are types; a single type stands for both. */
static md_status set_coefficients(reader *r, int types)
{
  char *word[FIELDS_MAX + 1], type_word[2][24];
  for (int k = 0; k < 2; ++k) {
    int64_t type;
    MD_TRY(read_type(r, r->field[k < types ? k : 0], &type));
    snprintf(type_word[k], sizeof type_word[k], "%lld", (long long)type);
    word[k] = type_word[k];
  }
  if (r->options.no_coefficients) return MD_OK;
  for (int k = types; k < r->nfield; ++k) word[k + 2 - types] = r->field[k];
  const md_words words = {r->nfield + 2 - types, word};
  return md_do_pair_coeff(r->sim, &words) == MD_OK ? MD_OK : md_data_locate(r);
}

/* Reads Pair Coeffs (types = 1, a line for each type) or PairIJ Coeffs (types = 2, a line for each pair). */
static md_status read_coefficients(reader *r, const char *name, int types, const char *style)
{
  const md_pair_style *chosen = md_pair_style_of(r->sim->model.pair.kind);
  const int64_t n = types == 1 ? r->header.ntypes : r->header.ntypes * (r->header.ntypes + 1) / 2;
  const bool used = !r->options.no_coefficients;
  if (!chosen && used) return WRONG(r, "section %s needs a pair_style in the deck before read_data", name);
  if (used && style[0] && strcmp(style, chosen->name) != 0)
    md_log_print(r->sim->log, "WARNING: %s:%lld: %s of pair style %s are read for %s\n", r->name,
                 (long long)r->line, name, style, chosen->name);
  for (int64_t k = 0; k < n; ++k) {
    MD_TRY(md_data_next_line(r));
    /* The pair style checks the number of coefficients. */
    const int fields = r->nfield > types && r->nfield <= FIELDS_MAX ? r->nfield : types + 1;
    MD_TRY(md_data_check_line(r, name, k, n, fields, fields,
                              types == 1 ? "type and coefficients" : "type, type and coefficients"));
    MD_TRY(set_coefficients(r, types));
  }
  return md_data_end_section(r, name, n);
}

/* ---- Atoms ---- */

static md_status put_into_box(const reader *r, int64_t id, int d, double *x)
{
  const md_box *box = &r->sim->model.box;
  const double lo = box->lo[d], hi = box->hi[d], length = box->length[d];
  const bool periodic = d < box->dim && box->periodic[d];
  if (*x >= lo && (*x < hi || (*x == hi && !periodic))) return MD_OK;
  if (md_box_face_follows(box, d, *x > lo)) return MD_OK;
  if (!periodic)
    return WRONG(r, "particle %lld is outside the box: %c = %.17g is not within %.17g and %.17g",
                 (long long)id, 'x' + d, *x, lo, hi);
  const double boxes = floor((*x - lo) / length);
  if (!(fabs(boxes) <= images_max))
    return WRONG(r, "particle %lld is %g boxes away: %c = %.17g", (long long)id, boxes, 'x' + d, *x);
  *x -= boxes * length;
  if (*x < lo) *x += length;
  if (*x >= hi) *x = lo;
  return MD_OK;
}

/* In a tilted box only the bounds of the brick are known to be passed by a particle. */
static md_status put_into_tilted(const reader *r, int64_t id, double x[3])
{
  const md_box *box = &r->sim->model.box;
  double fraction[3];
  md_box_fractions(box, x, fraction);
  for (int d = 0; d < 3 && d < box->dim; ++d) {
    if (!box->periodic[d] && !(x[d] >= box->lo[d] && x[d] <= box->hi[d]))
      return WRONG(r, "particle %lld is outside the box: %c = %.17g is not within %.17g and %.17g",
                   (long long)id, 'x' + d, x[d], box->lo[d], box->hi[d]);
    if (!(fabs(fraction[d]) <= images_max))
      return WRONG(r, "particle %lld is %g boxes away: %c = %.17g", (long long)id, fraction[d], 'x' + d,
                   x[d]);
  }
  md_box_show(box, x);
  return MD_OK;
}

/* Adds the offset of the keyword `add` to an id of the file. */
static md_status shift_id(const reader *r, record *a)
{
  if (a->id > INT64_MAX - r->options.id_offset)
    return WRONG(r, "particle id %lld and the offset %lld are beyond 2^63 - 1", (long long)a->id,
                 (long long)r->options.id_offset);
  a->id += r->options.id_offset;
  return MD_OK;
}

/* Parses the position in the fields from `at` on, and perhaps image flags after it. A particle beyond a periodic face
 * has gone through it. */
static md_status parse_place(reader *r, int at, record *a)
{
  const md_box *box = &r->sim->model.box;
  double given[3];
  int64_t image;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(md_data_real(r, r->field[at + d], "coordinate", &a->value[d]));
    a->value[d] += r->options.shift[d];
    given[d] = a->value[d];
    if (!box->triclinic) MD_TRY(put_into_box(r, a->id, d, &a->value[d]));
  }
  if (box->triclinic) MD_TRY(put_into_tilted(r, a->id, a->value));
  for (int d = 0; d < 3; ++d) given[d] -= a->value[d];
  for (int d = 2; d >= 0; --d) {
    a->value[3 + d] = rint(given[d] / box->length[d]);
    md_lattice_shift(box->length, box->tilt, d, -a->value[3 + d], given);
  }
  for (int k = at + 3; k < r->nfield; ++k) {
    MD_TRY(md_data_whole(r, r->field[k], "image flag", &image));
    if (image < -MD_IMAGE_FLAG_MOST || image > MD_IMAGE_FLAG_MOST)
      return WRONG(r, "the image flag %lld is beyond 2^30", (long long)image);
    a->value[k - at] += (double)image;
  }
  return MD_OK;
}

static md_status parse_id(reader *r, record *a)
{
  MD_TRY(md_data_whole(r, r->field[0], "particle id", &a->id));
  if (a->id < 1) return WRONG(r, "particle id %lld is not positive", (long long)a->id);
  MD_TRY(shift_id(r, a));
  a->mass = 0.0;
  a->partner = 0;
  return MD_OK;
}

static md_status parse_atom(reader *r, record *a)
{
  MD_TRY(parse_id(r, a));
  return read_type(r, r->field[1], &a->type);
}

static md_status parse_bead(reader *r, record *a)
{
  MD_TRY(parse_id(r, a));
  MD_TRY(md_data_whole(r, r->field[1], "number of a molecule", &a->partner));
  const int64_t most = UINT32_MAX - r->options.molecule_offset;
  if (a->partner < 0 || a->partner > most)
    return WRONG(r, "the number of a molecule is within 0 and %lld, not %s", (long long)most, r->field[1]);
  a->partner += r->options.molecule_offset;
  MD_TRY(read_type(r, r->field[2], &a->type));
  return parse_place(r, 3, a);
}

static md_status parse_point(reader *r, record *a)
{
  MD_TRY(parse_atom(r, a));
  return parse_place(r, 2, a);
}

static md_status parse_sphere(reader *r, record *a)
{
  double diameter, density;
  MD_TRY(parse_atom(r, a));
  MD_TRY(md_data_real(r, r->field[2], "diameter", &diameter));
  MD_TRY(md_data_real(r, r->field[3], "density", &density));
  if (diameter < 0.0) return WRONG(r, "the diameter of particle %lld is negative", (long long)a->id);
  a->mass = md_mass_of_sphere(diameter, density);
  if (!(a->mass > 0.0) || !isfinite(a->mass))
    return WRONG(r, "diameter %s and density %s give particle %lld the mass %g, which is no positive number",
                 r->field[2], r->field[3], (long long)a->id, a->mass);
  return parse_place(r, 4, a);
}

/* Keeps the image flags of the k-th particle of this rank, if one of them or of those before is not 0. */
static md_status keep_image(reader *r, int64_t k, const double image[3])
{
  if (!r->image && image[0] == 0.0 && image[1] == 0.0 && image[2] == 0.0) return MD_OK;
  if (!r->image || k >= r->room) {
    double *longer;
    const int64_t room = 2 * k + 1024;
    MD_TRY(md_array_new_zero(&longer, 3 * room, sizeof *longer, "image flags"));
    if (r->image) memcpy(longer, r->image, (size_t)(3 * r->room) * sizeof *longer);
    free(r->image);
    r->image = longer;
    r->room = room;
  }
  memcpy(r->image + 3 * k, image, 3 * sizeof *image);
  return MD_OK;
}

static md_status keep_atom(reader *r, const record *a)
{
  if (md_id_table_find(&r->ids, a->id)) return WRONG(r, "particle id %lld occurs twice", (long long)a->id);
  md_particles *p = &r->sim->particles;
  if (p->n == p->capacity) {
    const int64_t more = md_data_smaller(p->n + p->n / 8 + 1024, r->before + r->header.natoms);
    MD_TRY(md_particles_reserve(p, more > MD_PARTICLES_MAX && p->n < MD_PARTICLES_MAX ? MD_PARTICLES_MAX
                                                                                      : more));
  }
  const int64_t i = p->n++;
  p->id[i] = a->id;
  p->type[i] = (uint16_t)a->type;
  if (p->massed) p->mass[i] = a->mass;
  md_particles_set_alone(p, i);
  if (p->bonded) p->molecule[i] = (uint32_t)a->partner;
  if (p->grouped) p->group[i] = MD_GROUP_ALL | r->options.group;
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = a->value[d];
    p->v[d][i] = 0.0;
  }
  MD_TRY(keep_image(r, i - r->before, a->value + 3));
  return md_id_table_add(&r->ids, a->id, (int32_t)(i + 1));
}

static const section_kind points = {
    "Atoms", 5, 8, "id type x y z, and perhaps three image flags", parse_point, keep_atom, false};
static const section_kind spheres = {
    "Atoms",      7,         10,   "id type diameter density x y z, and perhaps three image flags",
    parse_sphere, keep_atom, false};
static const section_kind beads = {
    "Atoms", 6, 9, "id molecule type x y z, and perhaps three image flags", parse_bead, keep_atom, false};

/* The particles that a rank will have, as good as surely: the homes of ids are as random, so that the number of a rank
 * hardly ever differs by six standard deviations. */
static int64_t share_of(const reader *r)
{
  const double mean = (double)r->header.natoms / r->sim->comm->size;
  return r->sim->comm->size == 1 ? r->header.natoms
                                 : md_data_smaller((int64_t)(mean + 6.0 * sqrt(mean)) + 1, r->header.natoms);
}

/* Makes room for this rank's share. With one rank, ids are usually 1 to N, so the table can be an array. With
 * several ranks, the ids of a rank have gaps. */
static md_status make_room(reader *r)
{
  const int64_t share = share_of(r);
  MD_TRY(md_data_check_size(r));
  MD_TRY(md_memory_for_particles(r->sim->comm, &r->sim->particles, share));
  MD_TRY(md_id_table_init(&r->ids, r->sim->comm->size == 1 ? r->header.natoms : 0));
  return md_particles_reserve(&r->sim->particles, r->before + share);
}

static md_status read_atoms(reader *r, const char *style)
{
  md_comm *comm = r->sim->comm;
  const bool massed = r->sim->model.massed, bonded = r->sim->model.bonded;
  const char *expected = massed ? "sphere" : bonded ? "bond" : "atomic";
  if (style[0] && strcmp(style, expected) != 0)
    return WRONG(r, "the atoms are of atom style '%s', and the deck has atom_style %s", style, expected);
  MD_TRY(md_comm_agree(comm, make_room(r)));
  MD_TRY(md_data_read_lines(r, massed ? &spheres : bonded ? &beads : &points));
  return md_comm_agree(comm, md_data_end_section(r, "Atoms", r->header.natoms));
}

/* ---- Velocities ---- */

static md_status parse_velocity(reader *r, record *a)
{
  MD_TRY(md_data_whole(r, r->field[0], "particle id", &a->id));
  MD_TRY(shift_id(r, a));
  for (int d = 0; d < 3; ++d) MD_TRY(md_data_real(r, r->field[1 + d], "velocity", &a->value[d]));
  r->vz_ignored = r->vz_ignored || (r->sim->particles.dim == 2 && a->value[2] != 0.0);
  for (int k = 4; k < r->nfield; ++k) {
    double spin;
    MD_TRY(md_data_real(r, r->field[k], "angular velocity", &spin));
    r->spin_ignored = r->spin_ignored || spin != 0.0;
  }
  a->type = 0;
  a->mass = 0.0;
  return MD_OK;
}

static md_status keep_velocity(reader *r, const record *a)
{
  md_particles *p = &r->sim->particles;
  int32_t *value = md_id_table_find(&r->ids, a->id);
  if (!value)
    return WRONG(r, "there is a velocity of particle %lld, which is not in section Atoms", (long long)a->id);
  if (*value < 0) return WRONG(r, "the velocity of particle %lld is given twice", (long long)a->id);
  for (int d = 0; d < p->dim; ++d) p->v[d][*value - 1] = a->value[d];
  *value = -*value;
  return MD_OK;
}

static const section_kind velocities = {"Velocities",  4,    4, "id vx vy vz", parse_velocity,
                                        keep_velocity, false};
static const section_kind velocities_of_spheres = {
    "Velocities", 7, 7, "id vx vy vz wx wy wz", parse_velocity, keep_velocity, false};

static md_status read_velocities(reader *r)
{
  md_comm *comm = r->sim->comm;
  if (!r->done.atoms) return WRONG(r, "section Velocities must come after section Atoms");
  MD_TRY(md_data_read_lines(r, r->sim->model.massed ? &velocities_of_spheres : &velocities));
  return md_comm_agree(comm, md_data_end_section(r, "Velocities", r->header.natoms));
}

/* ---- Bonds ---- */

static md_status parse_bond(reader *r, record *a)
{
  int64_t number, id[2];
  *a = (record){.line = a->line};
  MD_TRY(md_data_whole(r, r->field[0], "number of a bond", &number));
  MD_TRY(md_data_whole(r, r->field[1], "type of a bond", &a->type));
  if (a->type < 1 || a->type > r->header.nbond_types)
    return WRONG(r, "bond type %lld is not within 1 and %lld", (long long)a->type,
                 (long long)r->header.nbond_types);
  a->type += r->options.bond_type_offset;
  for (int k = 0; k < 2; ++k) {
    MD_TRY(md_data_whole(r, r->field[2 + k], "particle id", &a->id));
    if (a->id < 1) return WRONG(r, "particle id %lld is not positive", (long long)a->id);
    MD_TRY(shift_id(r, a));
    id[k] = a->id;
  }
  if (id[0] == id[1]) return WRONG(r, "particle %lld has a bond to itself", (long long)id[0]);
  a->id = id[0];
  a->partner = id[1];
  return MD_OK;
}

static md_status keep_bond(reader *r, const record *a)
{
  md_particles *p = &r->sim->particles;
  const int32_t *at = md_id_table_find(&r->ids, a->id);
  if (!at)
    return WRONG(r, "there is a bond of particle %lld, which is not in section Atoms", (long long)a->id);
  const int64_t i = (*at < 0 ? -(int64_t)*at : *at) - 1;
  const int64_t larger_id = a->id > a->partner ? a->id : a->partner;
  int k = 0;
  for (; k < p->bonds && p->bond[k][i] != 0; ++k)
    if (p->bond[k][i] == a->partner)
      return WRONG(r, "the bond of particles %lld and %lld is given twice",
                   (long long)md_data_smaller(a->id, a->partner), (long long)larger_id);
  if (k == MD_BONDS_MAX)
    return WRONG(r, "particle %lld has more than %d bonds", (long long)a->id, MD_BONDS_MAX);
  if (k == p->bonds) MD_TRY(md_particles_make_bonds(p, k + 1));
  p->bond[k][i] = a->partner;
  p->bond_type[k][i] = (uint16_t)a->type;
  return MD_OK;
}

static const section_kind bonds = {"Bonds", 4, 4, "number type id id", parse_bond, keep_bond, true};

/* Gives the particles of all ranks the same number of slots. */
static md_status agree_on_slots(reader *r)
{
  md_particles *p = &r->sim->particles;
  double slots = md_min((double)p->bonds + (double)r->header.extra_bonds, MD_BONDS_MAX);
  MD_TRY(r->sim->comm->reduce->max(r->sim->comm, &slots, 1));
  r->sim->model.bonds.slots = (int)slots;
  return md_comm_agree(r->sim->comm, md_particles_make_bonds(p, (int)slots));
}

static md_status read_bonds(reader *r)
{
  md_comm *comm = r->sim->comm;
  if (!r->done.atoms) return WRONG(r, "section Bonds must come after section Atoms");
  if (r->header.nbonds == 0) return WRONG(r, "section Bonds: the header has no line `N bonds`");
  MD_TRY(md_data_read_lines(r, &bonds));
  MD_TRY(md_comm_agree(comm, md_data_end_section(r, "Bonds", r->header.nbonds)));
  r->header.extra_bonds = 0;
  return agree_on_slots(r);
}

/* Passes the lines of Bond Coeffs to bond_coeff. */
static md_status read_bond_coefficients(reader *r)
{
  const md_bond_style *style = md_bond_style_of(r->sim->model.bonds.kind);
  if (!style && !r->options.no_coefficients)
    return WRONG(r, "section Bond Coeffs needs a bond_style in the deck before read_data");
  for (int64_t k = 0; k < r->header.nbond_types; ++k) {
    MD_TRY(md_data_next_line(r));
    const int fields = style ? style->nparameter + 1 : r->nfield;
    MD_TRY(md_data_check_line(r, "Bond Coeffs", k, r->header.nbond_types, fields, fields,
                              "type and coefficients"));
    int64_t type;
    char word[24];
    MD_TRY(md_data_whole(r, r->field[0], "type of a bond", &type));
    type += r->options.bond_type_offset;
    snprintf(word, sizeof word, "%lld", (long long)type);
    r->field[0] = word;
    const md_words words = {r->nfield, r->field};
    if (!r->options.no_coefficients && md_do_bond_coeff(r->sim, &words) != MD_OK) return md_data_locate(r);
  }
  return md_data_end_section(r, "Bond Coeffs", r->header.nbond_types);
}

/* ---- values of fixes ---- */

static md_status parse_values(reader *r, record *a)
{
  *a = (record){.line = a->line};
  MD_TRY(md_data_whole(r, r->field[0], "particle id", &a->id));
  MD_TRY(shift_id(r, a));
  for (int k = 0; k < r->fix->values->columns; ++k) {
    MD_TRY(md_data_real(r, r->field[1 + k], "value of a fix", &a->value[k]));
    if (md_property_is_whole(r->fix->values, k) && a->value[k] != floor(a->value[k]))
      return WRONG(r, "'%.40s' is not a whole number", r->field[1 + k]);
  }
  return MD_OK;
}

static md_status keep_values(reader *r, const record *a)
{
  const int32_t *at = md_id_table_find(&r->ids, a->id);
  const int columns = r->fix->values->columns;
  if (!at)
    return WRONG(r, "there are values of particle %lld, which is not in section Atoms", (long long)a->id);
  const int64_t i = (*at < 0 ? -(int64_t)*at : *at) - 1;
  if (r->given[i]) return WRONG(r, "the values of particle %lld are given twice", (long long)a->id);
  r->given[i] = 1;
  for (int k = 0; k < columns; ++k) r->value[i * columns + k] = a->value[k];
  return MD_OK;
}

static md_status read_values(reader *r, md_data_fix *fix)
{
  md_comm *comm = r->sim->comm;
  const int columns = fix->values->columns;
  const int64_t n = r->sim->particles.n;
  const section_kind section = {
      fix->section, columns + 1, columns + 1, "id and a number for each property of the fix",
      parse_values, keep_values, false};
  if (!r->done.atoms) return WRONG(r, "section %s must come after section Atoms", fix->section);
  r->fix = fix;
  md_status status = md_array_new(&r->value, n * columns + 1, sizeof *r->value, "values of fixes");
  if (status == MD_OK) status = md_array_new_zero(&r->given, n + 1, 1, "values of fixes");
  status = md_comm_agree(comm, status);
  if (status == MD_OK) status = md_data_read_lines(r, &section);
  if (status == MD_OK) status = md_comm_agree(comm, md_data_end_section(r, fix->section, r->header.natoms));
  if (status == MD_OK) status = md_id_values_set(fix->values, r->given, r->value);
  free(r->value);
  free(r->given);
  r->value = NULL;
  r->given = NULL;
  return status;
}

/* The fix whose section has the title of the present line; NULL: none has. */
static md_data_fix *fix_of_section(reader *r)
{
  for (int k = 0; k < r->options.nfix; ++k)
    if (r->nfield == 1 && strcmp(r->field[0], r->options.fix[k].section) == 0) return &r->options.fix[k];
  return NULL;
}

/* ---- the file ---- */

static md_status read_section(reader *r)
{
  char title[sizeof r->comment] = "";
  const char *name = r->field[0];
  if (r->nfield == 1 && strcmp(name, "Masses") == 0) {
    MD_TRY(begin_section(r, "Masses", &r->done.masses, title));
    return md_comm_agree(r->sim->comm, read_masses(r));
  }
  const bool pair = strcmp(name, "Pair") == 0;
  if (r->nfield == 2 && (pair || strcmp(name, "PairIJ") == 0) && strcmp(r->field[1], "Coeffs") == 0) {
    const char *section = pair ? "Pair Coeffs" : "PairIJ Coeffs";
    MD_TRY(begin_section(r, section, &r->done.coefficients[!pair], title));
    return md_comm_agree(r->sim->comm, read_coefficients(r, section, pair ? 1 : 2, title));
  }
  if (r->nfield == 1 && strcmp(name, "Atoms") == 0) {
    MD_TRY(begin_section(r, "Atoms", &r->done.atoms, title));
    return read_atoms(r, title);
  }
  if (r->nfield == 1 && strcmp(name, "Velocities") == 0) {
    MD_TRY(begin_section(r, "Velocities", &r->done.velocities, title));
    return read_velocities(r);
  }
  if (r->sim->model.bonded && r->nfield == 2 && strcmp(name, "Bond") == 0 &&
      strcmp(r->field[1], "Coeffs") == 0) {
    MD_TRY(begin_section(r, "Bond Coeffs", &r->done.bond_coefficients, title));
    return md_comm_agree(r->sim->comm, read_bond_coefficients(r));
  }
  if (r->sim->model.bonded && r->nfield == 1 && strcmp(name, "Bonds") == 0) {
    MD_TRY(begin_section(r, "Bonds", &r->done.bonds, title));
    return read_bonds(r);
  }
  md_data_fix *fix = fix_of_section(r);
  if (fix) {
    MD_TRY(begin_section(r, fix->section, &fix->done, title));
    return read_values(r, fix);
  }
  return WRONG(r,
               "section '%.40s%s%.40s' is not supported, only Masses, Pair Coeffs, PairIJ Coeffs, Atoms and "
               "Velocities, and with atom_style bond Bond Coeffs and Bonds",
               name, r->nfield > 1 ? " " : "", r->nfield > 1 ? r->field[1] : "");
}

/* Makes the box larger, so that it holds that of the file too. */
static md_status extend_box(const reader *r, const double lo[3], const double hi[3])
{
  md_box *box = &r->sim->model.box;
  for (int d = 0; d < 3; ++d) {
    box->lo[d] = md_min(box->lo[d], lo[d]);
    box->hi[d] = md_max(box->hi[d], hi[d]);
    box->length[d] = box->hi[d] - box->lo[d];
    MD_TRY(md_box_check(box->lo[d], box->hi[d], d));
  }
  if (md_box_follows(box)) md_faces_begin(box);
  return MD_OK;
}

static md_status make_box(reader *r)
{
  const md_data_options *o = &r->options;
  double lo[3], hi[3];
  for (int d = 0; d < 3; ++d) {
    lo[d] = r->header.lo[d] + o->shift[d];
    hi[d] = r->header.hi[d] + o->shift[d];
    if (!(lo[d] < hi[d])) return md_box_check(lo[d], hi[d], d);
  }
  if (!o->add)
    return md_box_create(r->sim, lo, hi, r->header.have_tilt ? r->header.tilt : NULL,
                         r->header.ntypes + o->type_offset + o->extra_types);
  if (r->header.ntypes + o->type_offset > r->sim->model.ntypes)
    return md_error(MD_USAGE, "the file's %lld types, with the offset %lld, are more than the %d of the box",
                    (long long)r->header.ntypes, (long long)o->type_offset, r->sim->model.ntypes);
  const md_box *box = &r->sim->model.box;
  for (int k = 0; k < 3; ++k)
    if (r->header.tilt[k] != box->tilt[k] || r->header.have_tilt != box->triclinic)
      return md_error(MD_USAGE, "read_data add: the file and the box must have the same tilt, or none");
  return extend_box(r, lo, hi);
}

static md_status read_beginning(reader *r)
{
  MD_TRY(md_data_read_header(r));
  const bool flat = r->sim->model.box.dim == 2;
  if (!r->header.have_bounds[2] && !flat) return WRONG(r, "the header ends without `LO HI zlo zhi`");
  if (r->header.nbond_types > MD_BOND_TYPES_MAX || r->header.extra_bonds > MD_BONDS_MAX)
    return WRONG(r, "at most %d bond types and %d extra bonds are accepted", MD_BOND_TYPES_MAX, MD_BONDS_MAX);
  if (make_box(r) != MD_OK) return md_data_locate(r);
  r->begun = true;
  if (!r->options.add) r->sim->model.bonds.ntypes = (int)r->header.nbond_types;
  if (r->header.nbond_types > 0 &&
      r->header.nbond_types + r->options.bond_type_offset > r->sim->model.bonds.ntypes)
    return WRONG(r, "the file's %lld bond types, with their offset, are more than the %d of the box",
                 (long long)r->header.nbond_types, r->sim->model.bonds.ntypes);
  return r->options.group ? md_particles_make_groups(&r->sim->particles) : MD_OK;
}

static md_status read_all(reader *r)
{
  md_comm *comm = r->sim->comm;
  MD_TRY(md_comm_agree(comm, read_beginning(r)));
  while (!r->end) MD_TRY(read_section(r));
  if (r->header.natoms > 0 && !r->done.atoms)
    return WRONG(r, "the file ends without a section Atoms for its %lld atoms", (long long)r->header.natoms);
  if (r->header.nbonds > 0 && !r->done.bonds)
    return WRONG(r, "the file ends without a section Bonds for its %lld bonds", (long long)r->header.nbonds);
  if (r->header.extra_bonds > 0) MD_TRY(agree_on_slots(r));
  return MD_OK;
}

/* Gives the particles that were read their image flags, if a rank has any. */
static md_status give_images(const reader *r)
{
  md_sim *sim = r->sim;
  const int64_t n = sim->particles.n;
  int64_t any = r->image != NULL;
  uint8_t *chosen = NULL;
  double *flag[3] = {NULL, NULL, NULL};
  MD_TRY(sim->comm->reduce->sum(sim->comm, &any, 1));
  if (any == 0) return MD_OK;
  md_status status = md_array_new_zero(&chosen, n + 1, 1, "image flags");
  for (int d = 0; d < 3 && status == MD_OK; ++d)
    status = md_array_new_zero(&flag[d], n + 1, sizeof *flag[d], "image flags");
  status = md_comm_agree(sim->comm, status);
  for (int64_t i = r->before; i < n && status == MD_OK; ++i) {
    chosen[i] = 1;
    for (int d = 0; d < 3 && i - r->before < r->room; ++d) flag[d][i] = r->image[3 * (i - r->before) + d];
  }
  if (status == MD_OK) status = md_images_set(sim, chosen, flag);
  free(chosen);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return status;
}

md_status md_data_read(md_sim *sim, FILE *file, const char *name, const md_data_options *options)
{
  md_comm *comm = sim->comm;
  reader r = {
      .sim = sim, .file = file, .name = name, .header = {.lo = {0.0, 0.0, -0.5}, .hi = {0.0, 0.0, 0.5}}};
  if (options) r.options = *options;
  if (r.options.add) r.before = sim->particles.n;
  MD_TRY(md_comm_agree(comm, md_array_new(&r.long_line, LINE_SIZE, 1, "a line of a data file")));
  md_status status = read_all(&r);
  if (status == MD_OK) status = give_images(&r);
  md_id_table_free(&r.ids);
  free(r.image);
  free(r.long_line);
  sim->broken = status != MD_OK && r.begun;
  MD_TRY(status);
  int64_t ignored[2] = {r.vz_ignored, r.spin_ignored};
  MD_TRY(comm->reduce->sum(comm, ignored, 2));
  if (ignored[0]) md_sim_explain(sim, "vz", "velocities along z have no effect in two dimensions");
  if (ignored[1]) md_sim_explain(sim, "angular velocities", "particles are points here and do not turn");
  return md_sim_count(sim);
}
