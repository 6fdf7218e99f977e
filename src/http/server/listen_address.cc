#include "http/server/listen_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "base/host_port.h"

namespace kepler::http {
namespace {

std::string_view Advice(int err) {
  switch (err) {
    case EADDRINUSE:
      return "; another process has this port: stop it (ss -ltnp names it) or set another web.listen-address";
    case EACCES:
      return "; ports below 1024 need CAP_NET_BIND_SERVICE: set a higher port in web.listen-address";
    case EADDRNOTAVAIL:
      return "; no interface of this machine has this address: correct web.listen-address";
    default:
      return "";
  }
}

std::unexpected<Error> Refuse(std::string_view address, int err) {
  return Fail(KindOfErrno(err), fmt::format("listen on {}: {}{}", address, std::strerror(err), Advice(err)));
}

/// Where a socket listens. IPv4 as the part of IPv6 that stands for it, for that is how they get in each other's way.
struct Place {
  in6_addr host{};
  in_port_t port = 0;
  uint32_t zone = 0;
};

std::optional<Place> PlaceOf(const sockaddr* address, socklen_t length) {
  Place place;
  if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    place.host.s6_addr[10] = place.host.s6_addr[11] = 0xff;
    std::memcpy(place.host.s6_addr + 12, &v4.sin_addr, sizeof v4.sin_addr);
    place.port = v4.sin_port;
  } else if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    place = {.host = v6.sin6_addr, .port = v6.sin6_port, .zone = v6.sin6_scope_id};
  } else {
    return std::nullopt;
  }
  return place;
}

std::optional<Place> PlaceOf(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  return ::getsockname(fd, address, &length) == 0 ? PlaceOf(address, length) : std::nullopt;
}

bool IsLoopback(const Place& place) {
  if (IN6_IS_ADDR_V4MAPPED(&place.host)) return place.host.s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&place.host);
}

/// Whether a socket at `every` takes the port of `other` too.
bool Covers(const Place& every, const Place& other) {
  if (every.port != other.port) return false;
  if (IN6_IS_ADDR_UNSPECIFIED(&every.host)) return true;
  const bool any_v4 = IN6_IS_ADDR_V4MAPPED(&every.host) && every.host.s6_addr32[3] == INADDR_ANY;
  if (any_v4) return IN6_IS_ADDR_V4MAPPED(&other.host);
  return IN6_ARE_ADDR_EQUAL(&every.host, &other.host) && every.zone == other.zone;
}

/// Which of `ours` has the port that `wanted` wants; null where none has.
const OwnListener* InTheWay(const addrinfo& wanted, std::span<const OwnListener> ours) {
  const auto place = PlaceOf(wanted.ai_addr, wanted.ai_addrlen);
  const auto found = std::ranges::find_if(ours, [&](const OwnListener& own) {
    const auto taken = PlaceOf(own.fd);
    return place && taken && (Covers(*place, *taken) || Covers(*taken, *place));
  });
  return found == ours.end() ? nullptr : &*found;
}

/// A bound and listening socket, or the errno.
std::expected<UniqueFd, int> ListenOn(const sockaddr* address, socklen_t length) {
  const int family = address->sa_family;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.valid()) return std::unexpected(errno);
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), address, length) != 0) return std::unexpected(errno);
  if (::listen(fd.get(), SOMAXCONN) != 0) return std::unexpected(errno);
  return fd;
}

}  // namespace

Result<UniqueFd> Listen(std::string_view address, std::span<const OwnListener> ours) {
  const auto refuse = [address](std::string_view why) {
    return Fail(ErrorKind::kInvalid, fmt::format("listen on \"{}\": {}; correct web.listen-address", address, why));
  };
  const auto parts = SplitHostPort(address);
  if (!parts) return refuse(parts.error().message);
  if (parts->port.empty()) return refuse("the port is empty");
  const std::string host(parts->host), port(parts->port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const int failure = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &list);
  if (failure != 0) return refuse(::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  // Every interface: one IPv6 socket serves IPv4 too. A name: IPv4 first, as upstream does.
  const int preferred = host.empty() ? AF_INET6 : AF_INET;
  int err = EAFNOSUPPORT;
  for (const bool first_round : {true, false}) {
    for (const auto* it = list; it != nullptr; it = it->ai_next) {
      if ((it->ai_family == preferred) != first_round) continue;
      auto fd = ListenOn(it->ai_addr, it->ai_addrlen);
      if (fd) return *std::move(fd);
      err = fd.error();
      if (const auto* own = err == EADDRINUSE ? InTheWay(*it, ours) : nullptr) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("listen on {}: this agent listens there already, for {}; remove one "
                                "of the two from web.listen-address",
                                address, own->address));
      }
      // Only a missing protocol is a reason to try the next one; a port that is taken must be reported.
      if (err != EAFNOSUPPORT && err != EADDRNOTAVAIL) return Refuse(address, err);
    }
  }
  return Refuse(address, err);
}

bool IsLoopback(int fd) {
  const auto place = PlaceOf(fd);
  return place && IsLoopback(*place);
}

bool NamesLoopback(std::string_view address) {
  const auto parts = SplitHostPort(address);
  if (!parts) return false;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* list = nullptr;
  const std::string host(parts->host);
  if (::strcasecmp(host.c_str(), "localhost") == 0) return true;
  if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  const auto place = PlaceOf(list->ai_addr, list->ai_addrlen);
  return place && IsLoopback(*place);
}

std::string LocalAddress(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, address, &length) != 0 ||
      ::getnameinfo(address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return storage.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace kepler::http
