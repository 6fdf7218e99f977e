#include "config/listen_conflict.h"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/host_port.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::config {
namespace {

/// An address in its one spelling.
struct Listener {
  int family = AF_UNSPEC;  // of a name: not known here
  std::string host;        // empty: every one
  uint16_t port = 0;
};

/// `host` as the system spells it, where it is an address of `family`.
std::optional<std::string> Canonical(int family, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_pton(family, host.c_str(), address.data()) != 1) return std::nullopt;
  return inet_ntop(family, address.data(), text.data(), text.size());
}

std::optional<Listener> Read(std::string_view text) {
  const auto parts = SplitHostPort(text);
  const auto port = parts ? ParseNumber<uint16_t>(parts->port) : std::nullopt;
  if (!port) return std::nullopt;
  if (parts->host.empty()) return Listener{AF_INET6, "", *port};  // one IPv6 socket serves IPv4 too
  const size_t zone = parts->host.find('%');
  const std::string host(parts->host.substr(0, zone));
  if (const auto v4 = Canonical(AF_INET, host)) return Listener{AF_INET, *v4 == "0.0.0.0" ? "" : *v4, *port};
  if (const auto v6 = Canonical(AF_INET6, host)) {
    const std::string_view interface = zone == std::string_view::npos ? "" : parts->host.substr(zone);
    return Listener{AF_INET6, *v6 == "::" ? "" : *v6 + std::string(interface), *port};
  }
  return Listener{AF_UNSPEC, ToLowerAscii(host), *port};
}

/// Every host of IPv6 is every one of IPv4 as well, for that is how the server opens it; a name it opens as IPv4 first.
bool Covers(const Listener& every, const Listener& other) {
  return every.host.empty() && (every.family == AF_INET6 || other.family != AF_INET6);
}

}  // namespace

bool ListenConflict(std::string_view a, std::string_view b) {
  const auto one = Read(a);
  const auto other = Read(b);
  if (!one || !other || one->port != other->port) return false;
  return Covers(*one, *other) || Covers(*other, *one) || (one->family == other->family && one->host == other->host);
}

}  // namespace kepler::config
