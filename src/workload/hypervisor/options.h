#pragma once
// Command line options in the styles that hypervisors use. Pure.
#include <span>
#include <string>
#include <string_view>

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

}  // namespace kepler::workload::hypervisor
