/* Reading what the system says of its memory; see memory.h. Cost: some ten small files of /proc and /sys, 0.2 ms. */
#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_CHARS = 1024 };
static const double without = (double)INFINITY;

const char md_memory_advice[] =
    "use fewer particles, or ranks on more hosts (myriad plan --particles N says what they need); if there "
    "is more memory than the system says, set MYRIAD_MEMORY=GIB, or MYRIAD_MEMORY=off to try";

const char *md_memory_amount(double bytes, char text[MD_AMOUNT_CHARS])
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  enum { LARGEST = sizeof units / sizeof units[0] - 1 };
  int unit = 0;
  for (; bytes >= 1024.0 && unit < LARGEST; ++unit) bytes /= 1024.0;
  snprintf(text, MD_AMOUNT_CHARS, "%.1f %s", bytes, units[unit]);
  return text;
}

static FILE *open_below(const char *root, const char *folder, const char *name)
{
  char path[PATH_CHARS];
  const int length = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
  return length >= 0 && length < PATH_CHARS ? fopen(path, "r") : NULL;
}

/* Reads the number after a key at the beginning of a line; for an empty key, the number at the beginning of the
 * file. Returns `otherwise` if there is no number, for example where a limit is `max`. */
static double number_of(const char *root, const char *folder, const char *name, const char *key,
                        double otherwise)
{
  FILE *file = open_below(root, folder, name);
  char line[256];
  double value = otherwise;
  const size_t n = strlen(key);
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file)) {
    found = strncmp(line, key, n) == 0 && (n == 0 || line[n] == ' ' || line[n] == ':');
    char *end;
    const char *at = line + n + (n > 0);
    const double number = found ? strtod(at, &end) : 0.0;
    if (found && end > at) value = number;
  }
  if (file) fclose(file);
  return value;
}

/* ---- control groups ---- */

typedef struct group_files {
  const char *mount, *limit, *usage, *reclaimable[2];
} group_files;

static const group_files versions[2] = {
    {"/sys/fs/cgroup", "/memory.max", "/memory.current", {"inactive_file", "active_file"}},
    {"/sys/fs/cgroup/memory",
     "/memory.limit_in_bytes",
     "/memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}}};

/* A limit of at least this is no limit. */
static const double unlimited = 0x1p62;

/* Goes through a control group and all groups above it. Lowers *left to the least memory that one of them leaves,
 * and *limit to the least of their limits. Overwrites `group`. */
static void look_at_groups(const char *root, const group_files *files, char *group, double *left,
                           double *limit)
{
  char folder[PATH_CHARS];
  for (;;) {
    snprintf(folder, sizeof folder, "%s%.900s", files->mount, group);
    const double most = number_of(root, folder, files->limit, "", without);
    if (most < unlimited) {
      double used = number_of(root, folder, files->usage, "", 0.0);
      for (int k = 0; k < 2; ++k) used -= number_of(root, folder, "/memory.stat", files->reclaimable[k], 0.0);
      *left = md_min(*left, most - md_max(used, 0.0));
      *limit = md_min(*limit, most);
    }
    char *slash = strrchr(group, '/');
    if (!slash) return;
    *slash = '\0';
  }
}

/* Lines of /proc/self/cgroup are `0::/group` in version 2, and `4:memory:/group` in version 1. */
static void look_at_all_groups(const char *root, double *left, double *limit)
{
  FILE *file = open_below(root, "/proc/self/cgroup", "");
  char line[PATH_CHARS];
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *kind = strchr(line, ':'), *group = kind ? strchr(kind + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    ++kind;
    const bool memory =
        strcmp(kind, "memory") == 0 || strncmp(kind, "memory,", 7) == 0 || strstr(kind, ",memory") != NULL;
    if (*kind == '\0' || memory) look_at_groups(root, &versions[memory], group, left, limit);
  }
  if (file) fclose(file);
}

/* ---- all together ---- */

/* Bytes of this process, from a number in /proc/self/statm: 0 is its address space, 1 the part that is in memory. */
static double own_bytes(const char *root, int number)
{
  char line[256] = "", *at = line;
  FILE *file = open_below(root, "/proc/self/statm", "");
  if (file && !fgets(line, sizeof line, file)) line[0] = '\0';
  if (file) fclose(file);
  double pages = 0.0;
  for (int k = 0; k <= number; ++k) pages = strtod(at, &at);
  return pages * (double)sysconf(_SC_PAGESIZE);
}

static void take_less(md_memory *memory, double bytes, const char *limit)
{
  if (!(bytes < memory->bytes)) return;
  *memory = (md_memory){md_max(bytes, 0.0), limit};
}

static md_status look_at_variable(const char *root, const char *said, int ranks, md_memory *memory)
{
  char *end;
  if (strcmp(said, "off") == 0) return MD_OK;
  const double gib = strtod(said, &end);
  if (*end || end == said || !(gib > 0.0))
    return md_error(MD_USAGE,
                    "the environment variable MYRIAD_MEMORY takes a number of GiB or off, not '%.40s'", said);
  take_less(memory, gib * 0x1p30 / ranks - own_bytes(root, 1), "MYRIAD_MEMORY");
  return MD_OK;
}

md_status md_memory_look(const char *root, int ranks, md_memory *memory)
{
  if (ranks < 1) ranks = 1;
  *memory = (md_memory){without, ""};
  const char *said = getenv("MYRIAD_MEMORY");
  if (said && *said) return look_at_variable(root, said, ranks, memory);
  double left = without, limit = without;
  look_at_all_groups(root, &left, &limit);
  const double total = 1024.0 * number_of(root, "/proc/meminfo", "", "MemTotal", 0.0);
  const double available = number_of(root, "/proc/meminfo", "", "MemAvailable", -1.0);
  const double swap = number_of(root, "/proc/meminfo", "", "SwapFree", 0.0);
  const bool may_grow = limit < without && limit > total;
  if (available >= 0.0 && !may_grow) take_less(memory, 1024.0 * (available + swap) / ranks, "this machine");
  take_less(memory, left / ranks, "the limit of its control group");
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    take_less(memory, (double)space.rlim_cur - own_bytes(root, 0), "ulimit -v");
  return MD_OK;
}

md_status md_memory_for_particles(const md_comm *comm, const md_particles *p, int64_t more)
{
  const double each = md_particles_bytes(p), held = (double)p->capacity;
  const double needed = ((double)p->n + (double)more - held) * each;
  if (needed < MD_MEMORY_SMALL) return MD_OK;
  md_memory memory;
  MD_TRY(md_memory_look("", comm->local_size, &memory));
  if (needed <= memory.bytes) return MD_OK;
  char amounts[2][MD_AMOUNT_CHARS];
  return md_error(MD_RUNTIME,
                  "%lld particles%s need %s of memory, and %s are available (%s): there is room for %lld at "
                  "most, less what the engine adds; %s",
                  (long long)(p->n + more), comm->size > 1 ? " of a rank" : "",
                  md_memory_amount(needed, amounts[0]), md_memory_amount(memory.bytes, amounts[1]),
                  memory.limit, (long long)(held + memory.bytes / each), md_memory_advice);
}
