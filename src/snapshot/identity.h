#pragma once
// Identities: label texts of workloads. workload/ creates them; they are immutable and shared. Every text is valid
// UTF-8 and bounded (LabelText).
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::snapshot {

/// Labels in addition to the common labels of a level: name and value, sorted by name. Each name occurs once and is
/// valid ([a-zA-Z_][a-zA-Z0-9_]*). Lists are interned: equal lists are one object.
using LabelList = std::vector<std::pair<std::string, std::string>>;

struct ProcessIdentity {
  int32_t pid = 0;
  std::string comm;
  std::string exe;
  std::string_view type;  // "regular", "container", "vm": a literal
  std::string container_id;
  std::string vm_id;
  bool operator==(const ProcessIdentity&) const = default;
};
struct ContainerIdentity {
  std::string id;
  std::string name;
  std::string runtime;
  std::string pod_id;
  // Empty unless the labels of containers show them: then they are part of the series' identity.
  std::string pod_name{};
  std::string pod_namespace{};
  bool operator==(const ContainerIdentity&) const = default;
};
/// What the cloud says about a virtual machine (OpenStack). "": unknown.
struct VmMetadata {
  std::string instance_name{};
  std::string flavor{};
  std::string project_id{};
  std::string project_name{};
  std::string user_name{};
  bool operator==(const VmMetadata&) const = default;
};
struct VmIdentity {
  std::string id;
  std::string name;
  std::string hypervisor;
  VmMetadata metadata{};
  bool operator==(const VmIdentity&) const = default;
};
struct PodIdentity {
  std::string id;
  std::string name{};
  std::string name_space{};
  std::shared_ptr<const LabelList> labels{};  // null: no labels, or unknown
  bool operator==(const PodIdentity& other) const {
    const bool same_labels = labels == other.labels || (labels && other.labels && *labels == *other.labels);
    return same_labels && id == other.id && name == other.name && name_space == other.name_space;
  }
};

/// Key of a roll-up: a namespace, or a controller of pods in it. The kind and the name of a namespace's own roll-up are
/// empty, as are those of pods without a controller.
struct OwnerIdentity {
  std::string name_space;
  std::string kind{};
  std::string name{};
  auto operator<=>(const OwnerIdentity&) const = default;
};

/// A Unix user, known by the uid alone. The name is a further label; "": unknown.
struct UserIdentity {
  uint32_t uid = 0;
  std::string name{};
  bool operator==(const UserIdentity& other) const { return uid == other.uid; }
  auto operator<=>(const UserIdentity& other) const { return uid <=> other.uid; }
};

}  // namespace kepler::snapshot
