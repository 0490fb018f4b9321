/* Titles, axes and colour bars around a picture; see furniture.h.
 *
 * Lengths are in dots. A dot of the font is `dot` pixels wide, one pixel for each 250 pixels of the picture, and at
 * most one for each 60 of its shorter side, so that a large picture has large letters. The lit dots of a letter are
 * joined by strokes. A pixel is as black as the fraction of it that a stroke covers, so letters are round at any size.
 * Ticks are at multiples of 1, 2 or 5 times a power of ten. Their number follows from the room. The numbers beside them
 * have enough digits to differ from each other.
 *
 * Cost: some milliseconds, and 3 bytes for each pixel.
 */
#include "src/picture/furniture.h"
#include "src/picture/glyphs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BAR_WIDTH = 8, GAP = 4, TICK = 3, LABELS_MAX = 24, LABEL_CHARS = 32, TEXT_HEIGHT = MD_GLYPH_ROWS };
enum { FEWEST_DIGITS = 6, MOST_DIGITS = 17 }; /* of labels */

typedef struct label {
  double at; /* place along the axis or bar, 0 to 1 */
  char text[LABEL_CHARS];
} label;

typedef struct labels {
  int n;
  label label[LABELS_MAX];
} labels;

typedef struct drawing {
  md_canvas *canvas;
  int dot;
} drawing;

/* ---- ink ---- */

static void ink(const md_canvas *c, int x, int y, double cover)
{
  if (x < 0 || y < 0 || x >= c->width || y >= c->height || !(cover > 0.0)) return;
  unsigned char *pixel = c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
  const double paper = cover < 1.0 ? 1.0 - cover : 0.0;
  for (int k = 0; k < 3; ++k) pixel[k] = (unsigned char)(pixel[k] * paper + 0.5);
}

static void fill(const drawing *d, int x, int y, int width, int height)
{
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i) ink(d->canvas, x + i, y + j, 1.0);
}

static bool lit(const uint8_t *glyph, int column, int row)
{
  return column >= 0 && column < MD_GLYPH_COLUMNS && row >= 0 && row < MD_GLYPH_ROWS &&
         (glyph[column] >> row & 1);
}

static double distance(double x, double y, int column, int row, int right, int down)
{
  const double dx = x - column, dy = y - row, square = right * right + down * down;
  const double along = square > 0.0 ? (dx * right + dy * down) / square : 0.0;
  const double t = along < 0.0 ? 0.0 : along > 1.0 ? 1.0 : along;
  return hypot(dx - t * right, dy - t * down);
}

/* The distance from a place, in dots, to the nearest stroke of a glyph. */
static double to_stroke(const uint8_t *glyph, double x, double y)
{
  static const int step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
  double least = MD_GLYPH_ROWS;
  for (int column = 0; column < MD_GLYPH_COLUMNS; ++column)
    for (int row = 0; row < MD_GLYPH_ROWS; ++row) {
      if (!lit(glyph, column, row)) continue;
      least = fmin(least, distance(x, y, column, row, 0, 0));
      for (int k = 0; k < 4; ++k) {
        const int right = step[k][0], down = step[k][1];
        if (!lit(glyph, column + right, row + down)) continue;
        /* Three dots that form a corner get two strokes, and no diagonal. */
        if (right && down && (lit(glyph, column + right, row) || lit(glyph, column, row + down))) continue;
        least = fmin(least, distance(x, y, column, row, right, down));
      }
    }
  return least;
}

/* Draws one letter whose box begins at (x, y). upwards: turned, to be read from bottom to top. */
static void draw_glyph(const drawing *d, const uint8_t *glyph, int x, int y, bool upwards)
{
  static const double half_stroke = 0.45;
  const int dot = d->dot, width = MD_GLYPH_ADVANCE * dot, height = MD_GLYPH_ROWS * dot;
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i) {
      const double right = (i + 0.5) / dot - 0.5, down = (j + 0.5) / dot - 0.5;
      const double cover = 0.5 + (half_stroke - to_stroke(glyph, right, down)) * dot;
      if (upwards)
        ink(d->canvas, x + j, y - i, cover);
      else
        ink(d->canvas, x + i, y + j, cover);
    }
}

static int text_width(const drawing *d, const char *text)
{
  return (md_glyph_count(text) * MD_GLYPH_ADVANCE - 1) * d->dot;
}

static void draw_text(const drawing *d, const char *text, int x, int y, bool upwards)
{
  for (int at = 0; *text; at += MD_GLYPH_ADVANCE * d->dot) {
    const uint8_t *glyph = md_glyph_next(&text);
    draw_glyph(d, glyph, upwards ? x : x + at, upwards ? y - at : y, upwards);
  }
}

/* ---- where numbers stand ---- */

/* The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`. */
static double nice_step(double least)
{
  const double power = pow(10.0, floor(log10(least)));
  for (int k = 0; k < 3; ++k) {
    const double step = power * (double[]){1.0, 2.0, 5.0}[k];
    if (step >= least * (1.0 - 1e-9)) return step;
  }
  return 10.0 * power;
}

/* digits: significant ones, at most. */
static void add_label(labels *all, double at, double value, int digits)
{
  if (all->n == LABELS_MAX) return;
  label *l = &all->label[all->n++];
  l->at = at;
  snprintf(l->text, sizeof l->text, "%.*g", digits, value);
}

/* The digits with which values between lo and hi differ if they are `step` apart. */
static int digits_of(double lo, double hi, double step)
{
  const double digits = floor(log10(fmax(fabs(lo), fabs(hi)))) - floor(log10(step)) + 1.0;
  return (int)fmin(fmax(digits, FEWEST_DIGITS), MOST_DIGITS);
}

/* The labels of a linear axis with room for `most` numbers. */
static labels linear_labels(double lo, double hi, int most)
{
  labels all = {0};
  const double range = hi - lo;
  if (!(range > 0.0) || !isfinite(range) || most < 1) return all;
  const double step = nice_step(range / (most < LABELS_MAX ? most : LABELS_MAX - 1));
  const int digits = digits_of(lo, hi, step);
  for (double k = ceil(lo / step - 1e-6); k * step <= hi + 1e-6 * step && all.n < LABELS_MAX; k += 1.0)
    add_label(&all, fmin(fmax((k * step - lo) / range, 0.0), 1.0), k * step == 0.0 ? 0.0 : k * step, digits);
  return all;
}

static labels log_labels(double most, double unit, int room)
{
  labels all = {0};
  if (!(most > 0.0) || !isfinite(most / unit) || room < 1) return all;
  const double whole = log1p(most / unit);
  double last = 0.0;
  add_label(&all, 0.0, 0.0, FEWEST_DIGITS);
  for (double value = nice_step(unit * 0.1); value <= most; value = nice_step(value * 1.5)) {
    const double at = log1p(value / unit) / whole;
    if (at - last < 1.0 / room) continue;
    add_label(&all, at, value, FEWEST_DIGITS);
    last = at;
  }
  return all;
}

static int widest(const drawing *d, const labels *all)
{
  int most = 0;
  for (int k = 0; k < all->n; ++k) {
    const int width = text_width(d, all->label[k].text);
    if (width > most) most = width;
  }
  return most;
}

/* The labels of a linear axis of some pixels to the right, whose numbers leave a blank between them. */
static labels labels_to_the_right(const drawing *d, const md_axis *axis, int pixels)
{
  const int blank = MD_GLYPH_ADVANCE * d->dot;
  labels all = {0};
  for (int most = pixels / (6 * blank); most >= 1; --most) {
    all = linear_labels(axis->lo, axis->hi, most);
    if (all.n < 2 || (all.label[1].at - all.label[0].at) * pixels >= widest(d, &all) + blank) break;
  }
  return all;
}

/* ---- the parts ---- */

/* The longest round length that is at most a quarter of the map. */
static double bar_length(const md_furniture *f, int width)
{
  const double most = 0.25 * width * f->scale_bar, step = nice_step(most);
  if (step <= most) return step;
  return nice_step(0.4 * step) <= most ? nice_step(0.4 * step) : nice_step(0.2 * step);
}

/* The places of all parts, in pixels. */
typedef struct layout {
  int left, top, width, height; /* of the map */
  int bar;                      /* left edge of the colour bar; 0: none */
  labels x, y, quantity;
} layout;

static int larger(int a, int b) { return a > b ? a : b; }

static layout lay_out(const md_furniture *f, const md_canvas *map, const drawing *d, int *width, int *height)
{
  const int dot = d->dot, line = TEXT_HEIGHT * dot, gap = GAP * dot;
  layout l = {.width = map->width, .height = map->height};
  l.x = labels_to_the_right(d, &f->axis[0], map->width);
  l.y = linear_labels(f->axis[1].lo, f->axis[1].hi, map->height / (3 * line));
  const int room = map->height / (3 * line);
  if (f->quantity)
    l.quantity =
        f->log_unit > 0.0 ? log_labels(f->most, f->log_unit, room) : linear_labels(f->least, f->most, room);
  const bool axes = f->axis[0].name && f->axis[1].name;
  l.left = axes ? gap + line + gap + widest(d, &l.y) + TICK * dot + gap : 2 * gap;
  l.top = gap + line + gap;
  int right = l.left + l.width + dot;
  if (f->quantity) {
    l.bar = right + 2 * gap;
    right = l.bar + BAR_WIDTH * dot + TICK * dot + gap / 2 + widest(d, &l.quantity) + gap + line;
  }
  const int above = l.left + text_width(d, f->title);
  *width = larger(right, above) + 2 * gap;
  *height = l.top + l.height + gap + (axes ? TICK * dot + line + gap + line + gap : 0);
  if (f->scale_bar > 0.0) *height += line + 2 * gap;
  if (f->quantity) *height = larger(*height, text_width(d, f->quantity) + 2 * gap);
  return l;
}

/* Draws turned text beside the middle of the map, or lower if the text is too long for that. */
static void draw_upwards(const drawing *d, const layout *l, const char *text, int x)
{
  const int width = text_width(d, text), middle = l->top + (l->height + width) / 2;
  draw_text(d, text, x, larger(middle, width + GAP * d->dot), true);
}

/* Draws a frame around, and outside, width x height pixels at (x, y). */
static void draw_frame(const drawing *d, int x, int y, int width, int height)
{
  const int t = (d->dot + 1) / 2;
  fill(d, x - t, y - t, width + 2 * t, t);
  fill(d, x - t, y + height, width + 2 * t, t);
  fill(d, x - t, y, t, height);
  fill(d, x + width, y, t, height);
}

static int place(double at, int pixels) { return (int)(at * (pixels - 1) + 0.5); }

static void draw_right_axis(const drawing *d, const layout *l, const md_axis *axis)
{
  const int dot = d->dot, t = (dot + 1) / 2, below = l->top + l->height;
  for (int k = 0; k < l->x.n; ++k) {
    const label *at = &l->x.label[k];
    const int x = l->left + place(at->at, l->width);
    fill(d, x - t / 2, below, t, TICK * dot);
    draw_text(d, at->text, x - text_width(d, at->text) / 2, below + (TICK + GAP / 2) * dot, false);
  }
  draw_text(d, axis->name, l->left + (l->width - text_width(d, axis->name)) / 2,
            below + (TICK + GAP + TEXT_HEIGHT) * dot, false);
}

static void draw_up_axis(const drawing *d, const layout *l, const md_axis *axis)
{
  const int dot = d->dot, t = (dot + 1) / 2;
  for (int k = 0; k < l->y.n; ++k) {
    const label *at = &l->y.label[k];
    const int y = l->top + l->height - 1 - place(at->at, l->height);
    fill(d, l->left - TICK * dot, y - t / 2, TICK * dot, t);
    draw_text(d, at->text, l->left - (TICK + GAP / 2) * dot - text_width(d, at->text),
              y - (TEXT_HEIGHT - 1) * dot / 2, false);
  }
  draw_upwards(d, l, axis->name, GAP * dot);
}

static void draw_scale_bar(const drawing *d, const layout *l, const md_furniture *f)
{
  char text[64];
  const int dot = d->dot, t = (dot + 1) / 2, y = l->top + l->height + GAP * dot + TEXT_HEIGHT * dot / 2;
  const double length = bar_length(f, l->width);
  const int pixels = (int)(length / f->scale_bar + 0.5);
  fill(d, l->left, y - t / 2, pixels, t);
  fill(d, l->left, y - TICK * dot, t, 2 * TICK * dot);
  fill(d, l->left + pixels - t, y - TICK * dot, t, 2 * TICK * dot);
  snprintf(text, sizeof text, "%.6g %s", length, f->length_name);
  draw_text(d, text, l->left + pixels + GAP * dot, y - TEXT_HEIGHT * dot / 2, false);
}

static void draw_bar(const drawing *d, const layout *l, const char *quantity,
                     const unsigned char colour[MD_COLOURS][3])
{
  const int dot = d->dot, t = (dot + 1) / 2, width = BAR_WIDTH * dot, right = l->bar + width;
  const md_canvas *c = d->canvas;
  for (int j = 0; j < l->height; ++j) {
    const int level = (int)((double)(l->height - 1 - j) / larger(l->height - 1, 1) * (MD_COLOURS - 1) + 0.5);
    unsigned char *row = c->rgb + 3 * ((size_t)(l->top + j) * (size_t)c->width + (size_t)l->bar);
    for (int i = 0; i < width; ++i) memcpy(row + 3 * i, colour[level], 3);
  }
  draw_frame(d, l->bar, l->top, width, l->height);
  for (int k = 0; k < l->quantity.n; ++k) {
    const label *at = &l->quantity.label[k];
    const int y = l->top + l->height - 1 - place(at->at, l->height);
    fill(d, right, y - t / 2, TICK * dot, t);
    draw_text(d, at->text, right + (TICK + GAP / 2) * dot, y - (TEXT_HEIGHT - 1) * dot / 2, false);
  }
  draw_upwards(d, l, quantity, right + TICK * dot + GAP * dot / 2 + widest(d, &l->quantity) + GAP * dot);
}

static void set_map(const md_canvas *map, const layout *l, md_canvas *canvas)
{
  memset(canvas->rgb, 255, 3 * (size_t)canvas->width * (size_t)canvas->height);
  for (int j = 0; j < map->height; ++j)
    memcpy(canvas->rgb + 3 * ((size_t)(l->top + j) * (size_t)canvas->width + (size_t)l->left),
           map->rgb + 3 * (size_t)j * (size_t)map->width, 3 * (size_t)map->width);
}

md_status md_furniture_draw(const md_furniture *furniture, const md_canvas *map,
                            const unsigned char colour[MD_COLOURS][3], md_canvas *canvas)
{
  const int longest = larger(map->width, map->height), shortest = map->width + map->height - longest;
  const int dot = (longest + 100) / 250, narrow = shortest / 60;
  const drawing d = {canvas, larger(1, dot < narrow ? dot : narrow)};
  const layout l = lay_out(furniture, map, &d, &canvas->width, &canvas->height);
  MD_TRY(md_array_new(&canvas->rgb, (long long)canvas->width * canvas->height, 3, "a picture"));
  set_map(map, &l, canvas);
  draw_frame(&d, l.left, l.top, l.width, l.height);
  draw_text(&d, furniture->title, l.left, GAP * d.dot, false);
  if (furniture->axis[0].name && furniture->axis[1].name) {
    draw_right_axis(&d, &l, &furniture->axis[0]);
    draw_up_axis(&d, &l, &furniture->axis[1]);
  }
  if (furniture->scale_bar > 0.0) draw_scale_bar(&d, &l, furniture);
  if (furniture->quantity) draw_bar(&d, &l, furniture->quantity, colour);
  return MD_OK;
}
