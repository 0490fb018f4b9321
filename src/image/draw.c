/* Drawing a picture of particles; see image.h.
 *
 * 1. The camera is turned. At a zoom of 1 the picture is twice as high as the box's longest side, as in LAMMPS, so that
 *    the box is in it from all sides.
 * 2. Each rank finds which of its particles is seen at each pixel: its engine does if it can (draw of common/engine.h),
 *    else all threads draw into a front (src/picture/spheres.h), after a download.
 * 3. Each rank looks up colour and normal of what is seen at each pixel.
 * 4. Ranks agree for each pixel: the largest depth, of those the smallest id, and then the surface of its owner. These
 *    are maxima and sums of integers. So the picture is that of one rank.
 * 5. Rank 0 adds box and axes, lights the surfaces (src/picture/scene.h), and draws furniture around them.
 *
 * Values and places are those of a text dump, with the same bits from every engine. So pictures have the same bytes.
 * An engine draws what its particles have: type, place, velocity, computes and formulas of these (common/sums/each.h),
 * of a group that is not dynamic, with diameters by type. Thresholds and regions are for the host.
 *
 * Trade-off: a reduction over whole pictures is simple, and its cost does not grow with the number of particles. Cost:
 * one pass over the particles (src/picture/spheres.c), one more where values decide colours or diameters; 32 bytes a
 * pixel, 48 more if the engine draws, and 8 more on several ranks.
 */
#include "common/ranks/reductions.h"
#include "common/sums/each.h"
#include "src/dump/dump.h"
#include "src/formula/particle_values.h"
#include "src/formula/variable.h"
#include "src/group/dynamic_group.h"
#include "src/image/image.h"
#include "src/picture/scene.h"
#include "src/picture/spheres.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = 8 };

/* What is drawn. */
typedef struct picture {
  md_dump *dump;
  const md_image *image;
  md_frame frame;
  bool ordered; /* frame.rows.order says which particles are shown; else all are */
  md_spheres spheres;
  md_sight *sight; /* of the engine; NULL: particles are those of the frame */
  md_scene scene;
  md_colour_scale scale; /* with both ends */
  double largest;        /* diameter, sigma */
  double corner[CORNERS][3];
} picture;

static int64_t particle(const picture *p, int64_t k) { return p->ordered ? p->frame.rows.order[k] : k; }

/* ---- camera ---- */

static md_status number_of(md_sim *sim, const md_image_number *number, double *value)
{
  *value = number->value;
  return number->name[0] ? md_variables_formula(sim->variables, number->name, value) : MD_OK;
}

/* A point of the box: fractions of its edges from the lower corner. In two dimensions z is 0. */
static void point_of(const md_box *box, const double fraction[3], double x[3])
{
  const double *f = fraction, *l = box->length, *t = box->tilt;
  x[0] = box->lo[0] + f[0] * l[0] + (box->triclinic ? f[1] * t[MD_XY] + f[2] * t[MD_XZ] : 0.0);
  x[1] = box->lo[1] + f[1] * l[1] + (box->triclinic ? f[2] * t[MD_YZ] : 0.0);
  x[2] = box->dim == 3 ? box->lo[2] + f[2] * l[2] : 0.0;
}

/* The centre of a picture: fractions of the block around the box. */
static void centre_of(const md_box *box, const double fraction[3], double x[3])
{
  double low[3], high[3];
  md_box_bounds(box, low, high);
  for (int d = 0; d < 3; ++d) x[d] = d < box->dim ? low[d] + fraction[d] * (high[d] - low[d]) : 0.0;
}

/* Of the block around the box. */
static double longest_side(const md_box *box)
{
  double low[3], high[3], longest = 0.0;
  md_box_bounds(box, low, high);
  for (int d = 0; d < 3 && d < box->dim; ++d) longest = fmax(longest, high[d] - low[d]);
  return longest;
}

static md_status turn_camera(picture *p, md_sim *sim)
{
  const md_image *im = p->image;
  double view[2], up[3], fraction[3], zoom;
  md_camera *camera = &p->spheres.of.camera;
  for (int k = 0; k < 2; ++k) MD_TRY(number_of(sim, &im->view[k], &view[k]));
  for (int d = 0; d < 3; ++d) MD_TRY(number_of(sim, &im->up[d], &up[d]));
  for (int d = 0; d < 3; ++d) MD_TRY(number_of(sim, &im->centre[d], &fraction[d]));
  MD_TRY(number_of(sim, &im->zoom, &zoom));
  if (!(zoom > 0.0)) return md_error(MD_USAGE, "dump image zoom must be positive, found %g", zoom);
  if (!(md_dot(up, up) > 0.0)) return md_error(MD_USAGE, "dump image up: the vector is 0");
  const int times = im->halved ? 2 : 1;
  camera->width = times * im->width;
  camera->height = times * im->height;
  centre_of(im->follows ? &sim->model.box : &im->at_dump, fraction, camera->centre);
  md_camera_turn(camera, view[0], view[1], up);
  for (int k = 0; k < CORNERS; ++k)
    point_of(&sim->model.box, (double[3]){k & 1, k >> 1 & 1, k >> 2 & 1}, p->corner[k]);
  camera->per_length = zoom * camera->height / (2.0 * longest_side(&sim->model.box));
  return MD_OK;
}

/* ---- looks of particles ---- */

/* Of a type; no values decide diameters. */
static double diameter_of_type(const picture *p, int type)
{
  const md_image *im = p->image;
  md_colour colour;
  double radius;
  if (im->diameter == MD_LOOK_TYPE) return im->type_diameter[type];
  if (im->diameter == MD_LOOK_NUMBER) return im->one_diameter;
  md_element_look(p->dump->element[type], &colour, &radius);
  const double angstrom = p->frame.model->units->angstrom;
  return 2.0 * radius * (angstrom > 0.0 ? angstrom : 1.0);
}

static double diameter_of(const picture *p, int64_t i)
{
  const md_image *im = p->image;
  if (im->diameter == MD_LOOK_VALUE)
    return md_dump_value(&p->dump->column[im->diameter_column], &p->frame, i);
  return diameter_of_type(p, p->frame.rows.particles->type[i]);
}

static double value_of(const picture *p, int64_t i)
{
  return md_dump_value(&p->dump->column[p->image->colour_column], &p->frame, i);
}

static md_colour colour_of(const picture *p, const md_sight *sight)
{
  md_colour colour = p->image->type_colour[sight->type];
  double radius;
  if (p->image->colour == MD_LOOK_VALUE) return md_colour_scale_at(&p->scale, sight->value);
  if (p->image->colour == MD_LOOK_ELEMENT) md_element_look(p->dump->element[sight->type], &colour, &radius);
  return colour;
}

/* Does an end of the scale follow the values? */
static bool is_scaled(const picture *p)
{
  return p->image->colour == MD_LOOK_VALUE && (p->image->scale.from_min || p->image->scale.to_max);
}

/* The largest diameter, and the ends of the scale, from those of this rank; `below` is of the values times -1. A value
 * of 0 has no sign there. */
static md_status take_extremes(picture *p, md_comm *comm, double below, double above, double largest)
{
  double all[3] = {below, above, largest};
  MD_TRY(comm->reduce->max(comm, all, 3));
  p->largest = all[2];
  p->scale = p->image->scale;
  if (p->scale.from_min) p->scale.lo = isfinite(all[0]) ? 0.0 - all[0] : 0.0;
  if (p->scale.to_max) p->scale.hi = isfinite(all[1]) ? all[1] + 0.0 : 0.0;
  return MD_OK;
}

/* Finds the largest diameter, and the ends of the scale that follow the values. */
static md_status find_extremes(picture *p, md_comm *comm)
{
  const bool scaled = is_scaled(p);
  double below = -(double)INFINITY, above = -(double)INFINITY, largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : below, above, largest)
  for (int64_t k = 0; k < p->frame.rows.n; ++k) {
    const int64_t i = particle(p, k);
    largest = fmax(largest, diameter_of(p, i));
    if (!scaled) continue;
    const double value = value_of(p, i);
    below = fmax(below, -value);
    above = fmax(above, value);
  }
  return take_extremes(p, comm, below, above, largest);
}

/* ---- particles ---- */

static void place_of(const picture *p, int64_t i, double x[3])
{
  md_particle_shown(p->frame.rows.particles, &p->frame.model->box, i, x);
}

/* The depths of the box, and of what stands out of it, in pixels. */
static void find_depths(picture *p)
{
  double far = (double)INFINITY, near = -(double)INFINITY, at[3];
  for (int k = 0; k < CORNERS; ++k) {
    md_camera_project(&p->spheres.of.camera, p->corner[k], at);
    far = fmin(far, at[2]);
    near = fmax(near, at[2]);
  }
  const double out = 0.5 * p->largest * p->spheres.of.camera.per_length + 0.2 * (near - far) + 1.0;
  p->spheres.of.flat = p->frame.model->box.dim == 2;
  md_front_range(&p->spheres.of, far - out, near + out);
}

static md_status add_particles(picture *p)
{
  p->spheres.id = p->frame.rows.particles->id;
  MD_TRY(md_spheres_begin(&p->spheres));
  if (!p->image->atoms) return MD_OK;
#pragma omp parallel for schedule(static, 4096)
  for (int64_t k = 0; k < p->frame.rows.n; ++k) {
    const int64_t i = particle(p, k);
    const double diameter = diameter_of(p, i);
    double x[3];
    place_of(p, i, x);
    if (diameter > 0.0) md_spheres_add(&p->spheres, x, 0.5 * diameter, (int32_t)i);
  }
  return MD_OK;
}

static int64_t pixels_of(const picture *p)
{
  return (int64_t)p->spheres.of.camera.width * p->spheres.of.camera.height;
}

/* What is seen at a pixel, and its diameter. */
static md_sight sight_at(const picture *p, int64_t q, double *diameter)
{
  const int64_t i = p->sight ? -1 : md_spheres_at(&p->spheres, q);
  md_sight sight = p->sight ? p->sight[q] : (md_sight){.level = 0};
  *diameter = sight.level > 0 ? diameter_of_type(p, sight.type) : 0.0;
  if (i < 0) return sight;
  const md_particles *particles = p->frame.rows.particles;
  sight.level = (uint32_t)(p->spheres.front[q] >> 32);
  sight.id = particles->id[i];
  sight.type = particles->type[i];
  if (p->image->colour == MD_LOOK_VALUE) sight.value = value_of(p, i);
  place_of(p, i, sight.x);
  *diameter = diameter_of(p, i);
  return sight;
}

/* Looks up what is seen at each pixel. */
static md_status find_surfaces(picture *p)
{
  const int64_t pixels = pixels_of(p);
  MD_TRY(md_array_new_zero(&p->scene.level, pixels, sizeof *p->scene.level, "a picture"));
  MD_TRY(md_array_new_zero(&p->scene.surface, pixels, sizeof *p->scene.surface, "a picture"));
#pragma omp parallel for schedule(dynamic, 4096)
  for (int64_t q = 0; q < pixels; ++q) {
    double diameter;
    const md_sight sight = sight_at(p, q, &diameter);
    if (sight.level == 0) continue;
    p->scene.level[q] = (double)sight.level;
    p->scene.surface[q] = md_scene_sphere(&p->spheres.of, sight.x, 0.5 * diameter, colour_of(p, &sight), q);
  }
  return MD_OK;
}

/* ---- ranks ---- */

/* Keeps of this rank's surfaces those that are in front of all ranks'. level: the largest of all ranks. */
static void keep_own(picture *p, const double *level, double *id)
{
  const int64_t pixels = pixels_of(p);
  for (int64_t q = 0; q < pixels; ++q) {
    double diameter;
    const md_sight sight = sight_at(p, q, &diameter);
    const bool front = sight.level > 0 && p->scene.level[q] == level[q];
    id[q] = front ? -(double)sight.id : -(double)INFINITY;
  }
}

static md_status merge(picture *p, md_comm *comm, double *level, double *id)
{
  const int64_t pixels = pixels_of(p);
  memcpy(level, p->scene.level, (size_t)pixels * sizeof *level);
  MD_TRY(comm->reduce->max(comm, level, (int)pixels));
  keep_own(p, level, id);
  memcpy(p->scene.level, level, (size_t)pixels * sizeof *level);
  double *smallest = level;
  memcpy(smallest, id, (size_t)pixels * sizeof *smallest);
  MD_TRY(comm->reduce->max(comm, smallest, (int)pixels));
  for (int64_t q = 0; q < pixels; ++q)
    if (isinf(id[q]) || id[q] != smallest[q]) p->scene.surface[q] = 0;
  return comm->reduce->sum(comm, p->scene.surface, (int)pixels);
}

static md_status merge_ranks(picture *p, md_comm *comm)
{
  double *level = NULL, *id = NULL;
  if (comm->size == 1) return MD_OK;
  md_status status = md_array_new(&level, pixels_of(p), sizeof *level, "a picture of several ranks");
  if (status == MD_OK) status = md_array_new(&id, pixels_of(p), sizeof *id, "a picture of several ranks");
  status = md_comm_agree(comm, status);
  if (status == MD_OK) status = merge(p, comm, level, id);
  free(level);
  free(id);
  return status;
}

/* ---- box, axes and light ---- */

static double shortest_side(const md_box *box)
{
  double least = box->length[0];
  for (int d = 1; d < box->dim; ++d) least = fmin(least, box->length[d]);
  return least;
}

static void draw_box(picture *p)
{
  const md_box *box = &p->frame.model->box;
  const double radius = 0.5 * p->image->box_diameter * shortest_side(box);
  for (int k = 0; k < CORNERS; ++k)
    for (int d = 0; d < box->dim; ++d)
      if (!(k >> d & 1) && (box->dim == 3 || k < 4))
        md_scene_line(&p->scene, p->corner[k], p->corner[k | 1 << d], radius, &p->image->box_colour);
}

/* Three rods from a point a tenth of the box's sides away from its lower corner. */
static void draw_axes(picture *p)
{
  static const md_colour colour[3] = {{{255, 0, 0}}, {{0, 128, 0}}, {{0, 0, 255}}};
  const md_box *box = &p->frame.model->box;
  const double radius = 0.5 * p->image->axes_diameter * shortest_side(box);
  double from[3], to[3];
  point_of(box, (double[3]){-0.1, -0.1, -0.1}, from);
  for (int d = 0; d < 3 && d < box->dim; ++d) {
    double fraction[3] = {-0.1, -0.1, -0.1};
    fraction[d] += p->image->axes_length;
    point_of(box, fraction, to);
    md_scene_line(&p->scene, from, to, radius, &colour[d]);
  }
}

static void halve(const unsigned char *large, int width, int height, unsigned char *rgb)
{
#pragma omp parallel for schedule(static)
  for (int row = 0; row < height; ++row)
    for (int k = 0; k < 3 * width; ++k) {
      const unsigned char *at = large + 12 * (int64_t)row * width + 6 * (k / 3) + k % 3;
      const int sum = at[0] + at[3] + at[6 * width] + at[6 * width + 3];
      rgb[3 * (int64_t)row * width + k] = (unsigned char)((sum + 2) / 4);
    }
}

static md_status paint(const picture *p, md_canvas *canvas)
{
  const md_image *im = p->image;
  const double seen = p->largest * p->spheres.of.camera.per_length;
  const md_light light = {.background = im->background,
                          .shine = im->shine,
                          .flat = p->spheres.of.flat,
                          .occlusion = p->spheres.of.flat ? 0.0 : im->occlusion,
                          .reach = fmin(fmax(1.5 * seen, 8.0), 96.0),
                          .turn = (double)im->occlusion_seed * 0x1.3c6ef372fe94fp-1};
  unsigned char *large;
  MD_TRY(md_array_new(&large, pixels_of(p), 3, "a picture"));
  md_scene_paint(&p->scene, &light, large);
  *canvas = (md_canvas){im->width, im->height, large};
  if (!im->halved) return MD_OK;
  const md_status status = md_array_new(&canvas->rgb, (int64_t)im->width * im->height, 3, "a picture");
  if (status == MD_OK) halve(large, im->width, im->height, canvas->rgb);
  free(large);
  return status;
}

/* ---- furniture ---- */

static md_status furnish(const picture *p, md_canvas *canvas)
{
  const md_model *model = p->frame.model;
  const md_dump_column *shown = &p->dump->column[p->image->colour_column];
  unsigned char colour[MD_COLOURS][3];
  char title[160];
  const double lo = p->scale.lo, hi = p->scale.hi;
  for (int k = 0; k < MD_COLOURS; ++k) {
    const md_colour c = md_colour_scale_at(&p->scale, lo + (hi - lo) * k / (MD_COLOURS - 1));
    memcpy(colour[k], c.rgb, 3);
  }
  snprintf(title, sizeof title, "%lld particles, step %lld, time %.6g %s", (long long)p->frame.count,
           (long long)p->frame.step, (double)p->frame.step * model->dt,
           md_furniture_unit(model->units->time, "\u03c4"));
  const md_furniture f = {.title = title,
                          .scale_bar = (p->image->halved ? 2.0 : 1.0) / p->spheres.of.camera.per_length,
                          .length_name = md_furniture_unit(model->units->length, "\u03c3"),
                          .quantity = p->image->colour == MD_LOOK_VALUE ? shown->name : NULL,
                          .least = lo,
                          .most = hi};
  const md_canvas map = *canvas;
  canvas->rgb = NULL;
  const md_status status = md_furniture_draw(&f, &map, colour, canvas);
  free(map.rgb);
  return status;
}

static md_status finish_picture(picture *p, md_canvas *canvas)
{
  p->scene.front = &p->spheres.of;
  if (p->image->box && p->image->box_diameter > 0.0) draw_box(p);
  if (p->image->axes && p->image->axes_length > 0.0) draw_axes(p);
  MD_TRY(paint(p, canvas));
  return p->dump->furniture ? furnish(p, canvas) : MD_OK;
}

/* ---- the whole ---- */

/* Merges what ranks have found, and paints it. status: of finding it, on this rank. */
static md_status finish_ranks(picture *p, md_sim *sim, md_status status, md_canvas *canvas)
{
  md_comm *comm = sim->comm;
  if (status == MD_OK) status = find_surfaces(p);
  MD_TRY(md_comm_agree(comm, status));
  MD_TRY(merge_ranks(p, comm));
  return comm->rank == 0 ? finish_picture(p, canvas) : MD_OK;
}

/* Draws the particles of the rows. */
static md_status draw_rows(picture *p, md_sim *sim, md_canvas *canvas)
{
  MD_TRY(md_comm_agree(sim->comm, turn_camera(p, sim)));
  MD_TRY(find_extremes(p, sim->comm));
  find_depths(p);
  return finish_ranks(p, sim, add_particles(p), canvas);
}

/* ---- by the engine ---- */

/* Can the engine draw the picture, as far as is known here? Then says what. */
static bool may_draw(const picture *p, const md_view *view, md_drawing *drawing)
{
  const md_dump *dump = p->dump;
  const md_image *im = p->image;
  const int group = dump->observer.group;
  drawing->group = md_group_bit(group);
  drawing->valued = im->colour == MD_LOOK_VALUE;
  if (!view->engine || !view->kind->draw || !view->kind->value_counts || !im->atoms) return false;
  if (dump->nthreshold > 0 || dump->region[0] || im->diameter == MD_LOOK_VALUE ||
      md_dynamic_group_is(view->sim, group))
    return false;
  return !drawing->valued ||
         md_particle_values_in_place(view->sim, dump->column[im->colour_column].name, &drawing->value);
}

/* The largest diameter, of the types that are there, and the ends of the scale; count: room for the types. */
static md_status extremes_in_place(picture *p, md_view *view, const md_drawing *drawing, int64_t *count,
                                   bool *made)
{
  md_comm *comm = view->sim->comm;
  const int ntypes = drawing->ntypes;
  double range[2] = {(double)INFINITY, -(double)INFINITY}, largest = 0.0;
  md_value_counts c = {.value = {.kind = MD_EACH_TYPE},
                       .group = drawing->group,
                       .lo = 0.5,
                       .hi = ntypes + 0.5,
                       .per = 1.0,
                       .bins = ntypes,
                       .beyond = MD_BEYOND_IGNORE};
  MD_TRY(md_comm_agree(comm, view->kind->value_counts(view->engine, &c, count, range, made)));
  for (int t = 1; t <= ntypes && *made; ++t)
    if (count[MD_VALUES_BINS + t - 1] > 0) largest = fmax(largest, diameter_of_type(p, t));
  range[0] = (double)INFINITY;
  range[1] = -(double)INFINITY;
  c.value = drawing->value;
  c.bins = 1;
  if (*made && (is_scaled(p) || (drawing->valued && drawing->value.kind == MD_EACH_FORMULA)))
    MD_TRY(md_comm_agree(comm, view->kind->value_counts(view->engine, &c, count, range, made)));
  return *made ? take_extremes(p, comm, -range[0], range[1], largest) : MD_OK;
}

/* room: for radii, and for counts of types. */
static md_status draw_in_place(picture *p, md_view *view, md_drawing *drawing, double *radius, int64_t *count,
                               md_canvas *canvas, bool *made)
{
  md_sim *sim = view->sim;
  MD_TRY(extremes_in_place(p, view, drawing, count, made));
  if (!*made) return MD_OK;
  find_depths(p);
  for (int t = 1; t <= drawing->ntypes; ++t) radius[t] = 0.5 * diameter_of_type(p, t);
  drawing->radius = radius;
  drawing->front = p->spheres.of;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&p->sight, pixels_of(p), sizeof *p->sight, "a picture")));
  MD_TRY(md_comm_agree(sim->comm, view->kind->draw(view->engine, drawing, p->sight, made)));
  return *made ? finish_ranks(p, sim, MD_OK, canvas) : MD_OK;
}

static md_status try_in_place(picture *p, md_view *view, md_canvas *canvas, bool *made)
{
  md_comm *comm = view->sim->comm;
  const int ntypes = view->sim->model.ntypes;
  md_drawing drawing = {.ntypes = ntypes};
  double *radius = NULL;
  int64_t *count = NULL;
  *made = false;
  if (!may_draw(p, view, &drawing)) return MD_OK;
  md_status status = md_array_new_zero(&radius, ntypes + 1, sizeof *radius, "a picture");
  if (status == MD_OK)
    status = md_array_new_zero(&count, MD_VALUES_BINS + ntypes, sizeof *count, "a picture");
  status = md_comm_agree(comm, status);
  if (status == MD_OK) status = md_comm_agree(comm, turn_camera(p, view->sim));
  if (status == MD_OK) status = draw_in_place(p, view, &drawing, radius, count, canvas, made);
  if (!*made) {
    free(p->sight);
    p->sight = NULL;
  }
  free(radius);
  free(count);
  return status;
}

static md_status draw_on_host(picture *p, md_view *view, md_canvas *canvas)
{
  int32_t *chosen = NULL;
  MD_TRY(md_view_particles(view));
  md_status status = md_dump_select(p->dump, view, &p->frame.rows, &chosen, &p->frame.count);
  p->ordered = chosen != NULL;
  if (status == MD_OK) status = draw_rows(p, view->sim, canvas);
  md_dump_forget_named(p->dump);
  free(chosen);
  return status;
}

md_status md_image_draw(md_dump *dump, md_view *view, md_canvas *canvas)
{
  const md_model *model = &view->sim->model;
  bool made;
  picture p = {.dump = dump,
               .image = dump->image,
               .frame = {.model = model, .in_run = view->engine != NULL, .step = view->step}};
  p.frame.count = md_dump_count(dump, model);
  md_status status = try_in_place(&p, view, canvas, &made);
  if (status == MD_OK && !made) status = draw_on_host(&p, view, canvas);
  free(p.sight);
  free(p.spheres.front);
  free(p.scene.level);
  free(p.scene.surface);
  return status;
}
