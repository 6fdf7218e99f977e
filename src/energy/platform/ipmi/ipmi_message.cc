#include "energy/platform/ipmi/ipmi_message.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace kepler::energy::platform::ipmi {
namespace {

struct Code {
  uint8_t code;
  ErrorKind kind;
  std::string_view meaning;
  std::string_view remedy;
};

constexpr std::string_view kWait = "it is retried; the BMC usually answers within minutes";
constexpr std::string_view kReset = "it is retried; if it lasts, reset the BMC (ipmitool mc reset cold)";
constexpr std::string_view kReport = "it is retried; if it lasts, update the firmware of the BMC";
constexpr std::string_view kMissing = "update the firmware of the BMC, or use another platform meter";

// IPMI v2.0, table 5-2. QEMU and the kernel give 0xD2 while no BMC is connected.
constexpr std::array kCodes = {
    Code{0xC0, ErrorKind::kUnavailable, "the BMC is busy", kWait},
    Code{0xC1, ErrorKind::kUnavailable, "the BMC does not have the command", kMissing},
    Code{0xC2, ErrorKind::kUnavailable, "the logical unit does not have the command", kMissing},
    Code{0xC3, ErrorKind::kTimeout, "the BMC timed out", kReset},
    Code{0xC4, ErrorKind::kUnavailable, "the BMC is out of memory", kReset},
    Code{0xC5, ErrorKind::kUnavailable, "the reservation is cancelled", kWait},
    Code{0xC6, ErrorKind::kMalformed, "the BMC received a truncated request", kReport},
    Code{0xC7, ErrorKind::kMalformed, "the BMC does not accept the length of the request", kReport},
    Code{0xC8, ErrorKind::kMalformed, "a field of the request is too long", kReport},
    Code{0xC9, ErrorKind::kMalformed, "a parameter of the request is out of range", kReport},
    Code{0xCA, ErrorKind::kMalformed, "the BMC cannot return this number of bytes", kReport},
    Code{0xCB, ErrorKind::kUnavailable, "the sensor or record does not exist", kWait},
    Code{0xCC, ErrorKind::kUnavailable, "the BMC does not accept a field of the request", kMissing},
    Code{0xCD, ErrorKind::kUnavailable, "the sensor does not have the command", kMissing},
    Code{0xCE, ErrorKind::kUnavailable, "the BMC cannot provide the answer", kReset},
    Code{0xD0, ErrorKind::kUnavailable, "the sensor records are being updated", kWait},
    Code{0xD1, ErrorKind::kUnavailable, "the firmware of the BMC is being updated", kWait},
    Code{0xD2, ErrorKind::kUnavailable, "the BMC is starting", kWait},
    Code{0xD3, ErrorKind::kUnavailable, "the controller cannot be reached", kReset},
    Code{0xD4, ErrorKind::kPermission, "the privilege level is too low",
         "allow the command on the system interface in the settings of the BMC (firmware firewall)"},
    Code{0xD5, ErrorKind::kUnavailable, "the BMC does not support the command in its present state", kWait},
    Code{0xD6, ErrorKind::kUnavailable, "the command is disabled", "enable it in the settings of the BMC"},
    Code{kUnspecified, ErrorKind::kIo, "the BMC failed without a reason, or does not answer the kernel", kReset},
};

}  // namespace

Result<Bytes> BodyOf(Bytes answer) {
  if (answer.empty()) return Fail(ErrorKind::kMalformed, "the answer is empty; " + std::string(kReport));
  const uint8_t code = answer[0];
  if (code == kSuccess) return answer.subspan(1);
  const auto known = std::ranges::find(kCodes, code, &Code::code);
  if (known == kCodes.end())
    return Fail(ErrorKind::kIo,
                fmt::format("completion code {:#04x}: not in the IPMI specification; {}", code, kReport));
  return Fail(known->kind, fmt::format("completion code {:#04x}: {}; {}", code, known->meaning, known->remedy));
}

}  // namespace kepler::energy::platform::ipmi
