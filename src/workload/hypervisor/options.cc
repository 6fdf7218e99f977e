#include "workload/hypervisor/options.h"

#include <cstddef>
#include <optional>

namespace kepler::workload::hypervisor {
namespace {

/// The rest of `argument` behind "-name" or "--name", or nothing if it is another option.
std::optional<std::string_view> BehindOption(std::string_view argument, std::string_view name) {
  if (!argument.starts_with('-')) return std::nullopt;
  argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
  if (!argument.starts_with(name)) return std::nullopt;
  return argument.substr(name.size());
}

/// The value of the option at argv[i], if argv[i] is that option; "" otherwise.
std::string_view ValueAt(Arguments argv, size_t i, std::string_view name) {
  const auto behind = BehindOption(argv[i], name);
  if (!behind) return {};
  if (behind->empty()) return i + 1 < argv.size() ? argv[i + 1] : std::string_view();
  return behind->front() == '=' ? behind->substr(1) : std::string_view();
}

/// Cuts the next field off `rest` and undoubles its commas.
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
  for (size_t i = 1; i < argv.size(); ++i) {
    if (const auto value = ValueAt(argv, i, name); !value.empty()) return value;
  }
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

}  // namespace kepler::workload::hypervisor
