#pragma once
// Bytes of request bodies that may be in memory at once.
#include <atomic>
#include <cstdint>
#include <memory>

namespace kepler::http::server {

class BodyBudget {
 public:
  explicit BodyBudget(uint64_t max) : max_(max) {}
  /// Returns null if fewer bytes are left. The bytes are free again when the last owner releases the result: on any
  /// thread, also after the budget was destroyed. Call it on the I/O thread.
  [[nodiscard]] std::shared_ptr<const void> Reserve(uint64_t bytes) const {
    if (bytes > max_ || *reserved_ > max_ - bytes) return nullptr;
    *reserved_ += bytes;
    return {reserved_.get(), [reserved = reserved_, bytes](const void*) { *reserved -= bytes; }};
  }

 private:
  uint64_t max_;
  std::shared_ptr<std::atomic<uint64_t>> reserved_ = std::make_shared<std::atomic<uint64_t>>();
};

}  // namespace kepler::http::server
