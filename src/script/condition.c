/* Evaluates a condition by precedence climbing, as src/formula/formula.c does a formula; see condition.h. */
#include "src/script/condition.h"
#include "src/deck/quote.h"

#include <ctype.h>
#include <stdlib.h>

enum { NESTED_MAX = 100 };

typedef struct reader {
  const char *condition, *at;
  int depth;
} reader;

/* A number, or the word of n letters at `word`. */
typedef struct operand {
  const char *word; /* NULL: a number */
  size_t n;
  double number;
} operand;

typedef enum sign { OR, XOR, AND, EQUAL, UNEQUAL, LESS_EQUAL, GREATER_EQUAL, LESS, GREATER } sign;

static const struct {
  const char *text;
  int level; /* larger binds tighter */
} signs[] = {
    [OR] = {"||", 0},      [XOR] = {"|^", 0},        [AND] = {"&&", 1},           [EQUAL] = {"==", 2},
    [UNEQUAL] = {"!=", 2}, [LESS_EQUAL] = {"<=", 3}, [GREATER_EQUAL] = {">=", 3}, [LESS] = {"<", 3},
    [GREATER] = {">", 3}};
enum { SIGNS = sizeof signs / sizeof signs[0], LEVELS = 4 };

static md_status combine(reader *r, int level, operand *value);

static void skip_blanks(reader *r)
{
  while (md_is_blank(*r->at)) ++r->at;
}

static md_status unexpected(const reader *r)
{
  if (*r->at == '\0') return md_error(MD_USAGE, "if: the condition '%.100s' ends too early", r->condition);
  return md_error(MD_USAGE, "if: unexpected '%.16s' in the condition '%.100s'", r->at, r->condition);
}

static md_status not_a_number(const reader *r, const operand *o)
{
  return md_error(
      MD_USAGE,
      "if: '%.*s' in the condition '%.100s' is a word; a word can be compared with a word only, by == or !=",
      o->n < 64 ? (int)o->n : 64, o->word, r->condition);
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || (c != '\0' && strchr("_./-", c)); }

static md_status read_number(reader *r, operand *value)
{
  char *end;
  value->number = strtod(r->at, &end);
  if (end == r->at || is_of_word(*end)) return unexpected(r);
  r->at = end;
  return MD_OK;
}

static md_status read_parenthesis(reader *r, operand *value)
{
  ++r->at;
  MD_TRY(combine(r, 0, value));
  skip_blanks(r);
  if (*r->at != ')') return unexpected(r);
  ++r->at;
  return MD_OK;
}

static md_status read_operand(reader *r, operand *value);

static md_status read_not(reader *r, operand *value)
{
  ++r->at;
  MD_TRY(read_operand(r, value));
  if (value->word) return not_a_number(r, value);
  value->number = value->number == 0.0;
  return MD_OK;
}

static md_status read_operand(reader *r, operand *value)
{
  if (r->depth == NESTED_MAX)
    return md_error(MD_USAGE, "if: the condition '%.100s' is nested more than %d deep", r->condition,
                    NESTED_MAX);
  ++r->depth;
  skip_blanks(r);
  *value = (operand){0};
  const char c = *r->at;
  md_status status = MD_OK;
  if (c == '(') {
    status = read_parenthesis(r, value);
  } else if (c == '!' && r->at[1] != '=') {
    status = read_not(r, value);
  } else if (isdigit((unsigned char)c) || c == '.' || c == '-') {
    status = read_number(r, value);
  } else if (isalpha((unsigned char)c) || c == '_') {
    value->word = r->at;
    while (is_of_word(*r->at)) ++r->at;
    value->n = (size_t)(r->at - value->word);
  } else {
    status = unexpected(r);
  }
  --r->depth;
  return status;
}

/* The operator of this level at the reader's place, which moves past it; SIGNS: there is none. */
static int next_sign(reader *r, int level)
{
  skip_blanks(r);
  for (int k = 0; k < SIGNS; ++k) {
    const size_t n = strlen(signs[k].text);
    if (strncmp(r->at, signs[k].text, n) != 0) continue;
    if (signs[k].level != level) break;
    r->at += n;
    return k;
  }
  return SIGNS;
}

static bool compare(sign s, double a, double b)
{
  switch (s) {
  case OR: return a != 0.0 || b != 0.0;
  case XOR: return (a != 0.0) != (b != 0.0);
  case AND: return a != 0.0 && b != 0.0;
  case EQUAL: return a == b;
  case UNEQUAL: return a != b;
  case LESS_EQUAL: return a <= b;
  case GREATER_EQUAL: return a >= b;
  case LESS: return a < b;
  case GREATER: return a > b;
  }
  return false;
}

static md_status apply(const reader *r, sign s, operand *left, const operand *right)
{
  const bool of_words = left->word && right->word && (s == EQUAL || s == UNEQUAL);
  bool value;
  if (of_words) {
    const bool same = left->n == right->n && memcmp(left->word, right->word, left->n) == 0;
    value = same == (s == EQUAL);
  } else {
    if (left->word) return not_a_number(r, left);
    if (right->word) return not_a_number(r, right);
    value = compare(s, left->number, right->number);
  }
  *left = (operand){.number = value};
  return MD_OK;
}

static md_status combine(reader *r, int level, operand *value)
{
  if (level == LEVELS) return read_operand(r, value);
  MD_TRY(combine(r, level + 1, value));
  for (int s = next_sign(r, level); s < SIGNS; s = next_sign(r, level)) {
    operand right;
    MD_TRY(combine(r, level + 1, &right));
    MD_TRY(apply(r, (sign)s, value, &right));
  }
  return MD_OK;
}

md_status md_condition_evaluate(const char *condition, bool *value)
{
  reader r = {condition, condition, 0};
  operand result;
  MD_TRY(combine(&r, 0, &result));
  skip_blanks(&r);
  if (*r.at != '\0') return unexpected(&r);
  if (result.word) return not_a_number(&r, &result);
  *value = result.number != 0.0;
  return MD_OK;
}
