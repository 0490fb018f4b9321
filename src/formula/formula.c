/* Evaluates a formula by precedence climbing; see formula.h.
 *
 * binary() reads operands of the next tighter level while it meets operators of its own level. So every operator
 * groups from left to right. operand() reads signs, parentheses, numbers, functions and names. Values are computed
 * while the text is read, without a syntax tree, because a formula is short and is evaluated a few times a run.
 *
 * Every result is checked to be finite where it arises, so that a message names the operation. The depth of
 * nesting is bounded, because each level uses the C stack. The number of operands of a formula, with all formulas
 * that it refers to, is bounded too, because variables that each mention another one twice would take exponential
 * time.
 */
#include "src/formula/formula.h"
#include "common/rng.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100, WORK_MAX = 1000000, NAME_MAX_LENGTH = 256, ARGUMENTS_MAX = 3, TEXTS_MAX = 6 };

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

static md_status binary(reader *r, int level, double *value);

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

/* A Gaussian number by the polar method of Marsaglia, which rejects a pair of numbers now and then. */
static double draw_normal(const reader *r, uint64_t seed)
{
  for (;;) {
    const md_random bits = md_random_at(seed, r->limits->draws++, 0, MD_STREAM_VARIABLE);
    const double u = 2.0 * md_random_unit53(bits.word[0], bits.word[1]) - 1.0;
    const double w = 2.0 * md_random_unit53(bits.word[2], bits.word[3]) - 1.0;
    const double square = u * u + w * w;
    if (square > 0.0 && square < 1.0) return u * sqrt(-2.0 * log(square) / square);
  }
}

/* The next number of the sequence that the seed keys: random in (lo, hi), normal with a mean and a deviation. */
static md_status draw(const reader *r, const char *name, const double *a, double *value)
{
  if (!(a[2] >= 1.0 && a[2] <= 0x1p53 && a[2] == floor(a[2])))
    return md_error(MD_USAGE,
                    "formula '%.100s': the seed of %s must be a whole number from 1 to 2^53, not %g",
                    r->formula, name, a[2]);
  if (strcmp(name, "normal") == 0) {
    *value = a[0] + a[1] * draw_normal(r, (uint64_t)a[2]);
    return MD_OK;
  }
  const md_random bits = md_random_at((uint64_t)a[2], r->limits->draws++, 0, MD_STREAM_VARIABLE);
  *value = a[0] + (a[1] - a[0]) * md_random_unit53(bits.word[0], bits.word[1]);
  return MD_OK;
}

/* Takes the texts between the parentheses at the reader's place, apart at commas, and moves behind them. They lie in
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

/* Calls a function of the program; *known = false: there is none of that name. */
static md_status call_program(reader *r, const char *name, double *value, bool *known)
{
  char *copy = NULL, *argument[TEXTS_MAX];
  int n;
  *known = r->names->function != NULL;
  if (!*known) return MD_OK;
  const char *const before = r->at;
  md_status status = take_texts(r, &copy, &n, argument);
  if (status == MD_OK) status = r->names->function(r->names->context, name, n, argument, value, known);
  free(copy);
  if (status == MD_OK && !*known) r->at = before;
  return status == MD_OK && *known ? check_finite(r, name, *value) : status;
}

static md_status call(reader *r, const char *name, double *value)
{
  int f = 0;
  bool known = false;
  while (f < FUNCTIONS && strcmp(functions[f].name, name) != 0) ++f;
  if (f == FUNCTIONS) MD_TRY(call_program(r, name, value, &known));
  if (known) return MD_OK;
  if (f == FUNCTIONS)
    return md_error(MD_USAGE, "formula '%.100s': unknown function '%.64s'; known are " FUNCTION_NAMES,
                    r->formula, name);
  double a[ARGUMENTS_MAX] = {0};
  for (int k = 0; k < functions[f].arguments; ++k) {
    MD_TRY(expect(r, k == 0 ? '(' : ','));
    MD_TRY(binary(r, 0, &a[k]));
  }
  MD_TRY(expect(r, ')'));
  if (functions[f].one)
    *value = functions[f].one(a[0]);
  else if (functions[f].arguments == 2)
    *value = atan2(a[0], a[1]);
  else
    MD_TRY(draw(r, name, a, value));
  return check_finite(r, name, *value);
}

static md_status named(const reader *r, const char *name, double *value)
{
  if (strncmp(name, "v_", 2) == 0) return r->names->variable(r->names->variable_context, name + 2, value);
  for (int k = 0; k < CONSTANTS; ++k)
    if (strcmp(constants[k].name, name) == 0) {
      *value = constants[k].value;
      return MD_OK;
    }
  bool known = false;
  if (r->names->keyword) MD_TRY(r->names->keyword(r->names->context, name, value, &known));
  if (!known)
    return md_error(MD_USAGE,
                    "formula '%.100s': unknown name '%.64s'; known are v_NAME for a variable, c_ID for a "
                    "compute, PI, thermo "
                    "keywords such as "
                    "step temp pe lx vol atoms, and the functions " FUNCTION_NAMES,
                    r->formula, name);
  return check_finite(r, name, *value);
}

static md_status word(reader *r, double *value)
{
  char name[NAME_MAX_LENGTH];
  size_t n = 0;
  while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_') ++n;
  if (strncmp(r->at, "c_", 2) == 0 && r->at[n] == '[')
    n += strcspn(r->at + n, "]") + (strchr(r->at + n, ']') != NULL);
  if (n >= sizeof name) return md_error(MD_USAGE, "formula '%.100s': a name is too long", r->formula);
  memcpy(name, r->at, n);
  name[n] = '\0';
  r->at += n;
  skip_blanks(r);
  return *r->at == '(' ? call(r, name, value) : named(r, name, value);
}

static md_status parenthesis(reader *r, double *value)
{
  ++r->at;
  MD_TRY(binary(r, 0, value));
  return expect(r, ')');
}

static md_status signless(reader *r, double *value)
{
  if (*r->at == '(') return parenthesis(r, value);
  if (isdigit((unsigned char)*r->at) || *r->at == '.') return number(r, value);
  if (isalpha((unsigned char)*r->at) || *r->at == '_') return word(r, value);
  return unexpected(r);
}

/* Reads signs and an operand. The signs take effect from the innermost outwards, so the function calls itself. */
static md_status operand(reader *r, double *value)
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
    if (status == MD_OK) *value = sign == '-' ? -*value : (*value == 0.0 ? 1.0 : 0.0);
  } else {
    status = signless(r, value);
  }
  --r->limits->depth;
  return status;
}

static md_status apply(const reader *r, const operator* op, double a, double b, double *value)
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
  case POWER: *value = pow(a, b); break;
  }
  return check_finite(r, op->sign, *value);
}

/* The operator of this level at the reader's place, which moves behind it. NULL: there is none. */
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

static md_status binary(reader *r, int level, double *value)
{
  if (level == LEVELS) return operand(r, value);
  MD_TRY(binary(r, level + 1, value));
  for (const operator* op = next_operator(r, level); op; op = next_operator(r, level)) {
    double right;
    MD_TRY(binary(r, level + 1, &right));
    MD_TRY(apply(r, op, *value, right, value));
  }
  return MD_OK;
}

md_status md_formula_evaluate(const char *formula, const md_formula_names *names, md_formula_limits *limits,
                              double *value)
{
  if (limits->depth == 0) limits->work = 0;
  reader r = {formula, formula, names, limits};
  double result;
  MD_TRY(binary(&r, 0, &result));
  skip_blanks(&r);
  if (*r.at != '\0') return unexpected(&r);
  *value = result;
  return MD_OK;
}
