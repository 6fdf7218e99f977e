// Uses a part of a CPU, as one process that starts no other: work PERCENT [SECONDS of CPU time; default: until SIGTERM]
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void End(int number) {
  (void)number;
  _exit(0);
}

static double Used(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char** arguments) {
  const double share = count > 1 ? atof(arguments[1]) / 100 : 1;
  const double limit = count > 2 ? atof(arguments[2]) : 0;
  const double slice = 0.01;
  signal(SIGTERM, End);  // the first process of a container receives no signal without a handler
  for (;;) {
    const double begin = Used();
    while (Used() - begin < slice) {
      for (volatile int i = 0; i < 10000; ++i) {
      }
    }
    if (limit > 0 && Used() >= limit) return 0;
    const double rest = share > 0 && share < 1 ? slice / share - slice : 0;
    const struct timespec pause = {(time_t)rest, (long)((rest - (double)(time_t)rest) * 1e9)};
    nanosleep(&pause, NULL);
  }
}
