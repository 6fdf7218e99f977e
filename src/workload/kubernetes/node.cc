#include "workload/kubernetes/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "json/document.h"

namespace kepler::workload::kubernetes {
namespace {

constexpr size_t kMaxValues = 100'000;  // of a Node, which has some thousand

/// The value below `at` that the keys lead to, if any.
std::optional<json::Cursor> Find(json::Cursor at, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto found = at.Find(key);
    if (!found || !*found) return std::nullopt;
    at = **found;
  }
  return at;
}

std::string_view TextAt(const json::Cursor& at, std::string_view key) {
  const auto found = Find(at, {key});
  return found ? found->Text().value_or("") : "";
}

constexpr size_t kMaxHostName = 253;  // a subdomain of RFC 1123, as the name of a node

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// Returns true if every character of `text` may be in an IP address or in a host name. "" passes.
bool LooksLikeHost(std::string_view text) {
  return text.size() <= kMaxHostName &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") == text.npos;
}

Status CheckHost(std::string_view type, std::string_view host) {
  constexpr size_t kMaxShown = 64;
  if (LooksLikeHost(host)) return {};
  return Fail(ErrorKind::kMalformed,
              fmt::format("parse a node: its {} {} is not an address or host name of at most {} bytes; check the "
                          "addresses in the node's status",
                          type, QuoteJson(SanitizeUtf8(host, kMaxShown)), kMaxHostName));
}

}  // namespace

bool IsNodeName(std::string_view name) {
  if (name.size() > kMaxHostName) return false;
  Splitter parts(name, '.');
  while (const auto part = parts.Next()) {
    if (part->empty() || !IsLowerAlphanumeric(part->front()) || !IsLowerAlphanumeric(part->back())) return false;
    if (!std::ranges::all_of(*part, [](char c) { return c == '-' || IsLowerAlphanumeric(c); })) return false;
  }
  return true;
}

Result<KubeletAddress> ParseNode(std::string_view text) {
  const auto document = json::Parse(text, kMaxValues);
  if (!document) return Fail(ErrorKind::kMalformed, "parse a node: " + document.error().message);
  const json::Cursor node(*document);
  if (TextAt(node, "kind") != "Node") return Fail(ErrorKind::kMalformed, "parse a node: its kind is not Node");
  KubeletAddress kubelet;
  if (const auto addresses = Find(node, {"status", "addresses"}))
    for (const json::Cursor& address : addresses->Elements().value_or(std::vector<json::Cursor>())) {
      const std::string_view type = TextAt(address, "type");
      if (kubelet.host.empty() && type == "InternalIP") kubelet.host = TextAt(address, "address");
      if (kubelet.name.empty() && type == "Hostname") kubelet.name = TextAt(address, "address");
    }
  if (kubelet.host.empty()) return Fail(ErrorKind::kMalformed, "parse a node: it has no InternalIP");
  KEPLER_CHECK_OK(CheckHost("InternalIP", kubelet.host));
  KEPLER_CHECK_OK(CheckHost("Hostname", kubelet.name));
  if (const auto port = Find(node, {"status", "daemonEndpoints", "kubeletEndpoint", "Port"}))
    if (const auto number = port->Count(UINT16_MAX); number && *number > 0)
      kubelet.port = static_cast<uint16_t>(*number);
  return kubelet;
}

std::string MessageOf(std::string_view text) {
  constexpr size_t kMax = 300;
  const auto status = json::Parse(text, kMaxValues);
  const std::string_view message = status ? TextAt(json::Cursor(*status), "message") : std::string_view();
  return EscapeControls((message.empty() ? Trim(text) : message).substr(0, kMax));
}

}  // namespace kepler::workload::kubernetes
