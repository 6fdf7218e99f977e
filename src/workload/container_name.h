#pragma once
// A container's name as a process inside it shows it, before Kubernetes is asked. Pure.
#include <span>
#include <string_view>

namespace kepler::workload {

/// The value of the first HOSTNAME or CONTAINER_NAME that has one, in the order of the environment; "" without.
/// A view into `environment`.
[[nodiscard]] std::string_view ContainerNameOfEnvironment(std::span<const std::string_view> environment);

/// "--name=x", "--name x", or the third argument of a containerd-shim of the first kind; "" without.
[[nodiscard]] std::string_view ContainerNameOfArguments(std::span<const std::string_view> argv);

}  // namespace kepler::workload
