#pragma once
// Which processors are in which socket and die, and which of them are online: <sysfs>/devices/system/cpu.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"
#include "base/result.h"
#include "os/file.h"

namespace kepler::os {

/// A list as the kernel writes it, "0-3,8": {0, 1, 2, 3, 8}. "" is an empty list. kMalformed for anything else, and for
/// numbers from 65,536 on.
[[nodiscard]] Result<std::vector<uint32_t>> ParseCpuList(std::string_view text);

/// A socket, or one die of it.
struct CpuPart {
  uint32_t package = 0;
  std::optional<uint32_t> die;
  bool operator==(const CpuPart&) const = default;
};

/// A processor that is offline says no more where it is, so what was seen of it is remembered.
class CpuTopology {
 public:
  explicit CpuTopology(std::string sysfs) : root_(std::move(sysfs) + "/devices/system/cpu/") {}
  /// Reads where the processors are that are online and not known yet; what cannot be read stays unknown.
  void Learn();
  /// Whether processors of this part are known and all of them are offline by now. False where that cannot be read.
  [[nodiscard]] bool IsOffline(const CpuPart& part);

 private:
  [[nodiscard]] Result<std::vector<uint32_t>> Online();

  std::string root_;
  std::map<uint32_t, CpuPart> place_;  // by processor; with its die
  ReadBuffer buffer_;
};

/// kMalformed if there is not one processor in it.
[[nodiscard]] Result<std::vector<CpuInfo>> ParseCpuInfo(std::string_view text);
[[nodiscard]] Result<std::vector<CpuInfo>> ReadCpuInfo(const std::string& procfs);

}  // namespace kepler::os
