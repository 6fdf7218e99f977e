#pragma once
// KvmDescriptors: whether a process holds a virtual machine of KVM, whatever its program is called.
//
// KVM_CREATE_VM gives its caller a descriptor that /proc/PID/fd shows as "anon_inode:kvm-vm" (Linux
// virt/kvm/kvm_main.c, kvm_dev_ioctl_create_vm). That is the test: /dev/kvm itself is also opened by those who only ask
// what it can do (libvirtd, virt-host-validate), and vCPUs ("kvm-vcpu:0") come after the machine.
//
// Other users' descriptors are shown to whom ptrace_may_access() lets (fs/proc/fd.c: CAP_SYS_PTRACE); the rest hold
// none. Nobody can keep a reader of them waiting: they are found without the memory of their process, and a link's text
// comes without asking its file system. A look costs some 20 us and 3 us per descriptor (bench/workload_bench.cc), so
// it is for those that have used a multiple of that (workload_index.h). Not thread-safe.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "os/dirents.h"
#include "os/file.h"

namespace kepler::workload::hypervisor {

enum class Holds : uint8_t {
  kNo,
  kYes,
  kNotNow  // the looks of this scan are used up
};

class KvmDescriptors {
 public:
  /// Of a process the lowest ones are read: a machine is made before what is plugged into it.
  static constexpr size_t kMaxOfProcess = 512;
  /// Descriptors in a scan, about 25 ms. A process counts as kLookCost of them and those that are read.
  static constexpr size_t kMaxOfScan = 8192;
  static constexpr size_t kLookCost = 8;

  explicit KvmDescriptors(std::string procfs) : procfs_(std::move(procfs)) {}

  void BeginScan();
  /// kNo also where they cannot be read, and where this kernel has no KVM (<procfs>/misc).
  [[nodiscard]] Holds Look(int32_t pid);

 private:
  /// Once per scan, if anybody is looked at.
  bool HaveKvm();

  std::string procfs_;
  UniqueFd root_;
  os::DirReader reader_{4096};
  os::ReadBuffer buffer_;
  size_t left_ = kMaxOfScan;
  enum class Kvm : uint8_t { kUnknown, kAbsent, kPresent } kvm_ = Kvm::kUnknown;
};

}  // namespace kepler::workload::hypervisor
