#pragma once
// NodeCpus: reads <procfs>/cpuinfo for kepler_node_cpu_info, again after each change of the online CPUs. Collection
// thread only. A returned list never changes.
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
  /// Reads the file if `online` has changed, the digest of the online CPUs (os/proc_stat.h): the text exceeds a
  /// megabyte on large machines. After a failed read the previous list stays, and the next call retries. `now`: for the
  /// limiter of the warning.
  void Follow(uint64_t online, BootTime now);
  [[nodiscard]] const std::shared_ptr<const std::vector<CpuInfo>>& list() const { return list_; }  // never null

 private:
  std::string procfs_;
  std::optional<uint64_t> online_;  // digest at the read of list_
  std::shared_ptr<const std::vector<CpuInfo>> list_;
  log::LogLimiter limiter_;
};

}  // namespace kepler::pipeline
