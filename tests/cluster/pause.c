// What holds a pod's namespaces: waits, ends when asked to, and takes the ended children of those it is the parent of.
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void End(int number) {
  (void)number;
  _exit(0);
}

static void Reap(int number) {
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
}

int main(void) {
  signal(SIGINT, End);
  signal(SIGTERM, End);
  signal(SIGCHLD, Reap);
  for (;;) pause();
}
