/* Dump styles image and movie: pictures of particles as spheres, or as discs in two dimensions.
 *
 * Syntax and meaning are those of LAMMPS's dump image and dump movie (its manual). draw.c draws. What belongs to bonds,
 * bodies, lines and grids is refused, because Myriad has none; pictures of domains are refused, because a picture does
 * not depend on ranks.
 *
 * A picture is written by rank 0 under another name, and renamed when it is complete. A movie goes to ffmpeg.
 */
#include "common/base/name_list.h"
#include "common/ranks/reductions.h"
#include "src/dump/dump.h"
#include "src/formula/variable.h"
#include "src/image/image.h"
#include "src/picture/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 8192, SIDE = 512 };

/* ---- keywords of dump ---- */

static md_status read_number(md_sim *sim, const char *word, const char *what, md_image_number *number)
{
  number->name[0] = '\0';
  if (strncmp(word, "v_", 2) != 0) return md_word_double(word, what, &number->value);
  if (strlen(word) >= sizeof number->name)
    return md_error(MD_USAGE, "%s: the name '%.80s' is too long", what, word);
  if (!md_variables_is_defined(sim->variables, word + 2) || md_variables_is_atom(sim->variables, word + 2) ||
      md_variables_is_vector(sim->variables, word + 2))
    return md_error(MD_USAGE, "%s: there is no variable '%.80s' with one value", what, word + 2);
  snprintf(number->name, sizeof number->name, "%s", word);
  return MD_OK;
}

static md_status read_share(const char *word, const char *what, double most, double *value)
{
  MD_TRY(md_word_double(word, what, value));
  if (*value >= 0.0 && *value <= most) return MD_OK;
  return md_error(MD_USAGE, "%s must be from 0 to %g, found '%.80s'", what, most, word);
}

static md_status set_atom(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  return md_word_bool(word[0], "dump image atom", &im->atoms);
}

static md_status set_diameter(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  im->diameter = MD_LOOK_NUMBER;
  return md_word_positive(word[0], "dump image adiam", &im->one_diameter);
}

static md_status set_size(md_image *im, md_sim *sim, char **word)
{
  int64_t width, height;
  (void)sim;
  MD_TRY(md_word_int64(word[0], "the width of dump image size", 1, SIDE_MAX, &width));
  MD_TRY(md_word_int64(word[1], "the height of dump image size", 1, SIDE_MAX, &height));
  im->width = (int)width;
  im->height = (int)height;
  return MD_OK;
}

static md_status set_view(md_image *im, md_sim *sim, char **word)
{
  MD_TRY(read_number(sim, word[0], "theta of dump image view", &im->view[0]));
  if (!im->view[0].name[0])
    MD_TRY(read_share(word[0], "theta of dump image view", 180.0, &im->view[0].value));
  return read_number(sim, word[1], "phi of dump image view", &im->view[1]);
}

static md_status set_centre(md_image *im, md_sim *sim, char **word)
{
  im->follows = strcmp(word[0], "d") == 0;
  if (!im->follows && strcmp(word[0], "s") != 0)
    return md_error(MD_USAGE, "dump image center: '%.80s' is none of s, d", word[0]);
  for (int d = 0; d < 3; ++d)
    MD_TRY(read_number(sim, word[1 + d], "a component of dump image center", &im->centre[d]));
  return MD_OK;
}

static md_status set_up(md_image *im, md_sim *sim, char **word)
{
  bool zero = true;
  for (int d = 0; d < 3; ++d) {
    MD_TRY(read_number(sim, word[d], "a component of dump image up", &im->up[d]));
    zero = zero && !im->up[d].name[0] && im->up[d].value == 0.0;
  }
  return zero ? md_error(MD_USAGE, "dump image up: the vector is 0") : MD_OK;
}

static md_status set_zoom(md_image *im, md_sim *sim, char **word)
{
  MD_TRY(read_number(sim, word[0], "dump image zoom", &im->zoom));
  return im->zoom.name[0] ? MD_OK : md_word_positive(word[0], "dump image zoom", &im->zoom.value);
}

static md_status set_box(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  MD_TRY(md_word_bool(word[0], "dump image box", &im->box));
  return read_share(word[1], "the diameter of dump image box", 1.0, &im->box_diameter);
}

static md_status set_axes(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  MD_TRY(md_word_bool(word[0], "dump image axes", &im->axes));
  MD_TRY(read_share(word[1], "the length of dump image axes", 10.0, &im->axes_length));
  return read_share(word[2], "the diameter of dump image axes", 1.0, &im->axes_diameter);
}

static md_status set_domains(md_image *im, md_sim *sim, char **word)
{
  bool wanted;
  double diameter;
  (void)im, (void)sim;
  MD_TRY(md_word_bool(word[0], "dump image subbox", &wanted));
  MD_TRY(md_word_double(word[1], "the diameter of dump image subbox", &diameter));
  return wanted ? md_error(MD_USAGE,
                           "dump image subbox: a picture does not depend on ranks, so that it has no domains "
                           "of ranks; accepted is no")
                : MD_OK;
}

static md_status set_shine(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  return read_share(word[0], "dump image shiny", 1.0, &im->shine);
}

static md_status set_occlusion(md_image *im, md_sim *sim, char **word)
{
  bool wanted;
  (void)sim;
  MD_TRY(md_word_bool(word[0], "dump image ssao", &wanted));
  MD_TRY(md_word_int64(word[1], "the seed of dump image ssao", 1, INT32_MAX, &im->occlusion_seed));
  MD_TRY(read_share(word[2], "the strength of dump image ssao", 1.0, &im->occlusion));
  if (!wanted) im->occlusion = 0.0;
  return MD_OK;
}

static md_status set_halved(md_image *im, md_sim *sim, char **word)
{
  (void)sim;
  return md_word_bool(word[0], "dump image fsaa", &im->halved);
}

static md_status set_bond(md_image *im, md_sim *sim, char **word)
{
  (void)im, (void)sim;
  if (strcmp(word[0], "none") == 0 && strcmp(word[1], "none") == 0) return MD_OK;
  return md_error(MD_USAGE, "dump image bond: bonds are not drawn; accepted is bond none none");
}

static const struct {
  const char *name;
  int values;
  md_status (*set)(md_image *, md_sim *, char **);
} keywords[] = {
    {"atom", 1, set_atom},      {"adiam", 1, set_diameter}, {"size", 2, set_size},
    {"view", 2, set_view},      {"center", 4, set_centre},  {"up", 3, set_up},
    {"zoom", 1, set_zoom},      {"box", 2, set_box},        {"axes", 3, set_axes},
    {"subbox", 2, set_domains}, {"shiny", 1, set_shine},    {"ssao", 3, set_occlusion},
    {"fsaa", 1, set_halved},    {"bond", 2, set_bond},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static const struct {
  const char *name, *why;
} refused[] = {
    {"line", "particles are no line segments"},
    {"tri", "particles are no triangles"},
    {"body", "particles are no bodies"},
    {"grid", "computes and fixes have no grids; dump density draws maps"},
    {"fix", "no fix has objects to draw"},
    {"persp", "pictures are parallel projections, as those of LAMMPS"},
};

static md_status unknown(const char *word)
{
  char accepted[256] = "";
  for (size_t k = 0; k < sizeof refused / sizeof refused[0]; ++k)
    if (strcmp(refused[k].name, word) == 0)
      return md_error(MD_USAGE, "dump image %s is not available: %s", word, refused[k].why);
  for (int k = 0; k < KEYWORDS; ++k) md_name_list_add(accepted, sizeof accepted, " ", keywords[k].name);
  return md_error(MD_USAGE, "dump image: unknown keyword '%.80s'; accepted are %s", word, accepted);
}

static md_status read_keywords(md_image *im, md_sim *sim, const md_words *words)
{
  for (int w = 2; w < words->n;) {
    const char *word = words->word[w++];
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, word) != 0) ++k;
    if (k == KEYWORDS) return unknown(word);
    if (words->n - w < keywords[k].values)
      return md_error(MD_USAGE, "dump image %s needs %d values, found %d", word, keywords[k].values,
                      words->n - w);
    MD_TRY(keywords[k].set(im, sim, words->word + w));
    w += keywords[k].values;
  }
  return MD_OK;
}

/* ---- defaults, colour and diameter ---- */

static md_status set_defaults(md_image *im, const md_sim *sim)
{
  static const unsigned char usual[6][3] = {{255, 0, 0},   {0, 128, 0},   {0, 0, 255},
                                            {255, 255, 0}, {0, 255, 255}, {0, 255, 255}};
  const bool flat = sim->model.box.dim == 2;
  *im = (md_image){.atoms = true,
                   .box = true,
                   .box_diameter = 0.02,
                   .width = SIDE,
                   .height = SIDE,
                   .zoom = {.value = 1.0},
                   .shine = 1.0,
                   .at_dump = sim->model.box,
                   .ntypes = sim->model.ntypes,
                   .box_colour = {{255, 255, 0}},
                   .frame_rate = 24.0,
                   .bit_rate = 2000,
                   .continued_at = -1};
  im->view[0].value = flat ? 0.0 : 60.0;
  im->view[1].value = flat ? 0.0 : 30.0;
  im->up[flat ? 1 : 2].value = 1.0;
  for (int d = 0; d < 3; ++d) im->centre[d].value = 0.5;
  MD_TRY(md_array_new(&im->type_colour, im->ntypes + 1, sizeof *im->type_colour, "the colours of types"));
  MD_TRY(
      md_array_new(&im->type_diameter, im->ntypes + 1, sizeof *im->type_diameter, "the diameters of types"));
  MD_TRY(md_array_new(&im->scale.entry, 2, sizeof *im->scale.entry, "a colour scale"));
  for (int t = 0; t <= im->ntypes; ++t) {
    memcpy(im->type_colour[t].rgb, usual[(t + 5) % 6], 3);
    im->type_diameter[t] = 1.0;
  }
  const double end = (double)INFINITY;
  im->scale.from_min = im->scale.to_max = im->scale.fraction = true;
  im->scale.n = 2;
  im->scale.entry[0] = (md_scale_entry){-end, -end, {{0, 0, 255}}};
  im->scale.entry[1] = (md_scale_entry){end, end, {{255, 0, 0}}};
  return MD_OK;
}

/* Reads what decides the colour or the diameter. */
static md_status read_look(md_dump *dump, md_sim *sim, const char *word, md_look *look, int *column)
{
  *look = strcmp(word, "type") == 0      ? MD_LOOK_TYPE
          : strcmp(word, "element") == 0 ? MD_LOOK_ELEMENT
                                         : MD_LOOK_VALUE;
  if (*look != MD_LOOK_VALUE) return MD_OK;
  *column = dump->ncolumn;
  return md_dump_find_column(dump, sim, word, &dump->column[dump->ncolumn++]);
}

static md_status read_words(md_dump *dump, md_sim *sim, const md_words *words)
{
  md_image *im = dump->image;
  MD_TRY(set_defaults(im, sim));
  if (words->n < 2)
    return md_error(MD_USAGE,
                    "dump image needs what decides colour and diameter after the file name, such as "
                    "type type");
  dump->furniture = false;
  MD_TRY(md_array_new_zero(&dump->column, 2, sizeof *dump->column, "the columns of a dump"));
  MD_TRY(read_look(dump, sim, words->word[0], &im->colour, &im->colour_column));
  MD_TRY(read_look(dump, sim, words->word[1], &im->diameter, &im->diameter_column));
  return read_keywords(im, sim, words);
}

static md_status make_image(md_dump *dump, md_sim *sim, const md_words *words)
{
  dump->image = calloc(1, sizeof *dump->image);
  return dump->image ? read_words(dump, sim, words) : md_error(MD_RUNTIME, "dump: out of memory");
}

static md_status parse_image(md_dump *dump, md_sim *sim, const md_words *words)
{
  const char *ending = strrchr(dump->path, '.');
  const bool ppm = ending && strcmp(ending, ".ppm") == 0;
  if (!ppm && !(ending && strcmp(ending, ".png") == 0))
    return md_error(
        MD_USAGE,
        "dump image: file name '%.300s' must end in .png or .ppm; other formats such as JPEG are not written",
        dump->path);
  MD_TRY(make_image(dump, sim, words));
  dump->image->ppm = ppm;
  return MD_OK;
}

static md_status parse_movie(md_dump *dump, md_sim *sim, const md_words *words)
{
  if (strchr(dump->path, '*'))
    return md_error(MD_USAGE, "dump movie: file name '%.300s' has a *, but a movie is one file", dump->path);
  MD_TRY(make_image(dump, sim, words));
  dump->image->is_movie = true;
  /* Rank 0 starts it. */
  return md_comm_agree(sim->comm, sim->comm->rank == 0 ? md_movie_check(dump->path) : MD_OK);
}

/* ---- pictures ---- */

static md_status write_picture(const md_dump *dump, const md_view *view, const md_canvas *canvas,
                               const char *path)
{
  char text[64];
  snprintf(text, sizeof text, "particles at step %lld", (long long)view->step);
  const md_picture picture = {canvas->width, canvas->height, canvas->rgb, true, view->sim->model.box.dim == 3,
                              text};
  if (dump->image->is_movie) return md_movie_add(dump->image, path, canvas);
  return dump->image->ppm ? md_picture_write_ppm(path, &picture) : md_picture_write(path, &picture);
}

static md_status draw(md_dump *dump, md_view *view, const char *path)
{
  md_canvas canvas = {0};
  md_status status = md_image_draw(dump, view, &canvas);
  if (status == MD_OK && view->sim->comm->rank == 0) status = write_picture(dump, view, &canvas, path);
  free(canvas.rgb);
  return status;
}

static md_status resume_movie(md_dump *dump, md_sim *sim, const md_output_mark *mark)
{
  (void)mark;
  (void)sim;
  dump->image->continued_at = dump->last_step;
  return MD_OK;
}

static md_status close_image(md_dump *dump)
{
  md_image *im = dump->image;
  if (!im) return MD_OK;
  const md_status status = md_movie_end(im);
  free(im->type_colour);
  free(im->type_diameter);
  free(im->scale.entry);
  free(im->named);
  free(im);
  dump->image = NULL;
  return status;
}

const md_dump_style md_dump_image = {
    .name = "image", .parse = parse_image, .draw = draw, .close = close_image};
const md_dump_style md_dump_movie = {
    .name = "movie", .parse = parse_movie, .resume = resume_movie, .draw = draw, .close = close_image};
