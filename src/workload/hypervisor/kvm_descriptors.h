#pragma once
// KvmDescriptors: detects whether a process holds a KVM virtual machine, whatever the name of its program.
//
// KVM_CREATE_VM returns a descriptor that /proc/PID/fd shows as "anon_inode:kvm-vm" (Linux virt/kvm/kvm_main.c,
// kvm_dev_ioctl_create_vm). The check looks for this descriptor. Programs that only query capabilities also open
// /dev/kvm (libvirtd, virt-host-validate). vCPUs ("kvm-vcpu:0") are created after the machine.
//
// Reading another user's descriptors needs ptrace_may_access() and access to a directory of mode 0500 (fs/proc/fd.c:
// CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH). Without these rights a process appears to hold no machine.
// No process can delay the reader: descriptors are found without reading the memory of the process. The text of a link
// is returned without a request to its file system.
// A check costs about 20 us plus 3 us per descriptor (bench/workload_bench.cc), at most 0.8 ms. However, the kernel
// scans the whole descriptor table. A table of a million entries with few descriptors costs 1 ms. Therefore only
// processes that used a multiple of that CPU time are checked (workload_index.h). Each scan has one time limit for all
// checks. Not thread-safe.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "os/dirents.h"
#include "os/file.h"

namespace kepler::workload::hypervisor {

enum class Holds : uint8_t {
  kNo,
  kYes,
  kNotNow  // the limit of this scan is reached, or the descriptors were unreadable
};

class KvmDescriptors {
 public:
  /// Maximum number of descriptors read per process, lowest first: a machine is created before its devices.
  static constexpr size_t kMaxOfProcess = 256;
  /// Maximum number of descriptors per scan, about 25 ms. Each process counts as kLookCost plus its descriptors.
  static constexpr size_t kMaxOfScan = 8192;
  static constexpr size_t kLookCost = 8;
  /// No check begins after this time, whatever the number of descriptors.
  static constexpr std::chrono::milliseconds kMaxTimeOfScan{25};

  /// `clock` measures that time and must outlive the object.
  KvmDescriptors(std::string procfs, const Clock& clock) : procfs_(std::move(procfs)), clock_(clock) {}

  void BeginScan();
  /// Returns kNo also for a process that is gone, for lack of rights, and if this kernel has no KVM (<procfs>/misc).
  /// Errors are as FailErrno and may be retried (no free descriptor, no memory).
  [[nodiscard]] Result<Holds> Look(int32_t pid);

 private:
  /// Runs once per scan, before the first check.
  Result<bool> HaveKvm();
  /// Adds the number of descriptors read to `seen`.
  Result<bool> Find(int32_t pid, size_t& seen);

  std::string procfs_;
  const Clock& clock_;
  UniqueFd root_;
  os::DirReader reader_{4096};
  os::ReadBuffer buffer_;
  size_t left_ = kMaxOfScan;
  Nanoseconds time_left_ = kMaxTimeOfScan;
  enum class Kvm : uint8_t { kUnknown, kAbsent, kPresent } kvm_ = Kvm::kUnknown;
};

}  // namespace kepler::workload::hypervisor
