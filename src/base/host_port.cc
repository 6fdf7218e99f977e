#include "base/host_port.h"

namespace kepler {

Result<HostPort> SplitHostPort(std::string_view text) {
  const auto refuse = [](const char* why) { return Fail(ErrorKind::kInvalid, why); };
  const bool bracketed = text.starts_with('[');
  const size_t end = bracketed ? text.find(']') : text.find(':');
  if (bracketed && end == std::string_view::npos) return refuse("\"]\" is missing");
  const size_t colon = bracketed ? end + 1 : end;
  if (colon >= text.size() || text[colon] != ':') return refuse("the port is missing");
  const std::string_view port = text.substr(colon + 1);
  if (port.contains(':')) return refuse("an IPv6 address needs brackets: [::1]:28282");
  return HostPort{text.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end), port, bracketed};
}

}  // namespace kepler
