#pragma once
// A machine on which no thread can be made, as at a limit of tasks.
#include <pthread.h>

#include <cstddef>

namespace kepler::testing {

/// While it lives this process makes no thread: each would be given a stack for which there is no room.
class NoThreads {
 public:
  NoThreads() {
    constexpr size_t kMoreThanThereIs = size_t{1} << 62;
    pthread_getattr_default_np(&before_);
    pthread_attr_t none;
    pthread_getattr_default_np(&none);
    pthread_attr_setstacksize(&none, kMoreThanThereIs);
    pthread_setattr_default_np(&none);
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace kepler::testing
