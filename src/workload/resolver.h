#pragma once
// Resolver: what a process is. Process → container → pod, process → VM. Reads /proc/PID/cmdline only for a candidate
// hypervisor (by its name, or since it holds a machine of KVM), environ and cmdline for a process in a container whose
// name is not known yet, and status of a VM and where no cgroup says whom a process belongs to, and what libvirt keeps
// of a QEMU that has a name; every other process costs a look at its cgroup paths. The caller keeps the answer as long
// as the process is unchanged. Collection thread only.
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

namespace kepler::workload {

/// Whether something of a process was not to be read in time: it is worth another try.
enum class Delayed : uint8_t {
  kNo,
  kPutOff,   // others of its unit, or of the scan, took the time
  kTimedOut  // it keeps its reader waiting itself
};

using hypervisor::Holds;

/// Whom a process belongs to.
struct ProcessOwner {
  cgroup::Owner cgroup;
  std::string container_name;  // HOSTNAME or CONTAINER_NAME of its environment, or from its command line; "" unknown
  std::optional<snapshot::VmIdentity> vm;  // the one that it is, if nobody else has a better claim
  VmOwner vm_owner;                        // only with a vm
  hypervisor::Evidence evidence;           // for it
  Delayed late = Delayed::kNo;
};

class Resolver {
 public:
  /// `procfs`: host.procfs, for files of processes and for 1/root/etc/passwd, which names the users of hypervisors. If
  /// the latter cannot be read (it needs CAP_SYS_PTRACE), /etc/passwd of the agent's own root is used instead: there is
  /// no setting for the host's root directory. `clock` must outlive it.
  Resolver(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits = {});

  /// Before the first Resolve() of a scan: how long it may wait for processes that let nobody read their strings, and
  /// how many descriptors may be looked at.
  void BeginScan() {
    reader_.BeginScan();
    descriptors_.BeginScan();
  }
  /// Whether the process holds a machine of KVM. Not free: for those that have used some CPU time (kvm_descriptors.h).
  /// What fails is counted, and kNotNow.
  [[nodiscard]] Holds HoldsMachine(const cgroup::ProcessInfo& process);
  /// Never fails: what cannot be read is "" and is counted, unless the process is simply gone. What takes too long, or
  /// is not read now for what others of its user took (read_budget.h), is ProcessOwner::late; the latter is not
  /// counted. All processes of a container get the first name that one of them showed. It is kept as long as somebody
  /// holds the `cgroup` of one of them. `holds_machine`: as HoldsMachine() said; such a process is a VM whatever its
  /// name.
  [[nodiscard]] ProcessOwner Resolve(const cgroup::ProcessInfo& process, bool holds_machine = false);
  [[nodiscard]] uint64_t reads_failed() const { return reads_failed_; }

 private:
  static constexpr size_t kFewCgroups = 1024;
  using Strings = std::span<const std::string_view>;
  using Cgroups = std::set<std::weak_ptr<const cgroup::Membership>, std::owner_less<>>;
  struct Known {
    std::string name;  // "" until a process shows one
    Cgroups cgroups;   // of its processes: while one of them is held, it lives
  };

  struct Credentials {
    uint32_t uid = VmOwner::kUnknownUid;
    std::vector<int32_t> pids;  // in each pid namespace that it is in, down from that of host.procfs
  };

  void DetectVm(const cgroup::ProcessInfo& process, bool holds_machine, ProcessOwner& owner);
  /// What libvirt says of the domain `name`, if it is the one that the process runs and the agent may read it. For
  /// those whose command line has no UUID.
  std::optional<hypervisor::LibvirtDomain> ReadDomain(const cgroup::ProcessInfo& process, const std::string& name,
                                                      const Credentials& credentials);
  /// Nothing if the process is gone; kUnknownUid, counted, if they cannot be read.
  std::optional<Credentials> ReadCredentials(const cgroup::ProcessInfo& process);
  std::string NameOf(const ContainerId& container, const cgroup::ProcessInfo& process);
  Known& Meet(const ContainerId& container, const cgroup::ProcessInfo& process);
  /// Drops what has ended, and only that. At twice what lives, so that a look-up does not pay for it.
  void Sweep();
  std::string ReadName(const cgroup::ProcessInfo& process);
  /// Who is charged for what a process costs whoever reads it: its unit, else its user. Nothing if it is gone.
  std::optional<std::string> PayerOf(const cgroup::ProcessInfo& process);
  /// Nothing if the process is gone or late; no strings, counted, if they cannot be read.
  std::optional<Strings> Read(const cgroup::ProcessInfo& process, std::string_view file, size_t max_bytes);
  /// Whether a read failed for want of time; such a failure is noted.
  bool IsLate(const Error& error);
  Status OpenRoot();
  Result<Strings> ReadStrings(const std::string& path, size_t max_bytes);
  void LogLate(const Error& error);
  void LogMalformed(const std::string& path, const Error& error);
  /// Counted, and said once: the cause is a missing privilege, the same for every process it happens to.
  void LogUnreadable(const Error& error, std::string_view file);
  void LogUnreadableDomain(const Error& error);

  std::string procfs_;
  const Clock& clock_;
  UniqueFd root_;
  DeadlineReader reader_;
  hypervisor::KvmDescriptors descriptors_;
  std::vector<uint32_t> trusted_users_;  // root, and those of hypervisors
  os::ReadBuffer status_;
  std::map<ContainerId, Known> known_;
  size_t cgroups_ = 0;  // of all in known_
  size_t sweep_at_ = kFewCgroups;
  uint64_t reads_failed_ = 0;
  struct {
    bool strings = false, domain = false, descriptors = false;
  } said_;
  // Of the process at hand:
  Delayed late_ = Delayed::kNo;
  std::string payer_;  // "" until something of it is read
  log::LogLimiter limiter_;
};

}  // namespace kepler::workload
