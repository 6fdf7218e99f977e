#pragma once
// Shows whether the kernel accounts interrupts and stolen time separately from the time of the interrupted tasks
// (update_rq_clock_task, kernel/sched/core.c). The kernel's build and boot options decide.
#include <cstdint>
#include <string_view>

namespace kepler {

enum class KeptApart : uint8_t { kUnknown, kNo, kYes };

/// Returns the label value.
[[nodiscard]] constexpr std::string_view ToString(KeptApart kept) {
  return kept == KeptApart::kYes ? "apart" : kept == KeptApart::kNo ? "in-task" : "unknown";
}

struct TimeAccounting {
  KeptApart interrupts = KeptApart::kUnknown;  // CONFIG_IRQ_TIME_ACCOUNTING
  KeptApart steal = KeptApart::kUnknown;       // CONFIG_PARAVIRT_TIME_ACCOUNTING, unless booted with no-steal-acc
  bool operator==(const TimeAccounting&) const = default;
};

}  // namespace kepler
