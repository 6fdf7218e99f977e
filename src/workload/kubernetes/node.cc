#include "workload/kubernetes/node.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::workload::kubernetes {
namespace {

namespace json = boost::json;

/// The member at `pointer` ("/status/addresses"), or null.
const json::value* Find(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  return value.find_pointer({pointer.data(), pointer.size()}, error);
}

std::string_view TextAt(const json::value& value, std::string_view pointer) {
  const json::value* const found = Find(value, pointer);
  const json::string* const text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? std::string_view(text->data(), text->size()) : std::string_view();
}

constexpr size_t kMaxNodeName = 253;

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

bool IsNodeName(std::string_view name) {
  if (name.size() > kMaxNodeName) return false;
  Splitter parts(name, '.');
  while (const auto part = parts.Next()) {
    if (part->empty() || !IsLowerAlphanumeric(part->front()) || !IsLowerAlphanumeric(part->back())) return false;
    if (!std::ranges::all_of(*part, [](char c) { return c == '-' || IsLowerAlphanumeric(c); })) return false;
  }
  return true;
}

Result<KubeletAddress> ParseNode(std::string_view text) {
  boost::system::error_code error;
  const json::value node = json::parse({text.data(), text.size()}, error);
  if (error) return Fail(ErrorKind::kMalformed, "parse a node: " + error.message());
  if (TextAt(node, "/kind") != "Node") return Fail(ErrorKind::kMalformed, "parse a node: its kind is not Node");
  KubeletAddress kubelet;
  const json::value* const addresses = Find(node, "/status/addresses");
  if (addresses != nullptr && addresses->is_array())
    for (const json::value& address : addresses->get_array()) {
      const std::string_view type = TextAt(address, "/type");
      if (kubelet.host.empty() && type == "InternalIP") kubelet.host = TextAt(address, "/address");
      if (kubelet.name.empty() && type == "Hostname") kubelet.name = TextAt(address, "/address");
    }
  if (kubelet.host.empty()) return Fail(ErrorKind::kMalformed, "parse a node: it has no InternalIP");
  const json::value* const port = Find(node, "/status/daemonEndpoints/kubeletEndpoint/Port");
  const int64_t* const number = port != nullptr ? port->if_int64() : nullptr;
  if (number != nullptr && *number > 0 && *number <= UINT16_MAX) kubelet.port = static_cast<uint16_t>(*number);
  return kubelet;
}

std::string MessageOf(std::string_view text) {
  constexpr size_t kMax = 300;
  boost::system::error_code error;
  const json::value status = json::parse({text.data(), text.size()}, error);
  const std::string_view message = error ? std::string_view() : TextAt(status, "/message");
  return EscapeControls((message.empty() ? Trim(text) : message).substr(0, kMax));
}

}  // namespace kepler::workload::kubernetes
