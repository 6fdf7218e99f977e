#pragma once
// Counts what a test program allocates. It replaces operator new, so it belongs into one file of a program of its own.
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kepler::testing {
/// So far, by any thread.
inline std::atomic<uint64_t> allocations = 0;
/// Bytes that are in use now, and that were at most since ResetPeak().
inline std::atomic<uint64_t> live_bytes = 0;
inline std::atomic<uint64_t> peak_bytes = 0;
/// Of this thread: larger allocations fail.
inline thread_local size_t largest_allocation = SIZE_MAX;
inline void ResetPeak() { peak_bytes = live_bytes.load(); }

inline void* Count(void* memory) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t size = malloc_usable_size(memory);
  const uint64_t live = live_bytes.fetch_add(size, std::memory_order_relaxed) + size;
  uint64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  return memory;
}
inline void Release(void* memory) {
  live_bytes.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}
}  // namespace kepler::testing

// One file of a program includes this. The analyzer takes a release that counts for one too many.
// NOLINTBEGIN(misc-definitions-in-headers, clang-analyzer-cplusplus.NewDelete)
// The forms for arrays and without exceptions call these. Inlined in part, they look to g++ 12 like a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  if (size > kepler::testing::largest_allocation) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return kepler::testing::Count(memory);
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return kepler::testing::Count(memory);
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { kepler::testing::Release(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { kepler::testing::Release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  kepler::testing::Release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  kepler::testing::Release(memory);
}
// NOLINTEND(misc-definitions-in-headers, clang-analyzer-cplusplus.NewDelete)
