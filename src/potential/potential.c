/* The files of potentials with a density: funcfl (one element), setfl and that of Finnis and Sinclair (several).
 *
 * Layout, by lines and then by numbers in any lines:
 *   funcfl  a comment; Z mass lattice type; nrho drho nr dr rc; then F, the charge Z(r), density
 *   setfl   three comments; the number of elements and their names; nrho drho nr dr rc; for each element: Z mass
 *           lattice type, F, and its density (in the other file one for each element at which it is); then r phi of
 *           1 1, 2 1, 2 2, 3 1 ...
 *
 * Files of the first kind are brought to one grid, the coarsest step and the farthest reach of those that types use, by
 * cubic interpolation, as LAMMPS does. r phi of two elements is then 27.2 eV 0.529 Angstrom Z_1 Z_2. Each rank reads
 * the files.
 *
 * Reference: the LAMMPS manual, pair_style eam.
 */
#include "src/potential/potential.h"
#include "common/base/memory.h"
#include "common/base/open_file.h"
#include "common/ranks/reductions.h"
#include "src/potential/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hartree times the radius of Bohr, with the digits of the format. */
#define CHARGES (27.2 * 0.529)

/* Reads up to n numbers from a line. Returns how many there are. */
static int line_numbers(const char *line, double *value, int n)
{
  int count = 0;
  for (char *end; count < n; line = end, ++count) {
    value[count] = strtod(line, &end);
    if (end == line) break;
  }
  return count;
}

/* The line nrho drho nr dr rc. */
static md_status read_grid(md_text_file *f, md_eam_values *v)
{
  double value[5] = {0.0};
  const int n = line_numbers(md_text_file_line(f), value, 5);
  --f->line;
  if (n != 5) return md_text_file_wrong(f, "nrho drho nr dr rc are expected in this line");
  if (!(value[0] >= 5.0 && value[2] >= 5.0 && value[0] <= 0x1p24 && value[2] <= 0x1p24))
    return md_text_file_wrong(f, "nrho and nr must be from 5 to 2^24");
  v->nrho = (int)value[0];
  v->drho = value[1];
  v->nr = (int)value[2];
  v->dr = value[3];
  v->cutoff = value[4];
  if (!(v->drho > 0.0 && v->dr > 0.0 && v->cutoff > 0.0 && isfinite(v->drho + v->dr + v->cutoff)))
    return md_text_file_wrong(f, "drho, dr and rc must be positive");
  ++f->line;
  return MD_OK;
}

/* The line Z mass lattice type. */
static md_status read_mass(md_text_file *f, double *mass)
{
  double value[2] = {0.0};
  while (isspace((unsigned char)*f->at)) f->line += *f->at++ == '\n';
  const char *line = md_text_file_line(f);
  --f->line;
  if (line_numbers(line, value, 2) != 2 || !(value[1] > 0.0) || !isfinite(value[1]))
    return md_text_file_wrong(f, "an atomic number and a positive mass are expected in this line");
  *mass = value[1];
  ++f->line;
  return MD_OK;
}

static md_status allocate(md_eam_values *v)
{
  const long long elements = v->nelement, pairs = elements * elements;
  MD_TRY(md_array_new(&v->embedding, elements * v->nrho, sizeof(double), "tables of a potential"));
  MD_TRY(md_array_new(&v->density, pairs * v->nr, sizeof(double), "tables of a potential"));
  return md_array_new(&v->pair, pairs * v->nr, sizeof(double), "tables of a potential");
}

/* ---- funcfl ---- */

/* One element; `pair` has Z(r). */
static md_status read_funcfl(md_text_file *f, md_eam_values *v)
{
  *v = (md_eam_values){.nelement = 1};
  (void)md_text_file_line(f);
  MD_TRY(read_mass(f, &v->mass[0]));
  MD_TRY(read_grid(f, v));
  MD_TRY(allocate(v));
  MD_TRY(md_text_file_table(f, v->embedding, v->nrho));
  MD_TRY(md_text_file_table(f, v->pair, v->nr));
  MD_TRY(md_text_file_table(f, v->density, v->nr));
  return md_text_file_end(f);
}

/* The value at x steps of n values, by the cubic through four of them. */
static double interpolated(const double *value, int n, double x)
{
  const int whole = (int)x, k = whole < 1 ? 1 : whole > n - 3 ? n - 3 : whole;
  const double p = md_min(x - k, 2.0);
  return -p * (p - 1.0) * (p - 2.0) / 6.0 * value[k - 1] + (p * p - 1.0) * (p - 2.0) / 2.0 * value[k] -
         p * (p + 1.0) * (p - 2.0) / 2.0 * value[k + 1] + p * (p * p - 1.0) / 6.0 * value[k + 2];
}

/* Brings n files to one grid. */
static md_status combine(const md_eam_values *file, int n, md_eam_values *v)
{
  double far = 0.0, most = 0.0;
  *v = (md_eam_values){.nelement = n};
  for (int e = 0; e < n; ++e) {
    v->dr = md_max(v->dr, file[e].dr);
    v->drho = md_max(v->drho, file[e].drho);
    v->cutoff = md_max(v->cutoff, file[e].cutoff);
    far = md_max(far, (file[e].nr - 1) * file[e].dr);
    most = md_max(most, (file[e].nrho - 1) * file[e].drho);
    v->mass[e] = file[e].mass[0];
  }
  v->nr = (int)(far / v->dr + 0.5);
  v->nrho = (int)(most / v->drho + 0.5);
  MD_TRY(allocate(v));
  for (int a = 0; a < n; ++a) {
    const md_eam_values *from = &file[a];
    for (int m = 0; m < v->nrho; ++m)
      v->embedding[(size_t)a * (size_t)v->nrho + (size_t)m] =
          interpolated(from->embedding, from->nrho, m * v->drho / from->drho);
    for (int b = 0; b < n; ++b)
      for (int m = 0; m < v->nr; ++m) {
        const double r = m * v->dr, rb = r / file[b].dr;
        const size_t at = (size_t)(a * n + b) * (size_t)v->nr + (size_t)m;
        v->density[at] = interpolated(file[b].density, file[b].nr, rb);
        v->pair[at] = CHARGES * (interpolated(from->pair, from->nr, r / from->dr) *
                                 interpolated(file[b].pair, file[b].nr, rb));
      }
  }
  return MD_OK;
}

/* ---- setfl ---- */

static md_status read_names(md_text_file *f, md_eam_values *v)
{
  char *rest, *word = strtok_r(md_text_file_line(f), " \t\r", &rest);
  --f->line;
  v->nelement = word ? (int)strtol(word, NULL, 10) : 0;
  if (v->nelement < 1 || v->nelement > MD_EAM_ELEMENTS)
    return md_text_file_wrong(f, "the number of elements must be from 1 to 32, and stands in this line");
  for (int e = 0; e < v->nelement; ++e) {
    word = strtok_r(NULL, " \t\r", &rest);
    if (!word || strlen(word) >= sizeof v->name[0])
      return md_text_file_wrong(f, "the names of the elements are expected here");
    snprintf(v->name[e], sizeof v->name[e], "%s", word);
  }
  ++f->line;
  return MD_OK;
}

/* each: a density of element b for each element at which it is; else one for all. */
static md_status read_element(md_text_file *f, md_eam_values *v, int b, bool each)
{
  const size_t n = (size_t)v->nelement, nr = (size_t)v->nr;
  MD_TRY(read_mass(f, &v->mass[b]));
  MD_TRY(md_text_file_table(f, v->embedding + (size_t)b * (size_t)v->nrho, v->nrho));
  for (size_t a = 0; a < n; ++a) {
    double *to = v->density + (a * n + (size_t)b) * nr;
    if (a == 0 || each)
      MD_TRY(md_text_file_table(f, to, v->nr));
    else
      memcpy(to, v->density + (size_t)b * nr, nr * sizeof *to);
  }
  return MD_OK;
}

static md_status read_setfl(md_text_file *f, bool each, md_eam_values *v)
{
  *v = (md_eam_values){0};
  for (int k = 0; k < 3; ++k) (void)md_text_file_line(f);
  MD_TRY(read_names(f, v));
  MD_TRY(read_grid(f, v));
  MD_TRY(allocate(v));
  const size_t n = (size_t)v->nelement, nr = (size_t)v->nr;
  for (int e = 0; e < v->nelement; ++e) MD_TRY(read_element(f, v, e, each));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b <= a; ++b) {
      MD_TRY(md_text_file_table(f, v->pair + (a * n + b) * nr, v->nr));
      memcpy(v->pair + (b * n + a) * nr, v->pair + (a * n + b) * nr, nr * sizeof(double));
    }
  return md_text_file_end(f);
}

/* ---- pair_coeff ---- */

/* Makes the potential of the elements of types; it is not that of the model yet. */
static md_status make(const md_model *model, const md_eam_values *values, const int *element, md_eam **eam)
{
  MD_TRY(md_eam_new(eam, values, model->ntypes));
  for (int t = 0; t < model->ntypes; ++t) (*eam)->element[t] = element[t];
  return MD_OK;
}

/* Gives types [first, last) the masses of their elements. */
static void take_masses(md_model *model, const md_eam_values *values, const int *element, int first, int last)
{
  for (int t = first; t < last; ++t)
    if (element[t] >= 0) model->mass[t + 1] = values->mass[element[t]] * model->units->mvv2e;
}

/* Files of elements, of which those of a potential that types still use come first. */
typedef struct file_list {
  int n;
  md_eam_values *file;           /* [n]; the values of all but the last are those of the potential before */
  int from[MD_EAM_ELEMENTS + 1]; /* their places in the potential before */
} file_list;

/* Lists the files that some type uses, with room for one more, and numbers the elements of types by the list. */
static md_status list_files(const md_pair *pair, int *element, file_list *list)
{
  const int old = pair->eam ? pair->eam->nfile : 0;
  list->n = 0;
  list->file = calloc((size_t)old + 1, sizeof *list->file);
  if (!list->file) return md_error(MD_RUNTIME, "out of memory: files of potentials");
  for (int e = 0; e < old; ++e) {
    bool used = false;
    for (int t = 0; t < pair->ntypes; ++t) {
      if (element[t] != e) continue;
      element[t] = list->n;
      used = true;
    }
    list->from[list->n] = e;
    if (used) list->file[list->n++] = pair->eam->file[e];
  }
  return MD_OK;
}

/* Replaces the potential of the model by one of the listed files, which it then owns. Those that are not listed are
 * freed. */
static void take_files(md_pair *pair, md_eam *eam, const file_list *list)
{
  for (int k = 0; pair->eam && k < list->n - 1; ++k) pair->eam->file[list->from[k]] = (md_eam_values){0};
  eam->file = list->file;
  eam->nfile = list->n;
  md_pair_take_potential(pair, eam);
}

static md_status coeff_funcfl(md_sim *sim, const md_words *words, md_text_file *f)
{
  md_pair *pair = &sim->model.pair;
  md_eam *eam = NULL;
  md_eam_values values = {0}, *added;
  file_list list;
  int i0, i1, j0, j1, element[MD_TYPES_MAX] = {0};
  MD_TRY(md_word_types(words->word[0], pair->ntypes, &i0, &i1));
  MD_TRY(md_word_types(words->word[1], pair->ntypes, &j0, &j1));
  const int first = i0 > j0 ? i0 : j0, last = i1 < j1 ? i1 : j1;
  if (first > last)
    return md_error(MD_USAGE, "pair_coeff %.64s %.64s: pair style eam has a file for each element: give I I",
                    words->word[0], words->word[1]);
  for (int t = 0; t < pair->ntypes; ++t)
    element[t] = pair->eam && (t < first - 1 || t >= last) ? pair->eam->element[t] : -1;
  MD_TRY(list_files(pair, element, &list));
  for (int t = first - 1; t < last; ++t) element[t] = list.n;
  added = &list.file[list.n++];
  md_status status = read_funcfl(f, added);
  if (status == MD_OK && list.n > MD_EAM_ELEMENTS)
    status = md_error(MD_USAGE, "pair style eam takes at most 32 files");
  if (status == MD_OK) status = combine(list.file, list.n, &values);
  if (status == MD_OK) status = make(&sim->model, &values, element, &eam);
  if (status == MD_OK) {
    take_files(pair, eam, &list);
    take_masses(&sim->model, &values, element, first - 1, last);
  } else {
    md_eam_values_free(added);
    free(list.file);
  }
  md_eam_values_free(&values);
  return status;
}

static md_status find_elements(const md_eam_values *v, const md_words *words, int *element)
{
  for (int w = 3; w < words->n; ++w) {
    int e = 0;
    while (e < v->nelement && strcmp(v->name[e], words->word[w]) != 0) ++e;
    if (e == v->nelement)
      return md_error(MD_USAGE, "pair_coeff: the element '%.32s' is not in %.200s", words->word[w],
                      words->word[2]);
    element[w - 3] = e;
  }
  return MD_OK;
}

static md_status coeff_setfl(md_sim *sim, const md_words *words, bool each, md_text_file *f)
{
  md_model *model = &sim->model;
  int element[MD_TYPES_MAX] = {0};
  md_eam *eam = NULL;
  md_eam_values values = {0};
  if (strcmp(words->word[0], "*") != 0 || strcmp(words->word[1], "*") != 0 ||
      words->n != 3 + sim->model.ntypes)
    return md_error(MD_USAGE,
                    "pair_coeff of pair style %s takes * * FILE and an element for each of %d types",
                    md_pair_style_of(sim->model.pair.kind)->name, sim->model.ntypes);
  md_status status = read_setfl(f, each, &values);
  if (status == MD_OK) status = find_elements(&values, words, element);
  if (status == MD_OK) status = make(model, &values, element, &eam);
  if (status == MD_OK) {
    md_pair_take_potential(&model->pair, eam);
    take_masses(model, &values, element, 0, model->ntypes);
  }
  md_eam_values_free(&values);
  return status;
}

md_status md_potential_coeff(md_sim *sim, const md_words *words)
{
  const md_pair_kind kind = sim->model.pair.kind;
  md_text_file f = {0};
  if (strcmp(sim->model.units->name, "metal") != 0)
    return md_error(MD_USAGE,
                    "pair style %s: potentials are in Angstrom and eV, and need units metal, not %s",
                    md_pair_style_of(kind)->name, sim->model.units->name);
  if (words->n < 3)
    return md_error(MD_USAGE, "pair_coeff of pair style %s takes a file", md_pair_style_of(kind)->name);
  if (kind == MD_PAIR_eam && words->n != 3)
    return md_error(MD_USAGE, "pair_coeff of pair style eam takes I J FILE");
  md_status status = md_text_file_open(sim, words->word[2], &f);
  if (status == MD_OK)
    status = kind == MD_PAIR_eam ? coeff_funcfl(sim, words, &f)
                                 : coeff_setfl(sim, words, kind == MD_PAIR_eam_fs, &f);
  free(f.text);
  return md_comm_agree(sim->comm, status);
}
