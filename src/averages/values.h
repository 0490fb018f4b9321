/* The numbers of computes and fixes by name: c_ID, f_ID and v_NAME as inputs of averages and of functions of vectors.
 *
 * A name stands for one number (f_ID, f_ID[I], f_ID[I][J]) or for a vector (f_ID, or f_ID[J], column J of an array).
 */
#ifndef MD_SRC_AVERAGES_VALUES_H
#define MD_SRC_AVERAGES_VALUES_H

#include "src/sim.h"

/* What an output fix offers. NULL or 0: it does not offer that. */
typedef struct md_values {
  const double *scalar;
  int64_t nvector;
  const double *vector; /* [nvector]; NULL: its length is not known yet */
  bool has_vector;
  int64_t rows;
  int columns;           /* 0: no array */
  const double *array;   /* [rows][columns]; NULL: the rows are not known yet */
  const bool *extensive; /* [vector, or columns] grows with the number of particles; NULL: nothing does */
  bool alike;            /* extensive[0] is for all values of the vector */
} md_values;

/* A vector of n numbers, `stride` apart. Valid until the next step is observed. */
typedef struct md_vector {
  const double *at;
  int64_t n, stride;
  double own[MD_TENSOR];
} md_vector;

/* A name apart: the letters after c_ or f_ up to the first bracket, and the numbers in brackets. */
typedef struct md_value_name {
  const char *id;
  size_t n;         /* letters of the id */
  int nindex;       /* 0, 1 or 2 */
  int64_t index[2]; /* from 1 */
} md_value_name;

/* Takes c_ID[I][J] or f_ID[I][J] apart. MD_USAGE: it is none. */
md_status md_value_name_read(const char *name, md_value_name *apart) MD_CHECKED;

/* MD_USAGE unless the values have the number, or with `vector` the vector, that the name says. */
md_status md_values_check(const md_values *values, const char *name, bool vector) MD_CHECKED;

/* The number that a name says, from values that were checked. MD_USAGE: the vector is not that long. */
md_status md_values_number(const md_values *values, const char *name, double *number) MD_CHECKED;

/* MD_USAGE unless the name is that of one number, or with `vector` of a vector: v_NAME, c_ID or f_ID. */
md_status md_value_check(md_sim *sim, const char *name, bool vector) MD_CHECKED;

/* The number or the vector of a checked name, at the step that is observed, or, between runs, the last known one.
 * Collective. */
md_status md_value_number(md_sim *sim, const char *name, double *number) MD_CHECKED;
md_status md_value_vector(md_sim *sim, const char *name, md_vector *vector) MD_CHECKED;

/* The length of the vector of a checked name; 0: it is not known yet. */
int64_t md_value_length(const md_sim *sim, const char *name);

/* The number of columns of the array that c_ID or f_ID, without brackets, says; 0: there is none. */
int md_values_columns(const md_sim *sim, const char *name);

/* Does the number of a checked name grow with the number of particles? */
bool md_value_is_extensive(md_sim *sim, const char *name);

/* The names in a list of words, with c_ID[*], c_ID[2*] and the like replaced by all names that they stand for. The
 * caller ends with md_value_names_free. vectors: the names are those of vectors. MD_USAGE: a name is refused. */
md_status md_value_names(md_sim *sim, const md_words *words, bool vectors, int *n, char ***name) MD_CHECKED;
void md_value_names_free(int n, char **name);

/* Does a word begin like a name of a value: c_, f_ or v_? */
bool md_is_value_name(const char *word);

/* What variables of style vector read (src/formula/variable.h); the context is the md_sim. */
extern const md_formula_vectors md_value_vectors;

/* The functions of vectors in formulas: sum, min, max, ave, trap and slope, of LAMMPS's variable. *known = false: it is
 * none of them. Collective. */
md_status md_vector_function(md_sim *sim, const char *name, int n, char *const *argument, double *value,
                             bool *known) MD_CHECKED;

#endif
