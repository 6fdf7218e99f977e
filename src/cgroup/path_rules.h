#pragma once
// Rules for one component of a cgroup path and its neighbours. Pure; for owner.cc only.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::cgroup {

/// Longer ids and names are rejected: a file name has at most 255 bytes.
inline constexpr size_t kMaxNameBytes = 255;

/// Values of Site::parent and grandparent: kPodComponent for any pod's component, and kRootComponent above the first
/// component. No real component equals them, because they contain a '/'.
inline constexpr std::string_view kPodComponent = "pod/";
inline constexpr std::string_view kRootComponent = "/";

/// A component and its neighbours; a missing neighbour is "".
struct Site {
  std::string_view grandparent;
  std::string_view parent;
  std::string_view component;
  std::string_view next;
};

struct PodName {
  std::string uid;       // with dashes
  std::string_view qos;  // a literal; "" if the path does not show the class
};

/// Returns the container that this component names, never the container of a component above.
[[nodiscard]] std::optional<ContainerId> ContainerAt(const Site& site);

/// Returns the pod that the component names, with the systemd or the cgroupfs driver of the kubelet.
[[nodiscard]] std::optional<PodName> PodAt(const Site& site);

}  // namespace kepler::cgroup
