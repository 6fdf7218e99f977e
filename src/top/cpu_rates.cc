#include "top/cpu_rates.h"

#include <utility>

#include "base/parse_time.h"

namespace kepler::top {

void CpuRates::Fill(Readings& readings) {
  const auto time = ParseTime(readings.time);
  if (!time) return;
  if (level_ != readings.level || *time < time_) uses_.clear();
  const double elapsed = *time - std::exchange(time_, *time);
  level_ = readings.level;
  std::unordered_map<std::string, Use> now;
  for (WorkloadReading& row : readings.rows) {
    // An ended process may have the id of a running one.
    if (!row.cpu_seconds || !row.running) continue;
    Use use{.total = *row.cpu_seconds};
    if (const auto before = uses_.find(row.id); before != uses_.end()) {
      const double used = *row.cpu_seconds - before->second.total;
      use.cores = elapsed > 0 && used >= 0 ? std::optional(used / elapsed) : before->second.cores;
    }
    if (!row.cpu_cores) row.cpu_cores = use.cores;
    now.insert_or_assign(row.id, use);
  }
  uses_ = std::move(now);
}

}  // namespace kepler::top
