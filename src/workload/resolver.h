#pragma once
// Resolver: what a process is. Process → container → pod, process → VM. Reads /proc/PID/cmdline and status only for a
// candidate hypervisor, and environ and cmdline for a process in a container whose name is not known yet; every other
// process costs a look at its cgroup paths. The caller keeps the answer as long as the process is unchanged. Collection
// thread only.
#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.h"
#include "os/process_info.h"
#include "workload/owner.h"

namespace kepler::workload {

class Resolver {
 public:
  /// `procfs`: host.procfs, for cmdline and environ.
  explicit Resolver(std::string procfs);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Never fails: what cannot be read is "" and is counted, unless the process is simply gone. Waits 100 ms at most for
  /// a process that lets nobody read its strings, and for four of them at once: ProcessOwner::late.
  /// All processes of a container get the first name that one of them showed. It is kept as long as somebody holds the
  /// `cgroup` of one of them.
  [[nodiscard]] ProcessOwner Resolve(const os::ProcessInfo& process);
  [[nodiscard]] uint64_t reads_failed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::workload
