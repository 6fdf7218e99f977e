#include "workload/container_name.h"

#include <cstddef>

namespace kepler::workload {
namespace {

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Later shims ("containerd-shim-runc-v2 -namespace moby -id …") have options instead, without a container name.
std::string_view NameOfShim(std::span<const std::string_view> argv) {
  const auto program = BaseName(argv[0]);
  const bool shim = program == "containerd-shim" || program == "docker-containerd-shim";
  return shim && argv.size() > 3 && !argv[3].starts_with('-') ? argv[3] : std::string_view();
}

}  // namespace

std::string_view ContainerNameOfEnvironment(std::span<const std::string_view> environment) {
  for (const auto entry : environment) {
    for (const std::string_view key : {"HOSTNAME=", "CONTAINER_NAME="})
      if (entry.starts_with(key) && entry.size() > key.size()) return entry.substr(key.size());
  }
  return {};
}

std::string_view ContainerNameOfArguments(std::span<const std::string_view> argv) {
  if (argv.empty()) return {};
  constexpr std::string_view kName = "--name";
  for (size_t i = 1; i < argv.size(); ++i) {
    if (argv[i] == kName && i + 1 < argv.size()) return argv[i + 1];
    if (argv[i].starts_with(kName) && argv[i].substr(kName.size()).starts_with('='))
      return argv[i].substr(kName.size() + 1);
  }
  return NameOfShim(argv);
}

}  // namespace kepler::workload
