/* The memory that is left, from files that the test writes: those of the system and of control groups of both versions,
 * and the limit that the user sets. */
#include "common/base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[] = "/tmp/myriad-test-memory-XXXXXX";

static int make_root(void **state)
{
  (void)state;
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command) == 0 ? 0 : -1;
}

/* An empty tree. */
static int set_up(void **state)
{
  return unsetenv("MYRIAD_MEMORY") == 0 && remove_root(state) == 0 && mkdir(root, 0700) == 0 ? 0 : -1;
}

static void put(const char *name, const char *text)
{
  char path[512];
  snprintf(path, sizeof path, "%s%s", root, name);
  for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* A machine with 100 MiB, of which 60 MiB are free, and with 1 MiB of swap. */
static void put_machine(void)
{
  put("/proc/meminfo", "MemTotal: 102400 kB\nMemFree: 5 kB\nMemAvailable:   61440 kB\nSwapTotal: 2048 "
                       "kB\nSwapFree: 1024 kB\n");
}

static void assert_memory(int ranks, double mebibytes, const char *limit)
{
  md_memory memory;
  assert_int_equal(md_memory_look(root, ranks, &memory), MD_OK);
  assert_true(memory.bytes == mebibytes * 0x1p20);
  assert_non_null(strstr(memory.limit, limit));
}

static void test_the_machine(void **state)
{
  (void)state;
  md_memory memory;
  assert_int_equal(md_memory_look(root, 1, &memory), MD_OK);
  assert_true(isinf(memory.bytes));
  put_machine();
  assert_memory(1, 61.0, "this machine");
  assert_memory(4, 61.0 / 4.0, "this machine");
  put("/proc/self/cgroup", "0::/\n9:name=systemd:/\n\n:\nnonsense\n");
  assert_memory(1, 61.0, "this machine");
}

static void test_groups_of_version_2(void **state)
{
  (void)state;
  put_machine();
  put("/proc/self/cgroup", "0::/a/b\n");
  put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  assert_memory(1, 61.0, "this machine");
  /* The system can give back the memory of the file cache. */
  put("/sys/fs/cgroup/a/memory.max", "52428800\n");
  put("/sys/fs/cgroup/a/memory.current", "20971520\n");
  put("/sys/fs/cgroup/a/memory.stat", "anon 1\nfile 9\ninactive_file 5242880\nactive_file 1048576\n");
  assert_memory(1, 36.0, "control group");
  assert_memory(2, 18.0, "control group");
  put("/sys/fs/cgroup/a/b/memory.max", "10485760\n");
  assert_memory(1, 10.0, "control group");
  put("/sys/fs/cgroup/a/b/memory.current", "99999999\n");
  assert_memory(1, 0.0, "control group");
}

static void test_groups_of_version_1(void **state)
{
  (void)state;
  put_machine();
  put("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/job/1\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  assert_memory(1, 61.0, "this machine");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "41943040\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "20971520\n");
  put("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 10485760\n");
  assert_memory(1, 30.0, "control group");
}

/* A container often sees the limit at the root, although its group has another name outside. */
static void test_groups_that_are_elsewhere(void **state)
{
  (void)state;
  put_machine();
  put("/proc/self/cgroup", "0::/../../outside\n");
  put("/sys/fs/cgroup/memory.max", "31457280\n");
  assert_memory(1, 30.0, "control group");
}

/* A virtual machine may get more memory while it runs. So the memory that it has now is no limit. */
static void test_a_machine_that_grows(void **state)
{
  (void)state;
  put_machine();
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/memory.max", "1073741824\n");
  put("/sys/fs/cgroup/memory.current", "1048576\n");
  assert_memory(1, 1023.0, "control group");
}

static void test_what_the_user_says(void **state)
{
  (void)state;
  md_memory memory;
  put_machine();
  put("/proc/self/statm", "100 0 5\n");
  assert_int_equal(setenv("MYRIAD_MEMORY", "0.5", 1), 0);
  assert_memory(2, 256.0, "MYRIAD_MEMORY");
  assert_int_equal(setenv("MYRIAD_MEMORY", "off", 1), 0);
  assert_int_equal(md_memory_look(root, 1, &memory), MD_OK);
  assert_true(isinf(memory.bytes));
  static const char *const wrong[] = {"x", "-3", "0", "5 GiB", "nan"};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
    assert_int_equal(setenv("MYRIAD_MEMORY", wrong[k], 1), 0);
    assert_int_equal(md_memory_look(root, 1, &memory), MD_USAGE);
    assert_non_null(strstr(md_error_text(), wrong[k]));
  }
  assert_int_equal(setenv("MYRIAD_MEMORY", "", 1), 0);
  assert_memory(1, 61.0, "this machine");
}

static void test_amounts(void **state)
{
  (void)state;
  char text[MD_AMOUNT_CHARS];
  assert_string_equal(md_memory_amount(1023.0, text), "1023.0 B");
  assert_string_equal(md_memory_amount(1536.0, text), "1.5 KiB");
  assert_string_equal(md_memory_amount(0x1p70, text), "1024.0 EiB");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_the_machine, set_up),
      cmocka_unit_test_setup(test_groups_of_version_2, set_up),
      cmocka_unit_test_setup(test_groups_of_version_1, set_up),
      cmocka_unit_test_setup(test_groups_that_are_elsewhere, set_up),
      cmocka_unit_test_setup(test_a_machine_that_grows, set_up),
      cmocka_unit_test_setup(test_what_the_user_says, set_up),
      cmocka_unit_test(test_amounts),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
