#include "energy/hwmon/acpi_meter.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "energy/hwmon/chip_rules.h"

namespace kepler::energy::hwmon {
namespace {

constexpr std::array<std::string_view, 3> kCpuLabels = {"cpu_power", "grace_power", "sysio_power"};
constexpr std::string_view kModuleLabel = "module_power";

}  // namespace

std::string GraceLabel(std::string_view oem_info) {
  constexpr std::string_view kSocket = "_socket_";
  const std::string name = CleanName(oem_info);
  const size_t socket = name.find(kSocket);
  if (socket == std::string::npos || !ParseNumber<unsigned>(std::string_view(name).substr(socket + kSocket.size())))
    return {};
  std::string label = name.substr(0, socket);
  return IsCpuLabel(label) || label == kModuleLabel ? label : std::string();
}

bool IsCpuLabel(std::string_view label) { return std::ranges::find(kCpuLabels, label) != kCpuLabels.end(); }

}  // namespace kepler::energy::hwmon
