// The bytes of /proc/PID/environ and cmdline of a process in a container: written by the process itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "workload/container_name.h"
#include "workload/deadline_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kepler::workload::Extent;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> strings;
  for (const auto extent : {Extent::kPrefix, Extent::kWhole}) {
    kepler::workload::SplitStrings(bytes, extent, strings);
    if (!strings.empty() && strings.back().empty()) std::abort();
    for (const auto name :
         {kepler::workload::ContainerNameOfEnvironment(strings), kepler::workload::ContainerNameOfArguments(strings)}) {
      if (name.find('\0') != std::string_view::npos || name.size() > size) std::abort();
    }
  }
  return 0;
}
