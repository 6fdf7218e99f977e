#pragma once
// Reads the socket and die of each CPU, and the list of online CPUs: <sysfs>/devices/system/cpu.
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

/// Parses a list in the kernel's format, "0-3,8": {0, 1, 2, 3, 8}. "" is an empty list. Returns kMalformed for any
/// other text, and for numbers from 65,536 on.
[[nodiscard]] Result<std::vector<uint32_t>> ParseCpuList(std::string_view text);

/// A socket, or one die of a socket.
struct CpuPart {
  uint32_t package = 0;
  std::optional<uint32_t> die;
  bool operator==(const CpuPart&) const = default;
};

struct PlacedCpu {
  uint32_t cpu = 0;
  CpuPart part;
};

/// Caches the places of CPUs, because the kernel does not report the place of an offline CPU.
class CpuTopology {
 public:
  explicit CpuTopology(std::string sysfs) : root_(std::move(sysfs) + "/devices/system/cpu/") {}
  /// Reads the places of online CPUs that are not known yet. An unreadable place stays unknown.
  void Learn();
  /// Returns true if CPUs of this part are known and all of them are offline now. Returns false if the online list is
  /// unreadable.
  [[nodiscard]] bool IsOffline(const CpuPart& part);
  /// Returns the numbers of the online CPUs, ascending.
  [[nodiscard]] Result<std::vector<uint32_t>> Online();
  /// Returns those of `cpus` that Learn() found a place for, in the same order.
  [[nodiscard]] std::vector<PlacedCpu> PlacesOf(const std::vector<uint32_t>& cpus) const;
  /// Returns true if a package is known to have several dies.
  [[nodiscard]] bool HasDies() const;

 private:
  std::string root_;
  std::map<uint32_t, CpuPart> place_;  // socket and die by CPU
  ReadBuffer buffer_;
};

/// kMalformed if the text contains no CPU.
[[nodiscard]] Result<std::vector<CpuInfo>> ParseCpuInfo(std::string_view text);
[[nodiscard]] Result<std::vector<CpuInfo>> ReadCpuInfo(const std::string& procfs);

}  // namespace kepler::os
