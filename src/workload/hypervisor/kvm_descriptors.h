#pragma once
// KvmDescriptors: whether a process holds a virtual machine of KVM, whatever its program is called.
//
// KVM_CREATE_VM gives its caller a descriptor that /proc/PID/fd shows as "anon_inode:kvm-vm" (Linux
// virt/kvm/kvm_main.c, kvm_dev_ioctl_create_vm). That is the test: /dev/kvm itself is also opened by those who only ask
// what it can do (libvirtd, virt-host-validate), and vCPUs ("kvm-vcpu:0") come after the machine.
//
// Other users' descriptors are shown to whom ptrace_may_access() lets and who may list their directory, mode 0500
// (fs/proc/fd.c: CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH); the rest hold none. Nobody can keep a reader of them waiting:
// they are found without the memory of their process, and a link's text comes without asking its file system. A look
// costs some 20 us and 3 us per descriptor (bench/workload_bench.cc), 0.8 ms at worst; but the kernel goes through the
// whole table, and one of a million entries with few descriptors in it costs 1 ms. So a look is for those that have
// used a multiple of that (workload_index.h), and a scan has a time for all. Not thread-safe.
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
  kNotNow  // the looks of this scan are used up, or it could not be read
};

class KvmDescriptors {
 public:
  /// Of a process the lowest ones are read: a machine is made before what is plugged into it.
  static constexpr size_t kMaxOfProcess = 256;
  /// Descriptors in a scan, about 25 ms. A process counts as kLookCost of them and those that are read.
  static constexpr size_t kMaxOfScan = 8192;
  static constexpr size_t kLookCost = 8;
  /// Whatever they cost, no look begins after so long.
  static constexpr std::chrono::milliseconds kMaxTimeOfScan{25};

  /// `clock`: of that time; must outlive it.
  KvmDescriptors(std::string procfs, const Clock& clock) : procfs_(std::move(procfs)), clock_(clock) {}

  void BeginScan();
  /// kNo also of a process that is gone, for whom may not see them, and where this kernel has no KVM (<procfs>/misc).
  /// Errors: as FailErrno, of what is worth another try (no descriptor to be had, no memory).
  [[nodiscard]] Result<Holds> Look(int32_t pid);

 private:
  /// Once per scan, if anybody is looked at.
  Result<bool> HaveKvm();
  /// Counts those that were read into `seen`.
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
