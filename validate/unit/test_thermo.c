/* The thermo table, its commands, and the keywords that formulas read. */
#include "validate/unit/support/fake_run.h"

/* Two particles of masses 1 and 2 in a box of area 8, with a state of round numbers. */
static int set_up(void **state)
{
  (void)state;
  start_sim(2);
  add_particle(1, 1, (double[3]){1.0, 1.0}, (double[3]){0.0, 0.0});
  add_particle(2, 2, (double[3]){2.0, 1.0}, (double[3]){0.0, 0.0});
  sim.model.run_begin = sim.run_first = 100;
  sim.model.run_end = 300;
  sim.model.step = 100;
  sim.run_seconds = 0.0;
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  stop_sim();
  return 0;
}

static const md_computed round_values = {.n = MD_COMPUTES_STANDARD,
                                         .value = {[MD_THERMO_TEMP] = {1.5},
                                                   [MD_THERMO_KE] = {3.0},
                                                   [MD_THERMO_PE] = {-10.0},
                                                   [MD_THERMO_PRESS] = {0.25},
                                                   [MD_THERMO_MOMENTUM] = {4.0, -5.0, 0.0}}};

static md_view round_view(void)
{
  return (md_view){.sim = &sim,
                   .kind = &fake_kind,
                   .step = sim.model.step,
                   .have_computed = true,
                   .computed = round_values};
}

static md_status row(void)
{
  md_view view = round_view();
  const md_status status = md_thermo_row(&sim, &view);
  md_view_close(&view);
  return status;
}

/* Checks the text of the log after its first `from` characters. */
static void assert_log(size_t from, const char *expected)
{
  assert_string_equal(log_so_far() + from, expected);
}

static void assert_row(const char *columns, const char *expected)
{
  char line[512];
  snprintf(line, sizeof line, "custom %s", columns);
  assert_int_equal(command(md_do_thermo_style, line), MD_OK);
  const size_t from = strlen(log_so_far());
  assert_int_equal(row(), MD_OK);
  assert_log(from, expected);
}

static void test_default_columns(void **state)
{
  (void)state;
  assert_int_equal(md_thermo_header(&sim), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_log(0, "Step Temp E_pair E_mol TotEng Press \n"
                "     100          1.5           -5            0         -3.5         0.25 \n");
}

static void test_titles(void **state)
{
  (void)state;
  assert_int_equal(
      command(md_do_thermo_style, "custom step temp pe ke etotal press vol density cpu v_half lx momx"),
      MD_OK);
  assert_int_equal(md_thermo_header(&sim), MD_OK);
  assert_log(0, "Step Temp PotEng KinEng TotEng Press Volume Density CPU v_half Lx Momx \n");
}

static void test_keywords(void **state)
{
  (void)state;
  sim.model.step = 150;
  sim.thermo.row_step = 140;
  sim.thermo.row_seconds = 1.0;
  sim.run_seconds = 3.0;
  assert_row("step elapsed elaplong dt time cpu",
             "     150       50       50         0.25         37.5            3 \n");
  sim.thermo.row_step = 140;
  sim.thermo.row_seconds = 1.0;
  assert_row("spcpu tpcpu cpuremain part atoms",
             "           5         1.25            9        0        2 \n");
  assert_row("pe ke etotal evdwl ecoul epair",
             "          -5          1.5         -3.5           -5            0           -5 \n");
  assert_row("enthalpy econserve ecouple vol density",
             "        -2.5         -3.5            0            8        0.375 \n");
  assert_row("lx ly lz xlo xhi ylo yhi zlo zhi",
             "           4            2            1            0            4            "
             "0            2         -0.5          0.5 \n");
  assert_row("momx momy momz", "           4           -5            0 \n");
  assert_row("ebond eangle edihed eimp emol elong etail timeremain",
             "           0            0            0            0            0            0            0     "
             "       0 \n");
}

static void test_norm(void **state)
{
  (void)state;
  assert_int_equal(command(md_do_thermo_style, "custom pe ke enthalpy temp press"), MD_OK);
  assert_int_equal(command(md_do_thermo_modify, "norm no"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_log(0, "         -10            3           -5          1.5         0.25 \n");
  sim.model.natoms = 0;
  assert_int_equal(command(md_do_thermo_modify, "norm yes"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_non_null(strstr(log_so_far(), "\n         -10 "));
}

static void test_formats(void **state)
{
  (void)state;
  assert_int_equal(command(md_do_thermo_style, "custom step temp pe"), MD_OK);
  assert_int_equal(command(md_do_thermo_modify, "format float %.12g format int %d"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_int_equal(command(md_do_thermo_modify, "format 2 <%.1f>"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_int_equal(command(md_do_thermo_modify, "format line %06d~%e~%g flush yes line one"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_int_equal(command(md_do_thermo_modify, "format none"), MD_OK);
  assert_int_equal(row(), MD_OK);
  assert_log(0, "100 1.5 -5 \n100 <1.5> -5 \n000100 1.500000e+00 -5 \n     100          1.5           -5 \n");
  assert_int_equal(command(md_do_thermo_modify, "format 1 %d norm no"), MD_OK);
  assert_int_equal(command(md_do_thermo_style, "one"), MD_OK);
  assert_true(md_thermo_is_normed(&sim));
  assert_string_equal(sim.thermo.format_column[0], "");
}

static void test_variables_in_columns(void **state)
{
  (void)state;
  char *half[] = {"half", "equal", "pe/2+step"};
  assert_int_equal(md_variables_define(sim.variables, 3, half), MD_OK);
  assert_row("step v_half", "     100         97.5 \n");
  assert_int_equal(command(md_do_thermo_style, "custom step v_nobody"), MD_OK);
  const size_t from = strlen(log_so_far());
  assert_refused(row(), "nobody");
  assert_log(from, "");
  assert_null(sim.view);
}

static void test_thermo_errors(void **state)
{
  (void)state;
  static const struct {
    md_command_handler handler;
    const char *line, *message;
  } cases[] = {
      {md_do_thermo, "-1", "at least 0"},
      {md_do_thermo, "often", "whole number"},
      {md_do_thermo_style, "many", "unknown style 'many'; accepted are one, multi, custom"},
      {md_do_thermo_style, "one step", "takes no arguments, found 'step'"},
      {md_do_thermo_style, "custom", "1 to 256 keywords, not 0"},
      {md_do_thermo_style, "custom step tmp", "unknown keyword 'tmp'; accepted are step elapsed"},
      {md_do_thermo_style, "custom v_", "v_ is followed by"},
      {md_do_thermo_modify, "format", "`float FORMAT`"},
      {md_do_thermo_modify, "format float", "`float FORMAT`"},
      {md_do_thermo_modify, "format float %d", "one real conversion"},
      {md_do_thermo_modify, "format int %s", "one whole-number conversion"},
      {md_do_thermo_modify, "format 1 %g", "one whole-number conversion"},
      {md_do_thermo_modify, "format 7 %g", "from 1 to 6"},
      {md_do_thermo_modify, "format line %d~%g", "has 2 formats, but there are 6 columns"},
      {md_do_thermo_modify, "norm", "its value is missing"},
      {md_do_thermo_modify, "norm perhaps", "yes or no"},
      {md_do_thermo_modify, "lost found", "none of error, ignore, warn"},
      {md_do_thermo_modify, "line two", "'two' is none of one, multi"},
      {md_do_thermo_modify, "colour red", "unknown keyword 'colour'; accepted are format"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k)
    assert_refused(command(cases[k].handler, cases[k].line), cases[k].message);
  assert_int_equal(sim.thermo.ncolumn, 6);
  assert_int_equal(command(md_do_thermo, "50"), MD_OK);
  assert_int_equal(sim.thermo.rows.every, 50);
  assert_int_equal(command(md_do_thermo_modify, "lost ignore"), MD_OK);
  assert_non_null(strstr(log_so_far(), "always an error"));
}

static void assert_keyword(const char *name, double expected)
{
  double value = -1.0;
  bool known = false;
  assert_int_equal(md_sim_keyword(&sim, name, &value, &known), MD_OK);
  assert_true(known);
  assert_true(value == expected);
}

static void test_keywords_of_formulas(void **state)
{
  (void)state;
  double value = 7.0;
  bool known = true;
  assert_int_equal(md_sim_keyword(&sim, "nonsense", &value, &known), MD_OK);
  assert_false(known);
  assert_keyword("step", 100.0);
  assert_keyword("atoms", 2.0);
  assert_keyword("lx", 4.0);
  assert_keyword("density", 0.375);
  assert_refused(md_sim_keyword(&sim, "pe", &value, &known), "pe is not known before the first run");
  assert_refused(md_sim_keyword(&sim, "cpu", &value, &known), "cpu is not known before the first run");
  sim.computed = round_values;
  sim.has_computed = true;
  assert_keyword("pe", -5.0);
  md_view view = round_view();
  view.step = 123;
  view.computed.value[MD_THERMO_PE][0] = -20.0;
  sim.view = &view;
  assert_keyword("pe", -10.0);
  assert_keyword("step", 123.0);
  sim.view = NULL;
  md_view_close(&view);
  sim.has_box = false;
  assert_keyword("dt", 0.25);
  assert_refused(md_sim_keyword(&sim, "lx", &value, &known), "lx needs a box");
  assert_refused(md_sim_keyword(&sim, "temp", &value, &known), "temp needs a box");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_default_columns, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_titles, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keywords, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_norm, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_formats, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_variables_in_columns, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_thermo_errors, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keywords_of_formulas, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
