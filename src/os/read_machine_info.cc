#include "os/read_machine_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "os/cpu_id.h"
#include "os/cpu_topology.h"
#include "os/dirents.h"
#include "os/file.h"
#include "os/procfs.h"
#include "os/virtual_machine.h"

namespace kepler::os {
namespace {

constexpr double kMaxMhz = 100'000;  // a larger value is not a frequency

/// Returns true if the kernel names the processor. The Arm kernel prints only the part, which CpuInfo stores as the
/// name.
bool IsNamed(const CpuInfo& cpu) { return !cpu.model_name.empty() && cpu.model_name != cpu.part; }

std::string ProcessorName(const std::vector<CpuInfo>& cpus, const std::string& sysfs) {
  const auto named = std::ranges::find_if(cpus, IsNamed);
  if (named != cpus.end()) return named->model_name;
  if (!cpus.empty() && !cpus.front().part.empty())
    return fmt::format("arm {} {}", cpus.front().vendor_id, cpus.front().part);
  const auto board = ReadWholeFile(sysfs + "/firmware/devicetree/base/model");
  return board ? std::string(Trim(board->substr(0, board->find('\0')))) : std::string();
}

uint32_t CountPackages(const std::vector<CpuInfo>& cpus, const std::string& sysfs) {
  std::set<std::string> ids;
  ReadBuffer buffer;
  for (const CpuInfo& cpu : cpus) {
    if (!cpu.physical_id.empty()) {
      ids.insert(cpu.physical_id);
      continue;
    }
    const std::string path =
        fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", sysfs, cpu.processor);
    if (const auto id = ReadNumber<uint32_t>(path, buffer)) ids.insert(std::to_string(*id));  // -1: unknown
  }
  return static_cast<uint32_t>(ids.size());
}

/// Returns the maximum over all clusters, which differ if small and large cores are mixed; 0 without cpufreq.
double MaxFrequencyMhz(const std::string& sysfs) {
  const std::string directory = sysfs + "/devices/system/cpu/cpufreq/";
  const auto policies = ListDir(directory);
  if (!policies) return 0;
  double mhz = 0;
  ReadBuffer buffer;
  for (const std::string& policy : *policies)
    if (const auto khz = ReadNumber<uint32_t>(directory + policy + "/cpuinfo_max_freq", buffer))
      mhz = std::max(mhz, *khz / 1e3);
  return mhz;
}

double CurrentMhz(std::string_view cpuinfo) {
  double mhz = 0;
  Splitter lines(cpuinfo, '\n');
  while (const auto line = lines.Next()) {
    if (!line->starts_with("cpu MHz")) continue;
    const auto value = ParseNumber<double>(Trim(line->substr(std::min(line->find(':'), line->size() - 1) + 1)));
    if (value && *value <= kMaxMhz) mhz = std::max(mhz, *value);  // false for NaN
  }
  return mhz;
}

/// Returns the number of CPUs that share a core with the first CPU; 0 if unknown.
uint32_t ThreadsPerCore(const std::vector<CpuInfo>& cpus, const std::string& sysfs) {
  if (cpus.empty()) return 0;
  const auto list = ReadWholeFile(
      fmt::format("{}/devices/system/cpu/cpu{}/topology/thread_siblings_list", sysfs, cpus.front().processor));
  const auto siblings = list ? ParseCpuList(Trim(*list)) : Result<std::vector<uint32_t>>();
  return siblings ? static_cast<uint32_t>(siblings->size()) : 0;
}

uint32_t MemoryGib(const std::string& procfs) {
  constexpr uint64_t kKibPerGib = uint64_t{1} << 20;
  const auto text = ReadWholeFile(procfs + "/meminfo");
  if (!text) return 0;
  const auto kib = ParseMemTotal(*text);
  return kib ? static_cast<uint32_t>(std::min<uint64_t>(*kib / kKibPerGib, UINT32_MAX)) : 0;
}

}  // namespace

MachineInfo ReadMachineInfo(const std::string& procfs, const std::string& sysfs) {
  const std::string cpuinfo = ReadWholeFile(procfs + "/cpuinfo").value_or("");
  const auto cpus = ParseCpuInfo(cpuinfo).value_or(std::vector<CpuInfo>());
  double mhz = MaxFrequencyMhz(sysfs);
  if (!(mhz > 0 && mhz <= kMaxMhz)) mhz = CurrentMhz(cpuinfo);
  return {.processor = ProcessorName(cpus, sysfs),
          .cpus = static_cast<uint32_t>(cpus.size()),
          .packages = CountPackages(cpus, sysfs),
          .memory_gib = MemoryGib(procfs),
          .max_mhz = static_cast<uint32_t>(std::lround(mhz)),
          .threads_per_core = ThreadsPerCore(cpus, sysfs),
          .cpuid = CpuIdOf(cpuinfo, cpus),
          .is_guest = IsVirtualMachine(procfs, sysfs)};
}

}  // namespace kepler::os
