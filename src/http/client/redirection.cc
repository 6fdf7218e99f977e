#include "http/client/redirection.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace kepler::http::client {
namespace {

std::string_view SchemeOf(std::string_view url) {
  const size_t end = url.find("://");
  return end == std::string_view::npos ? "" : url.substr(0, end);
}

}  // namespace

std::string DescribeRedirection(const Peer& peer, const Answer& answer) {
  if (answer.status / 100 != 3 || answer.location.empty()) return "";
  const std::string_view plain = std::string_view(answer.location).substr(0, answer.location.find_first_of("?#"));
  if (plain.contains('@'))
    return "the server redirects to a URL with a password; redirections are not followed, and a URL with a password is "
           "not supported";
  std::string text = fmt::format("the server redirects to {}; redirections are not followed", EscapeControls(plain));
  const std::string scheme = ToLowerAscii(SchemeOf(plain));
  if (!scheme.empty() && scheme != "http" && scheme != "https") return text;
  return text +
         (peer.tls && scheme == "http" ? ", set that URL if http instead of https is acceptable" : ", set that URL");
}

}  // namespace kepler::http::client
