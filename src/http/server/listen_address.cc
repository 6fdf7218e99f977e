#include "http/server/listen_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

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

Result<UniqueFd> Listen(std::string_view address) {
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
      // Only a missing protocol is a reason to try the next one; a port that is taken must be reported.
      if (err != EAFNOSUPPORT && err != EADDRNOTAVAIL) return Refuse(address, err);
    }
  }
  return Refuse(address, err);
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
