// The bytes of /proc/PID/environ and cmdline of a process in a container: written by the process itself.
#include <vector>

#include "fuzz.h"
#include "workload/container_name.h"
#include "workload/deadline_reader.h"

void Fuzz(std::string_view bytes) {
  using kepler::workload::Extent;
  std::vector<std::string_view> strings;
  for (const auto extent : {Extent::kPrefix, Extent::kWhole}) {
    kepler::workload::SplitStrings(bytes, extent, strings);
    if (!strings.empty() && strings.back().empty()) std::abort();
    for (const auto name :
         {kepler::workload::ContainerNameOfEnvironment(strings), kepler::workload::ContainerNameOfArguments(strings)}) {
      if (name.find('\0') != std::string_view::npos || name.size() > bytes.size()) std::abort();
    }
  }
}
