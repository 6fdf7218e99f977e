// Processes and threads of every kind, for the end-to-end tests: cc -O2 -pthread tasks.c
//   tasks burn MS [THREADS]          each thread uses so much CPU time
//   tasks forks SECONDS              one child after the other, each ends at once
//   tasks threads SECONDS RATE       one thread after the other, RATE a second at most, each ends at once
//   tasks crowd THREADS MS           THREADS threads, alive at the same time; then waits for the end of its input
//   tasks exec MS                    two threads use MS each, then the second one executes `tasks named MS`
//   tasks named MS                   uses MS, then waits for the end of its input
//   tasks zombie MS                  a child uses so much and ends; it is waited for at the end of the input
//   tasks wait ...                   one of these, once a line of input has come
// What waits for the end of its input says "ready" first; what counts says how many it made.
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void must(int error, const char* what) {
  if (error) errx(1, "%s: %s", what, strerror(error));
}

static void burn(int64_t ns) {
  const int64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

static void* burner(void* ns) {
  burn(*(int64_t*)ns);
  return NULL;
}

static void wait_for_the_end_of_input(void) {
  puts("ready");
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
}

static pthread_t start(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t thread;
  must(pthread_create(&thread, &attributes, body, argument), "pthread_create");
  pthread_attr_destroy(&attributes);
  return thread;
}

static void burn_in_threads(int64_t ns, int threads) {
  pthread_t* all = calloc(threads, sizeof(*all));
  for (int i = 1; i < threads; ++i) all[i] = start(burner, &ns);
  burn(ns);
  for (int i = 1; i < threads; ++i) pthread_join(all[i], NULL);
  free(all);
}

static void forks(double seconds) {
  long made = 0;
  for (const int64_t end = read_clock(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9); read_clock(CLOCK_MONOTONIC) < end;) {
    const pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    ++made;
  }
  printf("%ld\n", made);
}

static void* nothing(void* argument) { return argument; }

static void threads_one_by_one(double seconds, double rate) {
  long made = 0;
  const int64_t begin = read_clock(CLOCK_MONOTONIC);
  for (;;) {
    const int64_t elapsed = read_clock(CLOCK_MONOTONIC) - begin;
    if (elapsed >= (int64_t)(seconds * 1e9)) break;
    const int64_t early = (int64_t)(made / rate * 1e9) - elapsed;
    if (early > 1000000) usleep(early / 1000);
    pthread_join(start(nothing, NULL), NULL);
    ++made;
  }
  printf("%ld\n", made);
}

static pthread_barrier_t everybody;

static void* member(void* ns) {
  burn(*(int64_t*)ns);
  pthread_barrier_wait(&everybody);  // all have used their time
  pthread_barrier_wait(&everybody);  // all may end
  return NULL;
}

static void crowd(int threads, int64_t ns) {
  pthread_t* all = calloc(threads, sizeof(*all));
  pthread_barrier_init(&everybody, NULL, threads + 1);
  for (int i = 0; i < threads; ++i) all[i] = start(member, &ns);
  pthread_barrier_wait(&everybody);
  wait_for_the_end_of_input();
  pthread_barrier_wait(&everybody);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  free(all);
}

static char** self;

static void* executor(void* ns) {
  burn(*(int64_t*)ns);
  char* const arguments[] = {self[0], "named", self[2], NULL};
  execv("/proc/self/exe", arguments);
  err(1, "execv");
}

static void exec_from_a_thread(int64_t ns) {
  burn(ns);
  pthread_join(start(executor, &ns), NULL);
}

static void named(int64_t ns) {
  must(pthread_setname_np(pthread_self(), "after-exec"), "pthread_setname_np");
  burn(ns);
  wait_for_the_end_of_input();
}

static void zombie(int64_t ns) {
  const pid_t child = fork();
  if (child < 0) err(1, "fork");
  if (child == 0) {
    must(pthread_setname_np(pthread_self(), "not-waited-for"), "pthread_setname_np");
    burn(ns);
    _exit(0);
  }
  siginfo_t info;
  waitid(P_PID, child, &info, WEXITED | WNOWAIT);
  wait_for_the_end_of_input();
  waitpid(child, NULL, 0);
}

static void wait_for_a_line(void) {
  char byte;
  while (read(0, &byte, 1) == 1 && byte != '\n') {
  }
}

int main(int count, char** arguments) {
  if (count > 1 && !strcmp(arguments[1], "wait")) {
    wait_for_a_line();
    ++arguments;
    --count;
  }
  self = arguments;
  const char* what = count > 2 ? arguments[1] : "";
  const double first = count > 2 ? atof(arguments[2]) : 0, second = count > 3 ? atof(arguments[3]) : 1;
  if (!strcmp(what, "burn"))
    burn_in_threads(first * 1e6, second);
  else if (!strcmp(what, "forks"))
    forks(first);
  else if (!strcmp(what, "threads"))
    threads_one_by_one(first, second);
  else if (!strcmp(what, "crowd"))
    crowd(first, second * 1e6);
  else if (!strcmp(what, "exec"))
    exec_from_a_thread(first * 1e6);
  else if (!strcmp(what, "named"))
    named(first * 1e6);
  else if (!strcmp(what, "zombie"))
    zombie(first * 1e6);
  else
    errx(2, "no such task: %s", what);
  return 0;
}
