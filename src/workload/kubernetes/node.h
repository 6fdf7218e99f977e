#pragma once
// Names of nodes, and where the kubelet of a node is, as the API server says. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::workload::kubernetes {

/// Whether Kubernetes could have a node called `name`: a subdomain of RFC 1123. Such a name can stand in a URL as it
/// is.
[[nodiscard]] bool IsNodeName(std::string_view name);

struct KubeletAddress {
  std::string host;  // the node's first InternalIP
  uint16_t port = 10250;
  std::string name{};  // the node's first Hostname; "": it has none
  bool operator==(const KubeletAddress&) const = default;
};

/// From the answer to GET /api/v1/nodes/NAME. kMalformed if the first InternalIP or Hostname has more than 253 bytes,
/// or a character that no address and no host name has.
[[nodiscard]] Result<KubeletAddress> ParseNode(std::string_view json);

/// The "message" of a Status object, which is what refusals carry; else the begin of the text itself, on one line.
[[nodiscard]] std::string MessageOf(std::string_view json);

}  // namespace kepler::workload::kubernetes
