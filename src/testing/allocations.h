#pragma once
// Counts what a test program allocates. It replaces operator new, so it belongs into one file of a program of its own.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kepler::testing {
/// So far, by any thread.
inline std::atomic<uint64_t> allocations = 0;
}  // namespace kepler::testing

// The forms for arrays and without exceptions call these. Inlined in part, they look to g++ 12 like a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  kepler::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  kepler::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  const auto step = static_cast<size_t>(alignment);
  if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
