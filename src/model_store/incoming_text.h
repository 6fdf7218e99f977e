#pragma once
// A text while it is read. The bytes read so far count in the budget until the text is destroyed, even if the sender
// hangs.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "model_store/text_budget.h"

namespace kepler::model_store {

class IncomingText {
 public:
  /// `budget` must outlive it.
  explicit IncomingText(TextBudget& budget) : budget_(budget) {}
  ~IncomingText() { budget_.Release(claimed_); }
  IncomingText(IncomingText&& other) noexcept
      : budget_(other.budget_), claimed_(std::exchange(other.claimed_, 0)), text_(std::move(other.text_)) {}
  IncomingText(const IncomingText&) = delete;
  IncomingText& operator=(const IncomingText&) = delete;

  /// As TextBudget::Claim().
  [[nodiscard]] Status Append(std::string_view piece);
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  TextBudget& budget_;
  size_t claimed_ = 0;
  std::string text_;
};

/// Reads a file of at most `most` bytes. Errors as of ReadSmallFile() and TextBudget::Claim(); each names the file.
[[nodiscard]] Result<IncomingText> ReadIncomingText(const std::string& path, size_t most, TextBudget& budget);

}  // namespace kepler::model_store
