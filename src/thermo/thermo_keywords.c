/* The table of thermo keywords, and a function for the value of each; see thermo_keywords.h.
 *
 * Names, titles and meanings are those of LAMMPS for short-range pairs and bonds. Quantities that such a system does
 * not have (energies of angles, of charges) are zero, as in LAMMPS. Energies are per particle in
 * units lj, unless the deck has `thermo_modify norm no`, and of the whole system in other units. LAMMPS has no momx,
 * momy and momz: the total momentum, which never changes by a bit in a periodic box.
 */
#include "src/thermo/thermo_keywords.h"
#include "common/ranks/reductions.h"
#include "src/computes/computes.h"
#include "src/create/lattice.h"
#include "src/fixes/fixes.h"
#include "src/restart/resume.h"
#include "src/sums/exact_sum.h"
#include "src/sums/masses.h"

#include <math.h>
#include <string.h>

static int64_t get_step(const md_thermo_reading *r) { return r->step; }
static int64_t get_elapsed(const md_thermo_reading *r) { return r->step - r->sim->run_first; }
static int64_t get_elaplong(const md_thermo_reading *r) { return r->step - r->sim->model.run_begin; }
static int64_t get_atoms(const md_thermo_reading *r) { return r->sim->model.natoms + r->sim->nmissing; }
static int64_t get_nbuild(const md_thermo_reading *r) { return (int64_t)r->sim->run_builds; }
static int64_t get_zero(const md_thermo_reading *r)
{
  (void)r;
  return 0;
}

static double get_nothing(const md_thermo_reading *r)
{
  (void)r;
  return 0.0;
}

static double get_dt(const md_thermo_reading *r) { return r->sim->model.dt; }
static double get_time(const md_thermo_reading *r) { return (double)r->step * r->sim->model.dt; }
static double get_cpu(const md_thermo_reading *r) { return r->sim->run_seconds; }

/* Steps per second since the previous row of the table. */
static double get_spcpu(const md_thermo_reading *r)
{
  const double seconds = r->sim->run_seconds - r->sim->thermo.row_seconds;
  return seconds > 0.0 ? (double)(r->step - r->sim->thermo.row_step) / seconds : 0.0;
}

static double get_tpcpu(const md_thermo_reading *r) { return get_spcpu(r) * r->sim->model.dt; }

static double get_cpuremain(const md_thermo_reading *r)
{
  const double done = fabs((double)get_elapsed(r)), left = fabs((double)(r->sim->run_last - r->step));
  return done > 0.0 ? r->sim->run_seconds * left / done : 0.0;
}

/* A total energy, divided by the number of particles if thermo_modify asks for it. */
static double normed(const md_thermo_reading *r, double total)
{
  const int64_t n = get_atoms(r);
  return md_thermo_is_normed(r->sim) && n > 0 ? total / (double)n : total;
}

/* The kinetic energy as in LAMMPS: that of the degrees of freedom of the temperature. A single particle has none. */
static double kinetic(const md_thermo_reading *r)
{
  if (r->temp != MD_THERMO_TEMP) return r->computed->value[r->temp][MD_TEMPERATURE_KINETIC];
  return get_atoms(r) > 1 ? r->computed->value[MD_THERMO_KE][0] : 0.0;
}

static double potential(const md_thermo_reading *r) { return r->computed->value[MD_THERMO_PE][0]; }

/* The energy of pairs: without that of bonds and fixes. */
static double get_epair(const md_thermo_reading *r)
{
  return normed(r, potential(r) - r->computed->fix_energy - r->computed->bond_energy);
}

static double get_etail(const md_thermo_reading *r)
{
  return normed(r, md_model_tail_energy(&r->sim->model));
}

static double get_ebond(const md_thermo_reading *r) { return normed(r, r->computed->bond_energy); }

static md_box box_of(const md_thermo_reading *r)
{
  const md_model *model = &r->sim->model;
  return r->sim->foretells == MD_FORETELLS_PRESENT ? model->box : md_model_shown_box(model);
}

static double get_vol(const md_thermo_reading *r)
{
  const md_box box = box_of(r);
  return md_box_volume(&box);
}
static double get_temp(const md_thermo_reading *r) { return r->computed->value[r->temp][0]; }
static double get_press(const md_thermo_reading *r) { return r->computed->value[r->press][0]; }
static double get_pe(const md_thermo_reading *r) { return normed(r, potential(r)); }
static double get_ke(const md_thermo_reading *r) { return normed(r, kinetic(r)); }
static double get_etotal(const md_thermo_reading *r) { return normed(r, potential(r) + kinetic(r)); }
static double get_ecouple(const md_thermo_reading *r) { return normed(r, r->computed->coupled); }
static double get_econserve(const md_thermo_reading *r)
{
  return normed(r, potential(r) + kinetic(r) + r->computed->coupled);
}
static double get_enthalpy(const md_thermo_reading *r)
{
  return normed(r, potential(r) + kinetic(r) + get_press(r) * get_vol(r) / r->sim->model.units->nktv2p);
}
static double get_density(const md_thermo_reading *r)
{
  return r->sim->model.units->mv2d * r->total_mass / get_vol(r);
}

static double get_lx(const md_thermo_reading *r) { return box_of(r).length[0]; }
static double get_ly(const md_thermo_reading *r) { return box_of(r).length[1]; }
static double get_lz(const md_thermo_reading *r) { return box_of(r).length[2]; }
static double get_xy(const md_thermo_reading *r) { return box_of(r).tilt[MD_XY]; }
static double get_xz(const md_thermo_reading *r) { return box_of(r).tilt[MD_XZ]; }
static double get_yz(const md_thermo_reading *r) { return box_of(r).tilt[MD_YZ]; }
static double get_xlo(const md_thermo_reading *r) { return box_of(r).lo[0]; }
static double get_xhi(const md_thermo_reading *r) { return box_of(r).hi[0]; }
static double get_ylo(const md_thermo_reading *r) { return box_of(r).lo[1]; }
static double get_yhi(const md_thermo_reading *r) { return box_of(r).hi[1]; }
static double get_zlo(const md_thermo_reading *r) { return box_of(r).lo[2]; }
static double get_zhi(const md_thermo_reading *r) { return box_of(r).hi[2]; }

/* The edges of the box and the angles between them, as in LAMMPS. */
static double get_cella(const md_thermo_reading *r) { return get_lx(r); }
static double get_cellb(const md_thermo_reading *r) { return hypot(get_ly(r), get_xy(r)); }
static double get_cellc(const md_thermo_reading *r) { return hypot(get_lz(r), hypot(get_xz(r), get_yz(r))); }
static double degrees(double cosine) { return acos(cosine) * (180.0 / 3.14159265358979323846); }
static double get_cellalpha(const md_thermo_reading *r)
{
  return degrees((get_xy(r) * get_xz(r) + get_ly(r) * get_yz(r)) / (get_cellb(r) * get_cellc(r)));
}
static double get_cellbeta(const md_thermo_reading *r) { return degrees(get_xz(r) / get_cellc(r)); }
static double get_cellgamma(const md_thermo_reading *r) { return degrees(get_xy(r) / get_cellb(r)); }

static double get_fmax(const md_thermo_reading *r) { return r->largest_force; }
static double get_fnorm(const md_thermo_reading *r) { return sqrt(r->force_square); }

static double get_xlat(const md_thermo_reading *r) { return md_lattice_unit(r->sim, 0); }
static double get_ylat(const md_thermo_reading *r) { return md_lattice_unit(r->sim, 1); }
static double get_zlat(const md_thermo_reading *r) { return md_lattice_unit(r->sim, 2); }
static double get_momx(const md_thermo_reading *r) { return r->computed->value[MD_THERMO_MOMENTUM][0]; }
static double get_momy(const md_thermo_reading *r) { return r->computed->value[MD_THERMO_MOMENTUM][1]; }
static double get_momz(const md_thermo_reading *r) { return r->computed->value[MD_THERMO_MOMENTUM][2]; }

static double get_pxx(const md_thermo_reading *r) { return r->tensor[0]; }
static double get_pyy(const md_thermo_reading *r) { return r->tensor[1]; }
static double get_pzz(const md_thermo_reading *r) { return r->tensor[2]; }
static double get_pxy(const md_thermo_reading *r) { return r->tensor[3]; }
static double get_pxz(const md_thermo_reading *r) { return r->tensor[4]; }
static double get_pyz(const md_thermo_reading *r) { return r->tensor[5]; }

enum { BOX = MD_NEEDS_BOX, STATE = MD_NEEDS_BOX | MD_NEEDS_STATE, MASS = MD_NEEDS_BOX | MD_NEEDS_MASS };
enum { RUN = MD_NEEDS_RUN, TENSOR = MD_NEEDS_BOX | MD_NEEDS_TENSOR };
enum { FORCES = MD_NEEDS_BOX | MD_NEEDS_FORCES };

/* KEYWORD(name, title, needs, whole, real): whole returns the value as an integer, real as a double; one of them is
 * NULL. */
#define KEYWORDS(KEYWORD)                                                                                    \
  KEYWORD(step, "Step", 0, get_step, NULL)                                                                   \
  KEYWORD(elapsed, "Elapsed", RUN, get_elapsed, NULL)                                                        \
  KEYWORD(elaplong, "Elaplong", RUN, get_elaplong, NULL)                                                     \
  KEYWORD(dt, "Dt", 0, NULL, get_dt)                                                                         \
  KEYWORD(time, "Time", 0, NULL, get_time)                                                                   \
  KEYWORD(cpu, "CPU", RUN, NULL, get_cpu)                                                                    \
  KEYWORD(tpcpu, "T/CPU", RUN, NULL, get_tpcpu)                                                              \
  KEYWORD(spcpu, "S/CPU", RUN, NULL, get_spcpu)                                                              \
  KEYWORD(cpuremain, "CPULeft", RUN, NULL, get_cpuremain)                                                    \
  KEYWORD(nbuild, "Nbuild", 0, get_nbuild, NULL)                                                             \
  KEYWORD(ndanger, "Ndanger", 0, get_zero, NULL)                                                             \
  KEYWORD(part, "Part", 0, get_zero, NULL)                                                                   \
  KEYWORD(timeremain, "TimeoutLeft", 0, NULL, get_nothing)                                                   \
  KEYWORD(atoms, "Atoms", 0, get_atoms, NULL)                                                                \
  KEYWORD(temp, "Temp", STATE, NULL, get_temp)                                                               \
  KEYWORD(press, "Press", STATE, NULL, get_press)                                                            \
  KEYWORD(pxx, "Pxx", TENSOR, NULL, get_pxx)                                                                 \
  KEYWORD(pyy, "Pyy", TENSOR, NULL, get_pyy)                                                                 \
  KEYWORD(pzz, "Pzz", TENSOR, NULL, get_pzz)                                                                 \
  KEYWORD(pxy, "Pxy", TENSOR, NULL, get_pxy)                                                                 \
  KEYWORD(pxz, "Pxz", TENSOR, NULL, get_pxz)                                                                 \
  KEYWORD(pyz, "Pyz", TENSOR, NULL, get_pyz)                                                                 \
  KEYWORD(pe, "PotEng", STATE, NULL, get_pe)                                                                 \
  KEYWORD(ke, "KinEng", STATE, NULL, get_ke)                                                                 \
  KEYWORD(etotal, "TotEng", STATE, NULL, get_etotal)                                                         \
  KEYWORD(evdwl, "E_vdwl", STATE, NULL, get_epair)                                                           \
  KEYWORD(ecoul, "E_coul", 0, NULL, get_nothing)                                                             \
  KEYWORD(epair, "E_pair", STATE, NULL, get_epair)                                                           \
  KEYWORD(ebond, "E_bond", STATE, NULL, get_ebond)                                                           \
  KEYWORD(eangle, "E_angle", 0, NULL, get_nothing)                                                           \
  KEYWORD(edihed, "E_dihed", 0, NULL, get_nothing)                                                           \
  KEYWORD(eimp, "E_impro", 0, NULL, get_nothing)                                                             \
  KEYWORD(emol, "E_mol", STATE, NULL, get_ebond)                                                             \
  KEYWORD(elong, "E_long", 0, NULL, get_nothing)                                                             \
  KEYWORD(etail, "E_tail", STATE, NULL, get_etail)                                                           \
  KEYWORD(enthalpy, "Enthalpy", STATE, NULL, get_enthalpy)                                                   \
  KEYWORD(ecouple, "Ecouple", STATE, NULL, get_ecouple)                                                      \
  KEYWORD(econserve, "Econserve", STATE, NULL, get_econserve)                                                \
  KEYWORD(vol, "Volume", BOX, NULL, get_vol)                                                                 \
  KEYWORD(density, "Density", MASS, NULL, get_density)                                                       \
  KEYWORD(lx, "Lx", BOX, NULL, get_lx)                                                                       \
  KEYWORD(ly, "Ly", BOX, NULL, get_ly)                                                                       \
  KEYWORD(lz, "Lz", BOX, NULL, get_lz)                                                                       \
  KEYWORD(xy, "Xy", BOX, NULL, get_xy)                                                                       \
  KEYWORD(xz, "Xz", BOX, NULL, get_xz)                                                                       \
  KEYWORD(yz, "Yz", BOX, NULL, get_yz)                                                                       \
  KEYWORD(xlo, "Xlo", BOX, NULL, get_xlo)                                                                    \
  KEYWORD(xhi, "Xhi", BOX, NULL, get_xhi)                                                                    \
  KEYWORD(ylo, "Ylo", BOX, NULL, get_ylo)                                                                    \
  KEYWORD(yhi, "Yhi", BOX, NULL, get_yhi)                                                                    \
  KEYWORD(zlo, "Zlo", BOX, NULL, get_zlo)                                                                    \
  KEYWORD(zhi, "Zhi", BOX, NULL, get_zhi)                                                                    \
  KEYWORD(cella, "Cella", BOX, NULL, get_cella)                                                              \
  KEYWORD(cellb, "Cellb", BOX, NULL, get_cellb)                                                              \
  KEYWORD(cellc, "Cellc", BOX, NULL, get_cellc)                                                              \
  KEYWORD(cellalpha, "CellAlpha", BOX, NULL, get_cellalpha)                                                  \
  KEYWORD(cellbeta, "CellBeta", BOX, NULL, get_cellbeta)                                                     \
  KEYWORD(cellgamma, "CellGamma", BOX, NULL, get_cellgamma)                                                  \
  KEYWORD(fmax, "Fmax", FORCES, NULL, get_fmax)                                                              \
  KEYWORD(fnorm, "Fnorm", FORCES, NULL, get_fnorm)                                                           \
  KEYWORD(xlat, "Xlat", 0, NULL, get_xlat)                                                                   \
  KEYWORD(ylat, "Ylat", 0, NULL, get_ylat)                                                                   \
  KEYWORD(zlat, "Zlat", 0, NULL, get_zlat)                                                                   \
  KEYWORD(momx, "Momx", STATE, NULL, get_momx)                                                               \
  KEYWORD(momy, "Momy", STATE, NULL, get_momy)                                                               \
  KEYWORD(momz, "Momz", STATE, NULL, get_momz)

static const md_thermo_keyword keywords[] = {
#define KEYWORD(name, title, needs, whole, real) {#name, title, needs, whole, real},
    KEYWORDS(KEYWORD)
#undef KEYWORD
};

const md_thermo_keyword *md_thermo_keyword_find(const char *name)
{
  for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; ++k)
    if (strcmp(keywords[k].name, name) == 0) return &keywords[k];
  return NULL;
}

const char *md_thermo_keyword_list(void)
{
#define KEYWORD(name, title, needs, whole, real) #name " "
  return KEYWORDS(KEYWORD) "c_ID f_ID v_NAME";
#undef KEYWORD
}

static md_status find_mass(void *sim, double *total) { return md_masses_total(sim, total); }

static md_status sum_mass(md_sim *sim, double *total)
{
  if (sim->view) MD_TRY(md_view_particles(sim->view));
  return sim->planning.on ? find_mass(sim, total) : md_resume_measure(sim, find_mass, sim, total);
}

static void square_of_force(const void *context, const md_particles *p, int64_t i, double *term)
{
  const md_view *view = context;
  *term = 0.0;
  for (int d = 0; d < p->dim; ++d) *term += view->force[d][i] * view->force[d][i];
}

/* The size of all forces, which only a run knows. */
static md_status read_forces(md_sim *sim, const char *name, md_thermo_reading *r)
{
  const md_particles *p = &sim->particles;
  MD_TRY(md_sim_need_forces(sim, name));
  md_view *view = sim->view;
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) r->largest_force = fmax(r->largest_force, fabs(view->force[d][i]));
  MD_TRY(sim->comm->reduce->max(sim->comm, &r->largest_force, 1));
  return md_exact_sums(sim->comm, p, 1, square_of_force, view, "a force", &r->force_square);
}

/* The values of all computes: of the step that is being observed, or of the one measured last. */
static md_status read_computed(md_sim *sim, const char *name, const md_thermo_reading *places,
                               const md_computed **computed)
{
  if (sim->view) {
    MD_TRY(md_view_compute(sim->view));
    *computed = &sim->view->computed;
    return MD_OK;
  }
  if (!sim->has_computed || sim->computed.n <= (places->temp > places->press ? places->temp : places->press))
    return md_error(MD_USAGE, "%s is not known before the first run; use `run 0` first", name);
  *computed = &sim->computed;
  return MD_OK;
}

/* The places of the computes that the keywords temp and press show. */
static md_status find_computes(const md_sim *sim, const char *name, md_thermo_reading *r)
{
  const md_model *model = &sim->model;
  r->temp = md_compute_index(model, sim->thermo.temp, strlen(sim->thermo.temp));
  r->press = md_compute_index(model, sim->thermo.press, strlen(sim->thermo.press));
  if (r->temp >= 0 && r->press >= 0) return MD_OK;
  return md_error(MD_USAGE, "%s: the compute '%s' of thermo_modify is not there any more; name another one",
                  name, r->temp < 0 ? sim->thermo.temp : sim->thermo.press);
}

md_status md_thermo_read(md_sim *sim, const md_thermo_keyword *keyword, md_thermo_reading *reading)
{
  *reading = (md_thermo_reading){.sim = sim, .step = sim->view ? sim->view->step : sim->model.step};
  if (keyword->needs & MD_NEEDS_BOX) MD_TRY(md_sim_need_box(sim, keyword->name));
  if ((keyword->needs & MD_NEEDS_RUN) && !sim->view && !sim->has_computed && !sim->foretells)
    return md_error(MD_USAGE, "%s is not known before the first run", keyword->name);
  if (keyword->needs & (MD_NEEDS_STATE | MD_NEEDS_TENSOR)) MD_TRY(find_computes(sim, keyword->name, reading));
  if (keyword->needs & MD_NEEDS_STATE) MD_TRY(read_computed(sim, keyword->name, reading, &reading->computed));
  if (keyword->needs & MD_NEEDS_TENSOR)
    MD_TRY(md_compute_tensor(sim, keyword->name, reading->press, &reading->tensor));
  if (keyword->needs & MD_NEEDS_FORCES) MD_TRY(read_forces(sim, keyword->name, reading));
  if (keyword->needs & MD_NEEDS_MASS) MD_TRY(sum_mass(sim, &reading->total_mass));
  return MD_OK;
}

/* Is the value of a keyword that needs no state known of each step in advance? The size of a box is, if its faces do
 * not follow the particles. */
static bool known_ahead(const md_sim *sim, const char *name)
{
  static const char *const never[] = {"cpu", "tpcpu", "spcpu", "cpuremain", "nbuild"};
  static const char *const box[] = {"vol", "density", "lx",  "ly",  "lz",    "xlo",   "xhi",
                                    "ylo", "yhi",     "zlo", "zhi", "cella", "cellb", "cellc"};
  for (size_t k = 0; k < sizeof never / sizeof *never; ++k)
    if (strcmp(name, never[k]) == 0) return false;
  for (size_t k = 0; k < sizeof box / sizeof *box && md_box_follows(&sim->model.box); ++k)
    if (strcmp(name, box[k]) == 0) return false;
  return true;
}

md_status md_sim_keyword(md_sim *sim, const char *name, double *value, bool *known)
{
  const md_thermo_keyword *keyword = md_thermo_keyword_find(name);
  const bool compute = md_is_compute(name), fix = md_is_fix_value(name);
  *known = keyword || compute || fix;
  if (!*known) return MD_OK;
  if (sim->follow) return md_error(MD_USAGE, "%s is not known before the deck runs", name);
  if (!keyword || keyword->needs & (MD_NEEDS_STATE | MD_NEEDS_TENSOR | MD_NEEDS_FORCES) ||
      !known_ahead(sim, keyword->name))
    MD_TRY(md_sim_need_present(sim, name));
  if (compute) return md_compute_value(sim, name, value);
  if (fix) return md_fix_value(sim, name, value);
  md_thermo_reading reading;
  MD_TRY(md_thermo_read(sim, keyword, &reading));
  *value = keyword->whole ? (double)keyword->whole(&reading) : keyword->real(&reading);
  return MD_OK;
}
