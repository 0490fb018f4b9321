/* Variables and formulas: values, precedence, replacing, and every error. */
#include "src/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static md_status keyword(void *context, const char *name, double *value, bool *known)
{
  *known = strcmp(name, "step") == 0;
  *value = *(double *)context;
  if (strcmp(name, "temp") == 0) return md_error(MD_USAGE, "temp is not known before the first run");
  return MD_OK;
}

static double step_now = 7.0;

static int set_up(void **state)
{
  md_variables *v = NULL;
  if (md_variables_new(&v, keyword, &step_now) != MD_OK) return -1;
  *state = v;
  return 0;
}

static int tear_down(void **state)
{
  md_variables_free(*state);
  return 0;
}

static double value_of(md_variables *v, const char *formula)
{
  double value = 0.0;
  if (md_variables_formula(v, formula, &value) != MD_OK) fail_msg("'%s': %s", formula, md_error_text());
  return value;
}

static void assert_value(md_variables *v, const char *formula, double expected)
{
  const double value = value_of(v, formula);
  if (memcmp(&value, &expected, sizeof value) != 0)
    fail_msg("'%s' is %.17g, not %.17g", formula, value, expected);
}

static void assert_fails(md_status status, const char *message)
{
  assert_int_equal(status, MD_USAGE);
  if (!strstr(md_error_text(), message)) fail_msg("'%s' does not say '%s'", md_error_text(), message);
}

static void assert_bad(md_variables *v, const char *formula, const char *message)
{
  double value = -1.0;
  assert_fails(md_variables_formula(v, formula, &value), message);
  assert_true(value == -1.0);
}

#define DEFINE(v, ...)                                                                                       \
  md_variables_define((v), (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__})

static void define(md_variables *v, char *name, char *style, char *text)
{
  if (DEFINE(v, name, style, text) != MD_OK) fail_msg("%s: %s", name, md_error_text());
}

static void assert_text(md_variables *v, const char *line, const char *expected)
{
  char *out = NULL;
  if (md_variables_substitute(v, line, &out) != MD_OK) fail_msg("'%s': %s", line, md_error_text());
  assert_string_equal(out, expected);
  free(out);
}

static void assert_bad_text(md_variables *v, const char *line, const char *message)
{
  char *out = NULL;
  assert_fails(md_variables_substitute(v, line, &out), message);
  assert_null(out);
}

/* The expected values of this test were printed by LAMMPS of 29 Sep 2021. */
static void precedence_is_that_of_lammps(void **state)
{
  md_variables *v = *state;
  assert_value(v, "2^3^2", 64.0);
  assert_value(v, "-2^2", 4.0);
  assert_value(v, "2*-3", -6.0);
  assert_value(v, "2^-1", 0.5);
  assert_value(v, "1-(-1)", 2.0);
  assert_value(v, "7%3", 1.0);
  assert_value(v, "-7%3", -1.0);
  assert_value(v, "2-3-4", -5.0);
  assert_value(v, "12/3/2", 2.0);
  assert_value(v, "1+2*3", 7.0);
  assert_value(v, " ( 1 + 2 ) * 3 ", 9.0);
  assert_value(v, "1<2<3", 1.0);
  assert_value(v, "3>2>1", 0.0);
  assert_value(v, "1==1==1", 1.0);
  assert_value(v, "1 < 2 && 3 > 2", 1.0);
  assert_value(v, "1==1 || 0 && 0", 1.0);
  assert_value(v, "1||1|^1", 0.0);
  assert_value(v, "5 |^ 0", 1.0);
  assert_value(v, "!0+1", 2.0);
  assert_value(v, "!1==0", 1.0);
  assert_value(v, "!-1", 0.0);
  assert_value(v, "-!0", -1.0);
  assert_value(v, "--1", 1.0);
  assert_value(v, "2>=2", 1.0);
  assert_value(v, "2<=1", 0.0);
  assert_value(v, "2!=2", 0.0);
}

static void numbers_are_exact(void **state)
{
  md_variables *v = *state;
  assert_value(v, "0.1", 0.1);
  assert_value(v, "2.2250738585072011e-308", 2.2250738585072011e-308);
  assert_value(v, "9007199254740993", 9007199254740992.0);
  assert_value(v, ".5+1.e2", 100.5);
  assert_value(v, "1.5e+3-1", 1499.0);
  assert_value(v, "PI", 0x1.921fb54442d18p+1);
}

static void functions_have_their_values(void **state)
{
  md_variables *v = *state;
  assert_value(v, "sqrt(2)", sqrt(2.0));
  assert_value(v, "exp(0)", 1.0);
  assert_value(v, "ln(exp(1))", 1.0);
  assert_value(v, "log(1000)", 3.0);
  assert_value(v, "abs(-3)", 3.0);
  assert_value(v, "sin(0)+cos(0)+tan(0)", 1.0);
  assert_value(v, "asin(1)", asin(1.0));
  assert_value(v, "acos(1)", 0.0);
  assert_value(v, "atan(1)", atan(1.0));
  assert_value(v, "atan2(1,-1)", atan2(1.0, -1.0));
  assert_value(v, "floor(-1.5)", -2.0);
  assert_value(v, "ceil(-1.5)", -1.0);
  assert_value(v, "round(2.5)", 3.0);
  assert_value(v, "round(-2.5)", -2.0);
  assert_value(v, "yes+true+on", 3.0);
  assert_value(v, "no+false+off", 0.0);
  assert_value(v, "step*2", 14.0);
}

static void random_is_a_sequence_within_its_bounds(void **state)
{
  md_variables *v = *state;
  double first = 0.0, sum = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const double x = value_of(v, "random(2,4,123)");
    assert_true(x > 2.0 && x < 4.0);
    if (k == 0) first = x;
    sum += x;
  }
  assert_true(first != value_of(v, "random(2,4,123)"));
  assert_true(fabs(sum / 1000.0 - 3.0) < 0.06); /* 3 standard deviations */
  md_variables *again = NULL;
  assert_int_equal(md_variables_new(&again, NULL, NULL), MD_OK);
  assert_value(again, "random(2,4,123)", first);
  assert_true(value_of(again, "random(2,4,124)") != value_of(v, "random(2,4,123)"));
  md_variables_free(again);
}

static void formulas_fail_with_a_reason(void **state)
{
  md_variables *v = *state;
  assert_bad(v, "1/0", "division by zero");
  assert_bad(v, "1%(1-1)", "division by zero");
  assert_bad(v, "sqrt(-1)", "the result of sqrt is not a number");
  assert_bad(v, "ln(0)", "the result of ln is infinite");
  assert_bad(v, "exp(1000)", "infinite");
  assert_bad(v, "1e308*10", "the result of * is infinite");
  assert_bad(v, "0^-1", "infinite");
  assert_bad(v, "1e999", "infinite");
  assert_bad(v, "v_nope", "undefined variable 'nope'");
  assert_bad(v, "nope", "unknown name 'nope'");
  assert_bad(v, "nope(1)", "unknown function 'nope'");
  assert_bad(v, "temp", "temp is not known before the first run");
  assert_bad(v, "", "ends too early");
  assert_bad(v, "1+", "ends too early");
  assert_bad(v, "(1", "ends too early");
  assert_bad(v, "1 2", "unexpected '2'");
  assert_bad(v, "1)", "unexpected ')'");
  assert_bad(v, "+1", "unexpected '+1'");
  assert_bad(v, ".", "unexpected '.'");
  assert_bad(v, "1e", "'1e' is not a number");
  assert_bad(v, "0x10", "unexpected 'x10'");
  assert_bad(v, "inf", "unknown name 'inf'");
  assert_bad(v, "nan", "unknown name 'nan'");
  assert_bad(v, "sqrt(1,2)", "unexpected ',2)'");
  assert_bad(v, "atan2(1)", "unexpected ')'");
  assert_bad(v, "sqrt 4", "unknown name 'sqrt'");
  assert_bad(v, "1=2", "unexpected '=2'");
  assert_bad(v, "$x", "write v_NAME instead");
  assert_bad(v, "random(0,1,0)", "the seed");
  assert_bad(v, "random(0,1,1.5)", "the seed");
}

static void nesting_is_bounded(void **state)
{
  md_variables *v = *state;
  char formula[1001];
  memset(formula, '(', 1000);
  formula[1000] = '\0';
  assert_bad(v, formula, "nested more than 100 deep");
  memset(formula, '-', 1000);
  assert_bad(v, formula, "nested more than 100 deep");
  assert_value(v, "((((((((((((((((((((1))))))))))))))))))))",
               1.0); /* the depth is given back after an error */
}

static void exponential_work_is_refused(void **state)
{
  md_variables *v = *state;
  define(v, "d0", "equal", "1");
  for (int k = 1; k < 40; ++k) {
    char name[16], formula[48];
    snprintf(name, sizeof name, "d%d", k);
    snprintf(formula, sizeof formula, "v_d%d+v_d%d", k - 1, k - 1);
    define(v, name, "equal", formula);
  }
  assert_value(v, "v_d10", 1024.0);
  assert_bad(v, "v_d39", "more than 1000000 operands");
  assert_value(v, "v_d10", 1024.0);
}

static void circular_variables_are_refused(void **state)
{
  md_variables *v = *state;
  define(v, "a", "equal", "v_b+1");
  define(v, "b", "equal", "v_a+1");
  assert_bad(v, "v_a", "variable a is defined by itself");
  define(v, "b", "equal", "1");
  assert_value(v, "v_a", 2.0);
}

static void references_are_replaced(void **state)
{
  md_variables *v = *state;
  define(v, "a", "equal", "0.1*3");
  define(v, "bb", "index", "two words");
  define(v, "s", "string", "<$a>");
  assert_text(v, "x $a y ${bb}z $s", "x 0.3 y two wordsz <0.3>");
  assert_text(v, "$aa", "0.3a");
  assert_text(v, "$(0.1) $(1/3:%.3f) $(v_a+1:[%8.2e])", "0.10000000000000000555 0.333 [1.30e+00]");
  assert_text(v, "$((1+2)*3)", "9");
  assert_text(v, "", "");
  assert_text(v, "no dollar", "no dollar");
  assert_text(v, "say \"$a\" '$a' $a", "say \"$a\" '$a' 0.3");
  assert_text(v, "\"\"\"a \"$a\" b\"\"\" $a", "\"\"\"a \"$a\" b\"\"\" 0.3");
  assert_text(v, "it's $a and 'open $a", "it's 0.3 and 'open 0.3");
  step_now = 8.0;
  assert_text(v, "$(step)", "8");
  step_now = 7.0;
}

static void bad_references_are_refused(void **state)
{
  md_variables *v = *state;
  assert_bad_text(v, "a $ b", "must begin $x");
  assert_bad_text(v, "a $", "must begin $x");
  assert_bad_text(v, "${a", "no closing brace");
  assert_bad_text(v, "$(1+(2)", "no closing parenthesis");
  assert_bad_text(v, "${nope}", "undefined variable 'nope'");
  assert_bad_text(v, "${}", "undefined variable ''");
  assert_bad_text(v, "$()", "ends too early");
  assert_bad_text(v, "$(1:%d)", "%d");
  assert_bad_text(v, "$(1:%s)", "%s");
  assert_bad_text(v, "$(1:%n)", "%n");
  assert_bad_text(v, "$(1:%g%g)", "%g%g");
  assert_bad_text(v, "$(1:%*g)", "%*g");
  assert_bad_text(v, "$(1:%999999g)", "%999999g");
  assert_bad_text(v, "$(1:)", "format");
  assert_bad_text(v, "$(1:g)", "format");
}

static void replaced_text_is_bounded(void **state)
{
  md_variables *v = *state;
  define(v, "a", "string", "0123456789");
  for (int k = 0; k < 16; ++k) define(v, "a", "string", "$a$a");
  assert_bad_text(v, "$a$a", "longer than 1 MiB");
}

static void definitions_follow_lammps(void **state)
{
  md_variables *v = *state;
  char *preset[] = {"5", "6"};
  assert_int_equal(md_variables_preset(v, "n", 2, preset), MD_OK);
  assert_text(v, "$n", "5");
  assert_fails(DEFINE(v, "n", "equal", "1"), "given by -var");
  assert_fails(md_variables_preset(v, "n", 1, preset), "given twice");
  assert_fails(md_variables_preset(v, "m", 0, preset), "needs a value");
  assert_fails(md_variables_preset(v, "a-b", 1, preset), "only letters, digits and _");
  assert_int_equal(md_variables_preset(v, "m", 1, preset), MD_OK);
  assert_string_equal(md_variables_unused(v, 0), "m");
  assert_null(md_variables_unused(v, 1));
  define(v, "m", "index", "1");
  assert_null(md_variables_unused(v, 0));
  assert_text(v, "$m", "5");
  define(v, "m", "index", "2");
  assert_text(v, "$m", "5");
  define(v, "e", "equal", "1");
  define(v, "e", "equal", "2");
  assert_text(v, "$e", "2");
  assert_fails(DEFINE(v, "e", "string", "2"), "already an equal variable");
  assert_int_equal(DEFINE(v, "e", "delete"), MD_OK);
  define(v, "e", "string", "3");
  assert_value(v, "v_e^2", 9.0);
  define(v, "e", "string", "4*2");
  assert_bad(v, "v_e", "is not a number");
  assert_fails(DEFINE(v, "e", "delete", "x"), "no argument");
  assert_int_equal(DEFINE(v, "zz", "delete"), MD_OK);
  assert_fails(DEFINE(v, "x", "lop", "3"), "unknown variable style 'lop'");
  assert_fails(DEFINE(v, "x", "world", "3"), "variable style world does not exist: there are no partitions");
  assert_fails(DEFINE(v, "x", "equal", "1", "+"), "takes one argument");
  assert_fails(DEFINE(v, "x", "index"), "needs a value");
  assert_fails(DEFINE(v, "x y", "index", "1"), "only letters, digits and _");
  assert_fails(DEFINE(v, "", "index", "1"), "only letters, digits and _");
  assert_fails(DEFINE(v, "x"), "needs a name and a style");
}

/* Moves one variable on, and returns whether it was at its end. */
static bool next(md_variables *v, char *name)
{
  bool ended = false;
  assert_int_equal(md_variables_next(v, 1, &name, &ended), MD_OK);
  return ended;
}

static void next_goes_through_the_values(void **state)
{
  md_variables *v = *state;
  char *both[] = {"i", "n"}, *twice[] = {"i", "i"};
  bool ended;
  assert_int_equal(DEFINE(v, "i", "index", "a", "b"), MD_OK);
  assert_false(next(v, "i"));
  assert_text(v, "$i", "b");
  define(v, "i", "index", "c");
  assert_text(v, "$i", "b");
  assert_true(next(v, "i"));
  assert_false(md_variables_is_defined(v, "i"));
  assert_int_equal(DEFINE(v, "n", "loop", "9", "11", "pad"), MD_OK);
  assert_text(v, "$n", "09");
  assert_value(v, "v_n+1", 10.0);
  assert_false(next(v, "n"));
  assert_false(next(v, "n"));
  assert_text(v, "$n", "11");
  define(v, "i", "index", "a");
  assert_fails(md_variables_next(v, 2, both, &ended), "'i' is of style index, and 'n' of style loop");
  assert_fails(md_variables_next(v, 2, twice, &ended), "'i' is given twice");
  assert_text(v, "$i$n", "a11");
  assert_true(next(v, "n"));
  assert_fails(md_variables_next(v, 1, &both[1], &ended), "undefined variable 'n'");
  define(v, "e", "equal", "1");
  assert_fails(md_variables_next(v, 1, (char *[]){"e"}, &ended),
               "'e' is of style equal; accepted are index, loop");
  assert_fails(DEFINE(v, "n", "loop", "0"), "from 1");
  assert_fails(DEFINE(v, "n", "loop", "3", "2"), "N1 3 is beyond N2 2");
  assert_fails(DEFINE(v, "n", "loop", "1", "2", "3"), "takes N or N1 N2");
}

static void styles_have_their_values(void **state)
{
  md_variables *v = *state;
  define(v, "e", "equal", "1/3");
  assert_int_equal(DEFINE(v, "f", "format", "e", "%8.3f|"), MD_OK);
  assert_text(v, "${f}", "   0.333|");
  assert_value(v, "v_f*3", 1.0);
  define(v, "k", "internal", "2.5");
  assert_text(v, "$k", "2.5");
  assert_value(v, "v_k*2", 5.0);
  assert_int_equal(setenv("MYRIAD_TEST_WORD", "two words", 1), 0);
  define(v, "w", "getenv", "MYRIAD_TEST_WORD");
  assert_text(v, "$w", "two words");
  define(v, "w", "getenv", "MYRIAD_TEST_NO_SUCH_WORD");
  assert_text(v, "<$w>", "<>");
  assert_fails(DEFINE(v, "f", "format", "e", "%d"), "%d");
  assert_fails(DEFINE(v, "f", "format", "e"), "takes a variable and a format");
  assert_fails(DEFINE(v, "k", "internal", "x"), "'x'");
  assert_int_equal(DEFINE(v, "l", "format", "l", "%g"), MD_OK);
  assert_bad(v, "v_l", "defined by itself");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(precedence_is_that_of_lammps), TEST(numbers_are_exact),
      TEST(functions_have_their_values),  TEST(random_is_a_sequence_within_its_bounds),
      TEST(formulas_fail_with_a_reason),  TEST(nesting_is_bounded),
      TEST(exponential_work_is_refused),  TEST(circular_variables_are_refused),
      TEST(references_are_replaced),      TEST(bad_references_are_refused),
      TEST(replaced_text_is_bounded),     TEST(definitions_follow_lammps),
      TEST(next_goes_through_the_values), TEST(styles_have_their_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
