#pragma once
// Resolver: what a process is. Process → container → pod, process → VM. Reads /proc/PID/cmdline only for a candidate
// hypervisor, environ and cmdline for a process in a container whose name is not known yet, and status of a VM and
// where no cgroup says whom a process belongs to; every other process costs a look at its cgroup paths. The caller
// keeps the answer as long as the process is unchanged. Collection thread only.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "cgroup/cgroup.h"
#include "cgroup/owner.h"
#include "snapshot/identity.h"
#include "workload/deadline_reader.h"

namespace kepler::workload {

/// Whether something of a process was not to be read in time: it is worth another try.
enum class Late : uint8_t {
  kNo,
  kPutOff,   // others of its unit, or of the scan, took the time
  kTimedOut  // it keeps its reader waiting itself
};

/// Whom a process belongs to.
struct ProcessOwner {
  cgroup::Owner cgroup;
  std::string container_name;  // HOSTNAME or CONTAINER_NAME of its environment, or from its command line; "" unknown
  std::optional<snapshot::VmIdentity> vm;  // the one that it is, if nobody else has a better claim
  VmOwner vm_owner;                        // only where there is a vm
  Late late = Late::kNo;
};

class Resolver {
 public:
  /// `procfs`: host.procfs, for cmdline and environ. `clock` must outlive it.
  Resolver(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Before the first Resolve() of a scan: how long it may wait for processes that let nobody read their strings.
  void BeginScan();
  /// Never fails: what cannot be read is "" and is counted, unless the process is simply gone. What takes too long, or
  /// is not read now for what others of its user took (read_budget.h), is ProcessOwner::late; the latter is not
  /// counted. All processes of a container get the first name that one of them showed. It is kept as long as somebody
  /// holds the `cgroup` of one of them.
  [[nodiscard]] ProcessOwner Resolve(const cgroup::ProcessInfo& process);
  [[nodiscard]] uint64_t reads_failed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::workload
