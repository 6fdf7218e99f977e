#pragma once
// ReadBudget: whose files are read now, so that nobody's process costs a look, or others, more than a bounded wait.
//
// All that is read is charged, to the look and to a payer: who would be the one to make it slow. A payer whose share of
// a look is used up waits for the next look; one that was slow waits for a time that doubles with each. A read that was
// begun is waited for, so that nobody is judged by what others left of the look: a look takes kOfLook and one read
// more. Pure, not thread-safe.
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::workload {

class ReadBudget {
 public:
  static constexpr std::chrono::milliseconds kOfLook{200}, kOfPayer{20};
  static constexpr std::chrono::milliseconds kSlow{10};
  static constexpr std::chrono::seconds kFirstPause{5}, kLongestPause{80};
  static constexpr size_t kMaxPayers = 1024;  // beyond, all are forgotten

  void BeginLook(BootTime now);
  /// Why nothing is read on behalf of `payer` now, "" if it may be.
  [[nodiscard]] std::string_view Refusal(const std::string& payer, BootTime now) const;
  /// What a read took in all, and how much of it its payer is to blame for.
  void Charge(const std::string& payer, Nanoseconds in_all, Nanoseconds by_payer, BootTime now);

 private:
  struct Payer {
    Nanoseconds used{0};  // in this look
    Nanoseconds pause{0};
    BootTime paused_until{};
  };
  Nanoseconds left_ = kOfLook;
  std::map<std::string, Payer> payers_;
};

}  // namespace kepler::workload
