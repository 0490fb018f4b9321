/* sched_yield for ranks of the tests: it sleeps.
 *
 * Ranks that wait for a message ask for it over and over, and give up their core in between (MPI's yield_when_idle). Where
 * ranks of several tests share cores, most of what then runs is such asking, and the rank that is waited for comes to its
 * turn after a time slice of each. This one, preloaded, leaves the core to it: tests by ranks take a fifth of the time.
 */
#include <sched.h>
#include <time.h>

enum { NAP = 20000 }; /* nanoseconds; what the system needs to wake a sleeper adds to them */

int sched_yield(void)
{
  const struct timespec nap = {.tv_nsec = NAP};
  nanosleep(&nap, NULL);
  return 0;
}
