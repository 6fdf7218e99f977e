#include "settings/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/host_port.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::settings {
namespace {

constexpr size_t kLongestHost = 253;  // RFC 1035

Status CheckPort(std::string_view text) {
  const auto port = ParseNumber<uint16_t>(text);
  if (port && *port > 0) return {};
  return Bad(fmt::format("port \"{}\" is not a number from 1 to 65535", text));
}

bool IsIpv6(std::string_view text) {
  in6_addr parsed;
  const std::string address(text.substr(0, text.find('%')));  // without the zone
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool IsHostName(std::string_view host) {
  return host.size() <= kLongestHost && std::ranges::all_of(host, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '.' || c == '-' || c == '_';
         });
}

/// Splits "host:port" and checks the form of the host.
Result<HostPort> SplitHost(std::string_view text) {
  KEPLER_TRY(const auto parts, SplitHostPort(text));
  if (parts.bracketed && !IsIpv6(parts.host)) return Bad(fmt::format("\"{}\" is not an IPv6 address", parts.host));
  if (!parts.bracketed && !IsHostName(parts.host)) return Bad(fmt::format("\"{}\" is not a host name", parts.host));
  return parts;
}

/// A listen address independent of its spelling.
struct ListenAddress {
  int family = AF_UNSPEC;  // unknown for a name
  std::string host;        // a name, or the bytes of an address and its zone; empty: every host
  uint16_t port = 0;
};

std::optional<ListenAddress> Read(std::string_view text) {
  const auto parts = SplitHostPort(text);
  const auto port = parts ? ParseNumber<uint16_t>(parts->port) : std::nullopt;
  if (!port) return std::nullopt;
  if (parts->host.empty()) return ListenAddress{AF_INET6, "", *port};  // one IPv6 socket serves IPv4 too
  const size_t zone = std::min(parts->host.find('%'), parts->host.size());
  const std::string host(parts->host.substr(0, zone));
  for (const int family : {AF_INET, AF_INET6}) {
    std::string bytes(family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr), '\0');
    if (inet_pton(family, host.c_str(), bytes.data()) != 1) continue;
    const bool every = bytes.find_first_not_of('\0') == std::string::npos;
    return ListenAddress{family, every ? "" : bytes.append(parts->host.substr(zone)), *port};
  }
  return ListenAddress{AF_UNSPEC, ToLowerAscii(host), *port};
}

/// Every IPv6 host includes every IPv4 host, because the server opens dual-stack sockets. The server opens a name as
/// IPv4 first.
bool Covers(const ListenAddress& every, const ListenAddress& other) {
  return every.host.empty() && (every.family == AF_INET6 || other.family != AF_INET6);
}

}  // namespace

Status CheckListenAddress(const std::string& address) {
  if (address.contains('@') || address.contains("://"))
    return Bad("a value (not shown) is not a listen address; write host:port, without a scheme or credentials");
  const auto parts = SplitHost(address);
  const Status port = parts ? CheckPort(parts->port) : Status(std::unexpected(parts.error()));
  if (port) return {};
  return Bad(fmt::format("\"{}\" is not a listen address: {}", address, port.error().message));
}

Status CheckEndpoint(std::string_view url) {
  const std::string lower = ToLowerAscii(url);
  const size_t scheme = lower.starts_with("http://") ? 7 : lower.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return Bad("must start with http:// or https://");
  const std::string_view rest = url.substr(scheme);
  // Also checks behind a slash, where '@' is not part of credentials. A password with a slash would otherwise be quoted
  // below.
  if (rest.contains('@')) return Bad("must not contain credentials");
  if (rest.find('\\') != std::string_view::npos) return Bad("must not contain a backslash");
  if (rest.find_first_of("?#") != std::string_view::npos) return Bad("must not have a query or a fragment");
  std::string authority(rest.substr(0, rest.find('/')));
  const bool has_port = authority.find(':') != std::string::npos && !authority.ends_with(']');
  if (!has_port) authority += ":80";
  const auto parts = SplitHost(authority);
  if (!parts) return Bad(fmt::format("is not a valid URL: {}", parts.error().message));
  if (parts->host.empty()) return Bad("is not a valid URL: the host is missing");
  return CheckPort(parts->port);
}

bool ListenConflict(std::string_view a, std::string_view b) {
  const auto one = Read(a);
  const auto other = Read(b);
  if (!one || !other || one->port != other->port) return false;
  return Covers(*one, *other) || Covers(*other, *one) || (one->family == other->family && one->host == other->host);
}

/// Detects a repeated address here. Otherwise the server would report that another process uses the port.
void CheckListenAddresses(Draft& draft, std::string_view path, std::span<const std::string> addresses) {
  if (addresses.empty()) draft.Reject(path, "needs at least one address");
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].empty()) continue;  // already reported
    if (const Status address = CheckListenAddress(addresses[i]); !address)
      draft.Reject(path, address.error().message, i);
  }
  for (size_t i = 1; i < addresses.size(); ++i) {
    const auto conflicts = [&](const std::string& earlier) { return ListenConflict(earlier, addresses[i]); };
    const auto earlier = addresses.first(i);
    const auto taken = std::ranges::find_if(earlier, conflicts);
    if (taken == earlier.end()) continue;
    const std::string where = draft.Where(path, static_cast<size_t>(taken - earlier.begin()));
    draft.Reject(path,
                 fmt::format("{} cannot be listened on together with {} ({}); remove one of them", Quote(addresses[i]),
                             Quote(*taken), where),
                 i);
  }
}

}  // namespace kepler::settings
