#pragma once
// The RAPL interfaces of this machine in the order of preference, and those that must not be opened.
#include <string>
#include <vector>

#include "energy/rapl/perf_event.h"
#include "energy/rapl/rapl_source.h"

namespace kepler::energy::rapl {

struct RaplOptions {
  std::string sysfs;
  std::vector<std::string> zones;            // as of PowercapSource
  bool perf_force = false;                   // prefer perf, also in a virtual machine
  bool msr_enabled = false;                  // without it, no msr device is ever opened
  bool msr_force = false;                    // prefer MSR, also in a virtual machine
  std::string msr_device_path = "/dev/cpu";  // directory with the msr device of each CPU, as N/msr
  bool is_guest = false;  // virtual machine: RAPL registers are often missing or always read 0, and the
                          // kernel may log a call trace for each access
  PerfOpener perf_opener = OpenPerfCounter;
};

/// powercap, perf, msr; forced interfaces first. `clock` must outlive the sources.
[[nodiscard]] std::vector<RaplInterface> ListRaplInterfaces(const RaplOptions& options, const Clock& clock);

}  // namespace kepler::energy::rapl
