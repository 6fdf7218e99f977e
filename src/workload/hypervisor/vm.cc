#include "workload/hypervisor/vm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "os/procfs.h"

namespace kepler::workload::hypervisor {

namespace {

/// Returns the text of `argument` behind "-name" or "--name"; nothing for another option.
std::optional<std::string_view> BehindOption(std::string_view argument, std::string_view name) {
  if (!argument.starts_with('-')) return std::nullopt;
  argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
  if (!argument.starts_with(name)) return std::nullopt;
  return argument.substr(name.size());
}

/// Returns the value of the option at argv[i]; "" if argv[i] is another option.
std::string_view ValueAt(Arguments argv, size_t i, std::string_view name) {
  const auto behind = BehindOption(argv[i], name);
  if (!behind) return {};
  if (behind->empty()) return i + 1 < argv.size() ? argv[i + 1] : std::string_view();
  return behind->front() == '=' ? behind->substr(1) : std::string_view();
}

/// Cuts the next field off `rest` and replaces each double comma by one comma.
std::string NextField(std::string_view& rest) {
  std::string field;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == ',') {
      if (!rest.starts_with(',')) break;
      rest.remove_prefix(1);
    }
    field += c;
  }
  return field;
}

}  // namespace

std::string_view OptionValue(Arguments argv, std::string_view name) {
  for (size_t i = 1; i < argv.size(); ++i)
    if (const auto value = ValueAt(argv, i, name); !value.empty()) return value;
  return {};
}

std::string ListValue(std::string_view list, std::string_view key, std::string_view implied_key) {
  for (bool first = true; !list.empty(); first = false) {
    std::string field = NextField(list);
    const auto equals = field.find('=');
    if (equals == std::string::npos) {
      if (first && key == implied_key) return field;
    } else if (std::string_view(field).substr(0, equals) == key) {
      return field.substr(equals + 1);
    }
  }
  return {};
}

std::string SmbiosUuid(Arguments argv) {
  for (size_t i = 1; i < argv.size(); ++i) {
    const auto list = ValueAt(argv, i, "smbios");
    if (ListValue(list, "type", "") != "1") continue;
    if (auto uuid = ListValue(list, "uuid", ""); !uuid.empty()) return uuid;
  }
  return {};
}

std::string GuestName(Arguments argv) { return ListValue(OptionValue(argv, "name"), "guest", "guest"); }

namespace {

constexpr size_t kMaxTextBytes = 255;
constexpr size_t kCommBytes = 15;  // TASK_COMM_LEN - 1

/// Details found in the arguments; a text is "" if the arguments do not contain it.
struct Description {
  std::string_view hypervisor;  // the label's value
  std::string id;
  std::string name;
};

enum class NameMatch : bool { kWhole, kPrefix };

struct Program {
  std::string_view name;  // of the executable, without its directory
  NameMatch match;
  Description (*describe)(Arguments argv);  // returns no hypervisor if the process runs no machine
  std::string_view subcommand = {};         // must be an argument; "": the program has no subcommands
};

/// "-machine none,accel=kvm:tcg": libvirt starts QEMU this way to query its capabilities.
bool IsProbe(Arguments argv) {
  const auto machine = OptionValue(argv, "machine");
  return ListValue(!machine.empty() ? machine : OptionValue(argv, "M"), "type", "type") == "none";
}

std::string QemuUuid(Arguments argv) {
  std::string uuid(OptionValue(argv, "uuid"));
  return !uuid.empty() ? uuid : SmbiosUuid(argv);  // Proxmox
}

Description DescribeQemu(Arguments argv) {
  if (IsProbe(argv)) return {};
  Description vm{.hypervisor = "kvm", .id = {}, .name = GuestName(argv)};
  if (const auto domain = OptionValue(argv, "xen-domid"); !domain.empty()) {
    vm.hypervisor = "xen";
    vm.id = domain;
    return vm;
  }
  vm.id = QemuUuid(argv);
  if (vm.id.empty()) vm.id = vm.name;
  if (vm.id.empty()) vm.id = OptionValue(argv, "id");  // Proxmox' number
  return vm;
}

/// StratoVirt's options have the names of QEMU's (docs/config_guidebook.md of StratoVirt).
Description DescribeStratovirt(Arguments argv) {
  Description vm = DescribeQemu(argv);
  if (!vm.hypervisor.empty()) vm.hypervisor = "stratovirt";
  return vm;
}

/// Without a name, kvmtool names its guest "guest-PID". The identity of the process says more than that name.
Description DescribeKvmtool(Arguments argv) {
  auto name = OptionValue(argv, "name");
  if (name.empty()) name = OptionValue(argv, "n");
  return {.hypervisor = "kvmtool", .id = std::string(name), .name = std::string(name)};
}

Description DescribeVirtualBox(Arguments argv) {
  Description vm{.hypervisor = "virtualbox", .id = {}, .name = std::string(OptionValue(argv, "comment"))};
  vm.id = OptionValue(argv, "startvm");
  if (vm.id.empty()) vm.id = vm.name;
  return vm;
}

Description DescribeVmware(Arguments argv) {
  constexpr std::string_view kFile = ".vmx";
  Description vm{.hypervisor = "vmware", .id = {}, .name = {}};
  for (const auto argument : argv) {
    if (!argument.ends_with(kFile)) continue;
    const auto base = argument.substr(argument.rfind('/') + 1);
    vm.name = base.substr(0, base.size() - kFile.size());
  }
  vm.id = vm.name;
  return vm;
}

/// A socket identifies a machine only by its absolute path: "api.sock" may be in any directory.
std::string AbsolutePath(std::string_view path) { return std::string(path.starts_with('/') ? path : ""); }

Description DescribeFirecracker(Arguments argv) {
  Description vm{.hypervisor = "firecracker", .id = std::string(OptionValue(argv, "id")), .name = {}};
  if (vm.id.empty()) vm.id = AbsolutePath(OptionValue(argv, "api-sock"));
  return vm;
}

Description DescribeCloudHypervisor(Arguments argv) {
  const auto socket = ListValue(OptionValue(argv, "api-socket"), "path", "path");
  return {.hypervisor = "cloud-hypervisor", .id = AbsolutePath(socket), .name = {}};
}

Description DescribeCrosvm(Arguments argv) {
  auto socket = AbsolutePath(OptionValue(argv, "socket"));
  if (socket.empty()) socket = AbsolutePath(OptionValue(argv, "s"));
  return {.hypervisor = "crosvm", .id = std::move(socket), .name = std::string(OptionValue(argv, "name"))};
}

constexpr std::array kPrograms = {
    Program{"qemu-system-", NameMatch::kPrefix, DescribeQemu},
    Program{"qemu-kvm", NameMatch::kWhole, DescribeQemu},
    Program{"kvm", NameMatch::kWhole, DescribeQemu},
    Program{"VBoxHeadless", NameMatch::kWhole, DescribeVirtualBox},
    Program{"VBoxSDL", NameMatch::kWhole, DescribeVirtualBox},
    Program{"VirtualBoxVM", NameMatch::kWhole, DescribeVirtualBox},
    Program{"vmware-vmx", NameMatch::kPrefix, DescribeVmware},  // also -debug and -stats
    Program{"firecracker", NameMatch::kWhole, DescribeFirecracker},
    Program{"firecracker-v", NameMatch::kPrefix, DescribeFirecracker},         // name in Firecracker's releases
    Program{"cloud-hypervisor", NameMatch::kPrefix, DescribeCloudHypervisor},  // also -static
    // other subcommands, such as "stop", only control a machine
    Program{"crosvm", NameMatch::kWhole, DescribeCrosvm, "run"},
    Program{"lkvm", NameMatch::kWhole, DescribeKvmtool, "run"},
    Program{"lkvm-static", NameMatch::kWhole, DescribeKvmtool, "run"},
    Program{"stratovirt", NameMatch::kWhole, DescribeStratovirt},
};

/// Returns the base name of an executable. The kernel marks an executable that was replaced while it ran (an upgrade).
/// Nix runs ".name-wrapped".
std::string_view ProgramName(std::string_view path) {
  constexpr std::string_view kWrapped = "-wrapped";
  path = os::StripDeleted(path);
  auto name = path.substr(path.rfind('/') + 1);
  if (name.starts_with('.') && name.ends_with(kWrapped)) {
    name.remove_prefix(1);
    name.remove_suffix(kWrapped.size());
  }
  return name;
}

const Program* FindProgram(std::string_view name) {
  const auto found = std::ranges::find_if(kPrograms, [name](const Program& program) {
    return program.match == NameMatch::kPrefix ? name.starts_with(program.name) : name == program.name;
  });
  return found == kPrograms.end() ? nullptr : &*found;
}

bool LooksLikeComm(const Program& program, std::string_view comm) {
  const auto name = program.name.substr(0, kCommBytes);
  return program.match == NameMatch::kPrefix ? comm.starts_with(name) : comm == name;
}

/// Returns a name such as "kvm-7f1d3c52". For a path, the name uses the last part, because paths often begin alike.
std::string NameFromId(std::string_view hypervisor, std::string_view id) {
  const auto last = id.substr(id.rfind('/') + 1);
  return fmt::format("{}-{}", hypervisor, (last.empty() ? id : last).substr(0, 8));
}

Vm MakeVm(Description about, const ProcessKey& key) {
  if (about.id.empty()) about.id = fmt::format("{}-{}", key.tgid, key.start_ticks);
  if (about.name.empty()) about.name = NameFromId(about.hypervisor, about.id);
  about.id.resize(std::min(about.id.size(), kMaxTextBytes));
  about.name.resize(std::min(about.name.size(), kMaxTextBytes));
  return {.id = {.hypervisor = std::string(about.hypervisor), .id = std::move(about.id)},
          .name = std::move(about.name)};
}

}  // namespace

bool MayBeVm(std::string_view exe, std::string_view comm) {
  if (!exe.empty()) return FindProgram(ProgramName(exe)) != nullptr;
  return std::ranges::any_of(kPrograms, [comm](const Program& program) { return LooksLikeComm(program, comm); });
}

std::optional<Vm> DetectVm(std::string_view exe, std::span<const std::string_view> argv, const ProcessKey& key) {
  const auto path = !exe.empty() ? exe : argv.empty() ? std::string_view() : argv.front();
  const Program* program = FindProgram(ProgramName(path));
  if (program == nullptr) return std::nullopt;
  if (!program->subcommand.empty() && std::ranges::find(argv, program->subcommand) == argv.end()) return std::nullopt;

  Description about = program->describe(argv);
  if (about.hypervisor.empty()) return std::nullopt;
  return MakeVm(std::move(about), key);
}

std::optional<Vm> DescribeKvm(std::string_view exe, std::span<const std::string_view> argv, const ProcessKey& key) {
  if (auto vm = DetectVm(exe, argv, key)) return vm;
  if (IsProbe(argv)) return std::nullopt;
  return MakeVm({.hypervisor = "kvm", .id = QemuUuid(argv), .name = GuestName(argv)}, key);
}

}  // namespace kepler::workload::hypervisor
