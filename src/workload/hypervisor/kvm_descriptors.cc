#include "workload/hypervisor/kvm_descriptors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace kepler::workload::hypervisor {
namespace {

constexpr std::string_view kMachine = "anon_inode:kvm-vm";

/// Returns true if <procfs>/misc ("232 kvm", a line per driver) lists /dev/kvm.
bool NamesKvm(std::string_view misc) {
  while (!misc.empty()) {
    const auto line = misc.substr(0, misc.find('\n'));
    misc.remove_prefix(std::min(line.size() + 1, misc.size()));
    if (line.ends_with(" kvm")) return true;
  }
  return false;
}

/// Returns true if the error is normal: the process is gone, or its descriptors are not readable.
bool IsNormal(const Error& error) { return error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kPermission; }

}  // namespace

void KvmDescriptors::BeginScan() {
  left_ = kMaxOfScan;
  time_left_ = kMaxTimeOfScan;
  kvm_ = Kvm::kUnknown;
}

Result<bool> KvmDescriptors::HaveKvm() {
  if (kvm_ != Kvm::kUnknown) return kvm_ == Kvm::kPresent;
  if (!root_.valid()) {
    auto root = os::OpenDir(procfs_);
    if (!root && IsNormal(root.error())) return false;
    if (!root) return std::unexpected(std::move(root).error());
    root_ = *std::move(root);
  }
  const auto misc = os::ReadFileAt(root_.get(), "misc", buffer_);
  if (!misc && !IsNormal(misc.error())) return std::unexpected(misc.error());
  kvm_ = misc && NamesKvm(*misc) ? Kvm::kPresent : Kvm::kAbsent;
  return kvm_ == Kvm::kPresent;
}

Result<bool> KvmDescriptors::Find(int32_t pid, size_t& seen) {
  const std::string path = fmt::format("{}/fd", pid);
  KEPLER_TRY(const UniqueFd dir, os::OpenDirAt(root_.get(), path.c_str()));
  bool found = false;
  KEPLER_CHECK_OK(reader_.ForEachWhile(dir.get(), path, [&](const os::DirEntry& entry) {
    ++seen;
    // A NUL byte follows the name. NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
    const auto target = os::ReadLinkAt(dir.get(), entry.name.data(), buffer_);
    found = target && *target == kMachine;
    // If one link is refused, all are. Otherwise the descriptor was closed, or its path is too long to return.
    const bool refused = !target && target.error().kind == ErrorKind::kPermission;
    return !refused && !found && seen < kMaxOfProcess;
  }));
  return found;
}

Result<Holds> KvmDescriptors::Look(int32_t pid) {
  KEPLER_TRY(const bool have_kvm, HaveKvm());
  if (!have_kvm) return Holds::kNo;
  if (left_ == 0 || time_left_ <= Nanoseconds::zero()) return Holds::kNotNow;
  const BootTime begin = clock_.Now();
  size_t seen = 0;
  const auto found = Find(pid, seen);
  left_ -= std::min(left_, kLookCost + seen);
  time_left_ -= clock_.Now() - begin;
  if (!found && !IsNormal(found.error())) return std::unexpected(found.error());
  return found && *found ? Holds::kYes : Holds::kNo;
}

}  // namespace kepler::workload::hypervisor
