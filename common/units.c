/* The table of units; see units.h. */
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const md_units md_units_lj = {.name = "lj",
                              .boltz = 1.0,
                              .mvv2e = 1.0,
                              .nktv2p = 1.0,
                              .mv2d = 1.0,
                              .speed = 1.0,
                              .charges = 1.0,
                              .dt = 0.005,
                              .skin = 0.3,
                              .length = "",
                              .time = "",
                              .energy = "",
                              .mass = "",
                              .velocity = "",
                              .force = ""};

static const md_units others[] = {{.name = "real",
                                   .boltz = 0.0019872067,
                                   .mvv2e = 48.88821291 * 48.88821291,
                                   .nktv2p = 68568.415,
                                   .mv2d = 1.0 / 0.602214129,
                                   .speed = 0x1p-10,
                                   .dt = 1.0,
                                   .skin = 2.0,
                                   .nanosecond = 1e6,
                                   .length = "Angstrom",
                                   .time = "fs",
                                   .energy = "kcal mol-1",
                                   .mass = "g mol-1",
                                   .velocity = "Angstrom fs-1",
                                   .force = "kcal mol-1 Angstrom-1",
                                   .electronvolt = 0.0019872067 / 8.617343e-5,
                                   .charges = 332.06371,
                                   .angstrom = 1.0},
                                  {.name = "metal",
                                   .boltz = 8.617343e-5,
                                   .mvv2e = 1.0364269e-4,
                                   .nktv2p = 1.6021765e6,
                                   .mv2d = 1.0 / 0.602214129,
                                   .speed = 1.0,
                                   .dt = 0.001,
                                   .skin = 2.0,
                                   .nanosecond = 1e3,
                                   .length = "Angstrom",
                                   .time = "ps",
                                   .energy = "eV",
                                   .mass = "g mol-1",
                                   .velocity = "Angstrom ps-1",
                                   .force = "eV Angstrom-1",
                                   .electronvolt = 1.0,
                                   .charges = 14.399645,
                                   .angstrom = 1.0},
                                  {.name = "si",
                                   .boltz = 1.3806504e-23,
                                   .mvv2e = 1.0,
                                   .nktv2p = 1.0,
                                   .mv2d = 1.0,
                                   .speed = 100.0,
                                   .dt = 1e-8,
                                   .skin = 0.001,
                                   .nanosecond = 1e-9,
                                   .length = "m",
                                   .time = "s",
                                   .energy = "J",
                                   .mass = "kg",
                                   .velocity = "m s-1",
                                   .force = "N",
                                   .electronvolt = 1.6021765e-19,
                                   .charges = 8.9876e9 * 1.6021765e-19 * 1.6021765e-19,
                                   .angstrom = 1e-10}};
enum { OTHERS = sizeof others / sizeof *others };

const md_units *md_units_find(const char *name)
{
  for (int u = 0; u < OTHERS; ++u)
    if (strcmp(others[u].name, name) == 0) return &others[u];
  return strcmp(md_units_lj.name, name) == 0 ? &md_units_lj : NULL;
}

const char *md_units_names(void) { return "lj, real, metal and si"; }

double md_units_mass(const md_units *units, double mass)
{
  const double nearest = mass / units->mvv2e;
  if (units->mvv2e == 1.0) return mass;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, nearest);
    const double shown = strtod(text, NULL);
    if (shown * units->mvv2e == mass) return shown;
  }
  const double below = nextafter(nearest, 0.0);
  return below * units->mvv2e == mass ? below : nextafter(nearest, (double)INFINITY);
}
