#pragma once
// How much text of models there may be: what a model takes of memory goes by the size of its file.
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

/// Counts what is held, and what is being read. Thread-safe; what Check() said holds while one has the turn.
class TextBudget {
 public:
  explicit TextBudget(TextLimits limits = {}) : limits_(limits) {}

  [[nodiscard]] const TextLimits& limits() const { return limits_; }
  /// Whether `bytes` may come in place of `held` ones. kInvalid for too much of one model, kUnavailable for too much of
  /// all; the message says which limit.
  [[nodiscard]] Status Check(uint64_t bytes, size_t held) const;
  /// For who reads a model, one at a time: meanwhile that takes several times the memory of its text.
  [[nodiscard]] std::unique_lock<std::mutex> Turn() { return std::unique_lock(turn_); }
  /// `bytes` have come in place of `held` ones; more than before only to who has the turn.
  void Replace(size_t held, size_t bytes) { used_ += bytes - held; }

  /// `bytes` more are being read of a text that may come to be held. All that is being read may be as much as all that
  /// is held; kUnavailable for more. It is counted as it comes, and so who hangs has what it sent, and neither the turn
  /// nor the room of the others.
  [[nodiscard]] Status Claim(size_t bytes);
  void Release(size_t bytes) { reading_ -= bytes; }

 private:
  const TextLimits limits_;
  std::mutex turn_;
  std::atomic<size_t> used_ = 0;
  std::atomic<size_t> reading_ = 0;
};

}  // namespace kepler::model_store
