/* HDF5 files; see hdf5_file.h. Every handle is closed in the function that opened it. The library's own
 * description of a failure becomes the message. Of its nested descriptions, the innermost is the most precise. */
#include "src/hdf5/hdf5_file.h"
#include "common/base/open_file.h"
#include "common/ranks/files.h"
#include "src/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct md_h5_file {
  hid_t id;
  char *path;
  bool root;      /* this rank writes data that all ranks have */
  bool shared;    /* several ranks have the file open */
  int descriptor; /* system's file number if this rank alone has the file open to write; else -1 */
  int reader;     /* the same for a file that is open to read */
};

enum { ALIGNED_FROM = 65536, ALIGNMENT = 4096 };
static const int64_t part_bytes = INT64_C(1) << 30, part_bytes_alone = INT64_C(1) << 22;

/* ---- messages ---- */

static herr_t keep_innermost(unsigned n, const H5E_error2_t *error, void *context)
{
  (void)n;
  const char **words = context;
  *words = error->desc;
  return 1;
}

/* The last failure. The library forgets it at its next call, even if that call only cleans up. */
static char reason[512];

/* For a failed system call the library's text is `errno = 28, error message = 'No space left on device', ...`. */
static bool ok(herr_t result)
{
  if (result >= 0) return true;
  static const char system_says[] = "error message = '";
  const char *words = NULL;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &words);
  if (!words || !*words) return false;
  const char *system = strstr(words, system_says);
  if (system)
    snprintf(reason, sizeof reason, "%.*s", (int)strcspn(system + strlen(system_says), "'"),
             system + strlen(system_says));
  else
    snprintf(reason, sizeof reason, "HDF5 says: %.*s", (int)strcspn(words, "\n"), words);
  return false;
}

static md_status failed(const char *what, const char *path)
{
  (void)ok(-1);
  const bool damage = strncmp(reason, "HDF5", 4) == 0 && strcmp(what, "read") == 0;
  const md_status status =
      md_error(MD_RUNTIME, "cannot %s %.500s: %s%s", what, path, damage ? "it is truncated or damaged, " : "",
               reason[0] ? reason : "HDF5 does not say why");
  reason[0] = '\0';
  return status;
}

static md_status done(const md_h5_file *file, bool good, const char *what)
{
  return good ? MD_OK : failed(what, file->path);
}

/* ---- files ---- */

/* Access to a file that all ranks have open. -1: this HDF5 library cannot do that. */
static hid_t access_of_ranks(md_comm *comm)
{
#ifdef H5_HAVE_PARALLEL
  const MPI_Comm *ranks = comm->files->mpi_communicator(comm);
  const hid_t access = ranks ? H5Pcreate(H5P_FILE_ACCESS) : -1;
  if (access >= 0 && H5Pset_fapl_mpio(access, *ranks, MPI_INFO_NULL) >= 0) return access;
  if (access >= 0) H5Pclose(access);
#endif
  (void)comm;
  return -1;
}

static bool together(md_comm *comm)
{
  const hid_t access = comm->size > 1 ? access_of_ranks(comm) : -1;
  if (access >= 0) H5Pclose(access);
  return access >= 0;
}

static hid_t access_of(md_comm *comm)
{
  /* At exit the library would try again to write what a full disk refused, and would crash. */
  static bool begun;
  if (!begun) H5dont_atexit();
  begun = true;
  /* Locks are not needed, because a file is written under a name of its own, and on some file systems locking
   * fails. */
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t access = comm && comm->size > 1 ? access_of_ranks(comm) : H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
#if H5_VERSION_GE(1, 10, 2)
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
#else
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
#endif
  H5Pset_alignment(access, ALIGNED_FROM, ALIGNMENT);
  return access;
}

/* Checks that HDF5 can have written this file, before the library follows the structure inside it. */
static md_status check_file(const char *path)
{
  if (md_file_is_special(path))
    return md_error(MD_RUNTIME, "cannot read %.500s: it is no regular file", path);
  FILE *file = fopen(path, "rb");
  if (!file) return md_error(MD_RUNTIME, "cannot read %.500s: %s", path, strerror(errno));
  fclose(file);
  const htri_t is = H5Fis_hdf5(path);
  if (is > 0) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read %.500s: it is no HDF5 file", path);
}

static int descriptor_of(hid_t id, const md_comm *comm)
{
  void *handle = NULL;
  if (comm && comm->size > 1) return -1;
  return H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) >= 0 && handle ? *(int *)handle : -1;
}

/* Properties to create a thing of `kind` with. HDF5 writes the time of the clock beside each thing, unless a property
   says otherwise; the bytes of a file would then differ from run to run. */
static hid_t timeless(hid_t kind)
{
  const hid_t properties = H5Pcreate(kind);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

static md_status open_file(md_h5_file **out, const char *path, md_h5_mode mode, md_comm *comm)
{
  reason[0] = '\0';
  const hid_t access = access_of(comm);
  if (access < 0) return failed("set up HDF5 for", path);
  const hid_t properties = timeless(H5P_FILE_CREATE);
  md_status status = mode == MD_H5_CREATE ? md_file_need_regular(path, "an HDF5 file") : check_file(path);
  md_h5_file *file = calloc(1, sizeof *file);
  char *name = md_path_for_mpi(path);
  if (file) file->path = strdup(path);
  if (status == MD_OK && (!file || !file->path || !name))
    status = md_error(MD_RUNTIME, "out of memory while opening %.500s", path);
  if (status == MD_OK) {
    file->root = !comm || comm->rank == 0;
    file->shared = comm && comm->size > 1;
    file->id = mode == MD_H5_CREATE
                   ? H5Fcreate(name, H5F_ACC_TRUNC, properties, access)
                   : H5Fopen(name, mode == MD_H5_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access);
    file->reader = mode == MD_H5_READ && file->id >= 0 ? descriptor_of(file->id, comm) : -1;
    file->descriptor = mode != MD_H5_READ && file->id >= 0 ? descriptor_of(file->id, comm) : -1;
    if (file->id < 0) status = failed(mode == MD_H5_CREATE ? "write" : "read", path);
  }
  H5Pclose(properties);
  H5Pclose(access);
  free(name);
  if (status != MD_OK) {
    if (file) free(file->path);
    free(file);
    return status;
  }
  *out = file;
  return MD_OK;
}

static md_status close_file(md_h5_file **out)
{
  md_h5_file *file = *out;
  *out = NULL;
  if (!file) return MD_OK;
  const md_status status = done(file, H5Fclose(file->id) >= 0, "write");
  free(file->path);
  free(file);
  return status;
}

static md_status flush(md_h5_file *file)
{
  return done(file, H5Fflush(file->id, H5F_SCOPE_GLOBAL) >= 0, "write");
}

/* ---- structure ---- */

static bool has(md_h5_file *file, const char *name)
{
  char part[256];
  /* H5Lexists checks only the last part of a path and needs all parts before it. */
  for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
    if (H5Lexists(file->id, part, H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(file->id, name, H5P_DEFAULT) > 0;
}

static md_status group(md_h5_file *file, const char *name)
{
  const hid_t properties = timeless(H5P_GROUP_CREATE);
  const hid_t id = H5Gcreate2(file->id, name, H5P_DEFAULT, properties, H5P_DEFAULT);
  const bool good = id >= 0 && H5Gclose(id) >= 0;
  H5Pclose(properties);
  return done(file, good, "write");
}

static md_status link_to(md_h5_file *file, const char *from, const char *to)
{
  return done(file, H5Lcreate_hard(file->id, from, file->id, to, H5P_DEFAULT, H5P_DEFAULT) >= 0, "write");
}

static hid_t type_of(md_h5_type type)
{
  switch (type) {
  case MD_H5_INT64: return H5T_NATIVE_INT64;
  case MD_H5_DOUBLE: return H5T_NATIVE_DOUBLE;
  case MD_H5_FLOAT: return H5T_NATIVE_FLOAT;
  case MD_H5_UINT32: return H5T_NATIVE_UINT32;
  case MD_H5_UINT16: return H5T_NATIVE_UINT16;
  case MD_H5_UINT8: return H5T_NATIVE_UINT8;
  }
  return -1;
}

static size_t bytes_of(md_h5_type type)
{
  switch (type) {
  case MD_H5_UINT8: return 1;
  case MD_H5_UINT16: return 2;
  case MD_H5_UINT32:
  case MD_H5_FLOAT: return 4;
  case MD_H5_INT64:
  case MD_H5_DOUBLE: break;
  }
  return 8;
}

static hid_t space_of(const md_h5_shape *shape)
{
  hsize_t size[MD_H5_DIMS], most[MD_H5_DIMS];
  if (shape->n == 0) return H5Screate(H5S_SCALAR);
  for (int d = 0; d < shape->n; ++d) size[d] = most[d] = (hsize_t)shape->size[d];
  if (shape->chunk[0] > 0) most[0] = H5S_UNLIMITED;
  return H5Screate_simple(shape->n, size, most);
}

static md_status make_array(md_h5_file *file, const char *name, hid_t type, const md_h5_shape *shape,
                            hid_t *out)
{
  const hid_t space = space_of(shape), properties = timeless(H5P_DATASET_CREATE);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  /* Otherwise a chunk gets its place in the file when a rank writes it. All ranks must do that together, if they have
   * the file open later. */
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  if (shape->chunk[0] > 0) {
    hsize_t chunk[MD_H5_DIMS];
    for (int d = 0; d < shape->n; ++d) chunk[d] = (hsize_t)shape->chunk[d];
    H5Pset_chunk(properties, shape->n, chunk);
  }
  *out = H5Dcreate2(file->id, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  const md_status status = done(file, *out >= 0, "write");
  H5Sclose(space);
  H5Pclose(properties);
  return status;
}

static md_status array(md_h5_file *file, const char *name, md_h5_type type, const md_h5_shape *shape)
{
  hid_t id;
  MD_TRY(make_array(file, name, type_of(type), shape, &id));
  return done(file, H5Dclose(id) >= 0, "write");
}

/* The shape of an open array. */
static bool shape_of(hid_t id, md_h5_shape *shape)
{
  const hid_t space = H5Dget_space(id);
  hsize_t size[H5S_MAX_RANK];
  const int n = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  *shape = (md_h5_shape){.n = n};
  bool good = n >= 0 && n <= MD_H5_DIMS;
  good = good && H5Sget_simple_extent_dims(space, size, NULL) >= 0;
  for (int d = 0; good && d < n; ++d) {
    good = size[d] <= INT64_MAX;
    shape->size[d] = (int64_t)size[d];
  }
  if (space >= 0) H5Sclose(space);
  return good;
}

static md_status open_array(md_h5_file *file, const char *name, hid_t *id)
{
  if (!has(file, name)) return md_error(MD_RUNTIME, "cannot read %.500s: it has no /%s", file->path, name);
  *id = H5Dopen2(file->id, name, H5P_DEFAULT);
  return done(file, *id >= 0, "read");
}

static md_status read_shape(md_h5_file *file, const char *name, md_h5_shape *shape)
{
  hid_t id;
  MD_TRY(open_array(file, name, &id));
  const bool good = shape_of(id, shape);
  H5Dclose(id);
  return done(file, good, "read");
}

/* Do all chunks of an open array get their places when it grows? */
static bool is_placed_early(hid_t id)
{
  H5D_alloc_time_t when = H5D_ALLOC_TIME_ERROR;
  const hid_t properties = H5Dget_create_plist(id);
  const bool good = properties >= 0 && H5Pget_alloc_time(properties, &when) >= 0;
  if (properties >= 0) H5Pclose(properties);
  return good && when == H5D_ALLOC_TIME_EARLY;
}

static md_status resize(md_h5_file *file, const char *name, int64_t first_dimension)
{
  hid_t id;
  md_h5_shape shape;
  hsize_t size[MD_H5_DIMS] = {(hsize_t)first_dimension};
  MD_TRY(open_array(file, name, &id));
  if (file->shared && !is_placed_early(id)) {
    H5Dclose(id);
    return md_error(
        MD_RUNTIME,
        "cannot add to %.500s over several ranks: another program or an earlier version wrote it on one "
        "rank; go on with one rank, or give the dump another name",
        file->path);
  }
  bool good = shape_of(id, &shape);
  for (int d = 1; good && d < shape.n; ++d) size[d] = (hsize_t)shape.size[d];
  good = good && H5Dset_extent(id, size) >= 0;
  H5Dclose(id);
  return done(file, good, "write");
}

/* ---- small arrays ---- */

static md_status put(md_h5_file *file, const char *name, md_h5_type type, const md_h5_shape *shape,
                     const void *data)
{
  hid_t id;
  MD_TRY(make_array(file, name, type_of(type), shape, &id));
  const bool good = !file->root || ok(H5Dwrite(id, type_of(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  return done(file, H5Dclose(id) >= 0 && good, "write");
}

/* Whether the array's numbers go into `type` without loss. */
static bool fits(hid_t id, md_h5_type type)
{
  const hid_t stored = H5Dget_type(id), wanted = type_of(type);
  const bool good = stored >= 0 && H5Tget_class(stored) == H5Tget_class(wanted) &&
                    H5Tget_size(stored) == H5Tget_size(wanted) &&
                    (H5Tget_class(wanted) != H5T_INTEGER || H5Tget_sign(stored) == H5Tget_sign(wanted));
  if (stored >= 0) H5Tclose(stored);
  return good;
}

static md_status get(md_h5_file *file, const char *name, md_h5_type type, const md_h5_shape *shape,
                     void *data)
{
  hid_t id;
  md_h5_shape found;
  MD_TRY(open_array(file, name, &id));
  bool same = shape_of(id, &found) && found.n == shape->n && fits(id, type);
  for (int d = 0; same && d < shape->n; ++d) same = found.size[d] == shape->size[d];
  const bool good = same && ok(H5Dread(id, type_of(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  md_status status = MD_OK;
  if (!same)
    status = md_error(MD_RUNTIME, "cannot read %.500s: /%s has another shape or type than it should",
                      file->path, name);
  else
    status = done(file, good, "read");
  H5Dclose(id);
  return status;
}

static hid_t text_type(const char *text)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  return type;
}

static md_status put_text(md_h5_file *file, const char *name, const char *text)
{
  static const md_h5_shape one = {0};
  const hid_t type = text_type(text);
  hid_t id;
  md_status status = make_array(file, name, type, &one, &id);
  if (status == MD_OK) {
    const bool good = !file->root || ok(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text));
    status = done(file, H5Dclose(id) >= 0 && good, "write");
  }
  H5Tclose(type);
  return status;
}

static md_status get_text(md_h5_file *file, const char *name, char *text, size_t size)
{
  hid_t id;
  MD_TRY(open_array(file, name, &id));
  const hid_t stored = H5Dget_type(id), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  md_h5_shape shape;
  const bool good = stored >= 0 && H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0 &&
                    shape_of(id, &shape) && shape.n == 0 &&
                    ok(H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text));
  text[good ? size - 1 : 0] = '\0';
  if (stored >= 0) H5Tclose(stored);
  H5Tclose(type);
  H5Dclose(id);
  if (good) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read %.500s: /%s is not a text", file->path, name);
}

/* ---- attributes ---- */

static md_status write_note(md_h5_file *file, const char *object, const char *name, hid_t type, int n,
                            const void *data)
{
  const hsize_t size = (hsize_t)n;
  const hid_t owner = H5Oopen(file->id, object, H5P_DEFAULT);
  const hid_t space = n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
  const hid_t id = owner < 0 ? owner : H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = id >= 0 && ok(H5Awrite(id, type, data));
  if (id >= 0) good = H5Aclose(id) >= 0 && good;
  const md_status status = done(file, good, "write");
  H5Sclose(space);
  if (owner >= 0) H5Oclose(owner);
  return status;
}

static md_status note(md_h5_file *file, const char *object, const char *name, md_h5_type type, int n,
                      const void *data)
{
  return write_note(file, object, name, type_of(type), n, data);
}

static md_status note_text(md_h5_file *file, const char *object, const char *name, int n,
                           const char *const *text)
{
  size_t length = 1;
  for (int k = 0; k < (n ? n : 1); ++k) length = strlen(text[k]) > length ? strlen(text[k]) : length;
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length + 1);
  char *data = calloc((size_t)(n ? n : 1), length + 1);
  md_status status = data ? MD_OK : md_error(MD_RUNTIME, "out of memory while writing %.500s", file->path);
  for (int k = 0; data && k < (n ? n : 1); ++k)
    memcpy(data + (size_t)k * (length + 1), text[k], strlen(text[k]));
  if (status == MD_OK) status = write_note(file, object, name, type, n, data);
  free(data);
  H5Tclose(type);
  return status;
}

static md_status note_word(md_h5_file *file, const char *object, const char *name, const char *text)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const md_status status = write_note(file, object, name, type, 0, &text);
  H5Tclose(type);
  return status;
}

static md_status read_note(md_h5_file *file, const char *object, const char *name, md_h5_type type,
                           void *data)
{
  const hid_t owner = has(file, object) ? H5Oopen(file->id, object, H5P_DEFAULT) : -1;
  const hid_t id = owner >= 0 && H5Aexists(owner, name) > 0 ? H5Aopen(owner, name, H5P_DEFAULT) : -1;
  const hid_t space = id >= 0 ? H5Aget_space(id) : -1;
  const bool good =
      space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && ok(H5Aread(id, type_of(type), data));
  if (space >= 0) H5Sclose(space);
  if (id >= 0) H5Aclose(id);
  if (owner >= 0) H5Oclose(owner);
  if (good) return MD_OK;
  return md_error(MD_RUNTIME, "cannot read %.500s: /%s has no attribute %s", file->path, object, name);
}

/* ---- parts of large arrays ---- */

typedef struct transfer {
  hid_t array, space, type;
  int n;
  hsize_t start[MD_H5_DIMS], count[MD_H5_DIMS];
  bool write;
  int descriptor;
} transfer;

static bool move(const transfer *t, char *data)
{
  const hid_t memory = H5Screate_simple(t->n, t->count, NULL);
  const bool good = memory >= 0 &&
                    H5Sselect_hyperslab(t->space, H5S_SELECT_SET, t->start, NULL, t->count, NULL) >= 0 &&
                    ok(t->write ? H5Dwrite(t->array, t->type, memory, t->space, H5P_DEFAULT, data)
                                : H5Dread(t->array, t->type, memory, t->space, H5P_DEFAULT, data));
  if (memory >= 0) H5Sclose(memory);
  return good;
}

/* Transfers a part in pieces along its first dimension of more than one element, because counts of MPI-IO have 32
 * bits. */
static bool move_in_parts(transfer *t, md_h5_type type, char *data)
{
  int along = 0;
  while (along + 1 < t->n && t->count[along] == 1) ++along;
  size_t row = bytes_of(type);
  for (int d = along + 1; d < t->n; ++d) row *= (size_t)t->count[d];
  const hsize_t first = t->start[along], total = t->count[along];
  const int64_t most = t->descriptor >= 0 ? part_bytes_alone : part_bytes;
  const hsize_t fit = row > 0 && (int64_t)row < most ? (hsize_t)((size_t)most / row) : 1;
  for (hsize_t at = 0; at < total; at += fit) {
    t->start[along] = first + at;
    t->count[along] = total - at < fit ? total - at : fit;
    if (!move(t, data + at * row)) return false;
#ifdef SYNC_FILE_RANGE_WRITE
    /* The system then starts to write to disk at once, and not only when all data is there. */
    if (t->descriptor >= 0 && total > fit) sync_file_range(t->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
  }
  return true;
}

/* The place in the file where the values of an open array lie contiguously, as in memory; -1: they do not. */
static int64_t plain_place(hid_t id, md_h5_type type)
{
  const hid_t properties = H5Dget_create_plist(id), stored = H5Dget_type(id);
  const bool plain = properties >= 0 && stored >= 0 && H5Pget_layout(properties) == H5D_CONTIGUOUS &&
                     H5Pget_external_count(properties) == 0 && H5Tequal(stored, type_of(type)) > 0;
  const haddr_t place = plain ? H5Dget_offset(id) : HADDR_UNDEF;
  if (properties >= 0) H5Pclose(properties);
  if (stored >= 0) H5Tclose(stored);
  return place == HADDR_UNDEF || place > INT64_MAX ? -1 : (int64_t)place;
}

/* Reads n bytes with all threads. A single thread would be slowed by page faults of the memory that it fills. */
static bool read_plainly(int descriptor, int64_t place, int64_t n, char *data)
{
  enum { SLICE = 1 << 20 };
  int good = 1;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good)
  for (int64_t at = 0; at < n; at += SLICE) {
    int64_t got = 0;
    const int64_t wanted = n - at < SLICE ? n - at : SLICE;
    /* The system then reads ahead what the caller probably asks for next. */
    posix_fadvise(descriptor, (off_t)(place + at + n), (off_t)wanted, POSIX_FADV_WILLNEED);
    while (got < wanted) {
      const ssize_t some =
          pread(descriptor, data + at + got, (size_t)(wanted - got), (off_t)(place + at + got));
      if (some < 0 && errno == EINTR) continue;
      if (some <= 0) break;
      got += some;
    }
    good = good && got == wanted;
  }
  return good;
}

/* Reads one contiguous part of a large array directly from the file. Returns false, and reads nothing, if the
 * array or the part does not allow this. *good: the read succeeded. */
static bool read_row(md_h5_file *file, hid_t id, md_h5_type type, int n, const int64_t *start,
                     const int64_t *count, char *data, bool *good)
{
  enum { WORTH_IT = 1 << 20 };
  const int64_t bytes = count[n - 1] * (int64_t)bytes_of(type), place = plain_place(id, type);
  md_h5_shape shape;
  if (file->reader < 0 || place < 0 || bytes < WORTH_IT || !shape_of(id, &shape) || shape.n != n)
    return false;
  int64_t before = 0;
  for (int d = 0; d < n; ++d) {
    if ((d < n - 1 && count[d] != 1) || start[d] < 0 || count[d] > shape.size[d] - start[d]) return false;
    before = before * shape.size[d] + start[d];
  }
  *good = read_plainly(file->reader, place + before * (int64_t)bytes_of(type), bytes, data);
  return true;
}

static md_status transfer_part(md_h5_file *file, const char *name, md_h5_type type, int n,
                               const int64_t *start, const int64_t *count, char *data, bool write)
{
  hid_t id;
  transfer t = {.n = n, .type = type_of(type), .write = write, .descriptor = write ? file->descriptor : -1};
  bool empty = false;
  for (int d = 0; d < n; ++d) {
    t.start[d] = (hsize_t)start[d];
    t.count[d] = (hsize_t)count[d];
    empty = empty || count[d] == 0;
  }
  if (empty) return MD_OK;
  MD_TRY(open_array(file, name, &id));
  t.array = id;
  t.space = H5Dget_space(id);
  bool good = true;
  if (write || !read_row(file, id, type, n, start, count, data, &good))
    good = t.space >= 0 && move_in_parts(&t, type, data);
  const md_status status = done(file, good, write ? "write" : "read");
  if (t.space >= 0) H5Sclose(t.space);
  const md_status closed = done(file, H5Dclose(id) >= 0, "write");
  return status != MD_OK ? status : closed;
}

static md_status write_part(md_h5_file *file, const char *name, md_h5_type type, int n, const int64_t *start,
                            const int64_t *count, const void *data)
{
  return transfer_part(file, name, type, n, start, count, (char *)(uintptr_t)data, true);
}

static md_status read_part(md_h5_file *file, const char *name, md_h5_type type, int n, const int64_t *start,
                           const int64_t *count, void *data)
{
  return transfer_part(file, name, type, n, start, count, data, false);
}

#define TEXT(a) #a
#define VERSION(major, minor, release) "HDF5 " TEXT(major) "." TEXT(minor) "." TEXT(release)
#ifdef H5_HAVE_PARALLEL
static const char version[] = VERSION(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE) ", over MPI";
#else
static const char version[] = VERSION(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE) ", ranks write by turns";
#endif

const md_h5_library md_hdf5 = {.sources = MD_SOURCES,
                               .version = version,
                               .together = together,
                               .open = open_file,
                               .close = close_file,
                               .flush = flush,
                               .has = has,
                               .group = group,
                               .link = link_to,
                               .put = put,
                               .get = get,
                               .put_text = put_text,
                               .get_text = get_text,
                               .note = note,
                               .note_text = note_text,
                               .note_word = note_word,
                               .read_note = read_note,
                               .array = array,
                               .shape = read_shape,
                               .resize = resize,
                               .write = write_part,
                               .read = read_part};
