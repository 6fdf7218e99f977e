#pragma once
// What one component of a cgroup path says by itself and by its neighbours. Pure; the rules are for owner.cc only.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace kepler::cgroup {

/// Longer ids and names are not believed: a file name has at most 255 bytes.
inline constexpr size_t kMaxNameBytes = 255;

/// What Site::parent and grandparent say for any pod's component, and above the first one. No real component can
/// equal them: they have a '/'.
inline constexpr std::string_view kPodComponent = "pod/";
inline constexpr std::string_view kRootComponent = "/";

/// A component and its neighbours; "" where there is none.
struct Site {
  std::string_view grandparent;
  std::string_view parent;
  std::string_view component;
  std::string_view next;
};

struct PodName {
  std::string uid;       // with dashes
  std::string_view qos;  // a literal; "" where the path does not show it
};

/// The container that the component names: its own, never that of a component above.
[[nodiscard]] std::optional<ContainerId> ContainerAt(const Site& site);

/// The pod that the component names, by the systemd or the cgroupfs driver of the kubelet.
[[nodiscard]] std::optional<PodName> PodAt(const Site& site);

}  // namespace kepler::cgroup
