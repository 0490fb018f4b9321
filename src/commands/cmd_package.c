/* The command package: options of how an engine does its work.
 *
 * `package gpu` sets the options of the GPU engine (common/engine.h) from one table of keywords. Packages of LAMMPS
 * that do not exist here are accepted, and a note explains that they have no effect. The option -pk of the command line
 * takes the same words and is executed first. The last value of a keyword applies.
 */
#include "common/base/name_list.h"
#include "src/sim.h"

#include <limits.h>
#include <string.h>

enum { BLOCK_MAX = 256, WARP = 32 };

static bool is(const char *word, const char *name) { return strcmp(word, name) == 0; }

/* Whether `value` is `a` or `b`; *second: it is `b`. */
static bool either(const char *value, const char *a, const char *b, bool *second)
{
  if (!is(value, a) && !is(value, b)) return false;
  *second = is(value, b);
  return true;
}

/* The index of `value` among n names; -1: none. */
static int among(const char *value, const char *const *name, int n)
{
  for (int k = 0; k < n; ++k)
    if (is(value, name[k])) return k;
  return -1;
}

static bool yes_or_no(const char *value, bool *yes) { return md_word_bool(value, "the value", yes) == MD_OK; }

static bool no_or_yes(const char *value, bool *no)
{
  bool yes;
  if (!yes_or_no(value, &yes)) return false;
  *no = !yes;
  return true;
}

/* Reads a whole number, or the word `word`, which stands for `otherwise`. */
static bool number_or(const char *value, const char *word, int64_t otherwise, int64_t least, int64_t most,
                      int64_t *number)
{
  *number = otherwise;
  return is(value, word) || md_word_int64(value, "the value", least, most, number) == MD_OK;
}

static bool set_precision(md_gpu_options *gpu, const char *value)
{
  return either(value, "double", "mixed", &gpu->mixed);
}

static bool set_force(md_gpu_options *gpu, const char *value)
{
  return either(value, "full", "symmetric", &gpu->symmetric);
}

static bool set_neighbours(md_gpu_options *gpu, const char *value)
{
  static const char *const ways[] = {
      [MD_GPU_AUTO] = "auto", [MD_GPU_CELLS] = "cells", [MD_GPU_LIST] = "list"};
  const int way = among(value, ways, sizeof ways / sizeof ways[0]);
  /* --gpu-naive has chosen all pairs. A deck's choice between cells and lists does not change that. */
  if (way >= 0 && gpu->neighbours != MD_GPU_ALL_PAIRS) gpu->neighbours = (md_gpu_neighbours)way;
  return way >= 0;
}

static bool set_sort(md_gpu_options *gpu, const char *value)
{
  static const char *const ways[] = {[MD_GPU_SORT_AUTO] = "auto",
                                     [MD_GPU_SORT_STEP] = "step",
                                     [MD_GPU_SORT_COUNT] = "count",
                                     [MD_GPU_SORT_RADIX] = "radix"};
  const int way = among(value, ways, sizeof ways / sizeof ways[0]);
  if (way >= 0) gpu->sort = (md_gpu_sort)way;
  return way >= 0;
}

static bool set_sorted(md_gpu_options *gpu, const char *value) { return no_or_yes(value, &gpu->unsorted); }
static bool set_padded(md_gpu_options *gpu, const char *value) { return no_or_yes(value, &gpu->unpadded); }
static bool set_unrolled(md_gpu_options *gpu, const char *value) { return no_or_yes(value, &gpu->rolled); }
static bool set_staged(md_gpu_options *gpu, const char *value) { return yes_or_no(value, &gpu->staged); }
static bool set_fused(md_gpu_options *gpu, const char *value) { return no_or_yes(value, &gpu->unfused); }
static bool set_profile(md_gpu_options *gpu, const char *value) { return yes_or_no(value, &gpu->profile); }

static bool set_rebin(md_gpu_options *gpu, const char *value)
{
  static const char *const ways[] = {"auto", "displacement", "pairs"};
  const int way = among(value, ways, sizeof ways / sizeof ways[0]);
  int64_t n = 0;
  if (way < 0 && !number_or(value, "auto", 0, 1, INT_MAX, &n)) return false;
  gpu->rebin = (int)n;
  gpu->expiry = way < 0 ? MD_GPU_EXPIRY_AUTO : (md_gpu_expiry)way;
  return true;
}

static bool set_block(md_gpu_options *gpu, const char *value)
{
  int64_t n;
  if (!number_or(value, "auto", 0, WARP, BLOCK_MAX, &n) || n % WARP != 0) return false;
  gpu->block = (int)n;
  return true;
}

static bool set_lanes(md_gpu_options *gpu, const char *value)
{
  int64_t n;
  if (!number_or(value, "auto", 0, 1, 8, &n) || (n > 2 && n < 8)) return false;
  gpu->lanes = (int)n;
  return true;
}

static bool set_skin(md_gpu_options *gpu, const char *value)
{
  double skin = 0.0;
  if (!is(value, "auto") && md_word_positive(value, "the value", &skin) != MD_OK) return false;
  gpu->skin = skin;
  return true;
}

static bool set_device(md_gpu_options *gpu, const char *value)
{
  int64_t n;
  if (!number_or(value, "auto", -1, 0, INT_MAX, &n)) return false;
  gpu->device = (int)n;
  return true;
}

static bool set_memory(md_gpu_options *gpu, const char *value)
{
  const int64_t mebibyte = INT64_C(1) << 20;
  int64_t n;
  if (!number_or(value, "all", 0, 1, INT64_MAX / mebibyte, &n)) return false;
  gpu->memory = n * mebibyte;
  return true;
}

static bool set_transport(md_gpu_options *gpu, const char *value)
{
  static const char *const ways[] = {"auto", "peer", "nccl", "aware", "staged"};
  const int way = among(value, ways, sizeof ways / sizeof ways[0]);
  if (way >= 0) gpu->transport = way == 0 ? NULL : ways[way];
  return way >= 0;
}

static const struct {
  const char *name;
  bool (*set)(md_gpu_options *gpu, const char *value); /* false: not an accepted value */
  const char *accepted;
} keywords[] = {
    {"precision", set_precision, "double or mixed"},
    {"force", set_force, "full or symmetric"},
    {"neighbours", set_neighbours, "auto, cells or list"},
    {"neighbors", set_neighbours, "auto, cells or list"},
    {"sort", set_sort, "auto, step, count or radix"},
    {"sorted", set_sorted, "yes or no"},
    {"padded", set_padded, "yes or no"},
    {"unrolled", set_unrolled, "yes or no"},
    {"staged", set_staged, "yes or no"},
    {"fused", set_fused, "yes or no"},
    {"rebin", set_rebin, "auto, displacement, pairs or a number of steps, at least 1"},
    {"block", set_block, "auto or a multiple of 32 from 32 to 256"},
    {"lanes", set_lanes, "auto, 1, 2 or 8"},
    {"skin", set_skin, "auto or a positive length (sigma)"},
    {"device", set_device, "auto or a device's number, at least 0"},
    {"memory", set_memory, "all or a positive number of MiB"},
    {"profile", set_profile, "yes or no"},
    {"transport", set_transport, "auto, peer, nccl, aware or staged"},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static md_status unknown_keyword(const char *word)
{
  char accepted[256] = "";
  for (int k = 0; k < KEYWORDS; ++k) md_name_list_add(accepted, sizeof accepted, " ", keywords[k].name);
  return md_error(MD_USAGE, "package gpu: unknown keyword '%.64s'; accepted are %s", word, accepted);
}

static md_status read_gpu(md_sim *sim, char *const *word, int n)
{
  /* The options change only if all words are right. After an error they are what they were. */
  md_gpu_options gpu = sim->options.gpu;
  for (int at = 0; at < n; at += 2) {
    int k = 0;
    while (k < KEYWORDS && !is(word[at], keywords[k].name)) ++k;
    if (k == KEYWORDS) return unknown_keyword(word[at]);
    if (at + 1 == n)
      return md_error(MD_USAGE, "package gpu %s needs a value: %s", word[at], keywords[k].accepted);
    if (!keywords[k].set(&gpu, word[at + 1]))
      return md_error(MD_USAGE, "package gpu %s must be %s, not '%.64s'", word[at], keywords[k].accepted,
                      word[at + 1]);
    if (keywords[k].set == set_neighbours && gpu.neighbours == MD_GPU_ALL_PAIRS)
      md_sim_explain(sim, "package gpu neighbours", "has no effect with --gpu-naive, which takes all pairs");
  }
  sim->options.gpu = gpu;
  return MD_OK;
}

static md_status package_gpu(md_sim *sim, char *const *word, int n)
{
  /* In LAMMPS the first word is the number of GPUs on a node. */
  const bool counted = n > 0 && word[0][0] != '\0' && strchr("+-0123456789", word[0][0]);
  if (counted) {
    int64_t count;
    MD_TRY(md_word_int64(word[0], "package gpu: the number of GPUs", 0, INT_MAX, &count));
    md_sim_explain(sim, "package gpu N",
                   "the number of GPUs has no effect here: each rank chooses its GPU by itself");
  }
  MD_TRY(read_gpu(sim, word + counted, n - counted));
  if (!sim->engine || !is(sim->engine->name, "gpu"))
    md_sim_explain(sim, "package gpu", "only concerns --engine gpu; this run has another engine");
  return MD_OK;
}

md_status md_do_package(md_sim *sim, const md_words *words)
{
  const char *name = words->word[0];
  if (is(name, "gpu")) return package_gpu(sim, words->word + 1, words->n - 1);
  if (!is(name, "intel") && !is(name, "kokkos") && !is(name, "omp"))
    return md_error(MD_USAGE, "package '%.64s' is unknown; accepted are gpu, intel, kokkos and omp", name);
  md_sim_explain(
      sim, "package",
      "has no effect here: --engine and --threads on the command line choose how a run is executed");
  return MD_OK;
}
