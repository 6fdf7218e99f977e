#include "top/cpu_rates.h"

#include <chrono>
#include <utility>

#include "base/parse.h"

namespace kepler::top {

std::optional<double> UnixSeconds(std::string_view time) {
  // 2026-11-27T22:00:05
  constexpr size_t kWhole = 19;
  if (time.size() <= kWhole || time.back() != 'Z' || time[4] != '-' || time[7] != '-' || time[10] != 'T' ||
      time[13] != ':' || time[16] != ':')
    return std::nullopt;
  const auto number = [&](size_t begin, size_t length) { return ParseNumber<unsigned>(time.substr(begin, length)); };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const auto hour = number(11, 2), minute = number(14, 2);
  const auto second = ParseNumber<double>(time.substr(17, time.size() - 18));
  if (!year || !month || !day || !hour || !minute || !second || !(*second >= 0 && *second < 61)) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                         std::chrono::day(*day));
  if (!date.ok() || *hour > 23 || *minute > 59) return std::nullopt;
  const auto minutes = std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  return static_cast<double>(std::chrono::sys_seconds(minutes).time_since_epoch().count()) + *second;
}

void CpuRates::Fill(Readings& readings) {
  const std::optional<double> time = UnixSeconds(readings.time);
  if (!time) return;
  if (level_ != readings.level || *time < time_) uses_.clear();
  const double elapsed = *time - std::exchange(time_, *time);
  level_ = readings.level;
  std::unordered_map<std::string, Use> now;
  for (WorkloadReading& row : readings.rows) {
    if (!row.cpu_seconds) continue;
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
