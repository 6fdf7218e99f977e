#pragma once
// MemoryWave: tells when memory that was in use for a while may go back to the kernel. glibc keeps small blocks that
// are free; malloc_trim() gives them back and takes milliseconds, so it is worth its time at the end of a wave only.
// Pure; not thread-safe.
#include <algorithm>
#include <cstddef>

namespace kepler {

class MemoryWave {
 public:
  /// A peak below `min_peak` is no wave.
  explicit MemoryWave(size_t min_peak) : min_peak_(min_peak) {}

  /// What is in use now: bytes, or anything that memory grows with.
  void Note(size_t size) {
    size_ = size;
    peak_ = std::max(peak_, size);
  }
  /// No more than a quarter of a wave is left.
  [[nodiscard]] bool over() const { return peak_ >= min_peak_ && size_ <= peak_ / 4; }
  /// The memory was given back.
  void End() { peak_ = size_; }

 private:
  const size_t min_peak_;
  size_t size_ = 0;
  size_t peak_ = 0;  // since the last End()
};

}  // namespace kepler
