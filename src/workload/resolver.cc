#include "workload/resolver.h"

#include <fmt/format.h>

#include <algorithm>

#include "cgroup/path_rules.h"
#include "os/procfs.h"
#include "workload/container_name.h"
#include "workload/identity_of.h"

namespace kepler::workload {
namespace {

constexpr size_t kMaxEnvironmentBytes = size_t{64} << 10;
constexpr size_t kMaxArgumentBytes = size_t{16} << 10;

/// True for the runtime's own process in the container's cgroup, before the container's program starts. Its
/// environment, with HOSTNAME, is that of the runtime's caller.
bool IsRuntimeInit(const cgroup::ProcessInfo& process) {
  const std::string_view program = std::string_view(process.exe).substr(process.exe.rfind('/') + 1);
  return process.comm.starts_with("runc:[") || program == "runc" || program == "crun" || program == "youki";
}

std::string PathsOf(const os::CgroupLines& lines) {
  std::string paths;
  for (const os::CgroupLine& line : lines) paths += fmt::format("{}\n", line.path);
  return paths;
}

}  // namespace

Resolver::Resolver(std::string procfs, const Clock& clock, const DeadlineReader::Limits& limits)
    : procfs_(std::move(procfs)),
      clock_(clock),
      reader_(clock, limits),
      descriptors_(procfs_, clock),
      passwd_(procfs_) {}

void Resolver::BeginScan() {
  reader_.BeginScan();
  descriptors_.BeginScan();
  if (const auto text = passwd_.ReadChanged(reader_, clock_.Now()))
    hypervisor_users_ = hypervisor::HypervisorUsers(*text);
}

Holds Resolver::HoldsMachine(const cgroup::ProcessInfo& process) {
  if (process.kernel_thread) return Holds::kNo;
  const auto holds = descriptors_.Look(process.key.tgid);
  if (holds) return *holds;
  ++reads_failed_;
  if (!std::exchange(said_.descriptors, true))
    log::Warn(
        "failed to read the descriptors of a process; virtual machines of unknown programs are not recognised until "
        "a read succeeds",
        {{"file", fmt::format("{}/*/fd", procfs_)}, {"err", holds.error().message}});
  return Holds::kNotNow;
}

ProcessOwner Resolver::Resolve(const cgroup::ProcessInfo& process, bool holds_machine) {
  ProcessOwner owner;
  if (process.cgroup) owner.cgroup = process.cgroup->owner;
  late_ = Delayed::kNo;
  payer_.clear();
  if (!process.kernel_thread && (holds_machine || hypervisor::MayBeVm(process.exe, process.comm)))
    DetectVm(process, holds_machine, owner);
  if (owner.cgroup.container) owner.container_name = NameOf(*owner.cgroup.container, process);
  owner.late = late_;
  return owner;
}

void Resolver::DetectVm(const cgroup::ProcessInfo& process, bool holds_machine, ProcessOwner& owner) {
  const auto argv = Read(process, "cmdline", kMaxArgumentBytes);
  if (!argv) return;
  auto vm = holds_machine ? hypervisor::DescribeKvm(process.exe, *argv, process.key)
                          : hypervisor::DetectVm(process.exe, *argv, process.key);
  if (!vm) return;
  const auto credentials = ReadCredentials(process);
  if (!credentials) return;
  const os::CgroupLines lines = process.cgroup ? process.cgroup->lines : os::CgroupLines();
  owner.vm_owner = {.uid = credentials->uid, .cgroup = PathsOf(lines)};
  const bool is_root_or_hypervisor =
      credentials->uid == 0 || std::ranges::find(hypervisor_users_, credentials->uid) != hypervisor_users_.end();
  owner.evidence = {.in_scope = hypervisor::IsInMachineScope(lines),
                    .in_pod = hypervisor::IsPodsContainer(owner.cgroup),
                    .holds_machine = holds_machine,
                    // root of a container can run any program
                    .trusted_user = !owner.cgroup.container && is_root_or_hypervisor};
  snapshot::VmMetadata metadata;
  AskLibvirt(process, *argv, *credentials, owner.evidence, *vm, metadata);
  owner.vm = IdentityOf(vm->id, vm->name, metadata);
}

/// Projects are billed by metadata. A user or a pod may have written the file in its own root directory, so their
/// metadata is not used. If the command line has a UUID too, nothing else in the file matters.
void Resolver::AskLibvirt(const cgroup::ProcessInfo& process, Strings argv, const Credentials& credentials,
                          const hypervisor::Evidence& evidence, hypervisor::Vm& vm, snapshot::VmMetadata& metadata) {
  const bool has_uuid = !hypervisor::OptionValue(argv, "uuid").empty();
  const bool is_of_host = evidence.in_scope || evidence.trusted_user;
  if (vm.id.hypervisor != "kvm" || (has_uuid && !is_of_host)) return;
  auto domain = ReadDomain(process, hypervisor::GuestName(argv), credentials, has_uuid);
  if (!domain || (has_uuid && domain->uuid != vm.id.id)) return;
  if (is_of_host) metadata = std::move(domain->metadata);
  if (has_uuid) return;
  vm.id.id = std::move(domain->uuid);
  vm.name = std::move(domain->name);
}

/// Reads through the root directory of the process, which is that of the machine or of its pod. A stale status file
/// describes another process.
std::optional<hypervisor::LibvirtDomain> Resolver::ReadDomain(const cgroup::ProcessInfo& process,
                                                              const std::string& name, const Credentials& credentials,
                                                              bool has_uuid) {
  if (name.empty() || name.contains('/')) return std::nullopt;
  const std::string root = fmt::format("{}/{}/root", procfs_, process.key.tgid);
  for (const std::string& path : hypervisor::LibvirtStatusPaths(name, credentials.uid)) {
    const auto text = reader_.ReadBeneath(root, path, payer_, hypervisor::kMaxLibvirtStatusBytes);
    if (!text) {
      if (IsOverdue(text.error())) return std::nullopt;
      if (text.error().kind != ErrorKind::kNotFound) LogUnreadableDomain(text.error(), has_uuid);
      continue;
    }
    const auto begin = ThreadCpuTime();
    auto domain = hypervisor::ParseLibvirtStatus(*text);
    reader_.Charge(payer_, ThreadCpuTime() - begin);
    if (!domain) {
      LogMalformed(fmt::format("{}/{}", root, path), domain.error());
      continue;
    }
    const bool is_its = std::ranges::find(credentials.pids, domain->pid) != credentials.pids.end();
    if (is_its && domain->name == name) return *std::move(domain);
  }
  return std::nullopt;
}

std::optional<Resolver::Credentials> Resolver::ReadCredentials(const cgroup::ProcessInfo& process) {
  const Status opened = OpenRoot();
  const auto text = opened ? os::ReadFileAt(root_.get(), fmt::format("{}/status", process.key.tgid).c_str(), status_)
                           : std::unexpected(opened.error());
  const Result<uint32_t> uid = text ? os::ParseRealUid(*text) : std::unexpected(text.error());
  if (uid) {
    auto pids = os::ParseNsPids(*text);  // Linux 4.1 and later list these pids
    return Credentials{*uid, pids ? *std::move(pids) : std::vector{process.key.tgid}};
  }
  if (uid.error().kind == ErrorKind::kNotFound) return std::nullopt;
  LogUnreadable(uid.error(), "status");
  return Credentials{kUnknownUid, {process.key.tgid}};
}

std::string Resolver::NameOf(const ContainerId& container, const cgroup::ProcessInfo& process) {
  if (cgroup::HasNamesAsIds(container.runtime)) return std::string(cgroup::PlainId(container.id));
  std::string& name = Meet(container, process).name;
  if (name.empty() && late_ == Delayed::kNo && !process.kernel_thread && !IsRuntimeInit(process))
    name = ReadName(process);
  return name;
}

Resolver::Known& Resolver::Meet(const ContainerId& container, const cgroup::ProcessInfo& process) {
  if (cgroups_ >= sweep_at_) Sweep();
  Known& known = known_[container];
  if (known.cgroups.insert(process.cgroup).second) ++cgroups_;
  return known;
}

void Resolver::Sweep() {
  cgroups_ = 0;
  for (auto& [container, known] : known_) {
    std::erase_if(known.cgroups, [](const auto& cgroup) { return cgroup.expired(); });
    cgroups_ += known.cgroups.size();
  }
  std::erase_if(known_, [](const auto& entry) { return entry.second.cgroups.empty(); });
  sweep_at_ = std::max(kFewCgroups, 2 * cgroups_);
}

std::string Resolver::ReadName(const cgroup::ProcessInfo& process) {
  std::string_view name;
  if (const auto environment = Read(process, "environ", kMaxEnvironmentBytes))
    name = ContainerNameOfEnvironment(*environment);
  if (name.empty() && late_ == Delayed::kNo) {
    if (const auto argv = Read(process, "cmdline", kMaxArgumentBytes)) name = ContainerNameOfArguments(*argv);
  }
  return std::string(name.substr(0, cgroup::kMaxNameBytes));
}

std::optional<std::string> Resolver::PayerOf(const cgroup::ProcessInfo& process) {
  if (process.cgroup)
    if (const auto unit = cgroup::UnitOfLines(process.cgroup->lines); !unit.empty()) return std::string(unit);
  const auto credentials = ReadCredentials(process);
  return credentials ? std::optional("user " + std::to_string(credentials->uid)) : std::nullopt;
}

std::optional<Resolver::Strings> Resolver::Read(const cgroup::ProcessInfo& process, std::string_view file,
                                                size_t max_bytes) {
  if (payer_.empty()) payer_ = PayerOf(process).value_or("");
  if (payer_.empty()) return std::nullopt;
  const auto strings = ReadStrings(fmt::format("{}/{}/{}", procfs_, process.key.tgid, file), max_bytes);
  if (strings) return *strings;
  const Error& error = strings.error();
  if (error.kind == ErrorKind::kNotFound || IsOverdue(error)) return std::nullopt;
  LogUnreadable(error, file);
  return Strings();
}

bool Resolver::IsOverdue(const Error& error) {
  if (error.kind == ErrorKind::kUnavailable) {
    late_ = Delayed::kPutOff;
  } else if (error.kind == ErrorKind::kTimeout) {
    ++reads_failed_;
    late_ = Delayed::kTimedOut;
    LogOverdue(error);
  } else {
    return false;
  }
  return true;
}

Status Resolver::OpenRoot() {
  if (root_.valid()) return {};
  auto root = os::OpenDir(procfs_);
  if (!root) return Fail(ErrorKind::kIo, std::move(root).error().message);  // the process is not gone
  root_ = *std::move(root);
  return {};
}

Result<Resolver::Strings> Resolver::ReadStrings(const std::string& path, size_t max_bytes) {
  KEPLER_CHECK_OK(OpenRoot());
  return reader_.ReadStrings(path, payer_, max_bytes);
}

void Resolver::LogOverdue(const Error& error) {
  limiter_.Say(log::Level::kWarn, payer_, clock_.Now(),
               "process is slow to read; skipping VM detection and container names for its unit",
               {{"unit", payer_}, {"err", error.message}});
}

void Resolver::LogMalformed(const std::string& path, const Error& error) {
  ++reads_failed_;
  limiter_.Say(log::Level::kWarn, payer_, clock_.Now(),
               "failed to parse libvirt's state of a virtual machine, using the name and UUID of its command line",
               {{"file", path}, {"err", error.message}});
}

void Resolver::LogUnreadable(const Error& error, std::string_view file) {
  ++reads_failed_;
  if (std::exchange(said_.strings, true)) return;
  log::Warn(
      "failed to read the command line or environment of a process; names of containers or virtual machines may be "
      "missing. For processes of other users grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
      {{"file", fmt::format("{}/*/{}", procfs_, file)}, {"err", error.message}});
}

void Resolver::LogUnreadableDomain(const Error& error, bool has_uuid) {
  if (!has_uuid) ++reads_failed_;
  if (std::exchange(has_uuid ? said_.metadata : said_.domain, true)) return;
  if (has_uuid)
    log::Info(
        "failed to read libvirt's state of a virtual machine; OpenStack projects and names of instances are unknown. "
        "To read it, grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
        {{"err", error.message}});
  else
    log::Warn(
        "failed to read libvirt's state of a virtual machine without a UUID, using its command line. For processes of "
        "other users grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
        {{"err", error.message}});
}

}  // namespace kepler::workload
