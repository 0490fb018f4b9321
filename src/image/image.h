/* Dump styles image and movie: what their parts share. dump_image.c reads the words of dump, image_modify.c those of
 * dump_modify; draw.c draws a picture; movie.c gives pictures to ffmpeg. */
#ifndef MD_SRC_IMAGE_IMAGE_H
#define MD_SRC_IMAGE_IMAGE_H

#include "src/picture/colour/colour_scale.h"
#include "src/picture/furniture.h"
#include "src/sim.h"

struct md_dump;

/* What decides the colour or the diameter of a particle. */
typedef enum md_look {
  MD_LOOK_TYPE,
  MD_LOOK_ELEMENT,
  MD_LOOK_VALUE, /* a column of the dump */
  MD_LOOK_NUMBER /* one number for all: diameters only */
} md_look;

/* A number of the deck, or the name of a variable that has it at each step. */
typedef struct md_image_number {
  double value;
  char name[72]; /* v_NAME; "": the value counts */
} md_image_number;

typedef struct md_image_colour {
  char name[32];
  md_colour colour;
} md_image_colour;

typedef struct md_movie md_movie;

typedef struct md_image {
  md_look colour, diameter;
  int colour_column, diameter_column; /* of MD_LOOK_VALUE: their places among the columns of the dump */
  double one_diameter;                /* of MD_LOOK_NUMBER, sigma */
  bool atoms, box, axes, halved;      /* halved: drawn at twice the size, for smooth edges */
  double box_diameter, axes_length, axes_diameter; /* parts of the box's sides */
  int width, height;                               /* of the picture, pixels */
  md_image_number view[2], centre[3], up[3], zoom;
  bool follows;   /* the centre is a place in the present box, not in that of the command */
  md_box at_dump; /* the box at the command */
  double shine, occlusion;
  int64_t occlusion_seed;
  bool ppm;
  md_colour background, box_colour;
  int ntypes;
  md_colour *type_colour; /* [ntypes + 1], from 1; owned, as the following ones */
  double *type_diameter;  /* [ntypes + 1], sigma */
  md_colour_scale scale;
  int ncolour;
  md_image_colour *named; /* [ncolour], colours of dump_modify color */
  double frame_rate;      /* of a movie, pictures a second */
  int64_t bit_rate;       /* of a movie, kbit/s */
  bool is_movie;
  int64_t continued_at; /* step of the last picture before the restart that the run comes from; -1: none */
  md_movie *movie;      /* on rank 0, from the first picture on; else NULL */
} md_image;

/* The colour of a name: one of dump_modify color, or of CSS. MD_USAGE: there is none. `what` is for the message. */
md_status md_image_find_colour(const md_image *image, const char *name, const char *what,
                               md_colour *colour) MD_CHECKED;

/* The keywords acolor, adiam, amap, backcolor, boxcolor, color, framerate and bitrate of dump_modify; as the others in
 * src/dump/dump_modify.c. */
md_status md_image_set_type_colour(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_type_diameter(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_scale(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_background(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_box_colour(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_name_colour(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_frame_rate(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;
md_status md_image_set_bit_rate(md_sim *, struct md_dump *, char **arg, int left, int *used) MD_CHECKED;

/* Draws the particles that the dump shows at the step of the view. rank 0 gets canvas->rgb, which it frees. Collective.
 * MD_USAGE: a variable is refused. MD_RUNTIME: out of memory. */
md_status md_image_draw(struct md_dump *dump, md_view *view, md_canvas *canvas) MD_CHECKED;

/* MD_USAGE: there is no ffmpeg, or the name of the file is refused. Not collective. */
md_status md_movie_check(const char *path) MD_CHECKED;
/* Adds a picture to the movie, which the first one begins. MD_RUNTIME: ffmpeg cannot be started, or has ended. */
md_status md_movie_add(md_image *image, const char *path, const md_canvas *canvas) MD_CHECKED;
/* Waits for the end of ffmpeg, if it runs. MD_RUNTIME: it failed. */
md_status md_movie_end(md_image *image) MD_CHECKED;

#endif
