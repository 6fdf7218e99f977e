#pragma once
// IpmiDriver: hands requests to the kernel's IPMI driver and returns what arrives, without any order between them.
// Behind an interface, so that tests need no BMC (simulated_bmc.h). Thread-compatible. Source: Linux
// Documentation/driver-api/ipmi.rst and <linux/ipmi.h>.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "energy/platform/ipmi/ipmi_message.h"

namespace kepler::energy::platform::ipmi {

/// A message from the driver. Only responses have the number of a request.
struct Received {
  int64_t number = 0;
  bool is_response = false;
  uint8_t function = 0;
  uint8_t command = 0;
  std::vector<uint8_t> data{};  // of a response: completion code and body
};

class IpmiDriver {
 public:
  virtual ~IpmiDriver() = default;
  /// Does not wait for the BMC. kGone if the device was removed.
  [[nodiscard]] virtual Status Send(int64_t number, const Request& request) = 0;
  /// Waits until a message has arrived, or for `time`. Returns true if there may be one. kGone if the device was
  /// removed.
  [[nodiscard]] virtual Result<bool> Wait(Nanoseconds time) = 0;
  /// Returns the next message; empty if there is none.
  [[nodiscard]] virtual Result<std::optional<Received>> Receive() = 0;
};

using IpmiOpener = std::function<Result<std::unique_ptr<IpmiDriver>>()>;

/// Opens the driver's device. Reading rights suffice. Errors contain the path and a remedy.
[[nodiscard]] Result<std::unique_ptr<IpmiDriver>> OpenIpmiDevice(const std::string& path);

/// Returns the path of the first IPMI device in the directory `dev`: ipmi0, ipmi/0 or ipmidev/0. "" if there is none.
[[nodiscard]] std::string FindIpmiDevice(std::string_view dev);

}  // namespace kepler::energy::platform::ipmi
