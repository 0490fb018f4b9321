/* The error message: text in front of it, the particles that it is about, a saved message during further errors, and
 * lists of names in it. */
#include "common/base/error.h"
#include "common/base/name_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_particles(int64_t a, int64_t b)
{
  int64_t about[2];
  md_error_particles(&about[0], &about[1]);
  assert_int_equal(about[0], a);
  assert_int_equal(about[1], b);
}

static void a_message_forgets_the_one_before(void **state)
{
  (void)state;
  assert_int_equal(md_error(MD_PHYSICS, "particles %d and %d overlap", 3, 7), MD_PHYSICS);
  md_error_about(3, 7);
  md_error_prefix("step %d: ", 5);
  assert_string_equal(md_error_text(), "step 5: particles 3 and 7 overlap");
  assert_particles(3, 7);
  assert_int_equal(md_error(MD_USAGE, "no such file"), MD_USAGE);
  assert_string_equal(md_error_text(), "no such file");
  assert_particles(INT64_MAX, INT64_MAX);
}

static void a_saved_error_comes_back_whole(void **state)
{
  (void)state;
  md_error_record first;
  const md_status status = md_error(MD_PHYSICS, "100%% of particles %d and %d overlap", 3, 7);
  md_error_about(3, 7);
  md_error_save(&first, status);
  assert_int_equal(md_error(MD_RUNTIME, "disk full"), MD_RUNTIME);
  md_error_about(1, 2);
  assert_int_equal(md_error_restore(&first), MD_PHYSICS);
  assert_string_equal(md_error_text(), "100% of particles 3 and 7 overlap");
  assert_particles(3, 7);
}

static void the_longest_message_is_kept_to_its_end(void **state)
{
  (void)state;
  md_error_record first;
  char longest[2 * MD_ERROR_TEXT];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  md_error_save(&first, md_error(MD_RUNTIME, "%s", longest));
  assert_int_equal(md_error(MD_USAGE, "another"), MD_USAGE);
  assert_int_equal(md_error_restore(&first), MD_RUNTIME);
  longest[MD_ERROR_TEXT - 1] = '\0';
  assert_string_equal(md_error_text(), longest);
}

static void a_list_that_is_too_long_says_so(void **state)
{
  (void)state;
  char text[20] = "";
  md_name_list_add(text, sizeof text, ", ", "one");
  md_name_list_add(text, sizeof text, ", ", "two");
  assert_string_equal(text, "one, two");
  md_name_list_add(text, sizeof text, ", ", "three");
  assert_string_equal(text, "one, two, ...");
  md_name_list_add(text, sizeof text, ", ", "4");
  assert_string_equal(text, "one, two, ...");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_forgets_the_one_before),
      cmocka_unit_test(a_saved_error_comes_back_whole),
      cmocka_unit_test(the_longest_message_is_kept_to_its_end),
      cmocka_unit_test(a_list_that_is_too_long_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
