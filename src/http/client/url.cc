#include "http/client/url.h"

#include <algorithm>
#include <cstdint>

#include "base/host_port.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::http::client {
namespace {

std::unexpected<Error> Refuse(std::string why) { return Fail(ErrorKind::kInvalid, std::move(why)); }

bool IsPlain(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

Result<Url> ParseUrl(std::string_view text) {
  const std::string scheme = ToLowerAscii(text.substr(0, 8));
  const bool tls = scheme == "https://";
  if (!tls && !scheme.starts_with("http://")) return Refuse("must begin with https:// or http://");
  const std::string_view rest = text.substr(tls ? 8 : 7);
  if (!std::ranges::all_of(rest, IsPlain))
    return Refuse("contains a space or another character that must be written as %XX");
  const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string authority(rest.substr(0, end));
  if (authority.contains('@')) return Refuse("contains a user name or password, which logs and metrics would show");
  if (!authority.contains(':') || authority.ends_with(']')) authority += tls ? ":443" : ":80";
  const auto parts = SplitHostPort(authority);
  if (!parts) return Refuse(parts.error().message);
  const auto port = ParseNumber<uint16_t>(parts->port);
  if (!port || *port == 0 || parts->host.empty()) return Refuse("has no valid host and port");
  Url url;
  url.peer.tls = tls;
  url.peer.host = parts->host;
  url.peer.port = *port;
  url.target = rest.substr(end);
  if (url.target.contains('#')) return Refuse("has a fragment (the part after #)");
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

}  // namespace kepler::http::client
