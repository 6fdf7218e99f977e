#include "workload/hypervisor/kvm_descriptors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace kepler::workload::hypervisor {
namespace {

constexpr std::string_view kMachine = "anon_inode:kvm-vm";

/// Whether <procfs>/misc ("232 kvm", a line per driver) names /dev/kvm.
bool NamesKvm(std::string_view misc) {
  while (!misc.empty()) {
    const auto line = misc.substr(0, misc.find('\n'));
    misc.remove_prefix(std::min(line.size() + 1, misc.size()));
    if (line.ends_with(" kvm")) return true;
  }
  return false;
}

}  // namespace

void KvmDescriptors::BeginScan() {
  left_ = kMaxOfScan;
  kvm_ = Kvm::kUnknown;
}

bool KvmDescriptors::HaveKvm() {
  if (kvm_ != Kvm::kUnknown) return kvm_ == Kvm::kPresent;
  kvm_ = Kvm::kAbsent;
  if (!root_.valid()) {
    auto root = os::OpenDir(procfs_);
    if (!root) return false;
    root_ = *std::move(root);
  }
  const auto misc = os::ReadFileAt(root_.get(), "misc", buffer_);
  if (misc && NamesKvm(*misc)) kvm_ = Kvm::kPresent;
  return kvm_ == Kvm::kPresent;
}

Holds KvmDescriptors::Look(int32_t pid) {
  if (!HaveKvm()) return Holds::kNo;
  if (left_ == 0) return Holds::kNotNow;
  const std::string path = fmt::format("{}/fd", pid);
  size_t seen = 0;
  bool found = false;
  if (const auto dir = os::OpenDirAt(root_.get(), path.c_str())) {
    // What ends while it is read holds nothing.
    static_cast<void>(reader_.ForEachWhile(dir->get(), path, [&](const os::DirEntry& entry) {
      ++seen;
      // A NUL byte follows the name. NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
      const auto target = os::ReadLinkAt(dir->get(), entry.name.data(), buffer_);
      found = target && *target == kMachine;
      return !found && seen < kMaxOfProcess;
    }));
  }
  left_ -= std::min(left_, kLookCost + seen);
  return found ? Holds::kYes : Holds::kNo;
}

}  // namespace kepler::workload::hypervisor
