#pragma once
// What kepler_node_cpu_info shows: <procfs>/cpuinfo, read again when other processors are online. Collection thread
// only; the list that it hands out never changes.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/cpu_info.h"
#include "base/log.h"

namespace kepler::pipeline {

class NodeCpus {
 public:
  explicit NodeCpus(std::string procfs);
  /// `online`: a digest of the processors that are online (os/proc_stat.h). Costs nothing while it stays the same: the
  /// text exceeds a megabyte on large machines. What cannot be read leaves the former list in force and is read again
  /// at the next call. `now`: repeats of the warning are suppressed.
  void Follow(uint64_t online, BootTime now);
  [[nodiscard]] const std::shared_ptr<const std::vector<CpuInfo>>& list() const { return list_; }  // not null

 private:
  std::string procfs_;
  std::optional<uint64_t> online_;  // what list_ was read at
  std::shared_ptr<const std::vector<CpuInfo>> list_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
