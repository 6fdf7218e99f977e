#pragma once
// Virtual machines from what their process shows: the name of its executable and its arguments. Pure. For programs that
// nobody knows by name: kvm_descriptors.h.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::workload::hypervisor {

using Arguments = std::span<const std::string_view>;

/// The value of the first "-name value", "--name value", "-name=value" or "--name=value" that has one; "" without.
/// `name` comes without dashes.
[[nodiscard]] std::string_view OptionValue(Arguments argv, std::string_view name);

/// The value of `key` in a list "first,key=value,…" as QEMU writes it: ",," is a comma. A first field without a key
/// is the value of `implied_key` ("" = there is no such rule). "" if the key is not there.
[[nodiscard]] std::string ListValue(std::string_view list, std::string_view key, std::string_view implied_key);

/// The UUID of the first "-smbios type=1,uuid=…"; "" without.
[[nodiscard]] std::string SmbiosUuid(Arguments argv);

/// What QEMU is told that its guest is called, "" without; libvirt files the state of a domain under it.
[[nodiscard]] std::string GuestName(Arguments argv);

/// Each text at most 255 bytes, not sanitised, never empty.
struct Vm {
  VmId id;
  std::string name;
};

/// Whether the process may be a hypervisor, so that its arguments are worth reading. The executable decides; only where
/// it cannot be read ("") a comm does that looks like one, cut at 15 characters or not.
[[nodiscard]] bool MayBeVm(std::string_view exe, std::string_view comm);

/// The virtual machine that the process runs. The executable decides, or argv[0] where that cannot be read, never
/// another argument: a wrapper (sudo, strace, grep) that only mentions a hypervisor is none.
/// Without an id of its own the machine gets one from `key`: nothing else that is always there is unique.
[[nodiscard]] std::optional<Vm> DetectVm(std::string_view exe, std::span<const std::string_view> argv,
                                         const ProcessKey& key);

/// The one that a process runs which is known to hold a machine of KVM: as above, and where its program is not known
/// "kvm", by options that QEMU has: it is QEMU under another name more often than anything else. Only a UUID counts as
/// its id; a name may mean anything there, and be that of others too. Nothing for one that has "-machine none", as
/// libvirt starts QEMU to ask what it can do.
[[nodiscard]] std::optional<Vm> DescribeKvm(std::string_view exe, std::span<const std::string_view> argv,
                                            const ProcessKey& key);

}  // namespace kepler::workload::hypervisor
