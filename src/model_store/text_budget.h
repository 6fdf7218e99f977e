#pragma once
// Limits of the text of all models, since the memory of a model is proportional to the size of its file.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/result.h"

namespace kepler::model_store {

struct TextLimits {
  size_t model = size_t{16} << 20;
  size_t all = size_t{64} << 20;
};

/// Counts the bytes of loaded models and of texts that are being read. Thread-safe. The answer of Check() is valid
/// while the caller has the turn.
class TextBudget {
 public:
  explicit TextBudget(TextLimits limits = {}) : limits_(limits) {}

  [[nodiscard]] const TextLimits& limits() const { return limits_; }
  /// Checks whether a model of `bytes` may replace one of `held` bytes. kInvalid if it exceeds the limit of one model,
  /// kUnavailable if it exceeds the limit of all models; the message names the limit.
  [[nodiscard]] Status Check(uint64_t bytes, size_t held) const;
  /// Lets one thread at a time parse a model, because parsing takes several times the memory of the text.
  [[nodiscard]] std::unique_lock<std::mutex> Turn() { return std::unique_lock(turn_); }
  /// Counts a model of `bytes` that has replaced one of `held` bytes. Only the thread with the turn may increase the
  /// sum.
  void Replace(size_t held, size_t bytes) { used_ += bytes - held; }

  /// Counts `bytes` more of texts that are being read. Their sum has the same limit as loaded models; kUnavailable
  /// beyond it. Bytes count when they arrive, so a sender that hangs takes neither the turn nor the room of others.
  [[nodiscard]] Status Claim(size_t bytes);
  void Release(size_t bytes) { reading_ -= bytes; }

 private:
  const TextLimits limits_;
  std::mutex turn_;
  std::atomic<size_t> used_ = 0;
  std::atomic<size_t> reading_ = 0;
};

}  // namespace kepler::model_store
