#include "os/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/parse.h"
#include "base/unique_fd.h"

namespace kepler::os {
namespace {

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

ServiceManager ServiceManager::FromEnvironment() {
  std::optional<Nanoseconds> watchdog;
  const auto microseconds = ParseNumber<int64_t>(Variable("WATCHDOG_USEC"));
  const std::string_view pid = Variable("WATCHDOG_PID");  // the watchdog may be for another process of the service
  if (microseconds && *microseconds > 0 && (pid.empty() || ParseNumber<pid_t>(pid) == getpid()))
    watchdog = std::chrono::microseconds(*microseconds);
  return {std::string(Variable("NOTIFY_SOCKET")), watchdog};
}

Status ServiceManager::Notify(std::string_view state) const {
  if (socket_.empty()) return {};
  const auto fail = [&](int err) {
    return FailErrno(fmt::format("notify the service manager of {} at", state), socket_, err);
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((socket_.front() != '/' && socket_.front() != '@') || socket_.size() >= sizeof address.sun_path)
    return fail(EINVAL);
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail(errno);
  const ssize_t sent = ::sendto(fd.get(), state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  if (sent < 0) return fail(errno);
  return {};
}

}  // namespace kepler::os
