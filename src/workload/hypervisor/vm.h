#pragma once
// Detects virtual machines from the executable name and the arguments of a process. Pure. Programs with unknown names
// are detected by kvm_descriptors.h.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::workload::hypervisor {

using Arguments = std::span<const std::string_view>;

/// Returns the first non-empty value of "-name value", "--name value", "-name=value" or "--name=value"; "" if there is
/// no value. `name` has no dashes.
[[nodiscard]] std::string_view OptionValue(Arguments argv, std::string_view name);

/// Returns the value of `key` in a list "first,key=value,…" in QEMU's syntax: ",," is a comma. A first field without a
/// key is the value of `implied_key` ("" if the option has no implied key). Returns "" if the key is missing.
[[nodiscard]] std::string ListValue(std::string_view list, std::string_view key, std::string_view implied_key);

/// Returns the UUID of the first "-smbios type=1,uuid=…"; "" if there is no such option.
[[nodiscard]] std::string SmbiosUuid(Arguments argv);

/// Returns the guest name in QEMU's arguments; "" if there is no name. libvirt stores the domain's status file under
/// that name.
[[nodiscard]] std::string GuestName(Arguments argv);

/// Each text is not empty, has at most 255 bytes and is not sanitised.
struct Vm {
  VmId id;
  std::string name;
};

/// Returns true if the process may be a hypervisor, so that its arguments must be read. The executable decides. If the
/// executable is unreadable (""), a comm like that of a hypervisor decides, even if cut at 15 characters.
[[nodiscard]] bool MayBeVm(std::string_view exe, std::string_view comm);

/// Returns the virtual machine that the process runs. The executable decides, or argv[0] if the executable is
/// unreadable. Other arguments never decide: a wrapper (sudo, strace, grep) that only mentions a hypervisor is not a
/// VM.
/// A machine without an id gets an id from `key`, because no other value is always present and unique.
[[nodiscard]] std::optional<Vm> DetectVm(std::string_view exe, std::span<const std::string_view> argv,
                                         const ProcessKey& key);

/// Returns the machine of a process that is known to hold a KVM machine. Known programs are handled as in DetectVm. An
/// unknown program is "kvm" and is parsed with QEMU's options, because it is most often a renamed QEMU. Only a UUID
/// counts as its id: a name may have another meaning there, and may not be unique. Returns nothing for "-machine none":
/// libvirt starts QEMU this way to query its capabilities.
[[nodiscard]] std::optional<Vm> DescribeKvm(std::string_view exe, std::span<const std::string_view> argv,
                                            const ProcessKey& key);

}  // namespace kepler::workload::hypervisor
