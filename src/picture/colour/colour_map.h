/* Colour maps for pictures of a scalar. */
#ifndef MD_SRC_PICTURE_COLOUR_COLOUR_MAP_H
#define MD_SRC_PICTURE_COLOUR_COLOUR_MAP_H

enum { MD_COLOURS = 256 };

/* The viridis map, from dark blue to yellow: red, green and blue of each level, from the lowest to the highest. */
void md_colour_map_viridis(unsigned char colour[MD_COLOURS][3]);

#endif
