#pragma once
// Finds the name of a container from a process inside it, before a Kubernetes request. Pure.
#include <span>
#include <string_view>

namespace kepler::workload {

/// Returns the first non-empty value of HOSTNAME or CONTAINER_NAME, in the order of the environment; "" if there is no
/// such variable. The result is a view into `environment`.
[[nodiscard]] std::string_view ContainerNameOfEnvironment(std::span<const std::string_view> environment);

/// Returns the value of "--name=x" or "--name x", or the third argument of a containerd-shim of version 1; "" if there
/// is no name.
[[nodiscard]] std::string_view ContainerNameOfArguments(std::span<const std::string_view> argv);

}  // namespace kepler::workload
