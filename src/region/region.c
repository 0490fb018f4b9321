/* The command `region`, and finding and testing regions; see region.h. */
#include "src/region/region.h"
#include "common/base/name_list.h"
#include "src/create/lattice.h"

#include <stdlib.h>
#include <string.h>

static const md_region_style styles[] = {
#define MD_REGION(name, words, usage)                                                                        \
  {#name, words, usage, md_region_##name##_read, md_region_##name##_inside},
#include "src/region/region_styles.def"
#undef MD_REGION
};
enum { STYLES = sizeof styles / sizeof styles[0] };

/* ---- finding and testing ---- */

md_status md_region_named(const md_sim *sim, const char *id, md_region **region)
{
  char known[256] = "";
  for (md_region *r = sim->regions; r; r = r->next) {
    if (strcmp(r->id, id) == 0) {
      *region = r;
      return MD_OK;
    }
    md_name_list_add(known, sizeof known, ", ", r->id);
  }
  return md_error(MD_USAGE,
                  "there is no region '%s'%s%s; define it with `region %s block xlo xhi ylo yhi zlo zhi`", id,
                  known[0] ? "; known are " : "", known, id);
}

md_status md_region_find(const md_sim *sim, const char *id, const md_region **region)
{
  md_region *found;
  MD_TRY(md_region_named(sim, id, &found));
  *region = found;
  found->box = &sim->model.box;
  found->margin = md_model_margin(&sim->model);
  return md_region_settle(sim, found);
}

bool md_region_contains_within(const md_region *region, const double x[3], int dim, double margin)
{
  double at[3] = {x[0], x[1], dim == 3 ? x[2] : 0.0};
  if (region->moves) md_region_move_back(region, at);
  return region->style->inside(region, at, margin) != region->outside;
}

bool md_region_contains(const md_region *region, const double x[3], int dim)
{
  return md_region_contains_within(region, x, dim, 0.0);
}

bool md_region_is_block(const md_region *region)
{
  return strcmp(region->style->name, "block") == 0 && !region->outside && !region->moves;
}

bool md_region_prism(const md_region *region, double lo[3], double hi[3], double tilt[3])
{
  if (strcmp(region->style->name, "prism") != 0 || region->outside || region->moves) return false;
  md_region_prism_edges(region, lo, hi, tilt);
  return true;
}

md_status md_region_need_block(const md_region *region, const char *what)
{
  if (md_region_is_block(region)) return MD_OK;
  return md_error(
      MD_USAGE, "%s needs a region of style block%s with side in that does not move, which region %s is not",
      what, strcmp(what, "create_box") == 0 ? " or prism" : "", region->id);
}

md_bias md_region_bias(const md_region *block, int dim)
{
  md_bias bias = {.kind = MD_BIAS_BLOCK};
  const bool in_plane = dim == 3 || (block->lo[2] <= 0.0 && block->hi[2] >= 0.0);
  for (int d = 0; d < 3; ++d) {
    /* In two dimensions a block that lacks z = 0 has no particles. */
    bias.k[d] = in_plane ? block->lo[d] : (double)INFINITY;
    bias.k[3 + d] = in_plane ? block->hi[d] : -(double)INFINITY;
  }
  return bias;
}

md_status md_region_check_plane(const md_sim *sim, const md_region *region)
{
  if (sim->model.box.dim == 3 || (md_region_lo(region, 2) <= 0.0 && md_region_hi(region, 2) >= 0.0))
    return MD_OK;
  return md_error(MD_USAGE,
                  "region %s (z from %g to %g) does not contain z = 0, where two-dimensional particles are",
                  region->id, md_region_lo(region, 2), md_region_hi(region, 2));
}

static void free_region(md_region *region)
{
  free(region->member);
  free(region);
}

void md_regions_free(md_sim *sim)
{
  while (sim->regions) {
    md_region *region = sim->regions;
    sim->regions = region->next;
    free_region(region);
  }
}

/* ---- words of styles ---- */

double md_region_unit(const md_region_reader *r, int d)
{
  return r->in_lattice_units ? md_lattice_unit(r->sim, d) : 1.0;
}

md_status md_region_length(const md_region_reader *r, int at, const char *what, int d, double *length)
{
  MD_TRY(md_word_double(r->word[at], what, length));
  *length *= md_region_unit(r, d);
  if (isfinite(*length)) return MD_OK;
  return md_error(MD_USAGE, "%s: %s times the lattice spacing is too large", what, r->word[at]);
}

md_status md_region_bound(const md_region_reader *r, int at, int d, bool upper, double *bound)
{
  const md_box *box = &r->sim->model.box;
  if (strcmp(r->word[at], "INF") == 0) {
    *bound = upper ? (double)INFINITY : -(double)INFINITY;
    return MD_OK;
  }
  if (strcmp(r->word[at], "EDGE") == 0) {
    if (!r->sim->has_box)
      return md_error(MD_USAGE, "region: EDGE needs a box; use a number before create_box");
    double low[3], high[3];
    md_box_bounds(box, low, high);
    *bound = upper ? high[d] : low[d];
    return MD_OK;
  }
  return md_region_length(r, at, "region bound", d, bound);
}

md_status md_region_bounds(const md_region_reader *r, int at, int d, md_region *region)
{
  MD_TRY(md_region_bound(r, at, d, false, &region->lo[d]));
  MD_TRY(md_region_bound(r, at + 1, d, true, &region->hi[d]));
  if (region->lo[d] <= region->hi[d]) return MD_OK;
  return md_error(MD_USAGE, "region %s: the lower %c bound %s lies above the upper one, %s", region->id,
                  'x' + d, r->word[at], r->word[at + 1]);
}

/* ---- the command ---- */

static md_status check_id(const md_sim *sim, const char *id)
{
  if (strlen(id) >= sizeof(((md_region *)0)->id))
    return md_error(MD_USAGE, "region name '%.20s...' is too long", id);
  for (const md_region *r = sim->regions; r; r = r->next)
    if (strcmp(r->id, id) == 0)
      return md_error(MD_USAGE, "region '%s' is defined already; choose another name, or `region %s delete`",
                      id, id);
  return MD_OK;
}

static md_status refuse_keyword(const char *keyword)
{
  if (strcmp(keyword, "open") == 0)
    return md_error(MD_USAGE, "region open: regions have no open faces here, as walls are those of the box");
  return md_error(
      MD_USAGE, "region: unknown keyword '%s'; accepted are units lattice|box, side in|out, move and rotate",
      keyword);
}

/* The number of words after the keyword. */
static int words_after(const char *keyword)
{
  if (strcmp(keyword, "move") == 0) return 3;
  return strcmp(keyword, "rotate") == 0 ? 7 : 1;
}

/* Reads the keywords move and rotate, whose lengths depend on the keyword units before or after them. */
static md_status read_motion(const md_words *words, int at, const md_region_reader *r, md_region *region)
{
  for (; at < words->n; at += 1 + words_after(words->word[at])) {
    if (strcmp(words->word[at], "move") == 0) MD_TRY(md_region_read_move(words->word + at + 1, region));
    if (strcmp(words->word[at], "rotate") == 0)
      MD_TRY(md_region_read_rotate(r, words->word + at + 1, region));
  }
  return MD_OK;
}

/* Reads the keywords units and side, from word `at` on. */
static md_status read_keywords(const md_words *words, int at, md_region_reader *r, md_region *region)
{
  for (; at < words->n; at += 1 + words_after(words->word[at])) {
    const char *keyword = words->word[at];
    const int after = words_after(keyword);
    if (after > 1 && at + after >= words->n)
      return md_error(MD_USAGE, "region %s takes %s", keyword,
                      after == 3 ? "three variables v_NAME, or NULL"
                                 : "a variable v_NAME, a point X Y Z and an axis RX RY RZ");
    if (after > 1) continue;
    const bool units = strcmp(keyword, "units") == 0, side = strcmp(keyword, "side") == 0;
    if (!units && !side) return refuse_keyword(keyword);
    if (at + 1 == words->n)
      return md_error(MD_USAGE, "region %s needs %s", keyword, units ? "lattice or box" : "in or out");
    const char *value = words->word[at + 1];
    bool *flag = units ? &r->in_lattice_units : &region->outside;
    const char *yes = units ? "lattice" : "out", *no = units ? "box" : "in";
    if (strcmp(value, yes) != 0 && strcmp(value, no) != 0)
      return md_error(MD_USAGE, "region %s: '%s' is not %s or %s", keyword, value, no, yes);
    *flag = strcmp(value, yes) == 0;
  }
  return MD_OK;
}

static md_status find_style(const char *name, const md_region_style **style)
{
  char accepted[256] = "";
  for (int s = 0; s < STYLES; ++s) {
    *style = &styles[s];
    if (strcmp(styles[s].name, name) == 0) return MD_OK;
    md_name_list_add(accepted, sizeof accepted, ", ", styles[s].name);
  }
  return md_error(MD_USAGE, "region style '%s' is not supported; accepted are %s, and delete", name,
                  accepted);
}

/* Reads the command: ID, style, the style's words, keywords. */
static md_status read_region(md_sim *sim, const md_words *words, md_region *region)
{
  md_region_reader r = {.sim = sim, .word = words->word + 2, .in_lattice_units = true};
  MD_TRY(find_style(words->word[1], &region->style));
  const md_region_style *style = region->style;
  int need = style->words;
  if (need == 0 && words->n > 2) {
    int64_t n;
    MD_TRY(md_word_int64(words->word[2], "the number of regions", 2, 1 << 20, &n));
    r.nmember = (int)n;
    need = 1 + r.nmember;
  }
  if (words->n < 2 + need || need == 0)
    return md_error(MD_USAGE, "region %s needs %d words after its style, not %d; usage: region ID %s",
                    style->name, need ? need : 3, words->n - 2, style->usage);
  MD_TRY(read_keywords(words, 2 + need, &r, region));
  MD_TRY(read_motion(words, 2 + need, &r, region));
  if (region->moves && r.nmember > 0)
    return md_error(MD_USAGE, "region %s moves with its members: give move and rotate to these", style->name);
  return style->read(&r, region);
}

static md_status delete_region(md_sim *sim, const md_words *words)
{
  const md_region *found;
  if (words->n > 2) return md_error(MD_USAGE, "region delete: unexpected word '%s'", words->word[2]);
  MD_TRY(md_region_find(sim, words->word[0], &found));
  for (const md_region *r = sim->regions; r; r = r->next)
    for (int k = 0; k < r->nmember; ++k)
      if (r->member[k] == found)
        return md_error(MD_USAGE, "region '%s' is a part of region %s: delete that one first", found->id,
                        r->id);
  for (md_region **at = &sim->regions; *at; at = &(*at)->next)
    if (*at == found) {
      md_region *gone = *at;
      *at = gone->next;
      free_region(gone);
      break;
    }
  return MD_OK;
}

md_status md_do_region(md_sim *sim, const md_words *words)
{
  if (strcmp(words->word[1], "delete") == 0) return delete_region(sim, words);
  MD_TRY(check_id(sim, words->word[0]));
  md_region *region;
  MD_TRY(md_array_new_zero(&region, 1, sizeof *region, "a region"));
  memcpy(region->id, words->word[0], strlen(words->word[0]) + 1);
  const md_status status = read_region(sim, words, region);
  if (status != MD_OK) {
    free_region(region);
    return status;
  }
  md_region **end = &sim->regions;
  while (*end) end = &(*end)->next;
  *end = region;
  return MD_OK;
}
