/* The version of this program and of its library. */
#ifndef MD_SRC_LIBRARY_VERSION_H
#define MD_SRC_LIBRARY_VERSION_H

#ifndef MD_VERSION
#define MD_VERSION "0.1"
#endif

#endif
