#pragma once
// ReadBudget: decides which files may be read now. A process can delay a scan, or reads for other owners, only by a
// bounded time.
//
// The time of every read is charged to the scan and to the payer: the owner of the process, as far as no process can
// choose its owner. If the budget of the payer is used up, the read waits for the next scan. After a slow read the
// payer waits for a time that doubles with each slow read. A read that has started is always waited for, so the
// remaining time of the scan cannot make its payer count as slow. Pure, not thread-safe.
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
  static constexpr size_t kMaxPayers = 1024;  // maximum number of payers; beyond this, all are forgotten

  explicit ReadBudget(const Limits& limits) : limits_(limits), left_(limits.of_scan) {}

  void BeginScan(BootTime now);
  /// Returns the reason why no file may be read for `payer` now, or "" if reads are allowed.
  [[nodiscard]] std::string_view Refusal(const std::string& payer, BootTime now) const;
  /// Charges a read: its total time, and the part that its payer caused.
  void Charge(const std::string& payer, Nanoseconds in_all, Nanoseconds by_payer, BootTime now);
  /// Pauses the payer: a read was slow again, regardless of the time it took.
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
