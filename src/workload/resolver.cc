#include "workload/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cgroup/owner.h"
#include "cgroup/path_rules.h"
#include "os/file.h"
#include "os/procfs.h"
#include "workload/container_name.h"
#include "workload/hypervisor/vm.h"
#include "workload/identity.h"

namespace kepler::workload {
namespace {

constexpr size_t kMaxEnvironmentBytes = size_t{64} << 10;
constexpr size_t kMaxArgumentBytes = size_t{16} << 10;
constexpr size_t kFewCgroups = 1024;

/// The runtime's own process in the container's cgroup before it becomes the container's: its environment is that of
/// whoever called it, and so is its HOSTNAME.
bool IsRuntimeInit(const cgroup::ProcessInfo& process) {
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
  Impl(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits)
      : procfs_(std::move(procfs)), clock_(clock), reader_(clock, limits) {}

  ProcessOwner Resolve(const cgroup::ProcessInfo& process) {
    ProcessOwner owner;
    if (process.cgroup) owner.cgroup = process.cgroup->owner;
    late_ = Late::kNo;
    payer_.clear();
    if (!process.kernel_thread && hypervisor::MayBeVm(process.exe, process.comm)) DetectVm(process, owner);
    if (owner.cgroup.container) owner.container_name = NameOf(*owner.cgroup.container, process);
    owner.late = late_;
    return owner;
  }

  void BeginScan() { reader_.BeginScan(); }
  [[nodiscard]] uint64_t reads_failed() const { return reads_failed_; }

 private:
  using Strings = std::span<const std::string_view>;
  using Cgroups = std::set<std::weak_ptr<const cgroup::Membership>, std::owner_less<>>;

  struct Known {
    std::string name;  // "" until a process shows one
    Cgroups cgroups;   // of its processes: while one of them is held, it lives
  };

  void DetectVm(const cgroup::ProcessInfo& process, ProcessOwner& owner) {
    const auto argv = Read(process, "cmdline", kMaxArgumentBytes);
    if (!argv) return;
    auto vm = hypervisor::DetectVm(process.exe, *argv, process.key);
    if (!vm) return;
    const auto uid = ReadUid(process);
    if (!uid) return;
    owner.vm = IdentityOf(vm->id, vm->name);
    owner.vm_owner = {.uid = *uid, .cgroup = process.cgroup ? PathsOf(process.cgroup->lines) : ""};
  }

  static std::string PathsOf(const os::CgroupLines& lines) {
    std::string paths;
    for (const os::CgroupLine& line : lines) paths += fmt::format("{}\n", line.path);
    return paths;
  }

  /// Nothing if the process is gone; kUnknownUid, counted, if it cannot be read.
  std::optional<uint32_t> ReadUid(const cgroup::ProcessInfo& process) {
    const Status opened = OpenRoot();
    const auto text = opened ? os::ReadFileAt(root_.get(), fmt::format("{}/status", process.key.tgid).c_str(), status_)
                             : std::unexpected(opened.error());
    const Result<uint32_t> uid = text ? os::ParseRealUid(*text) : std::unexpected(text.error());
    if (uid) return *uid;
    if (uid.error().kind == ErrorKind::kNotFound) return std::nullopt;
    ++reads_failed_;
    Explain(uid.error(), "status");
    return VmOwner::kUnknownUid;
  }

  std::string NameOf(const ContainerId& container, const cgroup::ProcessInfo& process) {
    if (IdIsName(container)) return container.id;
    std::string& name = Meet(container, process).name;
    if (name.empty() && late_ == Late::kNo && !process.kernel_thread && !IsRuntimeInit(process))
      name = ReadName(process);
    return name;
  }

  Known& Meet(const ContainerId& container, const cgroup::ProcessInfo& process) {
    if (cgroups_ >= sweep_at_) Sweep();
    Known& known = known_[container];
    if (known.cgroups.insert(process.cgroup).second) ++cgroups_;
    return known;
  }

  /// Drops what has ended, and only that. At twice what lives, so that a look-up does not pay for it.
  void Sweep() {
    cgroups_ = 0;
    for (auto& [container, known] : known_) {
      std::erase_if(known.cgroups, [](const auto& cgroup) { return cgroup.expired(); });
      cgroups_ += known.cgroups.size();
    }
    std::erase_if(known_, [](const auto& entry) { return entry.second.cgroups.empty(); });
    sweep_at_ = std::max(kFewCgroups, 2 * cgroups_);
  }

  std::string ReadName(const cgroup::ProcessInfo& process) {
    std::string_view name;
    if (const auto environment = Read(process, "environ", kMaxEnvironmentBytes))
      name = ContainerNameOfEnvironment(*environment);
    if (name.empty() && late_ == Late::kNo) {
      if (const auto argv = Read(process, "cmdline", kMaxArgumentBytes)) name = ContainerNameOfArguments(*argv);
    }
    return std::string(name.substr(0, cgroup::kMaxNameBytes));
  }

  /// Who is charged for what a process costs whoever reads it: its unit, else its user. Nothing if it is gone.
  std::optional<std::string> PayerOf(const cgroup::ProcessInfo& process) {
    if (process.cgroup)
      if (const auto unit = cgroup::UnitOfLines(process.cgroup->lines); !unit.empty()) return std::string(unit);
    const auto uid = ReadUid(process);
    return uid ? std::optional("user " + std::to_string(*uid)) : std::nullopt;
  }

  /// Nothing if the process is gone or late; no strings, counted, if they cannot be read.
  std::optional<Strings> Read(const cgroup::ProcessInfo& process, std::string_view file, size_t max_bytes) {
    if (payer_.empty()) payer_ = PayerOf(process).value_or("");
    if (payer_.empty()) return std::nullopt;
    const auto strings = ReadStrings(fmt::format("{}/{}/{}", procfs_, process.key.tgid, file), max_bytes);
    if (strings) return *strings;
    const Error& error = strings.error();
    if (error.kind == ErrorKind::kUnavailable) late_ = Late::kPutOff;
    if (error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kUnavailable) return std::nullopt;
    ++reads_failed_;
    if (error.kind == ErrorKind::kTimeout) {
      late_ = Late::kTimedOut;
      SayLate(error);
      return std::nullopt;
    }
    Explain(error, file);
    return Strings();
  }

  Status OpenRoot() {
    if (root_.valid()) return {};
    auto root = os::OpenDir(procfs_);
    if (!root) return Fail(ErrorKind::kIo, std::move(root).error().message);  // not a process that is gone
    root_ = *std::move(root);
    return {};
  }

  Result<Strings> ReadStrings(const std::string& path, size_t max_bytes) {
    KEPLER_CHECK_OK(OpenRoot());
    return reader_.ReadStrings(path, payer_, max_bytes);
  }

  void SayLate(const Error& error) {
    if (const auto verdict = limiter_.Ask(payer_, clock_.Now()); verdict.pass)
      log::Warn(
          "A process keeps whoever reads its strings waiting. Neither it nor others of its unit become virtual "
          "machines "
          "or name containers until they can be read",
          {{"unit", payer_}, {"err", error.message}, {"suppressed", std::to_string(verdict.suppressed)}});
  }

  /// Once: the cause is a missing privilege, the same for every process it happens to. reads_failed() has the number.
  void Explain(const Error& error, std::string_view file) {
    if (std::exchange(explained_, true)) return;
    log::Warn(
        "A process' strings cannot be read; names of containers or virtual machines may be missing. "
        "Reading those of other users needs CAP_SYS_PTRACE",
        {{"file", fmt::format("{}/*/{}", procfs_, file)}, {"err", error.message}});
  }

  std::string procfs_;
  const Clock& clock_;
  UniqueFd root_;
  DeadlineReader reader_;
  os::ReadBuffer status_;
  std::map<ContainerId, Known> known_;
  size_t cgroups_ = 0;  // of all in known_
  size_t sweep_at_ = kFewCgroups;
  uint64_t reads_failed_ = 0;
  bool explained_ = false;
  // Of the process at hand:
  Late late_ = Late::kNo;
  std::string payer_;  // "" until something of it is read
  log::LogLimiter limiter_;
};

Resolver::Resolver(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits)
    : impl_(std::make_unique<Impl>(std::move(procfs), clock, limits)) {}
Resolver::~Resolver() = default;
ProcessOwner Resolver::Resolve(const cgroup::ProcessInfo& process) { return impl_->Resolve(process); }

void Resolver::BeginScan() { impl_->BeginScan(); }

uint64_t Resolver::reads_failed() const { return impl_->reads_failed(); }

}  // namespace kepler::workload
