#include "energy/platform/ipmi/ipmi_driver.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/unique_fd.h"
#include "os/file.h"

namespace kepler::energy::platform::ipmi {
namespace {

/// IPMI_MAX_MSG_LENGTH of the kernel's <linux/ipmi_msgdefs.h>, rounded up.
constexpr size_t kMaxMessage = 512;

class IpmiDevice final : public IpmiDriver {
 public:
  IpmiDevice(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  [[nodiscard]] Status Send(int64_t number, const Request& request) override;
  [[nodiscard]] Result<bool> Wait(Nanoseconds time) override;
  [[nodiscard]] Result<std::optional<Received>> Receive() override;

 private:
  UniqueFd fd_;
  std::string path_;
};

int RetryIoctl(int fd, unsigned long request, void* argument) {
  int result = 0;
  do {
    result = ::ioctl(fd, request, argument);
  } while (result < 0 && errno == EINTR);
  return result;
}

Status IpmiDevice::Send(int64_t number, const Request& request) {
  ipmi_system_interface_addr address{};
  address.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE;
  address.channel = IPMI_BMC_CHANNEL;
  address.lun = request.lun;
  std::vector<uint8_t> data = request.data;
  ipmi_req message{};
  message.addr = reinterpret_cast<unsigned char*>(&address);
  message.addr_len = sizeof address;
  message.msgid = static_cast<long>(number);
  message.msg.netfn = request.function;
  message.msg.cmd = request.command;
  message.msg.data_len = static_cast<uint16_t>(data.size());
  message.msg.data = data.data();
  if (RetryIoctl(fd_.get(), IPMICTL_SEND_COMMAND, &message) < 0) return FailErrno("send to", path_);
  return {};
}

/// A driver that was removed signals an error or a hang-up, and never another message.
Result<bool> IpmiDevice::Wait(Nanoseconds time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(time, Nanoseconds::zero())).count();
  pollfd watched{fd_.get(), POLLIN, 0};
  const int ready = ::poll(&watched, 1, static_cast<int>(std::min<int64_t>(ms, std::numeric_limits<int>::max())));
  if (ready < 0 && errno != EINTR) return FailErrno("wait for", path_);
  if (ready > 0 && (watched.revents & POLLIN) == 0)
    return Fail(ErrorKind::kGone, fmt::format("wait for {}: the device was removed", path_));
  return ready != 0;
}

Result<std::optional<Received>> IpmiDevice::Receive() {
  std::array<uint8_t, kMaxMessage> buffer{};
  ipmi_addr address{};
  ipmi_recv message{};
  message.addr = reinterpret_cast<unsigned char*>(&address);
  message.addr_len = sizeof address;
  message.msg.data = buffer.data();
  message.msg.data_len = buffer.size();
  // A message that is too long arrives truncated, and is dropped from the queue (EMSGSIZE).
  if (RetryIoctl(fd_.get(), IPMICTL_RECEIVE_MSG_TRUNC, &message) < 0 && errno != EMSGSIZE) {
    if (errno == EAGAIN) return std::nullopt;
    return FailErrno("receive from", path_);
  }
  Received received;
  received.number = message.msgid;
  received.is_response = message.recv_type == IPMI_RESPONSE_RECV_TYPE;
  received.function = message.msg.netfn;
  received.command = message.msg.cmd;
  received.data.assign(buffer.begin(), buffer.begin() + std::min<size_t>(message.msg.data_len, buffer.size()));
  return received;
}

std::string_view RemedyOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kPermission:
      return "run the agent as root or give its user read access to the device (chmod, udev rule); in a container also "
             "allow the device";
    case ErrorKind::kNotFound:
    case ErrorKind::kGone:
      return "load the modules ipmi_si and ipmi_devintf; in a container also mount the device";
    default:
      return "it is retried; check the kernel log for ipmi";
  }
}

}  // namespace

Result<std::unique_ptr<IpmiDriver>> OpenIpmiDevice(const std::string& path) {
  auto fd = os::OpenAt(AT_FDCWD, path.c_str(), O_NONBLOCK);
  if (!fd) return Fail(fd.error().kind, fmt::format("{}; {}", fd.error().message, RemedyOf(fd.error().kind)));
  return std::make_unique<IpmiDevice>(*std::move(fd), path);
}

std::string FindIpmiDevice(std::string_view dev) {
  for (const char* const name : {"ipmi0", "ipmi/0", "ipmidev/0"}) {
    std::string path = fmt::format("{}/{}", dev, name);
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  return "";
}

}  // namespace kepler::energy::platform::ipmi
