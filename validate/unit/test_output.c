/* Dumps, pictures, numbers as text, files with checked writes, and the log: exact bytes, and every error. */
#include "validate/unit/support/fake_run.h"

#include "common/arithmetic/rng.h"
#include "common/sums/histogram.h"
#include "src/dump/dump.h"
#include "src/dump/elements.h"
#include "src/picture/colour/colour_map.h"
#include "src/picture/furniture.h"
#include "src/picture/picture.h"

#include <png.h>
#include <sys/stat.h>
#include <zlib.h>

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* ---- numbers ---- */

static void same_as_printf(double value, int digits)
{
  char ours[MD_DOUBLE_CHARS], theirs[64];
  const int n = md_format_double(ours, value, digits);
  assert_int_equal(n, snprintf(theirs, sizeof theirs, "%.*g", digits, value));
  assert_string_equal(ours, theirs);
}

static void test_doubles_as_printf(void **state)
{
  (void)state;
  static const double special[] = {0.0,
                                   -0.0,
                                   1.0,
                                   0.1,
                                   0.5,
                                   9.5,
                                   99999.5,
                                   999999.5,
                                   1e16,
                                   1e17,
                                   1e22,
                                   1e-4,
                                   1e-5,
                                   1e-9,
                                   1e-11,
                                   9.99e-12,
                                   1e300,
                                   5e-324,
                                   (double)INFINITY,
                                   (double)NAN,
                                   0.00012,
                                   123456,
                                   2.5e-5,
                                   2.5,
                                   -3.125e2,
                                   0x1p53,
                                   0x1p53 + 2,
                                   0x1p-18,
                                   1.0 / 3};
  for (size_t k = 0; k < sizeof special / sizeof special[0]; ++k)
    for (int digits = 1; digits <= MD_DIGITS_MAX; ++digits) same_as_printf(special[k], digits);
  for (int k = 0; k < 400000; ++k) {
    const int digits = 1 + (int)(next_random() % MD_DIGITS_MAX);
    const double scale = pow(10.0, (double)(next_random() % 34) - 15.0);
    same_as_printf((double)(int64_t)next_random() * 0x1p-63 * scale, digits);
    same_as_printf((double)(next_random() % 1000000) * pow(2.0, -(double)(next_random() % 60)), digits);
    same_as_printf((double)(next_random() % 100000) / 1000.0, digits);
  }
}

static void test_numbers_in_formats_as_printf(void **state)
{
  (void)state;
  static const char *const format[] = {" %g",   "%g",   "%.6g", " x %.17g", "%.0g", "%.18g", "%12.8g",
                                       "%.15e", "%g x", "%f",   "%%%g",     "%-9g", "%+g",   "%.3G"};
  static const double value[] = {0.0,      -0.0,     1.0 / 3, 99999.5, 100000.0,
                                 123456.7, 999999.5, 1e6,     1e-13,   (double)INFINITY};
  for (size_t f = 0; f < sizeof format / sizeof format[0]; ++f)
    for (size_t k = 0; k < sizeof value / sizeof value[0]; ++k) {
      md_text ours = {0}, theirs = {0};
      md_text_number(&ours, format[f], value[k]);
      md_text_print(&theirs, format[f], value[k]);
      assert_int_equal(ours.n, theirs.n);
      assert_memory_equal(ours.bytes, theirs.bytes, ours.n);
      md_text_free(&ours);
      md_text_free(&theirs);
    }
}

static void test_17_digits_give_every_bit_back(void **state)
{
  (void)state;
  char text[MD_DOUBLE_CHARS];
  for (int k = 0; k < 200000; ++k) {
    double value;
    const uint64_t bits = next_random();
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    md_format_double(text, value, MD_DIGITS_MAX);
    const double back = strtod(text, NULL);
    assert_memory_equal(&back, &value, sizeof value);
  }
}

static void test_integers(void **state)
{
  (void)state;
  static const int64_t value[] = {0, 1, -1, 9, 10, 4294967296, INT64_MAX, INT64_MIN};
  for (size_t k = 0; k < sizeof value / sizeof value[0]; ++k) {
    md_text text = {0};
    char theirs[32];
    md_text_int(&text, value[k]);
    assert_int_equal(text.n, snprintf(theirs, sizeof theirs, "%lld", (long long)value[k]));
    assert_memory_equal(text.bytes, theirs, text.n);
    md_text_free(&text);
  }
}

static void test_text_grows(void **state)
{
  (void)state;
  md_text text = {0};
  for (int k = 0; k < 100000; ++k) md_text_print(&text, "%05d", k);
  assert_int_equal(md_text_status(&text), MD_OK);
  assert_int_equal(text.n, 500000);
  assert_memory_equal(text.bytes + 5 * 98765, "98765", 5);
  assert_null(md_text_reserve(&text, SIZE_MAX / 2));
  assert_refused(md_text_status(&text), "out of memory");
  md_text_add(&text, "x", 1);
  assert_int_equal(text.n, 500000);
  md_text_free(&text);
}

static void test_formats(void **state)
{
  (void)state;
  static const struct {
    const char *format;
    md_format_kind kind;
    const char *out; /* NULL: refused */
  } cases[] = {
      {"%g", MD_FORMAT_FLOAT, "%g"},
      {"%-12.8e", MD_FORMAT_FLOAT, "%-12.8e"},
      {"x=%+ #08.3f;", MD_FORMAT_FLOAT, "x=%+ #08.3f;"},
      {"100%% %G", MD_FORMAT_FLOAT, "100%% %G"},
      {"%.99f", MD_FORMAT_FLOAT, "%.99f"},
      {"%d", MD_FORMAT_INT, "%lld"},
      {"%08ld", MD_FORMAT_INT, "%08lld"},
      {"%lli", MD_FORMAT_INT, "%lli"},
      {"%s", MD_FORMAT_WORD, "%s"},
      {"", MD_FORMAT_FLOAT, NULL},
      {"plain", MD_FORMAT_FLOAT, NULL},
      {"%%", MD_FORMAT_FLOAT, NULL},
      {"%", MD_FORMAT_FLOAT, NULL},
      {"%5", MD_FORMAT_FLOAT, NULL},
      {"%g %g", MD_FORMAT_FLOAT, NULL},
      {"%d%d%d%d%d%d%d%d%d%d%d%d%d%d", MD_FORMAT_INT, NULL},
      {"%d", MD_FORMAT_FLOAT, NULL},
      {"%Lg", MD_FORMAT_FLOAT, NULL},
      {"%lg", MD_FORMAT_FLOAT, NULL},
      {"%n", MD_FORMAT_FLOAT, NULL},
      {"%n", MD_FORMAT_INT, NULL},
      {"%s", MD_FORMAT_INT, NULL},
      {"%*d", MD_FORMAT_INT, NULL},
      {"%100d", MD_FORMAT_INT, NULL},
      {"%.100g", MD_FORMAT_FLOAT, NULL},
      {"%1$g", MD_FORMAT_FLOAT, NULL},
      {"%llld", MD_FORMAT_INT, NULL},
      {"%hd", MD_FORMAT_INT, NULL},
      {"%g\n", MD_FORMAT_FLOAT, NULL},
      {"%g 345678901234567890123456789", MD_FORMAT_FLOAT, NULL},
      {"%d 3456789012345678901234567", MD_FORMAT_INT, "%lld 3456789012345678901234567"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    char out[MD_FORMAT_SIZE] = "";
    const md_status status = md_number_format_check(cases[k].format, cases[k].kind, out);
    assert_int_equal(status, cases[k].out ? MD_OK : MD_USAGE);
    if (cases[k].out) assert_string_equal(out, cases[k].out);
  }
  const md_format_kind kind[] = {MD_FORMAT_INT, MD_FORMAT_FLOAT};
  char out[2][MD_FORMAT_SIZE] = {"", ""};
  assert_int_equal(md_number_format_line("%5d  %.3g", 2, kind, out), MD_OK);
  assert_string_equal(out[0], "%5lld");
  assert_string_equal(out[1], "%.3g");
  assert_refused(md_number_format_line("%d %g %g", 2, kind, out), "has 3 formats, but there are 2 columns");
  assert_refused(md_number_format_line("%d", 2, kind, out), "has 1 formats");
  assert_refused(md_number_format_line("%g %d", 2, kind, out), "whole-number");
  assert_string_equal(out[0], "%5lld");
}

/* ---- files ---- */

static char *slurp(const char *path)
{
  gzFile file = gzopen(path, "rb");
  if (!file) fail_msg("cannot read %s", path);
  char *text = calloc(1, 4 << 20);
  const int n = gzread(file, text, (4 << 20) - 1);
  assert_true(n >= 0);
  assert_int_equal(gzclose(file), Z_OK);
  return text;
}

static void assert_file(const char *path, const char *expected)
{
  char *text = slurp(path);
  assert_string_equal(text, expected);
  free(text);
}

static void test_streams(void **state)
{
  (void)state;
  md_comm *comm;
  assert_int_equal(md_comm_serial(&comm), MD_OK);
  static const char *const names[] = {"plain.txt", "packed.gz"};
  for (int k = 0; k < 2; ++k) {
    md_output *output;
    assert_int_equal(md_output_open(comm, &output, names[k], false), MD_OK);
    assert_true(md_output_empty(output));
    assert_int_equal(md_output_write(output, "", 0), MD_OK);
    assert_true(md_output_empty(output));
    assert_int_equal(md_output_write(output, "one\n", 4), MD_OK);
    assert_false(md_output_empty(output));
    md_output_piece piece = {0};
    md_text_string(&piece.text, "two\n");
    md_output_pack(output, &piece);
    assert_int_equal(md_output_write_packed(output, &piece, 1), MD_OK);
    md_text_free(&piece.text);
    assert_int_equal(md_output_flush(output), MD_OK);
    assert_file(names[k], "one\ntwo\n");
    assert_int_equal(md_output_close(&output), MD_OK);
    assert_null(output);
    assert_int_equal(md_output_close(&output), MD_OK);
    assert_int_equal(md_output_open(comm, &output, names[k], true), MD_OK);
    assert_false(md_output_empty(output));
    assert_int_equal(md_output_write(output, "three\n", 6), MD_OK);
    assert_int_equal(md_output_close(&output), MD_OK);
    assert_file(names[k], "one\ntwo\nthree\n");
    assert_int_equal(md_output_open(comm, &output, names[k], false), MD_OK);
    assert_int_equal(md_output_close(&output), MD_OK);
    assert_file(names[k], "");
  }
  comm->destroy(comm);
}

/* Reads the text of a file that is exactly one gzip member. Returns the length of the text; -1: the file is something
 * else. */
static int64_t unpack_one_member(const char *path, char *text, size_t room)
{
  static unsigned char packed[1 << 20];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  z_stream z = {.next_in = packed, .next_out = (Bytef *)text, .avail_out = (uInt)room};
  z.avail_in = (uInt)fread(packed, 1, sizeof packed, file);
  fclose(file);
  assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
  const int result = inflate(&z, Z_FINISH);
  const int64_t n = result == Z_STREAM_END && z.avail_in == 0 ? (int64_t)z.total_out : -1;
  inflateEnd(&z);
  return n;
}

static void copy_file(const char *from, const char *to)
{
  static char bytes[1 << 20];
  FILE *file = fopen(from, "rb");
  const size_t n = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  file = fopen(to, "wb");
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

/* A gzip file is whole after every frame, and one member. A file that is appended to, or resumed after a restart, is
 * the same as one that is written at once. */
static void test_gzip_is_one_member(void **state)
{
  (void)state;
  enum { FRAMES = 5, LENGTH = 70000 };
  static char frame[FRAMES][LENGTH], text[FRAMES * LENGTH + 4];
  md_gzip_state at[FRAMES];
  struct stat about;
  off_t size[FRAMES];
  md_comm *comm;
  md_output *output;
  assert_int_equal(md_comm_serial(&comm), MD_OK);
  for (int k = 0; k < FRAMES; ++k)
    for (int i = 0; i < LENGTH; ++i) frame[k][i] = (char)('0' + next_random() % 10);
  assert_int_equal(md_output_open(comm, &output, "whole.gz", false), MD_OK);
  for (int k = 0; k < FRAMES; ++k) {
    for (int part = 0; part < 2; ++part)
      assert_int_equal(md_output_write(output, frame[k] + part * LENGTH / 2, LENGTH / 2), MD_OK);
    assert_int_equal(md_output_settle(output), MD_OK);
    at[k] = md_output_state(output);
    assert_int_equal(stat("whole.gz", &about), 0);
    size[k] = about.st_size;
    assert_int_equal(unpack_one_member("whole.gz", text, sizeof text), (k + 1) * LENGTH);
    assert_memory_equal(text, frame, (size_t)(k + 1) * LENGTH);
    /* Another stream appends to a copy of the file. */
    copy_file("whole.gz", "added.gz");
    md_output *added;
    assert_int_equal(md_output_open(comm, &added, "added.gz", true), MD_OK);
    assert_int_equal(md_output_write(added, "more", 4), MD_OK);
    assert_int_equal(md_output_close(&added), MD_OK);
    assert_int_equal(unpack_one_member("added.gz", text, sizeof text), (k + 1) * LENGTH + 4);
  }
  assert_int_equal(md_output_close(&output), MD_OK);
  /* The file is cut off after frame k, and the later frames are written again: the same bytes. */
  for (int k = 0; k < FRAMES; ++k) {
    copy_file("whole.gz", "again.gz");
    assert_int_equal(truncate("again.gz", size[k]), 0);
    assert_int_equal(md_output_resume(comm, &output, "again.gz", &at[k]), MD_OK);
    for (int m = k + 1; m < FRAMES; ++m)
      for (int part = 0; part < 2; ++part)
        assert_int_equal(md_output_write(output, frame[m] + part * LENGTH / 2, LENGTH / 2), MD_OK);
    assert_int_equal(md_output_close(&output), MD_OK);
    assert_int_equal(unpack_one_member("again.gz", text, sizeof text), FRAMES * LENGTH);
    assert_memory_equal(text, frame, sizeof frame);
    assert_int_equal(stat("again.gz", &about), 0);
    assert_int_equal(about.st_size, size[FRAMES - 1]);
  }
  /* A file that ends in the middle of a frame is refused. A file of another program gets a second member. */
  assert_int_equal(truncate("again.gz", size[3] + 100), 0);
  assert_refused(md_output_open(comm, &output, "again.gz", true), "its last frame is not complete");
  gzFile foreign = gzopen("foreign.gz", "wb");
  assert_int_equal(gzwrite(foreign, "old\n", 4), 4);
  assert_int_equal(gzclose(foreign), Z_OK);
  assert_int_equal(md_output_open(comm, &output, "foreign.gz", true), MD_OK);
  assert_int_equal(md_output_write(output, "new\n", 4), MD_OK);
  assert_int_equal(md_output_close(&output), MD_OK);
  assert_file("foreign.gz", "old\nnew\n");
  comm->destroy(comm);
}

static void test_stream_errors(void **state)
{
  (void)state;
  md_comm *comm;
  assert_int_equal(md_comm_serial(&comm), MD_OK);
  md_output *output;
  assert_refused(md_output_open(comm, &output, "missing/file", false),
                 "cannot write missing/file: No such file");
  assert_int_equal(md_output_open(comm, &output, "/dev/full", false), MD_OK);
  assert_int_equal(md_output_write(output, "x", 1), MD_OK);
  assert_refused(md_output_flush(output), "cannot write /dev/full: No space left");
  assert_refused(md_output_close(&output), "cannot write /dev/full: No space left");
  assert_null(output);
  assert_int_equal(md_output_open(comm, &output, "/dev/full", false), MD_OK);
  assert_int_equal(md_output_write(output, "x", 1), MD_OK);
  assert_refused(md_output_close(&output), "No space left");
  assert_int_equal(mkdir("folder", 0777), 0);
  assert_refused(md_output_check_path("folder"), "cannot write folder: Is a directory");
  assert_refused(md_output_check_path("absent/x.png"), "the directory absent does not exist");
  assert_int_equal(md_output_check_path("folder/x.png"), MD_OK);
  assert_int_equal(md_output_check_path("x.png"), MD_OK);
  assert_int_equal(md_output_check_path("/x.png"), MD_OK);
  assert_int_not_equal(access("x.png", F_OK), 0);
  comm->destroy(comm);
}

/* ---- dumps ---- */

static void three_particles(int dim)
{
  start_sim(dim);
  add_particle(7, 2, (double[3]){1.0, 0.1, 6.0}, (double[3]){3.0, -0.5, 1.0});
  add_particle(2, 1, (double[3]){0.1, 1.5, 0.0}, (double[3]){1.0 / 3.0, 0.0, 2.0});
  add_particle(5000000000, 1, (double[3]){3.5, 0.5, 7.5}, (double[3]){-1.0, 2.0, 0.0});
}

#define HEAD_2D(step)                                                                                        \
  "ITEM: TIMESTEP\n" step "\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS ff pp pp\n"                          \
  "0.0000000000000000e+00 4.0000000000000000e+00\n0.0000000000000000e+00 2.0000000000000000e+00\n"           \
  "-5.0000000000000000e-01 5.0000000000000000e-01\n"

static void test_custom(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all custom 10 c.dump id type x y z vx vy vz fx fy fz mass element"),
                   MD_OK);
  assert_int_equal(fake_run(5), MD_OK);
  assert_file("c.dump", HEAD_2D("0") "ITEM: ATOMS id type x y z vx vy vz fx fy fz mass element\n"
                                     "2 1 0.10000000000000001 1.5 0 0.33333333333333331 0 0 100 101 0 1 Ar\n"
                                     "7 2 1 0.10000000000000001 0 1.5 -0.25 0 0 1 0 2 Kr\n"
                                     "5000000000 1 3.5 0.5 0 -1 2 0 200 201 0 1 Ar\n");
  stop_sim();
}

static void test_custom_scaled_and_unwrapped(void **state)
{
  (void)state;
  three_particles(3);
  assert_int_equal(command(md_do_dump, "d all custom 10 u.dump id xs ys zs xu yu zu"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d precision 4 time yes units yes"), MD_OK);
  sim.model.step = 10;
  assert_int_equal(fake_run(10), MD_OK);
  char *text = slurp("u.dump");
  assert_non_null(strstr(text, "ITEM: UNITS\nlj\nITEM: TIME\n2.5\nITEM: TIMESTEP\n10\n"));
  assert_non_null(strstr(text, "\nITEM: TIME\n5\nITEM: TIMESTEP\n20\n"));
  assert_ptr_equal(strstr(text, "UNITS"), text + 6);
  assert_null(strstr(text + 12, "UNITS"));
  assert_non_null(strstr(text, "2 0.025 0.75 0 0.1 1.5 0\n7 0.25 0.05 0.75 1 0.1 6\n"));
  free(text);
  stop_sim();
}

static void test_atom(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all atom 1 a.dump"), MD_OK);
  assert_int_equal(command(md_do_dump, "e all atom 1 b.dump.gz"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "e scale no format float %.2f format int %03d"), MD_OK);
  assert_int_equal(fake_run(1), MD_OK);
  char *text = slurp("a.dump");
  assert_non_null(strstr(text, "ITEM: ATOMS id type xs ys zs\n2 1 0.025000000000000001 0.75 0.5\n7 2 0.25 "));
  free(text);
  assert_file(
      "b.dump.gz",
      HEAD_2D("0") "ITEM: ATOMS id type x y z\n002 001 0.10 1.50 0.00\n007 002 1.00 0.10 0.00\n"
                   "5000000000 001 3.50 0.50 0.00\n" HEAD_2D(
                       "1") "ITEM: ATOMS id type x y z\n002 001 0.10 1.50 0.00\n007 002 1.00 0.10 0.00\n"
                            "5000000000 001 3.50 0.50 0.00\n");
  stop_sim();
}

static void test_formats_of_a_dump(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all custom 1 g.dump id x y element"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d format float %.1f format 3 %.3f format line %4d~%g~%e~<%s>"),
                   MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d sort off format 2 %.3f"), MD_OK);
  assert_int_equal(fake_run(0), MD_OK);
  char *text = slurp("g.dump");
  assert_non_null(strstr(text, "element\n   7 1.000 1.000000e-01 <Kr>\n   2 0.100 1.500000e+00 <Ar>\n"));
  free(text);
  assert_int_equal(command(md_do_dump_modify, "d format none format float %.2f sort id"), MD_OK);
  assert_int_equal(fake_run(1), MD_OK);
  text = slurp("g.dump");
  assert_non_null(strstr(text, "element\n2 0.10 1.50 Ar\n7 1.00 0.10 Kr\n"));
  free(text);
  stop_sim();
}

static void test_extxyz(void **state)
{
  (void)state;
  three_particles(3);
  assert_int_equal(command(md_do_dump, "d all extxyz 4 x.xyz"), MD_OK);
  assert_int_equal(command(md_do_dump, "e all extxyz 4 y.xyz type force mass"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d element Fe X"), MD_OK);
  sim.model.step = 8;
  assert_int_equal(fake_run(0), MD_OK);
  assert_file(
      "x.xyz",
      "3\nLattice=\"4 0 0 0 2 0 0 0 8\" Origin=\"0 0 0\" Properties=species:S:1:pos:R:3:velo:R:3:id:I:1 "
      "pbc=\"F T T\" Time=2 Step=8\n"
      "Fe 0.10000000000000001 1.5 0 0.33333333333333331 0 2 2\nX 1 0.10000000000000001 6 1.5 -0.25 0.5 7\n"
      "Fe 3.5 0.5 7.5 -1 2 0 5000000000\n");
  char *text = slurp("y.xyz");
  assert_non_null(strstr(text, "pos:R:3:forces:R:3:type:I:1:masses:R:1:id:I:1 pbc"));
  assert_non_null(strstr(text, "\nKr 1 0.10000000000000001 6 0 1 2 2 2 7\n"));
  free(text);
  stop_sim();
}

static void test_frames(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all frames 2 f.txt"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d precision 6"), MD_OK);
  assert_int_equal(fake_run(2), MD_OK);
  sim.particles.x[0][0] = 1.0 / 3.0;
  assert_int_equal(fake_run(2), MD_OK); /* step 2 is not shown again */
  assert_file("f.txt", "3 4\n0.1 1.5\n1 0.1\n3.5 0.5\n\n0.1 1.5\n1 0.1\n3.5 0.5\n\n"
                       "0.1 1.5\n0.333333 0.1\n3.5 0.5\n\n");
  assert_refused(command(md_do_dump_modify, "d sort off"), "always sorted");
  assert_non_null(strstr(log_so_far(), "square box at the origin"));
  assert_int_equal(command(md_do_undump, "d"), MD_OK);
  assert_int_equal(command(md_do_dump, "d all frames 2 f.txt"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d append yes"), MD_OK);
  assert_int_equal(fake_run(0), MD_OK);
  char *text = slurp("f.txt");
  assert_null(strstr(text + 1, "3 4"));
  assert_non_null(
      strstr(text, "\n\n0.10000000000000001 1.5\n0.33333333333333331 0.10000000000000001\n3.5 0.5\n\n"));
  free(text);
  stop_sim();
}

static void test_file_per_frame(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all frames 5 s.*.txt.gz"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d pad 4 precision 3"), MD_OK);
  assert_int_equal(fake_run(12), MD_OK);
  assert_file("s.0000.txt.gz", "3 4\n0.1 1.5\n1 0.1\n3.5 0.5\n\n");
  assert_file("s.0010.txt.gz", "3 4\n0.1 1.5\n1 0.1\n3.5 0.5\n\n");
  assert_int_equal(access("s.0005.txt.gz", F_OK), 0);
  assert_int_not_equal(access("s.0012.txt.gz", F_OK), 0);
  stop_sim();
}

static md_dump *only_dump(void)
{
  md_dump *dump;
  assert_int_equal(md_dump_find(&sim, "d", &dump), MD_OK);
  return dump;
}

static void test_due(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all frames 10 due.txt"), MD_OK);
  md_observer *o = &only_dump()->observer;
  assert_int_equal(o->due(o, 0), 0);
  assert_int_equal(o->due(o, 1), 10);
  assert_int_equal(o->due(o, 10), 10);
  assert_int_equal(o->due(o, 11), 20);
  assert_int_equal(o->due(o, INT64_MAX), INT64_MAX);
  sim.model.step = 13;
  assert_int_equal(command(md_do_dump_modify, "d first yes"), MD_OK);
  assert_int_equal(fake_run(0), MD_OK);
  char *text = slurp("due.txt");
  assert_int_equal(strlen(text) > 10, 1);
  free(text);
  assert_int_equal(o->due(o, 13), 20);
  assert_int_equal(command(md_do_dump_modify, "d every 7"), MD_OK);
  assert_int_equal(o->due(o, 14), 14);
  only_dump()->last_step = 14;
  assert_int_equal(o->due(o, 14), 21);
  stop_sim();
}

/* The bytes of a frame that is large enough for many blocks. threads: the number of threads that write it. */
static char *big_frame(int threads, const char *path)
{
  char line[64];
  snprintf(line, sizeof line, "d all custom 1 %s id x vy", path);
  sim.options.threads = threads;
  assert_int_equal(command(md_do_dump, line), MD_OK);
  assert_int_equal(fake_run(0), MD_OK);
  assert_int_equal(command(md_do_undump, "d"), MD_OK);
  return slurp(path);
}

static void test_threads_do_not_matter(void **state)
{
  (void)state;
  enum { N = 50000 };
  start_sim(2);
  assert_int_equal(md_particles_reserve(&sim.particles, N), MD_OK);
  for (int k = 0; k < N; ++k) {
    const double x = 4.0 * md_random_unit((uint32_t)next_random());
    add_particle((k * INT64_C(7919)) % N + 1, 1, (double[3]){x, 1.0}, (double[3]){0.0, -x / 3.0});
  }
  char *one = big_frame(1, "one.dump"), *three = big_frame(3, "three.dump"),
       *packed = big_frame(3, "packed.dump.gz");
  assert_string_equal(one, three);
  assert_string_equal(one, packed);
  const char *row = strstr(one, "ITEM: ATOMS");
  for (int id = 1; id <= N; ++id) {
    row = strchr(row, '\n') + 1;
    char *end;
    assert_int_equal(strtol(row, &end, 10), id);
    const double x = strtod(end, &end), vy = strtod(end, &end);
    if (id % 100 == 0) assert_true(vy == -x / 3.0);
  }
  assert_string_equal(strchr(row, '\n'), "\n");
  free(one);
  free(three);
  free(packed);
  stop_sim();
}

static void test_dump_errors(void **state)
{
  (void)state;
  static const struct {
    const char *line, *message;
  } cases[] = {
      {"d some custom 1 e.txt id", "unknown group 'some'"},
      {"d all vtk 1 e.txt id",
       "unknown style 'vtk'; accepted are custom, atom, xyz, extxyz, frames, density"},
      {"d all custom 0 e.txt id", "the number of steps between dump frames must be at least 1"},
      {"d all custom 1.5 e.txt id", "whole number"},
      {"d all custom 1 e.txt", "needs columns"},
      {"d all custom 1 e.txt id iu", "unknown column 'iu'"},
      {"d all atom 1 e.txt x", "takes no columns, found 'x'"},
      {"d all frames 1 e.txt x", "found 'x'"},
      {"d all extxyz 1 e.txt speed", "unknown column 'speed'; accepted are vel, force"},
      {"d all custom 1 e*f*.txt id", "more than one *"},
      {"d all custom 1 e.%.txt id", "a file per processor is not offered"},
      {"d all custom 1 e.bin id", "binary"},
      {"d all density 1 e.jpg 10", "must end in .png"},
      {"d all density 1 e.png", "number of pixels"},
      {"d all density 1 e.png 0", "from 1 to 16384"},
      {"d all density 1 e.png 16385", "from 1 to 16384"},
      {"d all density 1 e.png 10 axis w", "'w' is none of x, y, z"},
      {"d all density 1 e.png 10 axis x", "seen along z only"},
      {"d all density 1 e.png 10 scale", "value is missing"},
      {"d all density 1 e.png 10 scale maybe", "'maybe' is none of linear, log"},
      {"d all density 1 e.png 10 colour red", "unknown keyword 'colour'"},
      {"used all custom 1 e.txt id", "the id used is in use"},
      {"d123456789012345678901234567890123456789012345678901234567890123 all custom 1 e.txt id",
       "longer than 63"},
  };
  three_particles(2);
  assert_int_equal(command(md_do_dump, "used all frames 1 used.txt"), MD_OK);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    assert_refused(command(md_do_dump, cases[k].line), cases[k].message);
    assert_null(sim.observers->next);
  }
  assert_refused(command(md_do_undump, "nobody"), "there is no dump 'nobody'; dumps are: used");
  assert_int_equal(command(md_do_undump, "used"), MD_OK);
  assert_refused(command(md_do_undump, "used"), "dumps are: none");
  sim.has_box = false;
  assert_refused(command(md_do_dump, "d all custom 1 e.txt id"), "needs a box");
  stop_sim();
}

static void test_dump_modify_errors(void **state)
{
  (void)state;
  static const struct {
    const char *line, *message;
  } cases[] = {
      {"x every 1", "there is no dump 'x'"},
      {"c every 0", "at least 1"},
      {"c every", "dump_modify every: its value is missing"},
      {"c first maybe", "yes or no"},
      {"c pad 21", "from 0 to 20"},
      {"c sort x", "'x' is none of id, off"},
      {"c precision 18", "from 1 to 17"},
      {"c element Ar", "each of the 2 types, found 1"},
      {"c element Ar Qq", "'Qq' is no chemical symbol"},
      {"p thresh x < 1", "no keyword of dump style density"},
      {"c scale yes", "no keyword of dump style custom"},
      {"c format float", "the format is missing"},
      {"c format float %d", "one real conversion"},
      {"c format int %n", "one whole-number conversion"},
      {"c format 3 %g", "from 1 to 2"},
      {"c format line %d", "has 1 formats, but there are 2 columns"},
      {"c format line %d~%s", "one real conversion"},
      {"p precision 3", "accepted are every first pad"},
  };
  three_particles(2);
  assert_int_equal(command(md_do_dump, "c all custom 1 m.txt id x"), MD_OK);
  assert_int_equal(command(md_do_dump, "p all density 1 m.png 8"), MD_OK);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k)
    assert_refused(command(md_do_dump_modify, cases[k].line), cases[k].message);
  assert_int_equal(fake_run(0), MD_OK);
  assert_refused(command(md_do_dump_modify, "c append yes"), "open already");
  stop_sim();
}

static void test_unwritable_files_stop_a_run_at_its_start(void **state)
{
  (void)state;
  static const char *const lines[] = {"d all custom 5 nowhere/x.txt id", "d all custom 5 nowhere/x*.txt id",
                                      "d all density 5 nowhere/x.png 8"};
  three_particles(2);
  sim.model.step = 1;
  for (int k = 0; k < 3; ++k) {
    assert_int_equal(command(md_do_dump, lines[k]), MD_OK);
    assert_refused(fake_run(0), "dump d: cannot write nowhere/x");
    assert_int_equal(command(md_do_undump, "d"), MD_OK);
  }
  stop_sim();
}

static void test_full_disk(void **state)
{
  (void)state;
  three_particles(2);
  assert_int_equal(command(md_do_dump, "d all frames 1 /dev/full"), MD_OK);
  assert_refused(fake_run(0), "dump d: cannot write /dev/full: No space left");
  assert_refused(command(md_do_undump, "d"), "undump d: cannot write /dev/full: No space left");
  assert_null(sim.observers);
  assert_int_equal(symlink("/dev/full", "full1.txt"), 0);
  assert_int_equal(command(md_do_dump, "d all frames 1 full*.txt"), MD_OK);
  sim.model.step = 1;
  assert_refused(fake_run(0), "dump d: cannot write full1.txt: No space left");
  assert_int_equal(symlink("/dev/full", "full.png"), 0);
  assert_int_equal(command(md_do_undump, "d"), MD_OK);
  assert_int_equal(command(md_do_dump, "d all density 1 full.png 4"), MD_OK);
  assert_refused(fake_run(0), "dump d: cannot write full.png: No space left");
  assert_int_equal(access("full.png", F_OK), 0);
  stop_sim();
}

static void test_elements(void **state)
{
  (void)state;
  assert_string_equal(md_element_default(1), "Ar");
  assert_string_equal(md_element_default(3), "Xe");
  assert_string_equal(md_element_default(118), "Og");
  assert_string_equal(md_element_default(119), "X");
  for (int t = 1; t <= 118; ++t) {
    assert_true(md_element_known(md_element_default(t)));
    for (int s = 1; s < t; ++s) assert_string_not_equal(md_element_default(s), md_element_default(t));
  }
  assert_false(md_element_known("ar"));
  assert_false(md_element_known(""));
}

/* ---- pictures ---- */

typedef struct picture {
  int width, height;
  unsigned char level[64][64];
  unsigned char colour[256][3];
  char description[256];
} picture;

static void read_picture(const char *path, picture *p)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_read_info(png, info);
  p->width = (int)png_get_image_width(png, info);
  p->height = (int)png_get_image_height(png, info);
  png_colorp palette;
  int ncolour;
  assert_int_equal(png_get_PLTE(png, info, &palette, &ncolour), PNG_INFO_PLTE);
  assert_int_equal(ncolour, 256);
  for (int c = 0; c < 256; ++c) {
    p->colour[c][0] = palette[c].red;
    p->colour[c][1] = palette[c].green;
    p->colour[c][2] = palette[c].blue;
  }
  png_textp text;
  assert_int_equal(png_get_text(png, info, &text, NULL), 1);
  snprintf(p->description, sizeof p->description, "%s", text->text);
  for (int row = 0; row < p->height; ++row) png_read_row(png, p->level[row], NULL);
  png_destroy_read_struct(&png, &info, NULL);
  fclose(file);
}

static void test_density(void **state)
{
  (void)state;
  start_sim(2);
  for (int k = 0; k < 4; ++k) add_particle(k + 1, 1, (double[3]){3.75, 1.9}, (double[3]){0.0, 0.0});
  add_particle(5, 1, (double[3]){0.0, 0.0}, (double[3]){0.0, 0.0});
  add_particle(6, 1, (double[3]){4.0, 2.0}, (double[3]){0.0, 0.0}); /* on the upper corner of a fixed box */
  assert_int_equal(command(md_do_dump, "d all density 3 n.*.png 8"), MD_OK);
  assert_int_equal(command(md_do_dump, "e all density 3 l.png 8 scale log axis z"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d furniture no"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "e furniture no"), MD_OK);
  assert_int_equal(fake_run(3), MD_OK);
  assert_int_equal(access("n.3.png", F_OK), 0);
  picture p = {0};
  read_picture("n.0.png", &p);
  assert_int_equal(p.width, 8);
  assert_int_equal(p.height, 4);
  assert_int_equal(p.level[0][7], 255); /* 5 particles at the top right */
  assert_int_equal(p.level[3][0], 51);  /* 1 at the bottom left */
  int sum = 0;
  for (int row = 0; row < 4; ++row)
    for (int k = 0; k < 8; ++k) sum += p.level[row][k];
  assert_int_equal(sum, 255 + 51);
  assert_string_equal(p.description,
                      "particle density at step 0: 6 particles; colours from 0 to 5 particles per bin, "
                      "linear; a bin is 0.5 x 0.5 sigma");
  read_picture("l.png", &p);
  assert_int_equal(p.level[3][0], (int)(255.0 * log(2.0) / log(6.0) + 0.5));
  assert_non_null(strstr(p.description, "at step 3"));
  assert_non_null(strstr(p.description, "log(1 + count)"));
  stop_sim();
}

/* Finds the place of `map` in a canvas, at its own size. False: it is not there. */
static bool find_map(const md_canvas *canvas, const md_canvas *map, int *x, int *y)
{
  for (*y = 0; *y + map->height <= canvas->height; ++*y)
    for (*x = 0; *x + map->width <= canvas->width; ++*x) {
      int row = 0;
      while (row < map->height && memcmp(canvas->rgb + 3 * ((*y + row) * canvas->width + *x),
                                         map->rgb + 3 * row * map->width, 3 * (size_t)map->width) == 0)
        ++row;
      if (row == map->height) return true;
    }
  return false;
}

/* The number of pixels of a block that are not white. */
static int inked(const md_canvas *c, int x, int y, int width, int height)
{
  int n = 0;
  for (int j = y; j < y + height; ++j)
    for (int i = x; i < x + width; ++i) n += c->rgb[3 * (j * c->width + i)] < 128;
  return n;
}

static void test_furniture(void **state)
{
  (void)state;
  unsigned char colour[MD_COLOURS][3];
  md_colour_map_viridis(colour);
  /* Includes maps that are smaller than their texts, larger letters, and numbers of any size. */
  static const struct {
    int width, height;
    double least, most, log_unit;
  } cases[] = {{1, 1, 0.0, 1.0, 0.0},     {40, 24, 0.0, 0.0, 0.0},   {300, 200, 0.0, 1e-300, 0.0},
               {700, 90, 0.0, 1e17, 3.0}, {90, 700, 0.0, 5.0, 1e-9}, {250, 250, 0.0, (double)INFINITY, 0.0},
               {80, 300, -0.7, 0.7, 0.0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    md_canvas map = {.width = cases[k].width, .height = cases[k].height}, canvas = {0};
    const int pixels = map.width * map.height;
    assert_int_equal(md_array_new(&map.rgb, pixels, 3, "a map"), MD_OK);
    for (int i = 0; i < 3 * pixels; ++i) map.rgb[i] = (unsigned char)(next_random() % 200);
    const md_furniture f = {.title = "\u03c3\u03c4\u00b2\u00b3 title \xf0\x9f\x98\x80",
                            .axis = {{"x", -1e-9, 1e-9}, {"y", 0.0, 1e20}},
                            .quantity = "quantity",
                            .least = cases[k].least,
                            .most = cases[k].most,
                            .log_unit = cases[k].log_unit};
    assert_int_equal(md_furniture_draw(&f, &map, colour, &canvas), MD_OK);
    int x = 0, y = 0;
    assert_true(find_map(&canvas, &map, &x, &y));
    assert_true(inked(&canvas, 0, 0, canvas.width, y) > 100);         /* the title */
    assert_true(inked(&canvas, 0, y, x - 1, canvas.height - y) > 10); /* the left axis */
    assert_true(inked(&canvas, x, y + map.height, map.width, canvas.height - y - map.height) >
                0); /* the lower one */
    const int right = x + map.width + 1;
    assert_true(inked(&canvas, right, y, canvas.width - right, canvas.height - y) > 50); /* the bar */
    free(map.rgb);
    free(canvas.rgb);
  }
}

static int64_t downloads;

static md_status refuse_download(md_engine *engine, double *const force[3])
{
  (void)engine, (void)force;
  ++downloads;
  return md_error(MD_RUNTIME, "this engine's particles stay where they are");
}

/* Adds 1 at the lower left bin, 2 at the one to its right and 4 at the one above it. */
static md_status count_by_itself(md_engine *engine, const md_histogram *h, int64_t *count)
{
  assert_ptr_equal(engine, &sim);
  assert_int_equal(h->axis[0], 0);
  assert_int_equal(h->axis[1], 1);
  assert_int_equal(h->n[0], 8);
  assert_int_equal(h->n[1], 4);
  for (int k = 0; k < 2; ++k) {
    assert_true(h->lo[k] == 0.0);
    assert_true(h->per_length[k] == 2.0);
  }
  count[0] += 1;
  count[1] += 2;
  count[h->n[0]] += 4;
  return MD_OK;
}

static md_status cannot_count(md_engine *engine, const md_histogram *h, int64_t *count)
{
  (void)engine, (void)h, (void)count;
  return md_error(MD_RUNTIME, "the device is gone");
}

static md_status observe_with(const md_engine_kind *kind)
{
  md_view view = {.sim = &sim, .kind = kind, .engine = (md_engine *)&sim, .step = sim.model.step};
  md_observer *o = sim.observers;
  MD_TRY(o->start(o, &sim));
  const md_status status = o->observe(o, &view);
  md_view_close(&view);
  return status;
}

static void test_density_counted_by_the_engine(void **state)
{
  (void)state;
  const md_engine_kind counting = {
      .name = "counting", .download = refuse_download, .histogram = count_by_itself};
  const md_engine_kind failing = {.name = "failing", .download = refuse_download, .histogram = cannot_count};
  const md_engine_kind plain = {.name = "plain", .download = refuse_download};
  start_sim(2);
  downloads = 0;
  add_particle(1, 1, (double[3]){3.75, 1.9}, (double[3]){0.0, 0.0});
  assert_int_equal(command(md_do_dump, "d all density 1 engine.png 8"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d furniture no"), MD_OK);
  assert_int_equal(observe_with(&counting), MD_OK);
  assert_int_equal(downloads, 0);
  picture p = {0};
  read_picture("engine.png", &p);
  assert_int_equal(p.width, 8);
  assert_int_equal(p.height, 4);
  assert_int_equal(p.level[3][0], 64);
  assert_int_equal(p.level[3][1], 128);
  assert_int_equal(p.level[2][0], 255);
  assert_int_equal(p.level[0][7], 0);
  assert_refused(observe_with(&failing), "dump d: the device is gone");
  assert_refused(observe_with(&plain), "stay where they are");
  assert_int_equal(downloads, 1);
  stop_sim();
}

/* Three particles of weight 5/4 each in the bin at the lower right, one of them less a fine quantum. */
static md_status weigh_by_itself(md_engine *engine, const md_histogram *h, int64_t *sum)
{
  (void)engine;
  assert_int_equal(md_histogram_sums(h), MD_BIN_SUMS);
  assert_int_equal(h->weight, MD_WEIGHT_MASS);
  assert_int_equal(h->group, 1u);
  assert_true(h->from[0] == 0.0 && h->to[0] == 4.0 && h->from[1] == 0.5 && h->to[1] == 1.5);
  int64_t *bin = sum + MD_BIN_SUMS * (h->n[0] - 1);
  bin[MD_BIN_COUNT] += 3;
  bin[MD_BIN_COARSE] += (int64_t)(3.75 * h->per_unit);
  bin[MD_BIN_REST] -= 1;
  return MD_OK;
}

static void test_weights_of_the_engine(void **state)
{
  (void)state;
  const md_engine_kind kind = {.name = "weighing", .download = refuse_download, .histogram = weigh_by_itself};
  start_sim(2);
  sim.model.mass_reference = 2.0;
  sim.model.natoms = INT64_C(1) << 40; /* leaves 21 bits for each sum */
  assert_int_equal(
      command(md_do_dump, "d all density 1 weight.txt 4 weight mass mean yes window 0 4 0.5 1.5"), MD_OK);
  assert_int_equal(observe_with(&kind), MD_OK);
  FILE *file = fopen("weight.txt", "r");
  char line[128];
  double value[4] = {0.0};
  assert_non_null(file);
  do assert_non_null(fgets(line, sizeof line, file));
  while (line[0] == '#');
  fclose(file);
  for (int k = 0; k < 4; ++k) value[k] = strtod(line + 4 * k, NULL);
  assert_true(isnan(value[0]) && isnan(value[2]));
  assert_true(value[3] == (3.75 - 0x1p-40) / 3.0);
  stop_sim();
}

static void test_density_along_axes(void **state)
{
  (void)state;
  static const struct {
    const char *axis;
    int width, height, row, column;
  } cases[] = {{"x", 4, 16, 1, 1}, {"y", 8, 16, 1, 6}, {"z", 16, 8, 5, 12}};
  for (int k = 0; k < 3; ++k) {
    start_sim(3);
    add_particle(1, 1, (double[3]){3.1, 0.7, 7.2}, (double[3]){0.0, 0.0, 0.0});
    char line[64];
    snprintf(line, sizeof line, "d all density 3 axis.png 16 axis %s", cases[k].axis);
    assert_int_equal(command(md_do_dump, line), MD_OK);
    assert_int_equal(command(md_do_dump_modify, "d furniture no"), MD_OK);
    assert_int_equal(fake_run(0), MD_OK);
    picture p = {0};
    read_picture("axis.png", &p);
    assert_int_equal(p.width, cases[k].width);
    assert_int_equal(p.height, cases[k].height);
    assert_int_equal(p.level[cases[k].row][cases[k].column], 255);
    stop_sim();
  }
}

static void test_density_counts_in_parallel(void **state)
{
  (void)state;
  enum { N = 100000, D = 5 };
  start_sim(2);
  sim.model.box.hi[1] = sim.model.box.length[1] = 4.0;
  int64_t count[D][D] = {{0}}, most = 0;
  assert_int_equal(md_particles_reserve(&sim.particles, N), MD_OK);
  for (int k = 0; k < N; ++k) {
    const int cx = (int)(next_random() % D), cy = (int)(next_random() % (uint64_t)(cx + 1));
    add_particle(k + 1, 1, (double[3]){(cx + 0.5) * 4.0 / D, (cy + 0.5) * 4.0 / D}, (double[3]){0.0, 0.0});
    if (++count[cy][cx] > most) most = count[cy][cx];
  }
  sim.options.threads = 4;
  assert_int_equal(command(md_do_dump, "d all density 1 p.png 5"), MD_OK);
  assert_int_equal(command(md_do_dump_modify, "d furniture no"), MD_OK);
  assert_int_equal(fake_run(0), MD_OK);
  picture p = {0};
  read_picture("p.png", &p);
  for (int cy = 0; cy < D; ++cy)
    for (int cx = 0; cx < D; ++cx)
      assert_int_equal(p.level[D - 1 - cy][cx], (int)((double)count[cy][cx] * (255.0 / (double)most) + 0.5));
  char expected[64];
  snprintf(expected, sizeof expected, "from 0 to %lld particles", (long long)most);
  assert_non_null(strstr(p.description, expected));
  stop_sim();
}

static void test_colours_are_viridis(void **state)
{
  (void)state;
  unsigned char colour[MD_COLOURS][3];
  md_colour_map_viridis(colour);
  const int first[3] = {68, 1, 84}, middle[3] = {33, 145, 140}, last[3] = {253, 231, 37};
  int brightness[MD_COLOURS];
  for (int c = 0; c < MD_COLOURS; ++c) {
    brightness[c] = 299 * colour[c][0] + 587 * colour[c][1] + 114 * colour[c][2];
    if (c >= 4) assert_true(brightness[c] > brightness[c - 4]);
  }
  for (int k = 0; k < 3; ++k) {
    assert_true(abs(colour[0][k] - first[k]) <= 4);
    assert_true(abs(colour[128][k] - middle[k]) <= 4);
    assert_true(abs(colour[255][k] - last[k]) <= 4);
  }
}

/* ---- log ---- */

typedef struct sink {
  FILE *file;
  char *text;
  size_t size;
} sink;

static void open_sink(sink *s) { s->file = open_memstream(&s->text, &s->size); }

static void close_sink(sink *s)
{
  fclose(s->file);
  free(s->text);
}

static void progress(md_log *log, long long done, long long total, double seconds, double rate)
{
  md_log_progress(
      log, &(md_progress){.done = done, .total = total, .here = done, .seconds = seconds, .rate = rate});
}

/* The speed of a resumed run is that of its own steps, without the steps before the restart. */
static void test_log_progress_of_a_resumed_run(void **state)
{
  (void)state;
  sink screen;
  open_sink(&screen);
  md_log log = {.screen = screen.file};
  md_progress p = {.done = 600, .total = 1000, .here = 100, .seconds = 40.0, .rate = 5.0};
  md_log_progress(&log, &p);
  p = (md_progress){
      .done = 700, .total = 1000, .here = 200, .seconds = 80.0, .has_drift = true, .drift = -1.25e-7};
  md_log_progress(&log, &p);
  assert_string_equal(
      screen.text,
      "# step 600 of 1000, 60.0 %, 5 particle-steps/s, ETA 2 min 40 s\n"
      "# step 700 of 1000, 70.0 %, 0 particle-steps/s, ETA 2 min 00 s, energy drift -1.25e-07\n");
  close_sink(&screen);
}

static void test_log_live_line(void **state)
{
  (void)state;
  sink screen, file;
  open_sink(&screen);
  open_sink(&file);
  md_log log = {.screen = screen.file, .file = file.file, .live = true};
  progress(&log, 1, 100, 0.05, 1e6); /* too early */
  progress(&log, 25, 100, 0.5, 2e6);
  progress(&log, 26, 100, 0.55, 2e6); /* too soon */
  md_log_print(&log, "row %d\n", 1);
  progress(&log, 50, 100, 31.0, 2e6);
  md_log_progress_end(&log);
  assert_int_equal(md_log_status(&log), MD_OK);
  assert_string_equal(screen.text,
                      "\rstep 25 of 100, 25.0 %, 2e+06 particle-steps/s, ETA 2 s\033[K\r\033[Krow 1\n"
                      "\rstep 50 of 100, 50.0 %, 2e+06 particle-steps/s, ETA 31 s\033[K\r\033[K");
  assert_string_equal(file.text, "row 1\n# step 50 of 100, 50.0 %, 2e+06 particle-steps/s, ETA 31 s\n");
  close_sink(&screen);
  close_sink(&file);
}

static void test_log_heartbeat(void **state)
{
  (void)state;
  sink screen;
  open_sink(&screen);
  md_log log = {.screen = screen.file};
  progress(&log, 10, 1000, 29.0, 1.0);
  progress(&log, 20, 1000, 40.0, 1.0);
  progress(&log, 30, 1000, 69.0, 1.0);
  progress(&log, 0, 1000, 70.0, 1.0);
  md_log_progress_end(&log);
  progress(&log, 1, 10000, 29.0, 1.0);
  progress(&log, 1, 10000, 31.0, 1.0);
  assert_int_equal(md_log_status(&log), MD_OK);
  assert_string_equal(screen.text, "# step 20 of 1000, 2.0 %, 1 particle-steps/s, ETA 32 min 40 s\n"
                                   "# step 0 of 1000, 0.0 %, 1 particle-steps/s, ETA unknown\n"
                                   "# step 1 of 10000, 0.0 %, 1 particle-steps/s, ETA 3 d 14 h\n");
  close_sink(&screen);
}

static void test_log_echo_and_errors(void **state)
{
  (void)state;
  sink screen, file;
  open_sink(&screen);
  open_sink(&file);
  md_log log = {.screen = screen.file, .file = file.file, .echo_file = true};
  md_log_echo(&log, "run 5");
  log.echo_screen = true;
  md_log_echo(&log, "run 6\n");
  md_log_flush(&log);
  assert_string_equal(screen.text, "run 6\n");
  assert_string_equal(file.text, "run 5\nrun 6\n");
  close_sink(&screen);
  close_sink(&file);
  md_log silent = {0};
  md_log_print(&silent, "nobody %d\n", 1);
  md_log_echo(&silent, "x");
  progress(&silent, 1, 2, 100.0, 1.0);
  assert_int_equal(md_log_status(&silent), MD_OK);
  md_log bad = {.file = fopen("/dev/full", "w"), .file_name = "full"};
  md_log_print(&bad, "x\n");
  assert_refused(md_log_status(&bad), "writing the log full failed");
  assert_refused(md_log_close(&bad), "writing the log full failed");
  bad = (md_log){.screen = fopen("/dev/full", "w")};
  md_log_print(&bad, "x\n");
  assert_int_equal(md_log_file_status(&bad), MD_OK);
  assert_refused(md_log_status(&bad), "the screen failed");
  assert_int_equal(md_log_close(&bad), MD_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doubles_as_printf),
      cmocka_unit_test(test_numbers_in_formats_as_printf),
      cmocka_unit_test(test_17_digits_give_every_bit_back),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_text_grows),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_gzip_is_one_member),
      cmocka_unit_test(test_stream_errors),
      cmocka_unit_test(test_custom),
      cmocka_unit_test(test_custom_scaled_and_unwrapped),
      cmocka_unit_test(test_atom),
      cmocka_unit_test(test_formats_of_a_dump),
      cmocka_unit_test(test_extxyz),
      cmocka_unit_test(test_frames),
      cmocka_unit_test(test_file_per_frame),
      cmocka_unit_test(test_due),
      cmocka_unit_test(test_threads_do_not_matter),
      cmocka_unit_test(test_dump_errors),
      cmocka_unit_test(test_dump_modify_errors),
      cmocka_unit_test(test_unwritable_files_stop_a_run_at_its_start),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_elements),
      cmocka_unit_test(test_density),
      cmocka_unit_test(test_furniture),
      cmocka_unit_test(test_density_counted_by_the_engine),
      cmocka_unit_test(test_weights_of_the_engine),
      cmocka_unit_test(test_density_along_axes),
      cmocka_unit_test(test_density_counts_in_parallel),
      cmocka_unit_test(test_colours_are_viridis),
      cmocka_unit_test(test_log_progress_of_a_resumed_run),
      cmocka_unit_test(test_log_live_line),
      cmocka_unit_test(test_log_heartbeat),
      cmocka_unit_test(test_log_echo_and_errors),
  };
  return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
