/* Computes: the quantities of a state, from exact sums over particles and pairs. C and CUDA.
 *
 * A compute goes through three stages:
 *   1  every engine adds terms to sums. A term is rounded once, to a multiple of the sum's quantum, so that the sum is
 *      exact and independent of its order, of threads, ranks and engine;
 *   2  the communicator adds the sums of all ranks;
 *   3  the host makes values of the sums.
 *
 * A style has up to three parts in its file:
 *   1  its name, in the list;
 *   2  for the host: arguments, help, and `value`, which is stage 3;
 *   3  for every engine, if the style has terms of its own: a function md_NAME_add, which adds the terms of one
 *      particle to sums; or, if it has a value for each particle, a function md_NAME_of.
 * A style without md_NAME_add uses the sums of another style (`terms_of`), the sums of pairs, or both.
 *
 * Some computes are in the list of every model, md_compute_standard. The thermo keywords read them.
 *
 * Cost: stage 1 reads the momenta once, for all computes together. Computes with the same terms of the same group share
 * their sums. The caller says which sums it wants (md_wanted). So pairs are left out if only a temperature is needed.
 */
#ifndef MD_COMMON_COMPUTE_COMPUTE_H
#define MD_COMMON_COMPUTE_COMPUTE_H

#include "common/arithmetic/exact.h"
#include "common/base/error.h"
#include "common/base/words.h"
#include "common/box.h"
#include "common/temperature/bias.h"
#include "common/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most computes of a model; sums of a compute, and its values; arguments; sums of all computes. */
enum { MD_COMPUTES_MAX = 32, MD_COMPUTE_TERMS = 6, MD_COMPUTE_K = 6, MD_TERMS_MAX = 96 };

/* One symbol for each style, MD_COMPUTE_ke and so on. MD_COMPUTE_KINDS is their number. */
typedef enum md_compute_kind {
#define MD_COMPUTE_STYLE(symbol, name) MD_COMPUTE_##symbol,
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_STYLE
  MD_COMPUTE_KINDS
} md_compute_kind;

/* The indices of the computes that every model has. The deck's own are after them. */
typedef enum md_compute_standard {
  MD_THERMO_TEMP,
  MD_THERMO_PRESS,
  MD_THERMO_PE,
  MD_THERMO_KE,
  MD_THERMO_MOMENTUM,
  MD_COMPUTES_STANDARD
} md_compute_standard;

/* A compute in the list of a model. */
typedef struct md_compute {
  char id[64];
  md_compute_kind kind;
  int group;              /* number of its group (common/groups.h) */
  double k[MD_COMPUTE_K]; /* arguments, as the style's file numbers them */
  char of[64];            /* another compute, or a region, to which the arguments refer; "": none */
  md_bias bias;           /* of a temperature: what is not heat */
  bool has_extra;         /* compute_modify extra/dof was given */
  double extra;    /* then: the degrees of freedom by which a temperature has fewer; else dim of them */
  int temperature; /* of a pressure: the index of its temperature in model->compute. Derived */
  int summand;     /* index of its terms in model->summand; -1: it has none. Derived */
} md_compute;

/* The values of a temperature. Only the first one has a name, c_ID. */
enum {
  MD_TEMPERATURE_T,
  MD_TEMPERATURE_KINETIC, /* f T/2, an energy */
  MD_TEMPERATURE_FREEDOM, /* f, the degrees of freedom */
  MD_TEMPERATURE_FLOW     /* of a bias that is a shift: the shift along each axis */
};

/* The terms of one style, summed over one group: what md_NAME_add needs. Derived when the model is prepared. */
typedef struct md_summand {
  md_compute_kind kind;
  uint32_t group; /* bits of the groups whose particles count: particles with none of them do not */
  int first, n;   /* its sums are md_measure.term[first .. first + n) */
  int dim;
  double unit[MD_COMPUTE_TERMS];     /* value of a fine quantum of each sum */
  double per_unit[MD_COMPUTE_TERMS]; /* coarse quanta per unit of a term, for md_fine_add */
  double quantum, mass_reference;    /* of momenta */
  double k[MD_COMPUTE_K];
  md_bias bias; /* of the velocities */
} md_summand;

struct md_model;
struct md_measure;

/* What a measure is to hold. Sums that are not wanted mean nothing. */
typedef struct md_wanted {
  bool pairs;        /* the energy and the virial of pairs */
  bool virial;       /* the virial of pairs, with or without their energy */
  bool tensor;       /* the components of the virial of pairs */
  bool diagonal;     /* of tensors, also those of summands, no more than xx, yy and zz */
  bool impulses;     /* virial and tensor are those of impulses (impulse_virial.h); never with pairs */
  uint64_t summands; /* bit s: the sums of model->summand[s] */
} md_wanted;

/* Is the virial of pairs to be summed? */
static inline bool md_wants_virial(md_wanted wanted) { return wanted.pairs || wanted.virial; }

/* The sums from which a style's `value` takes its values. */
typedef struct md_compute_sums {
  const struct md_measure *all; /* of all particles and pairs */
  const md_wide *term;          /* of the style's terms, or of those of `terms_of`; NULL: it has none */
  const double *unit;
  int64_t count; /* particles of the group */
} md_compute_sums;

/* The box and the lattice, to which the arguments of a compute may refer. */
typedef struct md_compute_scope {
  const md_box *box;
  double lattice[3]; /* length of a lattice unit along each axis */
} md_compute_scope;

/* A style: the host's part of its file. All strings are static. */
typedef struct md_compute_style {
  const char *name;
  const char *usage; /* "ke" */
  const char *help;  /* lines of at most 100 characters */
  int nvalue;        /* at most MD_COMPUTE_TERMS; 0: one value for each particle, md_NAME_of */
  bool all_only;     /* only the group `all` is accepted */
  bool extensive; /* grows with the number of particles: thermo columns divide it as they divide energies */
  bool of_pairs;  /* `value` reads energy or virial of pairs */
  bool of_tensor; /* `value` reads the components of the virial */
  bool tensor; /* c_ID[1] to c_ID[6] are the components of the pressure, measured when they are asked for */
  /* Its values are those of a temperature, MD_TEMPERATURE_T and so on; c_ID[1] to c_ID[6] as above, of the sum of
   * m v_a v_b. */
  bool temperature;
  /* The values are made of the places of all particles and not of sums, by md_view_compute (src/output/view.c), one for
   * each k that is not 0 unless it is a temperature. There is no `value` then. */
  bool of_places;
  md_compute_kind terms_of; /* the style whose terms are summed; its own kind; or MD_COMPUTE_KINDS: none */
  int nterm;                /* sums of md_NAME_add */
  /* Fills k from the words after the style's name. NULL: the style takes none. MD_USAGE: the words are wrong. */
  md_status (*parse)(md_compute *, const md_words *, const md_compute_scope *);
  /* Fills unit[0 .. nterm) of a summand, perhaps by md_compute_unit. Only for styles with md_NAME_add. */
  void (*prepare)(const struct md_model *, md_summand *);
  /* The values of a state. The sums are those of all ranks. Unless nvalue is 0, or of_places. */
  void (*value)(const struct md_model *, const md_compute *, const md_compute_sums *, double *value);
  /* If nvalue is 0: a bound of the size of a particle's value in a prepared model, from which maps choose a quantum. */
  double (*largest)(const struct md_model *);
} md_compute_style;

/* The values of all computes of a state, by index in the model's list. */
typedef struct md_computed {
  int64_t n;
  double value[MD_COMPUTES_MAX][MD_COMPUTE_TERMS];
  double fix_energy;  /* the part of the potential energy that is of fixes (fix_modify energy yes) */
  double bond_energy; /* the part that is of bonds */
  double coupled;     /* the energy that thermostats with a state have taken from the particles */
} md_computed;

/* The style of a kind below MD_COMPUTE_KINDS; static. */
const md_compute_style *md_compute_style_of(md_compute_kind kind);

/* The kind with this name; MD_COMPUTE_KINDS if no style has it. */
md_compute_kind md_compute_find(const char *name);

/* The index in the model's list of the compute with this ID of n letters; -1: there is none. */
int md_compute_index(const struct md_model *model, const char *id, size_t n);

/* The index of the temperature with this ID, for `what`, which asks for it. of_engine: only those that engines sum are
 * accepted. MD_USAGE: there is none. */
md_status md_compute_temperature(const struct md_model *model, const char *what, const char *id,
                                 bool of_engine, int *index) MD_CHECKED;

/* Sets compute->of. MD_USAGE: the word is too long. For use in `parse`. */
md_status md_compute_set_of(md_compute *compute, const char *word) MD_CHECKED;

/* Sets the bias of a compute temp/deform from the flow of the model. MD_USAGE: the box does not flow along one axis. */
md_status md_compute_take_flow(const struct md_model *model, md_compute *compute) MD_CHECKED;

/* The degrees of freedom of a temperature whose particles are all those of its group. */
double md_temperature_freedom(const struct md_model *model, const md_compute *compute);

/* Sets the values of a temperature but its flow, from the kinetic energy of the thermal motion of `count` particles. */
void md_temperature_set(const struct md_model *model, const md_compute *compute, int64_t count,
                        double kinetic, double *value);

/* Are the values of the compute made of the places of all particles? Not so those of a style with .of_places that has
 * terms too, if the bias of the compute is a block. */
bool md_compute_is_of_places(const md_compute *compute);

/* The number of values of a compute; 0: one for each particle. */
int md_compute_count(const md_compute *compute);

/* Has it the components of a tensor, c_ID[1] to c_ID[6], besides its value c_ID? They are those of a pressure, or of
 * the thermal motion of a temperature, and are measured when they are asked for. */
static inline bool md_compute_has_tensor(const md_compute *compute)
{
  const md_compute_style *style = md_compute_style_of(compute->kind);
  return style->tensor || style->temperature;
}

/* The value of a fine quantum for terms whose sizes are at most `largest`: a power of two. */
double md_compute_unit(double largest);

/* Sum t as a double. For use in `value`. */
double md_compute_sum(const md_compute_sums *sums, int t);

/* Puts the standard computes into an empty list. */
void md_computes_init(struct md_model *model);

/* Makes model->summand from model->compute. MD_USAGE: there are too many sums; or a file lacks a part. */
md_status md_computes_prepare(struct md_model *model) MD_CHECKED;

/* Sets the index of the compute's terms in model->summand, and puts them there if no other compute has them. For
 * computes that are not in the list of the model. MD_USAGE: there are too many sums. */
md_status md_compute_join(struct md_model *model, md_compute *compute) MD_CHECKED;

/* The sums from which n computes of a prepared model take their values. */
md_wanted md_computes_want(const md_compute *compute, int n);

/* Stage 3 for one compute of a prepared model. measure: of all ranks. value: MD_COMPUTE_TERMS numbers. A style with one
 * value for each particle leaves them as they are. */
void md_compute_evaluate(const struct md_model *model, const md_compute *compute,
                         const struct md_measure *measure, double *value);

/* Stage 3 for all computes of a prepared model. */
void md_computes_value(const struct md_model *model, const struct md_measure *measure, md_computed *computed);

#ifdef __cplusplus
}
#endif
#endif
