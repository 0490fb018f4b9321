/* Data files. A file that the program writes is read back bit for bit. Files written by hand and by LAMMPS are read.
 * Every damage is refused with the number of its line. */
#include "validate/unit/support/sim_fixture.h"

#include "validate/unit/support/thread_ranks.h"

#include "src/data/data_file.h"
#include "src/particles/id_table.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static fixture f;
static char folder[] = "/tmp/myriad-test-data-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/a.data", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(folder);
}

/* The number of temporary files in the folder: those that do not have their name yet. */
static int temporaries(void)
{
  int n = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    n += strstr(entry->d_name, ".tmp") != NULL;
  if (directory) closedir(directory);
  return directory ? n : -1;
}

static int set_up(void **state)
{
  (void)state;
  return fixture_begin(&f, 3) == MD_OK ? 0 : -1;
}

static int set_up_2(void **state)
{
  (void)state;
  return fixture_begin(&f, 2) == MD_OK ? 0 : -1;
}

static int tear_down(void **state)
{
  (void)state;
  fixture_end(&f);
  return 0;
}

static md_status read_text(const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return fixture_run(&f, "read_data %s", path);
}

/* The result of several ranks that read a data file. */
typedef struct shared_reading {
  int dim;
  md_status status[RANKS_MAX];
  char message[RANKS_MAX][2048];
} shared_reading;

static void read_by_rank(md_comm *comm, void *context)
{
  shared_reading *s = context;
  md_words words = {1, (char *[]){path}};
  md_log log = {0};
  md_sim sim;
  s->status[comm->rank] = md_sim_init(&sim);
  sim.comm = comm;
  sim.log = &log;
  sim.model.box.dim = s->dim;
  for (int d = 0; d < 3; ++d) sim.model.box.periodic[d] = d != 1;
  if (s->status[comm->rank] == MD_OK) s->status[comm->rank] = md_do_read_data(&sim, &words);
  snprintf(s->message[comm->rank], sizeof s->message[0], "%s", md_error_text());
  md_sim_free(&sim);
}

/* Several ranks refuse the file with the same message as one rank, on each of them. */
static void refuse_together(int dim, const char *expected)
{
  static shared_reading s;
  for (int ranks = 2; ranks <= 5; ++ranks) {
    s.dim = dim;
    run_ranks(ranks, read_by_rank, &s);
    for (int r = 0; r < ranks; ++r) {
      assert_int_equal(s.status[r], MD_USAGE);
      assert_string_equal(s.message[r], expected);
    }
  }
}

/* Reads a text into a new simulation and expects the error "file:line: ... reason", on one rank and on several. */
static void refuse(int dim, const char *text, int line, const char *reason)
{
  fixture_end(&f);
  assert_int_equal(fixture_begin(&f, dim), MD_OK);
  f.sim.model.box.periodic[1] = false;
  assert_int_equal(read_text(text), MD_USAGE);
  char where[96];
  snprintf(where, sizeof where, "%s:%d: ", path, line);
  if (strncmp(md_error_text(), where, strlen(where)) != 0 || !strstr(md_error_text(), reason))
    fail_msg("'%s' is not '%s%s'", md_error_text(), where, reason);
  char said[2048];
  snprintf(said, sizeof said, "%s", md_error_text());
  refuse_together(dim, said);
}

static void test_round_trip(void **state)
{
  (void)state;
  md_particles *p = &f.sim.particles;
  assert_int_equal(fixture_run(&f, "region box block -1.1 0.7 1e-3 3 5 1e6"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_box 3 box"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_atoms 2 grid 1000 seed 5"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_atoms 3 random 20000 5 NULL"), MD_OK);
  for (int t = 1; t <= 3; ++t) f.sim.model.mass[t] = t / 3.0;
  assert_int_equal(fixture_run(&f, "velocity all create 1e-7 3 dist gaussian"), MD_OK);
  p->id[5] = INT64_MAX;
  p->v[0][7] = 1e-310;
  assert_int_equal(fixture_run(&f, "write_data %s nocoeff", path), MD_OK);
  assert_int_equal(temporaries(), 0);

  static fixture g;
  assert_int_equal(fixture_begin(&g, 3), MD_OK);
  assert_int_equal(fixture_run(&g, "read_data %s", path), MD_OK);
  const md_particles *q = &g.sim.particles;
  assert_int_equal(q->n, 21000);
  assert_int_equal(g.sim.model.natoms, 21000);
  assert_true(g.sim.max_id == INT64_MAX);
  assert_int_equal(g.sim.model.ntypes, 3);
  assert_memory_equal(g.sim.model.mass, f.sim.model.mass, 4 * sizeof(double));
  assert_memory_equal(&g.sim.model.box, &f.sim.model.box, sizeof(md_box));
  int32_t *order;
  assert_int_equal(md_particles_order_by_id(p, &order), MD_OK);
  for (int64_t k = 0; k < q->n; ++k) {
    const int64_t i = order[k];
    assert_true(q->id[k] == p->id[i] && q->type[k] == p->type[i]);
    for (int d = 0; d < 3; ++d) assert_true(q->x[d][k] == p->x[d][i] && q->v[d][k] == p->v[d][i]);
  }
  free(order);
  fixture_end(&g);
}

#define HEADER "by hand\n\n3 atoms\n2 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n"

/* Comments, image flags, carriage returns, any order of ids, wrapping, no Masses. */
static void test_by_hand(void **state)
{
  (void)state;
  assert_int_equal(
      read_text("# by hand\n 3 atoms # three\r\n\r\n2 atom types\n0 bonds\n0 bond types\n"
                "-5 5 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n0 0 0 xy xz yz\n\nAtoms # atomic\n\n"
                "9000000000000000000 1 1.5 2 3 0 -1 0\n\t 2 2 -5.25 10.0 29.5\n# nothing\n7 1 5 0 0 1 2 3\n\n"
                "Velocities\n\n7 1 2 3\n9000000000000000000 4 5 6\n2 7 8 -9e-3\n"),
      MD_OK);
  const md_particles *p = &f.sim.particles;
  assert_int_equal(p->n, 3);
  assert_true(p->id[0] == INT64_C(9000000000000000000) && p->id[1] == 2 && p->id[2] == 7);
  assert_int_equal(p->type[1], 2);
  assert_true(p->x[0][0] == 1.5 && p->x[1][0] == 2.0 && p->x[2][0] == 3.0);
  assert_true(p->x[0][1] == 4.75 && p->x[1][1] == 0.0 && p->x[2][1] == 9.5);
  assert_true(p->x[0][2] == -5.0);
  assert_true(p->v[2][0] == 6.0 && p->v[2][1] == -9e-3 && p->v[0][2] == 1.0);
  assert_true(f.sim.model.mass[1] == 0.0);
}

static void test_two_dimensions(void **state)
{
  (void)state;
  assert_int_equal(
      read_text("flat\n2 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n\nMasses\n\n1 0.01\n\n"
                "Atoms\n\n2 1 0.5 0.25 0.5\n1 1 0.75 0.125 -0.5\n\nVelocities\n\n1 1 2 0\n2 3 4 5\n"),
      MD_OK);
  const md_particles *p = &f.sim.particles;
  assert_null(p->x[2]);
  assert_true(p->x[1][0] == 0.25 && p->v[0][0] == 3.0 && f.sim.model.mass[1] == 0.01);
  assert_true(f.sim.model.box.lo[2] == -0.5 && f.sim.model.box.hi[2] == 0.5);
  assert_non_null(strstr(fixture_log(&f), "Note: vz"));
  refuse(2, "flat\n1 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n\nAtoms\n\n1 1 0.5 0.25 0.75\n", 9,
         "outside the box");
}

static void test_empty_box(void **state)
{
  (void)state;
  assert_int_equal(read_text("empty\n0 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n"), MD_OK);
  assert_int_equal(f.sim.model.natoms, 0);
  assert_int_equal(fixture_run(&f, "read_data %s", path), MD_USAGE);
}

static void test_refuses_headers(void **state)
{
  (void)state;
  refuse(3, "", 1, "empty");
  refuse(3, "title\n", 2, "`N atoms`");
  refuse(3, "title\nx atoms\n", 2, "ends with 'x', without `N atoms`");
  refuse(3, "title\n1.5 atoms\n", 2, "'1.5' is not a whole number");
  refuse(3, "title\n-1 atoms\n", 2, "negative");
  refuse(3, "title\n99999999999999999999 atoms\n", 2, "64 bits");
  refuse(3, "title\n1 atoms\n1 atoms\n", 3, "twice");
  refuse(3, "title\n1 atoms\n2000 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n", 7, "1 to 1024");
  refuse(3, "title\n1 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n", 6, "zlo zhi");
  refuse(3, "title\n1 atoms\n1 atom types\n0 1 xlo xhi\n0 1 xlo xhi\n", 5, "twice");
  refuse(3, "title\n1 atoms\n1 atom types\n0 -1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n", 7, "increasing");
  refuse(3, "title\n1 atoms\n1 atom types\n0 nan xlo xhi\n", 4, "'nan' is not a finite number");
  refuse(3, "title\n1 atoms\n0.1 0 0 xy xz yz\n0 0 0 xy xz yz\n", 4, "twice");
  refuse(3, "title\n1 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n0.6 0 0 xy xz yz\n", 8,
         "half");
  refuse(3, "title\n5 bonds\n", 2, "atom style");
  refuse(3, "title\n5 apples\n", 2, "not understood");
  refuse(3, HEADER "\nBond Coeffs\n\n1 1\n", 9, "'Bond Coeffs' is not supported");
  refuse(3, HEADER, 8, "without a section Atoms");
}

static void test_refuses_atoms(void **state)
{
  (void)state;
  refuse(3, HEADER "\nAtoms # full\n\n1 1 1 1 1\n2 1 1 1 1\n3 1 1 1 1\n", 9, "'full'");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1\n", 13, "after 2 of 3 lines");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1\n\nVelocities\n", 14, "after 2 of 3 lines");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1\n3 1 1 1 1\n4 1 1 1 1\n", 14, "more lines than the 3");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1\n1 1 2 2 2\n", 13, "particle id 1 occurs twice");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n77 1 1 1 1\n77 1 2 2 2\n", 13, "particle id 77 occurs twice");
  refuse(3, HEADER "\nAtoms\n\n0 1 1 1 1\n2 1 1 1 1\n3 1 1 1 1\n", 11, "particle id 0 is not positive");
  refuse(3, HEADER "\nAtoms\n\n1 3 1 1 1\n2 1 1 1 1\n3 1 1 1 1\n", 11,
         "there is no type 3: the header says 2");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 inf 1\n3 1 1 1 1\n", 12, "'inf' is not a finite number");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1e999 1\n3 1 1 1 1\n", 12, "not a finite number");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1x 1\n3 1 1 1 1\n", 12, "'1x' is not a number");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1 0\n3 1 1 1 1\n", 12, "columns");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1 0 0 0 0\n3 1 1 1 1\n", 12, "not 9 of them");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1 0 0 .5\n3 1 1 1 1\n", 12, "image flag");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 10.5 1\n3 1 1 1 1\n", 12,
         "particle 2 is outside the box: y = 10.5");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1e300 1 1\n3 1 1 1 1\n", 12, "boxes away");
  refuse(3, HEADER "\nAtoms\n\n1 1 1 1 1\n2 1 1 1 1\n3 1 1 1 1\n\nAtoms\n", 15, "given twice");
  refuse(
      3,
      "title\n300000000000 atoms\n1 atom types\n0 1 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\nAtoms\n\n1 1 0 0 0\n",
      7, "its header says 300000000000 atoms");
}

static void test_refuses_masses_and_velocities(void **state)
{
  (void)state;
#define ATOMS HEADER "\nAtoms\n\n1 1 1 1 1\n20 1 1 1 1\n3 1 1 1 1\n"
  refuse(3, HEADER "\nMasses\n\n1 1\n", 12, "after 1 of 2 lines");
  refuse(3, HEADER "\nMasses\n\n1 1\n1 1\n", 12, "given twice");
  refuse(3, HEADER "\nMasses\n\n1 1\n2 0\n", 12, "positive");
  refuse(3, HEADER "\nMasses\n\n1 1\n3 1\n", 12, "type 3");
  refuse(3, HEADER "\nVelocities\n\n1 1 1 1\n", 9, "after section Atoms");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n20 1 1 1\n", 19, "after 2 of 3 lines");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n2 1 1 1\n3 1 1 1\n", 18, "particle 2, which is not");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n-5 1 1 1\n3 1 1 1\n", 18, "particle -5, which is not");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n20 1 1 1\n1 1 1 1\n", 19, "particle 1 is given twice");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n20 1 nan 1\n3 1 1 1\n", 18, "'nan'");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n20 1 1\n3 1 1 1\n", 18, "columns");
  refuse(3, ATOMS "\nVelocities\n\n1 1 1 1\n20 1 1 1\n3 1 1 1\n4 1 1 1\n", 20, "more lines");
}

/* Coefficients as write_data of LAMMPS writes them, with the names of styles after the titles. */
static void test_coefficients(void **state)
{
  (void)state;
  const md_pair *pair = &f.sim.model.pair;
  assert_int_equal(fixture_run(&f, "pair_style lj/cut 2.5"), MD_OK);
  assert_int_equal(read_text(HEADER "\nPair Coeffs # lj/cut\n\n1 1 0.75\n2 0.5 0 1.5\n\nAtoms # atomic\n\n1 "
                                    "1 1 1 1\n20 1 1 1 1\n3 2 1 1 1\n"),
                   MD_OK);
  assert_int_equal(pair->ntypes, 2);
  assert_true(pair->set[0] == 1 && pair->set[3] == 1 && pair->set[1] == 0);
  assert_true(pair->parameter[1] == 0.75 && pair->parameter[2] == 2.5);
  assert_true(pair->parameter[3 * MD_PAIR_PARAMETERS] == 0.5);
  assert_true(pair->parameter[3 * MD_PAIR_PARAMETERS + 1] == 0.0);
  assert_true(pair->parameter[3 * MD_PAIR_PARAMETERS + 2] == 1.5);
  fixture_end(&f);
  assert_int_equal(fixture_begin(&f, 3), MD_OK);
  assert_int_equal(fixture_run(&f, "pair_style soft 1.5"), MD_OK);
  assert_int_equal(read_text(HEADER "\nPairIJ Coeffs\n\n1 1 3\n1 2 4 # cross\n2 2 5 0.5\n\nAtoms # "
                                    "atomic\n\n1 1 1 1 1\n20 1 1 1 1\n3 2 1 1 1\n"),
                   MD_OK);
  assert_true(pair->set[0] == 1 && pair->set[1] == 1 && pair->set[2] == 1 && pair->set[3] == 1);
  assert_true(pair->parameter[2 * MD_PAIR_PARAMETERS] == 4.0);
}

/* As refuse, for coefficients. The style comes from the deck, and refuse() begins a new one. */
static void refuse_coefficients(const char *text, int line, const char *reason)
{
  fixture_end(&f);
  assert_int_equal(fixture_begin(&f, 3), MD_OK);
  assert_int_equal(fixture_run(&f, "pair_style lj/cut 2.5"), MD_OK);
  assert_int_equal(read_text(text), MD_USAGE);
  char where[96];
  snprintf(where, sizeof where, "%s:%d: ", path, line);
  if (strncmp(md_error_text(), where, strlen(where)) != 0 || !strstr(md_error_text(), reason))
    fail_msg("'%s' is not '%s%s'", md_error_text(), where, reason);
}

static void test_refuses_coefficients(void **state)
{
  (void)state;
  refuse(3, HEADER "\nPair Coeffs\n\n1 1 1\n2 1 1\n", 9, "needs a pair_style");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1\n", 12, "after 1 of 2 lines");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1\n2 1 1\n2 1 1\n", 13, "more lines");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1\n3 1 1\n", 12, "type 3");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 x\n2 1 1\n", 11, "'x'");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 -1\n2 1 1\n", 11, "sigma");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1\n2 1 1\n", 11, "columns");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1 1 1\n2 1 1\n", 11, "coefficients");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n2 1 1\n", 11,
                      "more than");
  refuse_coefficients(HEADER "\nPairIJ Coeffs\n\n1 1 1 1\n1 2 1 1\n", 13, "after 2 of 3 lines");
  refuse_coefficients(HEADER "\nPairIJ Coeffs\n\n1 1 1 1\n1 9 1 1\n2 2 1 1\n", 12, "type 9");
  refuse_coefficients(HEADER "\nPair Coeffs\n\n1 1 1\n2 1 1\n\nPair Coeffs\n", 14, "given twice");
}

static void test_refuses_garbage(void **state)
{
  (void)state;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fwrite("title\n\0\1\2", 1, 9, file);
  fclose(file);
  assert_int_equal(fixture_run(&f, "read_data %s", path), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "zero byte"));
  file = fopen(path, "w");
  assert_non_null(file);
  for (int k = 0; k < 100000; ++k) fputc('x', file);
  fclose(file);
  assert_int_equal(fixture_run(&f, "read_data %s", path), MD_USAGE);
  assert_non_null(strstr(md_error_text(), "longer than"));
  assert_int_equal(fixture_run(&f, "read_data %s/none", folder), MD_RUNTIME);
  assert_non_null(strstr(md_error_text(), "No such file"));
  assert_int_equal(fixture_run(&f, "read_data %s", folder), MD_RUNTIME);
  assert_non_null(strstr(md_error_text(), "directory"));
}

/* Files of 2000 lines with several errors. Each rank may find another error, and the one in the first line is
 * reported. */
static void test_first_of_many_errors(void **state)
{
  (void)state;
  static const char *const wrong[] = {"7 1 1 1 1", "900 2 5 5 5", "5 9 1 1 1", "6 1 1 1", "7 1 x 1 1",
                                      "Bonds",     "1 1 1 1",     "901 0 0 1", "902 1 1", "8 y 1 1"};
  uint64_t random = 1;
  for (int trial = 0; trial < 40; ++trial) {
    char *text = NULL;
    size_t n;
    FILE *file = open_memstream(&text, &n);
    fprintf(file, "many\n\n1000 atoms\n2 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n");
    const int at[2] = {(int)(random >> 33) % 2000, (int)(random >> 13) % 2000};
    for (int k = 0; k < 2000; ++k) {
      if (k % 1000 == 0) fprintf(file, "\n%s\n\n", k == 0 ? "Atoms # atomic" : "Velocities");
      if (k % 9 == 0) fprintf(file, k % 2 ? "\n \n" : "# a comment\n");
      if (k == at[0] || k == at[1])
        fprintf(file, "%s\n", wrong[(int)((random >> 50) % 5) + 5 * (k / 1000)]);
      else
        fprintf(file, k < 1000 ? "%d 1 1 2 3\n" : "%d 1 2 3\n", 1 + (k * 7) % 1000);
      if (k == at[0]) random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    fclose(file);
    fixture_end(&f);
    assert_int_equal(fixture_begin(&f, 3), MD_OK);
    f.sim.model.box.periodic[1] = false;
    assert_int_equal(read_text(text), MD_USAGE);
    char said[2048];
    snprintf(said, sizeof said, "%s", md_error_text());
    refuse_together(3, said);
    free(text);
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  }
}

/* Several ranks read a file and write it again: the bytes are those that one rank writes, for any ids. */
static char copy_path[64];

static void copy_by_rank(md_comm *comm, void *context)
{
  shared_reading *s = context;
  md_words words = {1, (char *[]){path}};
  md_log log = {0};
  md_sim sim;
  md_status status = md_sim_init(&sim);
  sim.comm = comm;
  sim.log = &log;
  if (status == MD_OK) status = md_do_read_data(&sim, &words);
  if (status == MD_OK) status = md_data_write(&sim, copy_path);
  s->status[comm->rank] = status;
  snprintf(s->message[comm->rank], sizeof s->message[0], "%s", md_error_text());
  md_sim_free(&sim);
}

static void assert_same_files(const char *a, const char *b)
{
  FILE *left = fopen(a, "r"), *right = fopen(b, "r");
  assert_non_null(left);
  assert_non_null(right);
  int c;
  while ((c = getc(left)) != EOF) assert_int_equal(getc(right), c);
  assert_int_equal(getc(right), EOF);
  fclose(left);
  fclose(right);
}

static void test_copy_by_several_ranks(void **state)
{
  (void)state;
  static shared_reading s;
  snprintf(copy_path, sizeof copy_path, "%s/copy.data", folder);
  md_particles *p = &f.sim.particles;
  assert_int_equal(fixture_run(&f, "region box block 0 10 0 10 0 10"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_box 2 box"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_atoms 1 random 3000 5 NULL"), MD_OK);
  assert_int_equal(fixture_run(&f, "velocity all uniform -1 1 3"), MD_OK);
  const int64_t first[] = {1, INT64_C(1) << 33, (INT64_C(1) << 53) + 1, INT64_MAX - 3 * 2999, 8};
  const int64_t step[] = {1, 1, 2, 3, 1024};
  for (int k = 0; k < 5; ++k) {
    for (int64_t i = 0; i < p->n; ++i) p->id[i] = first[k] + step[k] * ((i * 7) % 3000);
    if (k == 4) p->id[17] = INT64_MAX;
    assert_int_equal(fixture_run(&f, "write_data %s", path), MD_OK);
    for (int ranks = 2; ranks <= 7; ++ranks) {
      run_ranks(ranks, copy_by_rank, &s);
      for (int r = 0; r < ranks; ++r)
        if (s.status[r] != MD_OK) fail_msg("%s", s.message[r]);
      assert_same_files(path, copy_path);
    }
  }
  assert_int_equal(unlink(copy_path), 0);
}

/* With room for 64 kB on the disk, no file remains after the error. */
static void test_disk_full(void **state)
{
  (void)state;
  unlink(path);
  assert_int_equal(fixture_run(&f, "region box block 0 1 0 1 0 1"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_box 1 box"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_atoms 1 grid 5000"), MD_OK);
  struct rlimit old, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 65536;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const md_status status = fixture_run(&f, "write_data %s", path);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(status, MD_RUNTIME);
  assert_non_null(strstr(md_error_text(), "File too large"));
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(temporaries(), 0);
  assert_int_equal(fixture_run(&f, "write_data %s/no/such.data", folder), MD_RUNTIME);
  assert_int_equal(fixture_run(&f, "write_data %s.gz", path), MD_USAGE);
  assert_int_equal(fixture_run(&f, "write_data %s pair all", path), MD_USAGE);
}

static void test_step_in_name(void **state)
{
  (void)state;
  assert_int_equal(fixture_run(&f, "region box block 0 1 0 1 0 1"), MD_OK);
  assert_int_equal(fixture_run(&f, "create_box 1 box"), MD_OK);
  f.sim.model.step = 1200;
  assert_int_equal(fixture_run(&f, "write_data %s/s.*.data", folder), MD_OK);
  char name[64];
  snprintf(name, sizeof name, "%s/s.1200.data", folder);
  assert_int_equal(unlink(name), 0);
}

static void test_id_table(void **state)
{
  (void)state;
  md_id_table table;
  assert_int_equal(md_id_table_init(&table, 1000), MD_OK);
  for (int32_t k = 1; k <= 1000; ++k) assert_int_equal(md_id_table_add(&table, k, k), MD_OK);
  assert_null(table.key);
  assert_null(md_id_table_find(&table, 1001));
  for (int32_t k = 1; k <= 5000; ++k)
    assert_int_equal(md_id_table_add(&table, (INT64_C(1) << 40) * k + 2000, -k), MD_OK);
  for (int32_t k = 1; k <= 1000; ++k) assert_int_equal(*md_id_table_find(&table, k), k);
  for (int32_t k = 1; k <= 5000; ++k) {
    assert_int_equal(*md_id_table_find(&table, (INT64_C(1) << 40) * k + 2000), -k);
    assert_null(md_id_table_find(&table, (INT64_C(1) << 40) * k + 2001));
  }
  assert_null(md_id_table_find(&table, 0));
  assert_null(md_id_table_find(&table, INT64_MIN));
  md_id_table_free(&table);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip),
      TEST(test_by_hand),
      cmocka_unit_test_setup_teardown(test_two_dimensions, set_up_2, tear_down),
      TEST(test_empty_box),
      TEST(test_refuses_headers),
      TEST(test_refuses_atoms),
      TEST(test_refuses_masses_and_velocities),
      TEST(test_coefficients),
      TEST(test_refuses_coefficients),
      TEST(test_refuses_garbage),
      TEST(test_first_of_many_errors),
      TEST(test_copy_by_several_ranks),
      TEST(test_disk_full),
      TEST(test_step_in_name),
      cmocka_unit_test(test_id_table),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
