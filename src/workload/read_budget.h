#pragma once
// ReadBudget: whose files are read now, so that nobody's process costs a scan, or others, more than a bounded wait.
//
// All that is read is charged, to the scan and to a payer: whom its process belongs to, as far as no process can choose
// that. A payer whose share of a scan is used up waits for the next scan; one that was slow waits for a time that
// doubles with each. A read that was begun is waited for, so that nobody is judged by what others left of the scan.
// Pure, not thread-safe.
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
  struct Limits {
    Nanoseconds of_scan = std::chrono::milliseconds(200);
    Nanoseconds of_payer = std::chrono::milliseconds(20);
    Nanoseconds slow = std::chrono::milliseconds(10);
  };
  static constexpr std::chrono::seconds kFirstPause{5}, kLongestPause{80};
  static constexpr size_t kMaxPayers = 1024;  // beyond, all are forgotten

  explicit ReadBudget(const Limits& limits) : limits_(limits), left_(limits.of_scan) {}

  void BeginScan(BootTime now);
  /// Why nothing is read on behalf of `payer` now, "" if it may be.
  [[nodiscard]] std::string_view Refusal(const std::string& payer, BootTime now) const;
  /// What a read took in all, and how much of it its payer is to blame for.
  void Charge(const std::string& payer, Nanoseconds in_all, Nanoseconds by_payer, BootTime now);
  /// It was slow again, however much it took.
  void Pause(const std::string& payer, BootTime now) { Charge(payer, {}, limits_.slow, now); }

 private:
  struct Payer {
    Nanoseconds used{0};  // in this scan
    Nanoseconds pause{0};
    BootTime paused_until{};
  };
  Limits limits_;
  Nanoseconds left_;
  std::map<std::string, Payer> payers_;
};

}  // namespace kepler::workload
