/* All of Thrust that is emulated is in sort.h. */
#include <thrust/sort.h>
