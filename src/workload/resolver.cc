#include "workload/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "os/file.h"
#include "workload/cgroup_owner.h"
#include "workload/cgroup_rules.h"
#include "workload/container_name.h"
#include "workload/hypervisor/vm.h"
#include "workload/process_strings.h"

namespace kepler::workload {
namespace {

constexpr size_t kMostEnvironmentBytes = size_t{64} << 10;
constexpr size_t kMostArgumentBytes = size_t{16} << 10;
constexpr size_t kMostNames = 4096;

/// The runtime's own process in the container's cgroup before it becomes the container's: its environment is that of
/// whoever called it, and so is its HOSTNAME.
bool IsRuntimeInit(const os::ProcessInfo& process) {
  const std::string_view program = std::string_view(process.exe).substr(process.exe.rfind('/') + 1);
  return process.comm.starts_with("runc:[") || program == "runc" || program == "crun" || program == "youki";
}

/// Runtimes whose id is the name that people gave.
bool IdIsName(const ContainerId& container) {
  return container.runtime == "lxc" || container.runtime == "systemd-nspawn";
}

}  // namespace

class Resolver::Impl {
 public:
  explicit Impl(std::string procfs) : procfs_(std::move(procfs)) {}

  ProcessOwner Resolve(const os::ProcessInfo& process) {
    ProcessOwner owner;
    if (process.cgroup) owner.cgroup = OwnerOfMembership(*process.cgroup);
    if (!process.kernel_thread && hypervisor::MayBeVm(process.exe, process.comm)) DetectVm(process, owner);
    if (owner.cgroup.container) owner.container_name = NameOf(*owner.cgroup.container, process);
    return owner;
  }

  [[nodiscard]] uint64_t reads_failed() const { return reads_failed_; }

 private:
  using Strings = std::span<const std::string_view>;

  void DetectVm(const os::ProcessInfo& process, ProcessOwner& owner) {
    const auto argv = Read(process, "cmdline", arguments_);
    if (!argv) return;
    auto vm = hypervisor::DetectVm(process.exe, *argv, process.key);
    if (!vm) return;
    owner.vm = std::move(vm->id);
    owner.vm_name = std::move(vm->name);
  }

  std::string NameOf(const ContainerId& container, const os::ProcessInfo& process) {
    if (IdIsName(container)) return container.id;
    if (const auto known = names_.find(container); known != names_.end()) return known->second;
    if (process.kernel_thread || IsRuntimeInit(process)) return {};
    std::string name = ReadName(process);
    if (name.empty()) return name;
    if (names_.size() >= kMostNames) names_.erase(names_.begin());
    names_.emplace(container, name);
    return name;
  }

  std::string ReadName(const os::ProcessInfo& process) {
    std::string_view name;
    if (const auto environment = Read(process, "environ", environment_)) {
      name = ContainerNameOfEnvironment(*environment);
    }
    if (name.empty()) {
      if (const auto argv = Read(process, "cmdline", arguments_)) name = ContainerNameOfArguments(*argv);
    }
    return std::string(name.substr(0, kMostNameBytes));
  }

  /// Nothing if the process is gone; no strings, counted, if they cannot be read.
  std::optional<Strings> Read(const os::ProcessInfo& process, std::string_view file, ProcessStrings& reader) {
    const auto strings = ReadStrings(fmt::format("{}/{}", process.key.tgid, file), reader);
    if (strings) return *strings;
    if (strings.error().kind == ErrorKind::kNotFound) return std::nullopt;
    ++reads_failed_;
    Explain(strings.error(), file);
    return Strings();
  }

  Result<Strings> ReadStrings(const std::string& path, ProcessStrings& reader) {
    if (!root_.valid()) {
      auto root = os::OpenDir(procfs_);
      if (!root) return Fail(ErrorKind::kUnavailable, std::move(root).error().message);  // not a process that is gone
      root_ = *std::move(root);
    }
    return reader.Read(root_.get(), path);
  }

  /// Once: the cause is a missing privilege, the same for every process it happens to. reads_failed() has the number.
  void Explain(const Error& error, std::string_view file) {
    if (std::exchange(explained_, true)) return;
    log::Warn(
        "A process' strings cannot be read; names of containers or virtual machines may be missing. "
        "Reading those of other users needs CAP_SYS_PTRACE",
        {{"file", fmt::format("{}/*/{}", procfs_, file)}, {"error", error.message}});
  }

  std::string procfs_;
  UniqueFd root_;
  ProcessStrings environment_{kMostEnvironmentBytes};
  ProcessStrings arguments_{kMostArgumentBytes};
  std::map<ContainerId, std::string> names_;
  uint64_t reads_failed_ = 0;
  bool explained_ = false;
};

Resolver::Resolver(std::string procfs) : impl_(std::make_unique<Impl>(std::move(procfs))) {}
Resolver::~Resolver() = default;
ProcessOwner Resolver::Resolve(const os::ProcessInfo& process) { return impl_->Resolve(process); }

uint64_t Resolver::reads_failed() const { return impl_->reads_failed(); }

}  // namespace kepler::workload
