/* The colour of a value on a scale; see colour_scale.h. Cost: a search through the entries. */
#include "src/picture/colour/colour_scale.h"

#include <math.h>

/* A place of an entry as a value. */
static double value_of(const md_colour_scale *s, double place)
{
  if (isinf(place)) return place < 0.0 ? s->lo : s->hi;
  return s->fraction ? s->lo + place * (s->hi - s->lo) : place;
}

static md_colour between(const md_colour *a, const md_colour *b, double t)
{
  md_colour c;
  for (int k = 0; k < 3; ++k)
    c.rgb[k] = (unsigned char)(a->rgb[k] + t * ((double)b->rgb[k] - a->rgb[k]) + 0.5);
  return c;
}

static md_colour continuous(const md_colour_scale *s, double value)
{
  for (int k = 1; k < s->n; ++k) {
    const double lo = value_of(s, s->entry[k - 1].lo), hi = value_of(s, s->entry[k].lo);
    if (value > hi) continue;
    const double t = hi > lo ? (value - lo) / (hi - lo) : 0.0;
    return between(&s->entry[k - 1].colour, &s->entry[k].colour, fmin(fmax(t, 0.0), 1.0));
  }
  return s->entry[s->n - 1].colour;
}

static md_colour discrete(const md_colour_scale *s, double value)
{
  for (int k = 0; k < s->n; ++k)
    if (value >= value_of(s, s->entry[k].lo) && value <= value_of(s, s->entry[k].hi))
      return s->entry[k].colour;
  return s->entry[s->n - 1].colour;
}

static md_colour sequential(const md_colour_scale *s, double value)
{
  const double width = s->fraction ? s->bin * (s->hi - s->lo) : s->bin;
  const double bin = width > 0.0 ? fmin(floor((value - s->lo) / width), 0x1p53) : 0.0;
  return s->entry[(int)fmod(fmax(bin, 0.0), s->n)].colour;
}

md_colour md_colour_scale_at(const md_colour_scale *s, double value)
{
  if (!(value > s->lo)) value = s->lo;
  if (value > s->hi) value = s->hi;
  if (s->style == MD_SCALE_CONTINUOUS) return continuous(s, value);
  return s->style == MD_SCALE_DISCRETE ? discrete(s, value) : sequential(s, value);
}
