/* Opening one HDF5 file on all ranks, where the HDF5 library was built for MPI. */
#include "mpi/state.h"

#ifdef MD_WITH_HDF5
#include <hdf5.h>
#endif

int64_t md_mpi_hdf5_access(md_comm *c)
{
#if defined MD_WITH_HDF5 && defined H5_HAVE_PARALLEL
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_mpio(access, mpi_state_of(c)->ranks, MPI_INFO_NULL) >= 0)
    return (int64_t)access;
  if (access >= 0) H5Pclose(access);
#endif
  (void)c;
  return -1;
}
