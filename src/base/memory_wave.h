#pragma once
// MemoryWave: decides when free memory is returned to the kernel. glibc keeps small free blocks. malloc_trim() returns
// them to the kernel but takes milliseconds, so it is called only at the end of a peak.
// Pure; not thread-safe.
#include <algorithm>
#include <cstddef>

namespace kepler {

class MemoryWave {
 public:
  /// A peak below `min_peak` does not count as a wave.
  explicit MemoryWave(size_t min_peak) : min_peak_(min_peak) {}

  /// Records the current size: bytes, or another number that memory use grows with.
  void Note(size_t size) {
    size_ = size;
    peak_ = std::max(peak_, size);
  }
  /// Returns true if at most a quarter of the peak is left.
  [[nodiscard]] bool over() const { return peak_ >= min_peak_ && size_ <= peak_ / 4; }
  /// Call when the memory was returned.
  void End() { peak_ = size_; }

 private:
  const size_t min_peak_;
  size_t size_ = 0;
  size_t peak_ = 0;  // largest size since the last End()
};

}  // namespace kepler
