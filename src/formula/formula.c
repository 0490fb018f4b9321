/* Evaluates a formula by precedence climbing; see formula.h.
 *
 * binary() reads operands of the next tighter level while it meets operators of its own level. So every operator
 * groups from left to right. operand() reads signs, parentheses, numbers, functions and names. Values are computed
 * while the text is read, without a syntax tree, because a formula is short and is evaluated a few times a run.
 *
 * A value is one number, or a number for each particle of this rank. The text is read once, and every operation then
 * goes over all particles. So what concerns all ranks, such as a sum over a group, is found once, and not once a
 * particle. Memory: 8 bytes a particle for each operand that waits.
 *
 * For an engine a formula is recorded in the same way: the value of a name or of an operation is then the list of steps
 * that give it for one particle (common/sums/each.h). What engines do not know is an error.
 *
 * Every result is checked to be finite where it arises, so that a message names the operation. The depth of
 * nesting is bounded, because each level uses the C stack. The number of operands of a formula, with all formulas
 * that it refers to, is bounded too, because variables that each mention another one twice would take exponential
 * time.
 */
#include "src/formula/formula.h"
#include "common/arithmetic/rng.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100, WORK_MAX = 1000000, NAME_MAX_LENGTH = 256, ARGUMENTS_MAX = 3, TEXTS_MAX = 6 };

/* Places in the sequence of random numbers that a function takes for all particles: more than a normal number needs. */
enum { DRAWS_EACH = 1 << 16 };

typedef struct reader {
  const char *formula, *at;
  const md_formula_names *names;
  md_formula_limits *limits;
} reader;

typedef enum operator_kind {
  OR,
  XOR,
  AND,
  EQUAL,
  UNEQUAL,
  LESS_EQUAL,
  GREATER_EQUAL,
  LESS,
  GREATER,
  PLUS,
  MINUS,
  TIMES,
  DIVIDE,
  MODULO,
  POWER
} operator_kind;

typedef struct operator
{
  const char *sign;
  int level; /* larger binds tighter */
  operator_kind kind;
}
operator;

/* A sign that is the beginning of a longer one comes after it, so that the longer one is found first. */
static const operator operators[] = {
    {"||", 0, OR},         {"|^", 0, XOR},           {"&&", 1, AND},   {"==", 2, EQUAL},  {"!=", 2, UNEQUAL},
    {"<=", 3, LESS_EQUAL}, {">=", 3, GREATER_EQUAL}, {"<", 3, LESS},   {">", 3, GREATER}, {"+", 4, PLUS},
    {"-", 4, MINUS},       {"*", 5, TIMES},          {"/", 5, DIVIDE}, {"%", 5, MODULO},  {"^", 6, POWER},
};
enum { OPERATORS = sizeof operators / sizeof operators[0], LEVELS = 7 };

/* Rounds halves up, as LAMMPS does. C's round() rounds them away from zero. */
static double round_up(double x) { return x - floor(x) >= 0.5 ? ceil(x) : floor(x); }

typedef struct function {
  const char *name;
  double (*one)(double); /* NULL: special */
  int arguments;
} function;

static const function functions[] = {
    {"sqrt", sqrt, 1},   {"exp", exp, 1},     {"ln", log, 1},      {"log", log10, 1},      {"abs", fabs, 1},
    {"sin", sin, 1},     {"cos", cos, 1},     {"tan", tan, 1},     {"asin", asin, 1},      {"acos", acos, 1},
    {"atan", atan, 1},   {"ceil", ceil, 1},   {"floor", floor, 1}, {"round", round_up, 1}, {"atan2", NULL, 2},
    {"random", NULL, 3}, {"normal", NULL, 3},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
#define FUNCTION_NAMES "sqrt exp ln log abs sin cos tan asin acos atan atan2 ceil floor round random normal"

static const struct {
  const char *name;
  double value;
} constants[] = {{"PI", 3.14159265358979323846},
                 {"yes", 1.0},
                 {"no", 0.0},
                 {"true", 1.0},
                 {"false", 0.0},
                 {"on", 1.0},
                 {"off", 0.0}};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

static md_status binary(reader *r, int level, md_formula_value *value);

static void skip_blanks(reader *r)
{
  while (isspace((unsigned char)*r->at)) ++r->at;
}

static md_status unexpected(const reader *r)
{
  if (*r->at == '\0') return md_error(MD_USAGE, "formula '%.100s' ends too early", r->formula);
  if (*r->at == '$')
    return md_error(MD_USAGE, "formula '%.100s': a $ inside quotes is not replaced; write v_NAME instead",
                    r->formula);
  return md_error(MD_USAGE, "formula '%.100s': unexpected '%.16s'", r->formula, r->at);
}

static md_status check_finite(const reader *r, const char *what, double value)
{
  if (isfinite(value)) return MD_OK;
  return md_error(MD_USAGE, "formula '%.100s': the result of %s is %s", r->formula, what,
                  isnan(value) ? "not a number" : "infinite");
}

static md_status not_recorded(const reader *r, const char *what)
{
  return md_error(MD_USAGE, "formula '%.100s': an engine does not know %s", r->formula, what);
}

/* Notes an error in the value of a particle. */
static void note_fault(const reader *r, md_status status)
{
  if (status == MD_OK || r->limits->faulty) return;
  r->limits->faulty = true;
  md_error_save(&r->limits->fault, status);
}

static int64_t particles_of(const reader *r) { return r->names->particles->count(r->names->context); }

/* Makes a value that is one number a number for each particle. */
static md_status spread(const reader *r, md_formula_value *value)
{
  if (value->each) return MD_OK;
  const int64_t n = particles_of(r);
  MD_TRY(md_array_new(&value->each, n, sizeof *value->each, "the values of a formula"));
  for (int64_t i = 0; i < n; ++i) value->each[i] = value->one;
  return MD_OK;
}

/* The end of a number is found here, because strtod also accepts hexadecimals, infinities and NaN. */
static md_status number(reader *r, double *value)
{
  const char *end = r->at;
  while (isdigit((unsigned char)*end)) ++end;
  const char *point = end;
  if (*end == '.') do
      ++end;
    while (isdigit((unsigned char)*end));
  if (end == r->at + 1 && point == r->at) return unexpected(r);
  if (*end == 'e' || *end == 'E') {
    ++end;
    if (*end == '+' || *end == '-') ++end;
    if (!isdigit((unsigned char)*end))
      return md_error(MD_USAGE, "formula '%.100s': '%.16s' is not a number", r->formula, r->at);
    while (isdigit((unsigned char)*end)) ++end;
  }
  *value = strtod(r->at, NULL);
  r->at = end;
  return check_finite(r, "reading a number", *value);
}

static md_status expect(reader *r, char c)
{
  skip_blanks(r);
  if (*r->at != c) return unexpected(r);
  ++r->at;
  return MD_OK;
}

/* A Gaussian number by the polar method of Marsaglia, which rejects a pair of numbers now and then. *place: of the next
 * random number; id: of the particle, or 0. */
static double draw_normal(uint64_t seed, uint64_t *place, uint64_t id)
{
  for (;;) {
    const md_random bits = md_random_at(seed, (*place)++, id, MD_STREAM_VARIABLE);
    const double u = 2.0 * md_random_unit53(bits.word[0], bits.word[1]) - 1.0;
    const double w = 2.0 * md_random_unit53(bits.word[2], bits.word[3]) - 1.0;
    const double square = u * u + w * w;
    if (square > 0.0 && square < 1.0) return u * sqrt(-2.0 * log(square) / square);
  }
}

/* A number of random, in (lo, hi), or of normal, with a mean and a deviation: a[0], a[1] and the seed. */
static md_status draw_one(const reader *r, const char *name, const double *a, uint64_t *place, uint64_t id,
                          double *value)
{
  if (!(a[2] >= 1.0 && a[2] <= 0x1p53 && a[2] == floor(a[2])))
    return md_error(MD_USAGE,
                    "formula '%.100s': the seed of %s must be a whole number from 1 to 2^53, not %g",
                    r->formula, name, a[2]);
  if (r->limits->hides_draws)
    return md_error(MD_USAGE,
                    "formula '%.100s': what %s gives is not known before the commands before it are run",
                    r->formula, name);
  if (strcmp(name, "normal") == 0) {
    *value = a[0] + a[1] * draw_normal((uint64_t)a[2], place, id);
    return MD_OK;
  }
  const md_random bits = md_random_at((uint64_t)a[2], (*place)++, id, MD_STREAM_VARIABLE);
  *value = a[0] + (a[1] - a[0]) * md_random_unit53(bits.word[0], bits.word[1]);
  return MD_OK;
}

/* One value of a function of numbers. id: of the particle, or 0. */
static md_status call_one(const reader *r, int f, const double *a, uint64_t *place, uint64_t id,
                          double *value)
{
  if (functions[f].one)
    *value = functions[f].one(a[0]);
  else if (functions[f].arguments == 2)
    *value = atan2(a[0], a[1]);
  else
    MD_TRY(draw_one(r, functions[f].name, a, place, id, value));
  return check_finite(r, functions[f].name, *value);
}

/* The values of all particles. A random number belongs to an id, so that ranks and order make no difference. */
static md_status call_each(const reader *r, int f, const md_formula_value *a, md_formula_value *value)
{
  if (!r->names->particles->ids && functions[f].arguments == ARGUMENTS_MAX)
    return md_error(MD_USAGE, "formula '%.100s': %s is not available in a vector", r->formula,
                    functions[f].name);
  const int64_t n = particles_of(r),
                *id = r->names->particles->ids ? r->names->particles->ids(r->names->context) : NULL;
  const uint64_t begin = r->limits->draws;
  MD_TRY(spread(r, value));
  for (int64_t i = 0; i < n; ++i) {
    double x[ARGUMENTS_MAX] = {0};
    uint64_t place = begin;
    for (int k = 0; k < functions[f].arguments; ++k) x[k] = a[k].each ? a[k].each[i] : a[k].one;
    note_fault(r, call_one(r, f, x, &place, id ? (uint64_t)id[i] : 0, &value->each[i]));
  }
  if (functions[f].arguments == ARGUMENTS_MAX) r->limits->draws += DRAWS_EACH;
  return MD_OK;
}

/* Takes the texts between the parentheses at the reader's place, apart at commas, and moves past them. They lie in
 * *copy, which the caller frees. */
static md_status take_texts(reader *r, char **copy, int *n, char **argument)
{
  *n = 0;
  *copy = strdup(r->at + 1);
  if (!*copy) return md_error(MD_RUNTIME, "out of memory for a formula");
  int open = 1;
  char *begin = *copy;
  for (char *at = *copy; open > 0; ++at) {
    if (*at == '\0') return md_error(MD_USAGE, "formula '%.100s' ends too early", r->formula);
    if (*at == '(') ++open;
    if (*at == ')') --open;
    if (open > 1 || (open == 1 && *at != ',')) continue;
    if (*n == TEXTS_MAX)
      return md_error(MD_USAGE, "formula '%.100s': a function has more than %d arguments", r->formula,
                      TEXTS_MAX);
    if (open == 0) r->at += at + 2 - *copy;
    *at = '\0';
    begin += strspn(begin, " ");
    for (char *last = at; last > begin && last[-1] == ' ';) *--last = '\0';
    argument[(*n)++] = begin;
    begin = at + 1;
  }
  return MD_OK;
}

/* The value of a function of the program for these texts. */
static md_status call_texts(const reader *r, const char *name, int n, char *const *argument,
                            md_formula_value *value, bool *known)
{
  const md_formula_names *names = r->names;
  *known = false;
  if (names->records) return not_recorded(r, name);
  if (names->of_particles) {
    MD_TRY(names->particles->each(names->context, name, n, argument, &value->each, known));
    if (*known) return MD_OK;
  }
  if (!names->function) return MD_OK;
  MD_TRY(names->function(names->context, name, n, argument, &value->one, known));
  return *known ? check_finite(r, name, value->one) : MD_OK;
}

/* Calls a function of the program; *known = false: there is none of that name. */
static md_status call_program(reader *r, const char *name, md_formula_value *value, bool *known)
{
  char *copy = NULL, *argument[TEXTS_MAX];
  int n;
  const char *const before = r->at;
  md_status status = take_texts(r, &copy, &n, argument);
  if (status == MD_OK) status = call_texts(r, name, n, argument, value, known);
  free(copy);
  if (status == MD_OK && !*known) r->at = before;
  return status;
}

static md_status read_arguments(reader *r, int n, md_formula_value *a)
{
  for (int k = 0; k < n; ++k) {
    MD_TRY(expect(r, k == 0 ? '(' : ','));
    MD_TRY(binary(r, 0, &a[k]));
  }
  return expect(r, ')');
}

/* ---- recording ---- */

/* Adds a step to a code, which needs `depth` numbers on the stack then. */
static md_status add_step(const reader *r, md_each_code *code, md_each_step step, int depth)
{
  if (code->n == MD_EACH_STEPS || depth > MD_EACH_DEPTH) return not_recorded(r, "so long formulas");
  code->step[code->n++] = step;
  if (depth > code->depth) code->depth = depth;
  return MD_OK;
}

/* Makes a code of a value that is one number. */
static md_status record_number(const reader *r, md_formula_value *value)
{
  if (value->code.n > 0) return MD_OK;
  return add_step(r, &value->code, (md_each_step){.op = MD_OP_NUMBER, .number = value->one}, 1);
}

static md_status record_one(const reader *r, md_each_op op, md_formula_value *value)
{
  return add_step(r, &value->code, (md_each_step){.op = op}, value->code.depth);
}

/* When a comparison is 1, as MD_OP_COMPARE says it; 0: an operator that is none. */
static int comparison_of(operator_kind kind)
{
  switch (kind) {
  case EQUAL: return MD_COMPARE_EQUAL;
  case UNEQUAL: return MD_COMPARE_LESS | MD_COMPARE_GREATER;
  case LESS: return MD_COMPARE_LESS;
  case LESS_EQUAL: return MD_COMPARE_LESS | MD_COMPARE_EQUAL;
  case GREATER: return MD_COMPARE_GREATER;
  case GREATER_EQUAL: return MD_COMPARE_GREATER | MD_COMPARE_EQUAL;
  default: return 0;
  }
}

/* a becomes a op b, of which one at least is recorded. */
static md_status record_two(const reader *r, const operator* op, md_formula_value *a, md_formula_value *b)
{
  const bool square = op->kind == POWER && b->code.n == 0 && b->one == 2.0;
  const int when = comparison_of(op->kind);
  const md_each_op known = op->kind == PLUS     ? MD_OP_PLUS
                           : op->kind == MINUS  ? MD_OP_MINUS
                           : op->kind == TIMES  ? MD_OP_TIMES
                           : op->kind == DIVIDE ? MD_OP_DIVIDE
                           : when > 0           ? MD_OP_COMPARE
                                                : MD_OP_NUMBER;
  if (square) return record_one(r, MD_OP_SQUARE, a);
  if (known == MD_OP_NUMBER) return not_recorded(r, op->sign);
  MD_TRY(record_number(r, a));
  MD_TRY(record_number(r, b));
  if (a->code.environment && b->code.environment && a->code.environment != b->code.environment)
    return not_recorded(r, "values of several computes of neighbours");
  if (!a->code.environment) a->code.environment = b->code.environment, a->code.columns = b->code.columns;
  for (int k = 0; k < b->code.n; ++k) MD_TRY(add_step(r, &a->code, b->code.step[k], b->code.depth + 1));
  return add_step(r, &a->code, (md_each_step){.op = known, .axis = when}, a->code.depth);
}

static md_status record_call(const reader *r, int f, const md_formula_value *a, md_formula_value *value)
{
  const char *name = functions[f].name;
  const bool root = strcmp(name, "sqrt") == 0;
  if (!root && strcmp(name, "abs") != 0) return not_recorded(r, name);
  value->code = a->code;
  return record_one(r, root ? MD_OP_ROOT : MD_OP_SIZE, value);
}

/* A name that may have a value for each particle. */
static md_status record_name(const reader *r, const char *name, md_formula_value *value, bool *known)
{
  md_each_code code = {0};
  MD_TRY(r->names->particles->record(r->names->context, name, &code, known));
  if (*known) value->code = code;
  return MD_OK;
}

/* ---- functions and names ---- */

/* Calls function number f. Its value is one number, unless an argument is none or it draws one for each particle. */
static md_status call_known(reader *r, int f, md_formula_value *value)
{
  md_formula_value a[ARGUMENTS_MAX] = {{.one = 0.0}};
  double x[ARGUMENTS_MAX];
  bool each = r->names->of_particles && functions[f].arguments == ARGUMENTS_MAX;
  md_status status = read_arguments(r, functions[f].arguments, a);
  for (int k = 0; k < ARGUMENTS_MAX; ++k) {
    x[k] = a[k].one;
    each = each || a[k].each || a[k].code.n > 0;
  }
  if (status == MD_OK && each && r->names->records)
    status = record_call(r, f, a, value);
  else if (status == MD_OK)
    status = each ? call_each(r, f, a, value) : call_one(r, f, x, &r->limits->draws, 0, &value->one);
  for (int k = 0; k < ARGUMENTS_MAX; ++k) free(a[k].each);
  return status;
}

static md_status call(reader *r, const char *name, md_formula_value *value)
{
  int f = 0;
  bool known = false;
  while (f < FUNCTIONS && strcmp(functions[f].name, name) != 0) ++f;
  if (f < FUNCTIONS) return call_known(r, f, value);
  MD_TRY(call_program(r, name, value, &known));
  if (known) return MD_OK;
  return md_error(MD_USAGE, "formula '%.100s': unknown function '%.64s'; known are " FUNCTION_NAMES,
                  r->formula, name);
}

static md_status unknown_name(const reader *r, const char *name)
{
  return md_error(
      MD_USAGE,
      "formula '%.100s': unknown name '%.64s'; known are v_NAME for a variable, c_ID for a "
      "compute, PI, thermo keywords such as step temp pe lx vol atoms, the functions " FUNCTION_NAMES
      ", and id type mass x y z vx vy vz fx fy fz: of particles in a variable of style atom, or of "
      "one particle as x[ID]",
      r->formula, name);
}

/* The value of one particle of a compute or a fix with a value for each: c_ID[I], or c_ID[I][K] of its column K. */
static md_status indexed(const reader *r, const char *name, md_formula_value *value, bool *known)
{
  const md_formula_names *names = r->names;
  const char *bracket = strchr(name, '[');
  char each[NAME_MAX_LENGTH], *end;
  if (!bracket || !names->particles) return MD_OK;
  const long long id = strtoll(bracket + 1, &end, 10);
  if (*end != ']' || id < 1) return MD_OK;
  snprintf(each, sizeof each, "%.*s%s", (int)(bracket - name), name, end + 1);
  return names->particles->of_id(names->context, each, id, &value->one, known);
}

static md_status named(const reader *r, const char *name, md_formula_value *value)
{
  const md_formula_names *names = r->names;
  bool known = false;
  if (strncmp(name, "v_", 2) == 0) return names->variable(names->variable_context, name + 2, value);
  for (int k = 0; k < CONSTANTS; ++k)
    if (strcmp(constants[k].name, name) == 0) {
      value->one = constants[k].value;
      return MD_OK;
    }
  if (names->of_particles && names->records)
    MD_TRY(record_name(r, name, value, &known));
  else if (names->of_particles)
    MD_TRY(names->particles->each(names->context, name, 0, NULL, &value->each, &known));
  else
    MD_TRY(indexed(r, name, value, &known));
  if (known) return MD_OK;
  if (names->keyword) MD_TRY(names->keyword(names->context, name, &value->one, &known));
  return known ? check_finite(r, name, value->one) : unknown_name(r, name);
}

/* The value of one particle: x[ID], or of a vector: v_NAME[I], where ID is a formula. The reader is at the bracket. */
static md_status of_particle(reader *r, const char *name, md_formula_value *value)
{
  const md_formula_names *names = r->names;
  md_formula_value id = {.one = 0.0};
  bool known = false;
  ++r->at;
  md_status status = binary(r, 0, &id);
  if (status == MD_OK) status = expect(r, ']');
  if (status == MD_OK && (id.each || !(id.one >= 1.0 && id.one <= 0x1p53 && id.one == floor(id.one))))
    status = md_error(MD_USAGE,
                      "formula '%.100s': the number in the brackets of %s must be one whole number from 1",
                      r->formula, name);
  free(id.each);
  if (status == MD_OK && names->records) return not_recorded(r, "a value of one particle");
  if (status == MD_OK && strncmp(name, "v_", 2) == 0)
    return names->element(names->variable_context, name + 2, (int64_t)id.one, &value->one);
  if (status == MD_OK && names->particles)
    status = names->particles->of_id(names->context, name, (int64_t)id.one, &value->one, &known);
  return status != MD_OK || known ? status : unknown_name(r, name);
}

/* The number of letters in front of the reader that are a name. [..] belongs to the name of a compute or a fix. */
static size_t name_length(const reader *r)
{
  size_t n = 0;
  while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_') ++n;
  while (strchr("cf", *r->at) && r->at[1] == '_' && r->at[n] == '[')
    n += strcspn(r->at + n, "]") + (strchr(r->at + n, ']') != NULL);
  return n;
}

static md_status word(reader *r, md_formula_value *value)
{
  char name[NAME_MAX_LENGTH];
  const size_t n = name_length(r);
  if (n >= sizeof name) return md_error(MD_USAGE, "formula '%.100s': a name is too long", r->formula);
  memcpy(name, r->at, n);
  name[n] = '\0';
  r->at += n;
  skip_blanks(r);
  if (*r->at == '[') return of_particle(r, name, value);
  return *r->at == '(' ? call(r, name, value) : named(r, name, value);
}

static md_status parenthesis(reader *r, md_formula_value *value)
{
  ++r->at;
  MD_TRY(binary(r, 0, value));
  return expect(r, ')');
}

static md_status signless(reader *r, md_formula_value *value)
{
  if (*r->at == '(') return parenthesis(r, value);
  if (isdigit((unsigned char)*r->at) || *r->at == '.') return number(r, &value->one);
  if (isalpha((unsigned char)*r->at) || *r->at == '_') return word(r, value);
  return unexpected(r);
}

static void apply_sign(const reader *r, char sign, md_formula_value *value)
{
  double *x = value->each ? value->each : &value->one;
  const int64_t n = value->each ? particles_of(r) : 1;
  for (int64_t i = 0; i < n; ++i) x[i] = sign == '-' ? -x[i] : (x[i] == 0.0 ? 1.0 : 0.0);
}

/* Reads signs and an operand. The signs take effect from the innermost outwards, so the function calls itself. */
static md_status operand(reader *r, md_formula_value *value)
{
  if (++r->limits->work > WORK_MAX)
    return md_error(MD_USAGE, "formula '%.100s' and the variables in it have more than %d operands",
                    r->formula, WORK_MAX);
  if (r->limits->depth >= DEPTH_MAX)
    return md_error(MD_USAGE, "formula '%.100s' is nested more than %d deep", r->formula, DEPTH_MAX);
  ++r->limits->depth;
  skip_blanks(r);
  const char sign = *r->at;
  md_status status;
  if (sign == '-' || sign == '!') {
    ++r->at;
    status = operand(r, value);
    if (status == MD_OK && value->code.n > 0)
      status = sign == '-' ? record_one(r, MD_OP_NEGATE, value) : not_recorded(r, "!");
    else if (status == MD_OK)
      apply_sign(r, sign, value);
  } else {
    status = signless(r, value);
  }
  --r->limits->depth;
  return status;
}

static md_status apply_one(const reader *r, const operator* op, double a, double b, double *value)
{
  switch (op->kind) {
  case OR: *value = a != 0.0 || b != 0.0; break;
  case XOR: *value = (a != 0.0) != (b != 0.0); break;
  case AND: *value = a != 0.0 && b != 0.0; break;
  case EQUAL: *value = a == b; break;
  case UNEQUAL: *value = a != b; break;
  case LESS_EQUAL: *value = a <= b; break;
  case GREATER_EQUAL: *value = a >= b; break;
  case LESS: *value = a < b; break;
  case GREATER: *value = a > b; break;
  case PLUS: *value = a + b; break;
  case MINUS: *value = a - b; break;
  case TIMES: *value = a * b; break;
  case DIVIDE:
  case MODULO:
    if (b == 0.0) return md_error(MD_USAGE, "formula '%.100s': division by zero", r->formula);
    *value = op->kind == DIVIDE ? a / b : fmod(a, b);
    break;
  case POWER: *value = b == 2.0 ? a * a : pow(a, b); break;
  }
  return check_finite(r, op->sign, *value);
}

/* a becomes a op b. */
static md_status apply(const reader *r, const operator* op, md_formula_value *a, md_formula_value *b)
{
  if (a->code.n > 0 || b->code.n > 0) return record_two(r, op, a, b);
  if (!a->each && !b->each) return apply_one(r, op, a->one, b->one, &a->one);
  MD_TRY(spread(r, a));
  const int64_t n = particles_of(r);
  for (int64_t i = 0; i < n; ++i)
    note_fault(r, apply_one(r, op, a->each[i], b->each ? b->each[i] : b->one, &a->each[i]));
  return MD_OK;
}

/* The operator of this level at the reader's place, which moves past it. NULL: there is none. */
static const operator* next_operator(reader *r, int level)
{
  skip_blanks(r);
  for (int k = 0; k < OPERATORS; ++k) {
    const size_t n = strlen(operators[k].sign);
    if (strncmp(r->at, operators[k].sign, n) != 0) continue;
    if (operators[k].level != level) return NULL;
    r->at += n;
    return &operators[k];
  }
  return NULL;
}

static md_status binary(reader *r, int level, md_formula_value *value)
{
  if (level == LEVELS) return operand(r, value);
  MD_TRY(binary(r, level + 1, value));
  for (const operator* op = next_operator(r, level); op; op = next_operator(r, level)) {
    md_formula_value right = {.one = 0.0};
    md_status status = binary(r, level + 1, &right);
    if (status == MD_OK) status = apply(r, op, value, &right);
    free(right.each);
    MD_TRY(status);
  }
  return MD_OK;
}

md_status md_formula_evaluate(const char *formula, const md_formula_names *names, md_formula_limits *limits,
                              md_formula_value *value)
{
  if (limits->depth == 0) limits->work = 0;
  reader r = {formula, formula, names, limits};
  *value = (md_formula_value){.one = 0.0};
  md_status status = binary(&r, 0, value);
  if (status == MD_OK) {
    skip_blanks(&r);
    if (*r.at != '\0') status = unexpected(&r);
  }
  if (status != MD_OK) {
    free(value->each);
    value->each = NULL;
  }
  return status;
}
