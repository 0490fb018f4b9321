/* Colours for pictures of a scalar. */
#ifndef MD_SRC_PICTURE_COLOUR_MAP_H
#define MD_SRC_PICTURE_COLOUR_MAP_H

enum { MD_COLOURS = 256 };

/* The viridis map, dark blue to yellow: red, green, blue of each level from lowest to highest. */
void md_colour_map_viridis(unsigned char colour[MD_COLOURS][3]);

#endif
