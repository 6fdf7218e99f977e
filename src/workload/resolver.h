#pragma once
// Resolver: finds the workload of a process: process → container → pod, process → VM. The paths of its cgroups are read
// for every process. Other files are read only for some processes:
// * cmdline: candidate hypervisors (by name, or with a KVM machine);
// * environ and cmdline: processes in a container without a known name;
// * status: VMs, and processes without an owner in their cgroup paths;
// * libvirt's status file: a QEMU with a name, unless it has a UUID and any user may have started it.
// The caller caches the result while the process is unchanged. Collection thread only.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cgroup/cgroup.h"
#include "cgroup/owner.h"
#include "os/file.h"
#include "snapshot/identity.h"
#include "workload/deadline_reader.h"
#include "workload/hypervisor/evidence.h"
#include "workload/hypervisor/kvm_descriptors.h"
#include "workload/hypervisor/libvirt_status.h"
#include "workload/hypervisor/vm.h"
#include "workload/passwd_file.h"

namespace kepler::workload {

/// Shows whether a file of a process could not be read in time, so that a retry is worthwhile.
enum class Delayed : uint8_t {
  kNo,
  kPutOff,   // other processes of its unit, or of the scan, used up the time
  kTimedOut  // the process itself delays the reader
};

using hypervisor::Holds;

/// The workload that owns a process.
struct ProcessOwner {
  cgroup::Owner cgroup;
  // HOSTNAME or CONTAINER_NAME in its environment, or a name in its command line; "" if unknown
  std::string container_name;
  std::optional<snapshot::VmIdentity> vm;  // the VM that the process runs, unless another process has a better claim
  VmOwner vm_owner;                        // set only if `vm` is set
  hypervisor::Evidence evidence;           // evidence for the VM
  Delayed late = Delayed::kNo;
};

class Resolver {
 public:
  /// `procfs`: host.procfs, for files of processes and for the users of hypervisors (passwd_file.h). `clock` must
  /// outlive the resolver.
  Resolver(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits = {});

  /// Call before the first Resolve() of a scan. Resets the time for slow processes and the number of descriptors that
  /// the scan may read, and once a minute reads the users of hypervisors.
  void BeginScan();
  /// Returns whether the process holds a KVM machine. The check is expensive, so call it only for processes that have
  /// used some CPU time (kvm_descriptors.h). A failure is counted and returned as kNotNow.
  [[nodiscard]] Holds HoldsMachine(const cgroup::ProcessInfo& process);
  /// Never fails. An unreadable text is "" and is counted, unless the process is gone. ProcessOwner::late shows that a
  /// read took too long, or was put off to protect the scan (read_budget.h). A read that was put off is not counted.
  /// All processes of a container get the first name found in one of them. The name is kept while the `cgroup` of one
  /// of them is in use. `holds_machine`: the result of HoldsMachine(). If it is true, the process is a VM, whatever its
  /// name.
  [[nodiscard]] ProcessOwner Resolve(const cgroup::ProcessInfo& process, bool holds_machine = false);
  [[nodiscard]] uint64_t reads_failed() const { return reads_failed_; }

 private:
  static constexpr size_t kFewCgroups = 1024;
  using Strings = std::span<const std::string_view>;
  using Cgroups = std::set<std::weak_ptr<const cgroup::Membership>, std::owner_less<>>;
  struct Known {
    std::string name;  // "" until a process shows a name
    Cgroups cgroups;   // cgroups of its processes: the container lives while one of them is in use
  };

  struct Credentials {
    uint32_t uid = kUnknownUid;
    std::vector<int32_t> pids;  // its pid in each pid namespace, from that of host.procfs downwards
  };

  void DetectVm(const cgroup::ProcessInfo& process, bool holds_machine, ProcessOwner& owner);
  /// Completes `vm` and `metadata` from libvirt's data about the domain.
  void AskLibvirt(const cgroup::ProcessInfo& process, Strings argv, const Credentials& credentials,
                  const hypervisor::Evidence& evidence, hypervisor::Vm& vm, snapshot::VmMetadata& metadata);
  /// Reads libvirt's data about the domain `name`, if the process runs that domain and the agent may read the file.
  /// `has_uuid`: only metadata is missing, so an unreadable file is not counted.
  std::optional<hypervisor::LibvirtDomain> ReadDomain(const cgroup::ProcessInfo& process, const std::string& name,
                                                      const Credentials& credentials, bool has_uuid);
  /// Returns nothing if the process is gone; kUnknownUid, counted, if the ids are unreadable.
  std::optional<Credentials> ReadCredentials(const cgroup::ProcessInfo& process);
  std::string NameOf(const ContainerId& container, const cgroup::ProcessInfo& process);
  Known& Meet(const ContainerId& container, const cgroup::ProcessInfo& process);
  /// Drops ended containers. Runs when the table has twice the number of living entries, so a single look-up stays
  /// cheap.
  void Sweep();
  std::string ReadName(const cgroup::ProcessInfo& process);
  /// Returns the payer for all reads of a process: its unit, otherwise its user. Empty if the process is gone.
  std::optional<std::string> PayerOf(const cgroup::ProcessInfo& process);
  /// Returns nothing if the process is gone or slow; an empty list, counted, if the file is unreadable.
  std::optional<Strings> Read(const cgroup::ProcessInfo& process, std::string_view file, size_t max_bytes);
  /// Returns true, and records the delay, if a read failed for lack of time.
  bool IsOverdue(const Error& error);
  Status OpenRoot();
  Result<Strings> ReadStrings(const std::string& path, size_t max_bytes);
  void LogOverdue(const Error& error);
  void LogMalformed(const std::string& path, const Error& error);
  /// Counts the failure and logs it once: the cause is a missing privilege, the same for every affected process.
  void LogUnreadable(const Error& error, std::string_view file);
  void LogUnreadableDomain(const Error& error, bool has_uuid);

  std::string procfs_;
  const Clock& clock_;
  UniqueFd root_;
  DeadlineReader reader_;
  hypervisor::KvmDescriptors descriptors_;
  PasswdFile passwd_;
  std::vector<uint32_t> hypervisor_users_;
  os::ReadBuffer status_;
  std::map<ContainerId, Known> known_;
  size_t cgroups_ = 0;  // total number of cgroups in known_
  size_t sweep_at_ = kFewCgroups;
  uint64_t reads_failed_ = 0;
  struct {
    bool strings = false, domain = false, metadata = false, descriptors = false;
  } said_;
  // State of the current process:
  Delayed late_ = Delayed::kNo;
  std::string payer_;  // "" until a file of the process is read
  log::LogLimiter limiter_;
};

}  // namespace kepler::workload
