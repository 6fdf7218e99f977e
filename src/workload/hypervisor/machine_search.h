#pragma once
// MachineSearch: when the descriptors of one process are read to find a KVM machine (kvm_descriptors.h). A process that
// used kFirstLook of CPU time is searched, and again whenever its CPU time has doubled. Pure.
#include <chrono>
#include <cstdint>

#include "base/units.h"
#include "workload/hypervisor/kvm_descriptors.h"

namespace kepler::workload::hypervisor {

class MachineSearch {
 public:
  /// CPU time before the first look. A machine uses more to boot. A look at an ordinary process costs about 70 us, one
  /// at many descriptors 0.8 ms. That is the maximum cost per 100 ms of CPU time of processes that come and go.
  /// kvm_descriptors.h has the limit of a scan.
  static constexpr std::chrono::milliseconds kFirstLook{100};

  void Use(Nanoseconds cpu) { used_ += cpu; }
  [[nodiscard]] bool IsDue() const { return !holds_ && used_ >= Due(); }
  /// The result of a look that was due. kNotNow: the process stays due.
  void Found(Holds holds) {
    if (holds == Holds::kNotNow) return;
    while (used_ >= Due()) ++looks_;
    holds_ = holds == Holds::kYes;
  }
  /// The result of a look at a process that held a machine before: exec closes its descriptor.
  void Confirm(Holds holds) {
    unsure_ = holds == Holds::kNotNow;
    if (holds != Holds::kNo) return;
    holds_ = false;
    Restart();
  }
  /// The process runs another program, which creates its machine as late as any.
  void Restart() {
    used_ = {};
    looks_ = 0;
  }
  /// State of the same process in another slot: whether it holds a machine is known, the CPU time is not.
  [[nodiscard]] MachineSearch Moved() const {
    MachineSearch moved;
    moved.holds_ = holds_;
    return moved;
  }

  /// Whether the process held a machine at the latest look that had a result.
  [[nodiscard]] bool holds() const { return holds_; }
  /// The process held a machine and changed since; the look after that had no result.
  [[nodiscard]] bool unsure() const { return unsure_; }

 private:
  [[nodiscard]] Nanoseconds Due() const { return kFirstLook * (int64_t{1} << looks_); }

  Nanoseconds used_{0};  // since the start of the program, or of the search
  uint8_t looks_ = 0;    // that were due until now
  bool holds_ = false;
  bool unsure_ = false;
};

}  // namespace kepler::workload::hypervisor
