/* Loading the library of HDF5 files; see hdf5_file.h. */
#include "src/files/part.h"
#include "src/hdf5/hdf5_file.h"

static md_part part = {.file = "libmyriad-hdf5.so",
                       .symbol = "md_hdf5",
                       .variable = "MYRIAD_HDF5_LIBRARY",
                       .name = "the library of HDF5 files",
                       .made = "`make` builds it, where HDF5 is found (see make info)"};

const md_h5_library *md_h5;

bool md_h5_is_here(void) { return md_part_is_here(&part); }

md_status md_h5_load(void)
{
  const md_status status = md_part_load(&part);
  md_h5 = part.loaded;
  return status;
}

md_status md_h5_need(const char *what)
{
  const md_status status = md_h5_load();
  if (status != MD_OK) md_error_prefix("%s needs HDF5: ", what);
  return status;
}

md_status md_h5_close_after(md_h5_file **file, md_status status)
{
  md_error_record first;
  md_error_save(&first, status);
  const md_status closed = md_h5 ? md_h5->close(file) : MD_OK;
  return status != MD_OK ? md_error_restore(&first) : closed;
}
