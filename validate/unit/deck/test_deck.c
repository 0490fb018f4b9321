/* The deck language: lines, quotes and words as in LAMMPS, the settings that the commands of the model make, and every
 * error with its place. */
#include "src/deck/deck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* The lines that make a box of sides 10, up to the number of types. */
#define BOX "region box block 0 10 0 10 0 10\ncreate_box "

typedef struct bench {
  md_sim sim;
  md_log log;
  char *said; /* the text of the log file, after a deck has run */
  size_t said_size;
} bench;

static int set_up(void **state)
{
  bench *b = calloc(1, sizeof *b);
  if (!b || md_sim_init(&b->sim) != MD_OK || md_comm_serial(&b->sim.comm) != MD_OK) return -1;
  b->sim.log = &b->log;
  *state = b;
  return 0;
}

static int tear_down(void **state)
{
  bench *b = *state;
  b->sim.comm->destroy(b->sim.comm);
  md_sim_free(&b->sim);
  free(b->said);
  free(b);
  return 0;
}

static md_status run_bytes(bench *b, const char *bytes, size_t size)
{
  free(b->said);
  b->said = NULL;
  b->log.file = open_memstream(&b->said, &b->said_size);
  FILE *file = tmpfile();
  assert_non_null(b->log.file);
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  rewind(file);
  const md_status status = md_deck_run(&b->sim, file, "deck");
  fclose(file);
  if (b->log.file) fclose(b->log.file);
  b->log.file = NULL;
  return status;
}

static md_status run(bench *b, const char *deck) { return run_bytes(b, deck, strlen(deck)); }

static void assert_runs(bench *b, const char *deck)
{
  if (run(b, deck) != MD_OK) fail_msg("%s\n%s", deck, md_error_text());
}

static void assert_says(bench *b, const char *deck, const char *expected)
{
  assert_runs(b, deck);
  assert_string_equal(b->said, expected);
}

/* The message must begin with the place and contain the reason. */
static void assert_refused(bench *b, const char *deck, const char *place, const char *reason)
{
  assert_int_equal(run(b, deck), MD_USAGE);
  if (strncmp(md_error_text(), place, strlen(place)) != 0 || !strstr(md_error_text(), reason))
    fail_msg("'%s'\n'%s' does not say '%s' and '%s'", deck, md_error_text(), place, reason);
}

static void refused(bench *b, const char *deck, const char *reason)
{
  assert_refused(b, deck, "deck:", reason);
}

static void lines_are_those_of_lammps(void **state)
{
  bench *b = *state;
  assert_says(b, "print hello\n", "hello\n");
  assert_says(b, "  print\thello   # a comment, don't\n\n   \n# print no\n", "hello\n");
  assert_says(b, "print hello", "hello\n");
  assert_says(b, "print hello\r\nprint again\r\n", "hello\nagain\n");
  assert_says(b, "\xef\xbb\xbfprint hello\n", "hello\n");
  assert_says(b, "print &\n hello", "hello\n");
  assert_says(b, "pri&  \nnt hello", "hello\n");
  assert_says(b, "print \"a &\n  b\"", "a   b\n");
  assert_says(b, "# no &\nprint no\nprint yes", "yes\n");
  assert_says(b, "print a # no &\nprint no\nprint b", "a\nb\n");
  assert_says(b, "print 'x # y'", "x # y\n");
  assert_says(b, "print \"x # y\" # z", "x # y\n");
  assert_says(b, "print \"\"\"a # b\nc &\nd\"\"\" # e\nprint f", "a # b\nc &\nd\nf\n");
  assert_says(b, "print \"\"\"say \"x\" 'y'\"\"\"", "say \"x\" 'y'\n");
  assert_says(b, "print a\"b", "a\"b\n");
  assert_says(b, "print don't", "don't\n");
  assert_says(b, "print \"\"", "\n");
  assert_says(b, "'print' hello", "hello\n");
  assert_says(b, "print \"%d 100%\"", "%d 100%\n");
  assert_says(b, "print caf\xc3\xa9", "caf\xc3\xa9\n");
  assert_says(b, "", "");
}

static void bad_lines_are_refused_with_their_place(void **state)
{
  bench *b = *state;
  assert_refused(b, "print a\nprint \"b\n", "deck:2: ", "never closed");
  assert_refused(b, "print 'it''s'", "deck:1: ", "must be followed by a blank");
  assert_refused(b, "\n\nprint \"\"\"a\nb", "deck:3: ", "triple quotes are opened here and never closed");
  assert_refused(b, "print a &", "deck:1: ", "the deck ends there");
  assert_refused(b, "print a &\n", "deck:1: ", "the deck ends there");
  assert_refused(b, "print a\n\nprint b &\n screen &\n maybe\n",
                 "deck:3: ", "print screen must be yes or no, not 'maybe'");
  assert_refused(b, "timesteps 0.1", "deck:1: ", "unknown command 'timesteps'; did you mean timestep?");
  assert_refused(b, "pairstyle none", "deck:1: ", "did you mean pair_style?");
  assert_refused(b, "qwertyuiop 0.1", "deck:1: ", "unknown command 'qwertyuiop'; `myriad help`");
  assert_refused(b, "timestep", "deck:1: ", "timestep takes 1 argument, not 0; usage: timestep DT");
  assert_refused(b, "timestep 1 2", "deck:1: ", "timestep takes 1 argument, not 2; usage: timestep DT");
  assert_refused(b, "log", "deck:1: ", "log takes 1 to 2 arguments, not 0");
  assert_refused(b, "print", "deck:1: ", "print takes at least 1 argument");
  assert_refused(b, "\x89PNG\n", "deck:1: ", "byte 0x89 is not text");
  assert_refused(b, "print a\n\x1f\x8b\x08", "deck:2: ", "byte 0x1f on line 2 is not text");
  assert_refused(b, "print \xc3", "deck:1: ", "byte 0xc3");
  assert_int_equal(run_bytes(b, "print a\nprint\0b\n", 16), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "deck:2: byte 0x00 on line 2 is not text"));
}

static void long_lines_are_refused(void **state)
{
  bench *b = *state;
  const size_t most = 1 << 20, n = most + 1;
  char *deck = malloc(n);
  assert_non_null(deck);
  memset(deck, 'x', n);
  assert_int_equal(run_bytes(b, deck, n), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "deck:1: the line is longer than 1 MiB: is this file a deck?"));
  memcpy(deck, "print ", 6);
  assert_int_equal(run_bytes(b, deck, most), MD_OK);
  assert_int_equal(b->said_size, most - 6 + 1);
  for (size_t k = 1; k < n; k += 2) memcpy(deck + k - 1, "&\n", 2);
  assert_int_equal(run_bytes(b, deck, n - 1), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "deck:1: the command is continued"));
  memset(deck, '\'', n);
  memcpy(deck, "print ", 6);
  assert_int_equal(run_bytes(b, deck, most), MD_USAGE);
  memset(deck, ' ', n);
  for (size_t k = 0; k < n; k += 2) deck[k] = 'w';
  assert_int_equal(run_bytes(b, deck, most), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "unknown command 'w'"));
  free(deck);
}

static void variables_are_replaced_before_splitting(void **state)
{
  bench *b = *state;
  assert_says(b, "variable t string 'timestep 0.25'\n$t", "");
  assert_true(b->sim.model.dt == 0.25);
}

static void print_replaces_its_own_text(void **state)
{
  bench *b = *state;
  assert_says(b, "variable a equal 0.1\nvariable b index foo bar\nprint \"$a ${b} $(v_a*2:%.2f) $(0.1)\"",
              "0.1 foo 0.20 0.10000000000000000555\n");
  assert_says(b, "print '$a'", "0.1\n");
  assert_says(b, "print \"'$a'\"", "'$a'\n");
  refused(b, "print a b", "print: unexpected 'b'; put the text in quotes");
  refused(b, "print a file", "print file needs a file name");
  refused(b, "print '${nope}'", "undefined variable 'nope'");
}

static void print_writes_files(void **state)
{
  bench *b = *state;
  char name[] = "/tmp/myriad-test-XXXXXX", deck[256], text[64] = {0};
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  close(fd);
  snprintf(deck, sizeof deck, "print one file %s\nprint two append %s\nprint three screen no", name, name);
  assert_says(b, deck, "one\ntwo\nthree\n");
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  assert_int_equal(fread(text, 1, sizeof text - 1, file), 8);
  fclose(file);
  unlink(name);
  assert_string_equal(text, "one\ntwo\n");
  assert_int_equal(run(b, "print a file /nowhere/x"), MD_RUNTIME);
  assert_non_null(strstr(md_error_text(), "deck:1: cannot write /nowhere/x"));
  assert_int_equal(run(b, "print a file /dev/full"), MD_RUNTIME);
}

static void log_reopens_the_log_file(void **state)
{
  bench *b = *state;
  char name[] = "/tmp/myriad-test-XXXXXX", deck[256], text[64] = {0};
  const int fd = mkstemp(name);
  assert_true(fd >= 0);
  close(fd);
  snprintf(deck, sizeof deck, "log %s\nprint one\nlog none\nprint two\nlog %s append\nprint three", name,
           name);
  assert_runs(b, deck);
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  assert_int_equal(fread(text, 1, sizeof text - 1, file), 10);
  fclose(file);
  unlink(name);
  assert_string_equal(text, "one\nthree\n");
  assert_string_equal(b->said, "");
  refused(b, "log a b", "log: unknown keyword 'b'");
  assert_int_equal(run(b, "log /nowhere/x"), MD_RUNTIME);
}

static void echo_repeats_the_deck(void **state)
{
  bench *b = *state;
  assert_says(b, "echo log\nvariable a index 5\nprint $a  # five\n",
              "variable a index 5\nprint $a  # five\nprint 5  \n5\n");
  assert_says(b, "echo none\nprint x\n", "echo none\nx\n");
  assert_runs(b, "echo both");
  assert_true(b->log.echo_file && b->log.echo_screen);
  refused(b, "echo loudly", "echo 'loudly' is unknown; accepted are none, screen, log and both");
}

static void unused_presets_are_named(void **state)
{
  bench *b = *state;
  char *value[] = {"3"};
  assert_int_equal(md_variables_preset(b->sim.variables, "n", 1, value), MD_OK);
  assert_int_equal(md_variables_preset(b->sim.variables, "m", 1, value), MD_OK);
  assert_says(b, "variable n index 2\nprint $n",
              "3\nWARNING: -var m was given, but the deck has no variable of that name\n");
}

static void model_commands_set_the_model(void **state)
{
  bench *b = *state;
  const md_model *m = &b->sim.model;
  assert_runs(
      b, "units lj\ndimension 2\natom_style atomic\nboundary f pp p\ntimestep 0.004\nneighbor 0.25 bin\n" BOX
         "3 box\nmass * 1.5\nmass 2* 2.5\nreset_timestep 9000000000\n");
  assert_int_equal(m->box.dim, 2);
  assert_int_equal(b->sim.particles.dim, 2);
  assert_false(m->box.periodic[0]);
  assert_true(m->box.periodic[1] && m->box.periodic[2]);
  assert_true(m->dt == 0.004 && m->skin == 0.25);
  assert_true(m->mass[1] == 1.5 && m->mass[2] == 2.5 && m->mass[3] == 2.5);
  assert_true(m->step == INT64_C(9000000000));
  refused(b, "dimension 3", "dimension must come before create_box or read_data");
  refused(b, "boundary p p p", "boundary must come before");
  refused(b, "units lj", "units must come before");
  refused(b, "mass 4 1", "there is no type '4': create_box or read_data made 3 types");
  refused(b, "mass 0 1", "type '0'");
  refused(b, "mass 3*2 1", "type '3*2'");
  refused(b, "mass x 1", "'x' is not a type");
  refused(b, "mass 99999999999999999999 1", "is not a type");
  refused(b, "mass 1 -1", "the mass must be positive, not -1");
  refused(b, "mass 1 nan", "the mass must be a number, not 'nan'");
  refused(b, "mass 1 1e400", "too large");
  refused(b, "timestep -1", "the timestep must be zero or positive, not -1");
  refused(b, "timestep 1x", "the timestep must be a number, not '1x'");
  refused(b, "timestep 0x1", "the timestep must be a number");
  refused(b, "neighbor -0.1 bin", "must be zero or positive");
  refused(b, "neighbor 0.1 tree", "neighbor style 'tree' is unknown");
  refused(b, "reset_timestep -1", "must be at least 0, not -1");
  refused(b, "reset_timestep 1e3", "must be a whole number, not '1e3'");
  refused(b, "reset_timestep 99999999999999999999", "must be at most 9223372036854775807");
  refused(b, "neigh_modify delay -1", "delay must be at least 0");
  refused(b, "neigh_modify every", "neigh_modify every needs a value");
  refused(b, "neigh_modify often 1", "unknown keyword 'often'");
  refused(b, "neigh_modify exclude atoms 1", "accepted are type I J, group A B");
  refused(b, "neigh_modify exclude molecule all", "particles have no molecules; use atom_style bond");
}

static void boxes_are_checked(void **state)
{
  bench *b = *state;
  refused(b, "units metric", "accepted are lj, real, metal and si");
  refused(b, "dimension 4", "dimension must be from 2 to 3, not 4");
  refused(b, "boundary sp p p", "boundary x: 'sp': both faces must be periodic, or neither");
  refused(b, "boundary p fp p", "both faces");
  refused(b, "boundary p q p", "boundary y: 'q' is unknown");
  refused(b, "dimension 2\nboundary p p f", "must be p");
  refused(b, "dimension 3\nboundary p p f\ndimension 2", "must be p");
  refused(b, "atom_style full", "accepted are atomic");
  refused(b, "mass 1 1", "mass needs a box");
  refused(b, "pair_coeff 1 1 1 1", "pair_coeff needs a box");
  refused(b, "fix w all wall/reflect xlo EDGE", "fix wall/reflect needs a box");
}

static const double *parameters(const bench *b, int i, int j)
{
  const md_pair *pair = &b->sim.model.pair;
  return pair->parameter + ((i - 1) * pair->ntypes + j - 1) * MD_PAIR_PARAMETERS;
}

static void pair_commands_set_the_pair(void **state)
{
  bench *b = *state;
  const md_pair *pair = &b->sim.model.pair;
  refused(b, "pair_modify shift yes", "needs a pair_style");
  assert_runs(b, "pair_style lj/cut 2.5\npair_modify shift yes mix arithmetic tail no\n" BOX "3 box\n"
                 "pair_coeff * * 1 1\npair_coeff 1 2* 2.0 0.5 3.5\n");
  assert_int_equal(pair->kind, MD_PAIR_lj_cut);
  assert_int_equal(pair->ntypes, 3);
  assert_int_equal(pair->mixing, MD_MIX_ARITHMETIC);
  assert_true(pair->shift);
  assert_true(parameters(b, 1, 1)[0] == 1.0 && parameters(b, 1, 1)[2] == 2.5);
  assert_true(parameters(b, 1, 3)[0] == 2.0 && parameters(b, 3, 1)[1] == 0.5 &&
              parameters(b, 1, 2)[2] == 3.5);
  assert_true(parameters(b, 2, 3)[0] == 1.0);
  assert_runs(b, "pair_style lj/cut 3.0\npair_coeff * 2 1 1\n");
  assert_true(pair->shift && pair->set[0] == 0 && pair->set[1] == 1 && pair->set[4] == 1 &&
              pair->set[5] == 0);
  refused(b, "pair_coeff 2 1 1 1", "sets nothing: write the smaller type first");
  refused(b, "pair_coeff 1 4 1 1", "type '4'");
  refused(b, "pair_coeff 1 1 1", "takes 2 to 3 coefficients, not 1");
  refused(b, "pair_coeff 1 1 1 1 1 1 1", "takes 2 to 3 coefficients, not 5");
  refused(b, "pair_coeff 1 1 1 1 1 1 1 1 1", "takes at most 6 numbers, not 7");
  refused(b, "pair_coeff 1 1 1 -1", "sigma of pair style lj/cut must be zero or positive");
  refused(b, "pair_coeff 1 1 1 1 -2.5", "rc of pair style lj/cut must be zero or positive");
  refused(b, "pair_coeff 1 1 x 1", "pair_coeff must be a number, not 'x'");
  refused(b, "pair_style lj/cut", "pair style lj/cut takes 1 number (");
  refused(b, "pair_style lj/cut -1", "rc of pair style lj/cut must be positive");
  refused(b, "pair_style tersoff",
          "unknown pair style 'tersoff'; accepted are dpd, dpd/tstat, hybrid, hybrid/overlay, born, buck, "
          "gauss, gauss/cut, gravity, lj");
  refused(b, "pair_style none 1", "takes no further argument");
  refused(b, "pair_modify mix harmonic", "pair_modify mix 'harmonic' is unknown");
  refused(b, "pair_modify tail yes shift yes", "do not go together");
  refused(b, "pair_modify table 12", "unknown keyword 'table'");
  refused(b, "pair_modify shift", "takes at least 2 arguments");
  refused(b, "pair_modify shift yes mix", "pair_modify mix needs a value");
  assert_runs(b, "pair_style soft 1.0\n");
  assert_true(!pair->shift && pair->mixing == MD_MIX_GEOMETRIC);
  refused(b, "pair_modify shift yes", "zero at its cutoff already");
  assert_runs(b, "pair_style none\n");
  assert_int_equal(pair->kind, MD_PAIR_NONE);
  refused(b, "pair_coeff 1 1 1 1", "needs a pair_style");
}

static void a_style_before_the_box_is_settled_by_it(void **state)
{
  bench *b = *state;
  const md_pair *pair = &b->sim.model.pair;
  assert_runs(b, "dimension 2\npair_style repulsive 0.5\n");
  assert_int_equal(pair->ntypes, 0);
  assert_runs(b, BOX "2 box\n");
  assert_int_equal(pair->ntypes, 2);
  assert_true(pair->global[0] == 0.5 && isnan(pair->global[1]));
  assert_int_equal(md_pair_complete(&b->sim.model.pair), MD_OK);
  assert_true(parameters(b, 1, 2)[0] == 0.5);
}

static void fixes_set_and_unset_the_model(void **state)
{
  bench *b = *state;
  const md_model *m = &b->sim.model;
  assert_runs(b, "dimension 2\nboundary f f p\n" BOX
                 "1 box\nfix 1 all nve\nfix t all langevin 1.0 2.0 0.5 48279\n"
                 "fix 2 all enforce2d\nfix w all wall/reflect xlo EDGE xhi 9.5 ylo 0.5 units box\n");
  assert_int_equal(m->integrator, MD_NVE);
  assert_int_equal(m->nfix, 4);
  assert_int_equal(m->fix[1].kind, MD_FIX_langevin);
  assert_true(m->fix[1].k[0] == 1.0 && m->fix[1].k[1] == 2.0 && m->fix[1].k[2] == 0.5 &&
              m->fix[1].seed == 48279);
  assert_true(m->hottest == 2.0);
  assert_true(m->wall[0][0] && m->wall[0][1] && m->wall[1][0] && !m->wall[1][1]);
  assert_true(m->wall_at[0][0] == 0.0 && m->wall_at[0][1] == 9.5 && m->wall_at[1][0] == 0.5);
  refused(b, "fix 1 all nve/leapfrog", "fix 1 exists already (nve)");
  refused(b, "fix t all langevin 1 -2 0.5 48279", "zero or positive");
  assert_true(m->nfix == 4 && m->fix[1].k[1] == 2.0 && m->hottest == 2.0);
  assert_runs(b, "fix t all langevin 1 2.5 0.5 7\n");
  assert_true(m->nfix == 4 && m->fix[1].k[1] == 2.5 && m->fix[1].seed == 7 && m->hottest == 2.5);
  refused(b, "fix 3 all nve/leapfrog", "another fix moves the particles already");
  refused(b, "fix 3 all langevin 1 1 1 7", "another fix langevin has this seed");
  refused(b, "fix 3 all wall/reflect xlo EDGE", "there is a wall on that side already");
  assert_runs(b, "fix r all temp/rescale 100 0.5 3 0.1 0.9\nfix b all temp/berendsen 1 2 0.5\n");
  assert_int_equal(m->fix[4].kind, MD_FIX_temp_rescale);
  assert_memory_equal(m->fix[4].k, ((double[]){100.0, 0.5, 3.0, 0.1, 0.9}), 5 * sizeof(double));
  assert_int_equal(m->fix[5].kind, MD_FIX_temp_berendsen);
  assert_memory_equal(m->fix[5].k, ((double[]){1.0, 2.0, 0.5}), 3 * sizeof(double));
  assert_true(m->hottest == 3.0);
  assert_runs(b, "unfix b\nunfix r\nunfix 1\nunfix t\nunfix w\nunfix 2\n");
  assert_true(m->integrator == MD_STATIC && m->nfix == 0 && m->hottest == 0.0 && !m->wall[0][0] &&
              !m->wall[1][0]);
  assert_null(b->sim.fixes);
  assert_runs(b, "fix 1 all nve/leapfrog\n");
  assert_int_equal(m->integrator, MD_LEAPFROG);
  assert_runs(b, "unfix 1\nfix 1 all nve/leapfrog mirror yes\n");
  assert_int_equal(m->integrator, MD_LEAPFROG_MIRROR);
  b->sim.lattice.set = true;
  b->sim.lattice.cell[1] = 2.0;
  assert_runs(b, "fix w all wall/reflect yhi 4.5");
  assert_true(m->wall_at[1][1] == 9.0);
}

static void bad_fixes_are_refused(void **state)
{
  bench *b = *state;
  assert_runs(b, "boundary f p f\n" BOX "1 box\n");
  refused(b, "fix 1 all no/such 1", "accepted are: brownian; langevin; nvt; temp/berendsen; ");
  refused(b, "balance", "balance takes at least 1 argument");
  refused(b, "balance 1.1 weight size 2", "unknown style 'size'; accepted are group, var, time, neigh");
  refused(b, "balance 1.1 weight time", "a style and its value are missing");
  refused(b, "balance 1.1 weight var nothing", "nothing");
  refused(b, "balance 1.1 x 0.5 0.4", "cuts must increase");
  refused(b, "balance 1.1 x 0.5", "one rank has no cuts, not 1");
  refused(b, "balance 1.1 x uniform shift", "unexpected 'shift' after cuts");
  refused(b, "balance 1.1 shift w", "'w' does not name axes");
  refused(b, "fix 1 some nve", "unknown group 'some'");
  refused(b, "fix 1 all nve yes", "fix nve: unexpected 'yes'");
  refused(b, "fix 1 all nve/leapfrog back", "unknown keyword 'back'");
  refused(b, "fix 1 all nve/leapfrog mirror", "mirror must be yes or no");
  refused(b, "fix 1 all nve/leapfrog drift fixed", "drift takes grid or float, not 'fixed'");
  refused(b, "fix 1 all nve/leapfrog mirror yes drift float", "drift float cannot be reversed");
  refused(b, "fix 1 all enforce2d", "needs dimension 2");
  refused(b, "fix 1 all langevin 1 1 1", "takes 4 arguments, not 3; usage: fix ID GROUP langevin TSTART");
  refused(b, "fix 1 all langevin -1 1 1 1", "Tstart of fix langevin must be zero or positive");
  refused(b, "fix 1 all langevin 1 1 0 1", "damp of fix langevin must be positive");
  refused(b, "fix 1 all langevin 1 1 1 0", "the seed of fix langevin must be at least 1");
  refused(b, "fix 1 all langevin 1 1 1 1 zero yes", "zero yes is not available");
  refused(b, "fix 1 all temp/rescale 1 1 1 0",
          "takes 5 arguments, not 4; usage: fix ID GROUP temp/rescale N");
  refused(b, "fix 1 all temp/rescale 0 1 1 0 1", "N of fix temp/rescale must be from 1 to");
  refused(b, "fix 1 all temp/rescale 1 1 1 -1 1", "the window of fix temp/rescale must be zero or positive");
  refused(b, "fix 1 all temp/rescale 1 1 1 0 2", "the fraction of fix temp/rescale must be at most 1, not 2");
  refused(b, "fix 1 all temp/berendsen 1 -2 1", "Tstop of fix temp/berendsen must be zero or positive");
  refused(b, "fix 1 all temp/berendsen 1 1 0", "Tdamp of fix temp/berendsen must be positive");
  refused(b, "fix 1 all wall/reflect", "needs at least one face");
  refused(b, "fix 1 all wall/reflect ylo EDGE", "the box is periodic along y");
  refused(b, "fix 1 all wall/reflect xmid EDGE", "unknown face 'xmid'");
  refused(b, "fix 1 all wall/reflect xlo", "xlo needs EDGE or a number");
  refused(b, "fix 1 all wall/reflect xlo v_x", "'v_x' is neither EDGE nor a number");
  refused(b, "fix 1 all wall/reflect xlo EDGE xlo 1", "there is a wall on that side already");
  refused(b, "fix 1 all wall/reflect xhi 10.5", "lies outside the box, which reaches from 0 to 10");
  refused(b, "fix 1 all wall/reflect xlo EDGE units si", "units 'si' is unknown");
  refused(b, "fix 0123456789012345678901234567890123456789012345678901234567890123 all nve",
          "longer than 63 letters");
  refused(b, "unfix 9", "there is no fix '9'; there are:");
  assert_null(b->sim.fixes);
  assert_false(b->sim.model.wall[0][0]);
}

static void commands_without_effect_say_so_once(void **state)
{
  bench *b = *state;
  assert_runs(b, "newton off\nnewton on off\nprocessors * * *\nprocessors 1 1 1\ncomm_modify mode single "
                 "cutoff 3.0 vel yes\n"
                 "package omp 1\nsuffix off\nsuffix hybrid gpu omp\nneigh_modify delay 0 every 20 check no "
                 "once no one 2000\n");
  const char *note = strstr(b->said, "Note: newton: ");
  assert_non_null(note);
  assert_null(strstr(note + 1, "Note: newton: "));
  const char *const names[] = {"comm_modify", "package", "suffix", "neigh_modify"};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    char start[64];
    snprintf(start, sizeof start, "Note: %s: ", names[k]);
    assert_non_null(strstr(b->said, start));
  }
  refused(b, "newton maybe", "newton must be yes or no, not 'maybe'");
  refused(b, "processors 2 1 1", "processors 2 1 1 does not fit the 1 rank of this run");
  refused(b, "processors * 2 1", "processors * 2 1 does not fit");
  refused(b, "processors 0 1 1", "must be from 1");
  refused(b, "processors 4294967296 4294967296 1", "must be from 1");
  refused(b, "processors 2000000000 2000000000 2000000000", "does not fit");
  refused(b, "processors * * * grid onelevel", "unknown keyword 'grid'");
  refused(b, "comm_modify mode", "comm_modify takes at least 2");
  refused(b, "comm_modify speed 3", "unknown keyword 'speed'");
  refused(b, "package cuda 1", "package 'cuda' is unknown");
  refused(b, "suffix cuda", "suffix 'cuda' is unknown");
  refused(b, "suffix hybrid gpu", "hybrid and two styles");
}

/* Compares two sets of options field by field, because padding may differ. */
static void assert_options(const md_gpu_options *a, const md_gpu_options *b)
{
  assert_int_equal(a->mixed, b->mixed);
  assert_int_equal(a->symmetric, b->symmetric);
  assert_int_equal(a->unfused, b->unfused);
  assert_int_equal(a->unsorted, b->unsorted);
  assert_int_equal(a->unpadded, b->unpadded);
  assert_int_equal(a->rolled, b->rolled);
  assert_int_equal(a->staged, b->staged);
  assert_int_equal(a->profile, b->profile);
  assert_int_equal(a->neighbours, b->neighbours);
  assert_int_equal(a->sort, b->sort);
  assert_int_equal(a->rebin, b->rebin);
  assert_int_equal(a->expiry, b->expiry);
  assert_int_equal(a->block, b->block);
  assert_int_equal(a->device, b->device);
  assert_true(a->skin == b->skin);
  assert_true(a->memory == b->memory);
}

static void package_gpu_sets_the_options(void **state)
{
  bench *b = *state;
  const md_gpu_options *gpu = &b->sim.options.gpu;
  const md_gpu_options defaults = {.device = -1};
  assert_options(gpu, &defaults);
  assert_runs(b, "package gpu");
  assert_options(gpu, &defaults);

  /* Each keyword alone, and back to its default. */
  const struct {
    const char *words, *back;
    md_gpu_options options;
  } cases[] = {
      {"precision mixed", "precision double", {.device = -1, .mixed = true}},
      {"force symmetric", "force full", {.device = -1, .symmetric = true}},
      {"neighbours cells", "neighbours auto", {.device = -1, .neighbours = MD_GPU_CELLS}},
      {"neighbors list", "neighbors auto", {.device = -1, .neighbours = MD_GPU_LIST}},
      {"sort radix", "sort auto", {.device = -1, .sort = MD_GPU_SORT_RADIX}},
      {"sorted no", "sorted yes", {.device = -1, .unsorted = true}},
      {"padded no", "padded yes", {.device = -1, .unpadded = true}},
      {"unrolled no", "unrolled yes", {.device = -1, .rolled = true}},
      {"staged yes", "staged no", {.device = -1, .staged = true}},
      {"fused no", "fused yes", {.device = -1, .unfused = true}},
      {"rebin 1", "rebin auto", {.device = -1, .rebin = 1}},
      {"rebin pairs", "rebin auto", {.device = -1, .expiry = MD_GPU_EXPIRY_PAIRS}},
      {"rebin displacement", "rebin auto", {.device = -1, .expiry = MD_GPU_EXPIRY_DISPLACEMENT}},
      {"rebin 2147483647", "rebin auto", {.device = -1, .rebin = INT32_MAX}},
      {"block 32", "block auto", {.device = -1, .block = 32}},
      {"block 256", "block auto", {.device = -1, .block = 256}},
      {"skin 0.25", "skin auto", {.device = -1, .skin = 0.25}},
      {"device 0", "device auto", {.device = 0}},
      {"device 7", "device auto", {.device = 7}},
      {"memory 3", "memory all", {.device = -1, .memory = 3 * 1048576}},
      {"profile yes", "profile no", {.device = -1, .profile = true}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char line[128];
    snprintf(line, sizeof line, "package gpu %s", cases[k].words);
    assert_runs(b, line);
    assert_options(gpu, &cases[k].options);
    snprintf(line, sizeof line, "package gpu %s", cases[k].back);
    assert_runs(b, line);
    assert_options(gpu, &defaults);
  }

  /* A later command changes only the options that it names. */
  assert_runs(b, "package gpu 1 precision mixed block 64 fused no\npackage gpu block 128 precision double");
  assert_options(gpu, &(md_gpu_options){.device = -1, .block = 128, .unfused = true});
  /* A command that is refused changes nothing. */
  refused(b, "package gpu block 256 sort bubble",
          "package gpu sort must be auto, step, count or radix, not 'bubble'");
  assert_int_equal(gpu->block, 128);
}

static void package_gpu_refuses_what_it_does_not_know(void **state)
{
  bench *b = *state;
  const struct {
    const char *words, *reason;
  } cases[] = {
      {"speed 9", "unknown keyword 'speed'; accepted are precision force neighbours neighbors sort sorted "
                  "padded unrolled staged fused rebin block lanes skin device memory profile"},
      {"Force full", "unknown keyword 'Force'"},
      {"1 2 sort radix", "unknown keyword '2'"},
      {"sort", "package gpu sort needs a value: auto, step, count or radix"},
      {"1 sorted yes padded", "package gpu padded needs a value: yes or no"},
      {"1.5", "the number of GPUs must be a whole number, not '1.5'"},
      {"-1", "the number of GPUs must be from 0"},
      {"precision single", "must be double or mixed, not 'single'"},
      {"force half", "must be full or symmetric, not 'half'"},
      {"neighbours all", "must be auto, cells or list, not 'all'"},
      {"neighbors bin", "must be auto, cells or list, not 'bin'"},
      {"sorted 1", "must be yes or no, not '1'"},
      {"padded 1", "must be yes or no"},
      {"unrolled 1", "must be yes or no"},
      {"staged 1", "must be yes or no"},
      {"fused 1", "must be yes or no"},
      {"profile 1", "must be yes or no"},
      {"rebin 0", "must be auto, displacement, pairs or a number of steps, at least 1, not '0'"},
      {"rebin 2147483648", "not '2147483648'"},
      {"rebin 1.5", "not '1.5'"},
      {"block 0", "must be auto or a multiple of 32 from 32 to 256, not '0'"},
      {"block 48", "not '48'"},
      {"block 288", "not '288'"},
      {"block -32", "not '-32'"},
      {"skin 0", "must be auto or a positive length (sigma), not '0'"},
      {"skin -0.3", "not '-0.3'"},
      {"skin nan", "not 'nan'"},
      {"device -1", "must be auto or a device's number, at least 0, not '-1'"},
      {"device all", "not 'all'"},
      {"memory 0", "must be all or a positive number of MiB, not '0'"},
      {"memory 8796093022208", "not '8796093022208'"},
      {"memory auto", "not 'auto'"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    char line[128];
    snprintf(line, sizeof line, "package gpu %s", cases[k].words);
    refused(b, line, cases[k].reason);
  }
  assert_options(&b->sim.options.gpu, &(md_gpu_options){.device = -1});
}

static void package_gpu_says_what_has_no_effect(void **state)
{
  bench *b = *state;
  static const md_engine_kind gpu = {.name = "gpu"}, other = {.name = "other"};
  b->sim.engine = &gpu;
  assert_says(b, "package gpu neighbours list\npackage gpu force full", "");
  assert_runs(b, "package gpu 2\npackage gpu 4 sort count");
  const char *note = strstr(b->said, "Note: package gpu N: ");
  assert_non_null(note);
  assert_null(strstr(note + 1, "Note: "));
  /* All pairs is a choice of the command line, and a keyword of the deck does not change it. */
  b->sim.options.gpu.neighbours = MD_GPU_ALL_PAIRS;
  assert_says(b, "package gpu force symmetric", "");
  assert_runs(b, "package gpu neighbours cells");
  assert_non_null(strstr(b->said, "Note: package gpu neighbours: has no effect with --gpu-naive"));
  assert_int_equal(b->sim.options.gpu.neighbours, MD_GPU_ALL_PAIRS);
  assert_true(b->sim.options.gpu.symmetric);
  b->sim.engine = &other;
  assert_says(b, "package gpu sort count\npackage gpu sort count",
              "Note: package gpu: only concerns --engine gpu; this run has another engine\n");
}

static void info_prints_the_state(void **state)
{
  bench *b = *state;
  assert_says(b,
              "boundary f p p\npair_style lj/cut 2.5\n" BOX "2 box\nmass 1 1.0\npair_coeff 1 1 1.0 "
              "0.5\nfix 1 all nve\n"
              "fix w all wall/reflect xlo EDGE\ninfo system pair fixes\n",
              "Created orthogonal box = (0 0 0) to (10 10 10)\nInfo system:\n"
              "  units lj, dimension 3, timestep 0.005, step 0, skin 0.3\n"
              "  box x: 0 to 10, fixed\n  box y: 0 to 10, periodic\n  box z: 0 to 10, periodic\n"
              "  0 particles of 2 types\n  mass of type 1: 1\n  mass of type 2: not set\n"
              "Info pair:\n  pair style lj/cut, shift no, mixing geometric\n"
              "  types 1 1: epsilon 1 sigma 0.5 rc 2.5\n  types 1 2: to be mixed\n  types 2 2: not set\n"
              "Info fixes:\n  fix 1: nve\n  fix w: wall/reflect\n  wall xlo at 0\n");
  assert_runs(b, "info");
  assert_non_null(strstr(b->said, "Info engine:\n  engine not chosen, 1 rank\n"));
  refused(b, "info weather", "info 'weather' is unknown");
}

static void every_command_has_usage_and_help(void **state)
{
  (void)state;
  for (int c = 0; c < md_commands_count; ++c) {
    const md_command *command = &md_commands[c];
    assert_ptr_equal(md_command_find(command->name), command);
    const size_t n = strlen(command->name);
    if (strncmp(command->usage, command->name, n) != 0)
      fail_msg("usage of %s: '%s'", command->name, command->usage);
    assert_true(command->most < 0 || command->most >= command->least);
    assert_true(strlen(command->help) > 10);
    for (const char *line = command->help; line;) {
      const char *end = strchr(line, '\n');
      const size_t length = end ? (size_t)(end - line) : strlen(line);
      if (length > 100) fail_msg("help of %s has a line of %zu letters", command->name, length);
      line = end ? end + 1 : NULL;
    }
  }
  assert_null(md_command_find("nope"));
  assert_null(md_command_nearest(""));
  assert_string_equal(md_command_nearest("velocty"), "velocity");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(lines_are_those_of_lammps),
      TEST(bad_lines_are_refused_with_their_place),
      TEST(long_lines_are_refused),
      TEST(variables_are_replaced_before_splitting),
      TEST(print_replaces_its_own_text),
      TEST(print_writes_files),
      TEST(log_reopens_the_log_file),
      TEST(echo_repeats_the_deck),
      TEST(unused_presets_are_named),
      TEST(model_commands_set_the_model),
      TEST(boxes_are_checked),
      TEST(pair_commands_set_the_pair),
      TEST(a_style_before_the_box_is_settled_by_it),
      TEST(fixes_set_and_unset_the_model),
      TEST(bad_fixes_are_refused),
      TEST(commands_without_effect_say_so_once),
      TEST(package_gpu_sets_the_options),
      TEST(package_gpu_refuses_what_it_does_not_know),
      TEST(package_gpu_says_what_has_no_effect),
      TEST(info_prints_the_state),
      cmocka_unit_test(every_command_has_usage_and_help),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
