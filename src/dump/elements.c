/* The table of chemical symbols; see elements.h. */
#include "src/dump/elements.h"

#include <string.h>

/* The order of default symbols: noble gases first, then by atomic number. */
static const char *const symbols[] = {
    "Ar", "Kr", "Xe", "Ne", "He", "Rn", "H",  "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Na", "Mg", "Al",
    "Si", "P",  "S",  "Cl", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga",
    "Ge", "As", "Se", "Br", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In",
    "Sn", "Sb", "Te", "I",  "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho",
    "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po",
    "At", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No",
    "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og",
};

enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

bool md_element_known(const char *name)
{
  if (strcmp(name, "X") == 0) return true;
  for (int e = 0; e < SYMBOLS; ++e)
    if (strcmp(symbols[e], name) == 0) return true;
  return false;
}

const char *md_element_default(int type) { return type >= 1 && type <= SYMBOLS ? symbols[type - 1] : "X"; }
