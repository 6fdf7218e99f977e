#include "http/server/listen_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <expected>
#include <optional>
#include <sstream>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/host_port.h"
#include "base/text.h"

namespace kepler::http::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

std::string_view Advice(int err) {
  switch (err) {
    case EADDRINUSE:
      return "; another process uses this port: stop it (ss -ltnp shows it) or set another listen address";
    case EACCES:
      return "; ports below 1024 need CAP_NET_BIND_SERVICE: listen on a higher port";
    case EADDRNOTAVAIL:
      return "; no interface of this machine has this address: correct the listen address";
    default:
      return "";
  }
}

std::unexpected<Error> Refuse(std::string_view address, int err) {
  return Fail(KindOfErrno(err), fmt::format("{}{}: {}{}", kListenError, address, std::strerror(err), Advice(err)));
}

/// Maps IPv4 addresses to IPv6 (::ffff:a.b.c.d), so that sockets of both families can be compared.
asio::ip::address_v6 AsV6(const asio::ip::address& address) {
  return address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()) : address.to_v6();
}

std::optional<tcp::endpoint> EndpointOf(int fd) {
  tcp::endpoint endpoint;
  auto length = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(fd, endpoint.data(), &length) != 0) return std::nullopt;
  const int family = endpoint.data()->sa_family;
  return family == AF_INET || family == AF_INET6 ? std::optional(endpoint) : std::nullopt;
}

bool IsLoopback(const asio::ip::address& address) {
  const auto host = AsV6(address);
  return host.is_loopback() ||
         (host.is_v4_mapped() && asio::ip::make_address_v4(asio::ip::v4_mapped, host).is_loopback());
}

/// Returns true if a socket at `every` uses the port of `other`, too.
bool Covers(const tcp::endpoint& every, const tcp::endpoint& other) {
  if (every.port() != other.port()) return false;
  const auto host = AsV6(every.address()), one = AsV6(other.address());
  if (host.is_unspecified()) return true;
  if (host == AsV6(asio::ip::address_v4::any())) return one.is_v4_mapped();
  return host == one;
}

/// Returns the socket in `ours` that uses the port of `wanted`; null if there is none.
const OwnAddress* InTheWay(const tcp::endpoint& wanted, std::span<const OwnAddress> ours) {
  const auto found = std::ranges::find_if(ours, [&](const OwnAddress& own) {
    const auto taken = EndpointOf(own.fd);
    return taken && (Covers(wanted, *taken) || Covers(*taken, wanted));
  });
  return found == ours.end() ? nullptr : &*found;
}

enum class Purpose : uint8_t { kServe, kCheck };

/// Returns a bound socket, or the errno. With Purpose::kServe the socket listens.
std::expected<UniqueFd, int> Bind(const tcp::endpoint& endpoint, Purpose purpose) {
  const int family = endpoint.protocol().family();
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!fd.valid()) return std::unexpected(errno);
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return std::unexpected(errno);
  if (purpose == Purpose::kServe && ::listen(fd.get(), SOMAXCONN) != 0) return std::unexpected(errno);
  return fd;
}

Result<UniqueFd> Open(std::string_view address, std::span<const OwnAddress> ours, Purpose purpose) {
  const auto refuse = [address](std::string_view why) {
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}\"{}\": {}; correct the listen address", kListenError, address, why));
  };
  const auto parts = SplitHostPort(address);
  if (!parts) return refuse(parts.error().message);
  if (parts->port.empty()) return refuse("the port is empty");
  asio::io_context context;
  boost::system::error_code error;
  const auto found =
      tcp::resolver(context).resolve(std::string(parts->host), std::string(parts->port), tcp::resolver::passive, error);
  if (error) return refuse(error.message());
  // Every interface: one IPv6 socket serves IPv4 too. A name: IPv4 first, as upstream does.
  const auto preferred = parts->host.empty() ? tcp::v6() : tcp::v4();
  int err = EAFNOSUPPORT;
  for (const bool first_round : {true, false}) {
    for (const tcp::endpoint endpoint : found) {
      if ((endpoint.protocol() == preferred) != first_round) continue;
      auto fd = Bind(endpoint, purpose);
      err = fd ? 0 : fd.error();
      // Sockets that do not listen may share a port.
      if (const auto* own =
              err == EADDRINUSE || (fd && purpose == Purpose::kCheck) ? InTheWay(endpoint, ours) : nullptr) {
        return Fail(ErrorKind::kInvalid,
                    fmt::format("{}{}: this program already listens there for {}; remove one of the two addresses",
                                kListenError, address, own->address));
      }
      if (fd) return *std::move(fd);
      if (err == EADDRINUSE && purpose == Purpose::kCheck) return UniqueFd();
      // Only a missing protocol is a reason to try the next one; a port that is taken must be reported.
      if (err != EAFNOSUPPORT && err != EADDRNOTAVAIL) return Refuse(address, err);
    }
  }
  return Refuse(address, err);
}

}  // namespace

Result<UniqueFd> Listen(std::string_view address, std::span<const OwnAddress> ours) {
  return Open(address, ours, Purpose::kServe);
}

Result<UniqueFd> CheckAddress(std::string_view address, std::span<const OwnAddress> ours) {
  return Open(address, ours, Purpose::kCheck);
}

bool NamesLoopback(std::string_view address) {
  const auto parts = SplitHostPort(address);
  if (!parts) return false;
  boost::system::error_code error;
  const auto host = asio::ip::make_address(std::string(parts->host), error);
  return error ? ToLowerAscii(parts->host) == "localhost" : IsLoopback(host);
}

std::string LocalAddress(int fd) {
  const auto endpoint = EndpointOf(fd);
  return endpoint ? (std::ostringstream() << *endpoint).str() : "";
}

}  // namespace kepler::http::server
