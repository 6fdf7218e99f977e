// Load of the guests in tools/guest_demo.py: "load KIND PERCENT SECONDS PROCESSES". Each process works for PERCENT of
// each period, on a CPU of its own. "load clock PORT" sets the guest's clock by the host, as NTP would.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPeriodMs = 200, kMemory = 48 << 20 };

static volatile double sink;
static char* memory;
static int there[2];
static int back[2];

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void Compute(void) {
  for (int i = 1; i < 20000; ++i) sink = sink * 0.999 + 1.0 / i;
}

// Moves through more memory than the caches hold, and gives some of it back, so that pages fault again.
static void Move(void) {
  static size_t at = 0;
  memmove(memory + at, memory + (at + kMemory / 2) % kMemory, 1 << 20);
  at = (at + (1 << 20)) % kMemory;
  char* const fresh = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) exit(1);
  for (size_t i = 0; i < 1 << 20; i += 4096) fresh[i] = 1;
  munmap(fresh, 1 << 20);
}

// System calls, and bytes to a process on the same CPU and back.
static void Call(void) {
  char bytes[512] = {0};
  for (int i = 0; i < 20; ++i)
    if (write(there[1], bytes, sizeof(bytes)) < 0 || read(back[0], bytes, sizeof(bytes)) < 0) exit(1);
}

static void StartPeer(void) {
  if (pipe(there) != 0 || pipe(back) != 0) exit(1);
  if (fork() != 0) return;
  char bytes[512];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (read(there[0], bytes, sizeof(bytes)) > 0 && write(back[1], bytes, sizeof(bytes)) > 0) continue;
  _exit(0);
}

static void Work(void (*step)(void), int percent, double seconds) {
  const double end = Now() + seconds;
  for (double begin = Now(); begin < end; begin += kPeriodMs / 1e3) {
    while (Now() < begin + percent * kPeriodMs / 1e5) step();
    const double rest = begin + kPeriodMs / 1e3 - Now();
    if (rest > 0) usleep((useconds_t)(rest * 1e6));
  }
}

static int SetClock(int port) {
  const struct sockaddr_in host = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = inet_addr("10.0.2.2")}};
  char text[64] = {0};
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (const struct sockaddr*)&host, sizeof(host)) != 0 || read(fd, text, sizeof(text) - 1) <= 0)
    return 1;
  const double seconds = atof(text);
  const struct timeval now = {.tv_sec = (time_t)seconds,
                              .tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
  return settimeofday(&now, NULL) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "clock") == 0) return SetClock(atoi(argv[2]));
  if (argc != 5) return 2;
  void (*const step)(void) = strcmp(argv[1], "cpu") == 0 ? Compute : strcmp(argv[1], "memory") == 0 ? Move : Call;
  struct timespec begin, end;
  clock_gettime(CLOCK_REALTIME, &begin);
  for (int i = atoi(argv[4]); i > 0; --i)
    if (fork() == 0) {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(i - 1, &own);
      sched_setaffinity(0, sizeof(own), &own);
      if (step == Call) StartPeer();
      memory = malloc(kMemory);
      if (memory == NULL) return 1;
      if (step == Move) memset(memory, 1, kMemory);
      Work(step, atoi(argv[2]), atof(argv[3]));
      _exit(0);
    }
  while (wait(NULL) > 0) continue;
  clock_gettime(CLOCK_REALTIME, &end);
  printf("phase %s %s %lld.%03ld %lld.%03ld\n", argv[1], argv[2], (long long)begin.tv_sec, begin.tv_nsec / 1000000,
         (long long)end.tv_sec, end.tv_nsec / 1000000);
  return 0;
}
