// Threads that are created and end at once:   thread_exits PER_SECOND SECONDS
// In batches, evenly over the time; PER_SECOND 0: as many as the machine gives. Prints "exits seconds": how many
// threads ended, and how long that took.
#include <pthread.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/parse.h"

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kBatch = 50;
constexpr size_t kStackBytes = 65'536;  // so little that the C library keeps the stacks of a batch for the next

void* EndAtOnce(void*) { return nullptr; }

/// 0 or an errno.
int RunBatch(const pthread_attr_t& attributes) {
  std::array<pthread_t, kBatch> threads{};
  size_t made = 0;
  int failure = 0;
  while (made < kBatch && failure == 0) {
    failure = pthread_create(&threads[made], &attributes, EndAtOnce, nullptr);
    if (failure == 0) ++made;
  }
  for (size_t i = 0; i < made; ++i) pthread_join(threads[i], nullptr);
  return failure;
}

}  // namespace

int main(int argc, char** argv) {
  const auto rate = argc == 3 ? kepler::ParseNumber<uint32_t>(argv[1]) : std::nullopt;
  const uint32_t seconds = argc == 3 ? kepler::ParseNumber<uint32_t>(argv[2]).value_or(0) : 0;
  if (!rate || seconds == 0) {
    std::fputs("usage: thread_exits PER_SECOND SECONDS\n", stderr);
    return 2;
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const auto step =
      *rate == 0 ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(std::chrono::seconds(kBatch)) / *rate;
  const auto begin = SteadyClock::now();
  const auto end = begin + std::chrono::seconds(seconds);
  uint64_t exits = 0;
  for (auto due = begin; due < end && SteadyClock::now() < end; due += step) {
    std::this_thread::sleep_until(due);
    if (const int failure = RunBatch(attributes); failure != 0) {
      std::fprintf(stderr, "thread_exits: %s; raise the limit of processes\n", std::strerror(failure));
      return 1;
    }
    exits += kBatch;
  }
  std::printf("%llu %.3f\n", static_cast<unsigned long long>(exits),
              std::chrono::duration<double>(SteadyClock::now() - begin).count());
  return 0;
}
