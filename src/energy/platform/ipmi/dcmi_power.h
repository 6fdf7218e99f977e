#pragma once
// Get Power Reading of the Data Center Manageability Interface: the input power of the machine, as its BMC measures it.
// Pure. Source: DCMI specification v1.5, section 6.6.1; values are in whole watts, least significant byte first.
#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "base/units.h"
#include "energy/platform/ipmi/ipmi_message.h"

namespace kepler::energy::platform::ipmi {

struct DcmiReading {
  uint16_t watts = 0;                   // now
  uint16_t min = 0;                     // of the period
  uint16_t max = 0;                     // of the period
  std::chrono::sys_seconds at{};        // by the clock of the BMC, which is often wrong
  std::chrono::milliseconds period{0};  // over which the BMC takes its statistics
  bool is_active = false;               // the BMC measures power
};

[[nodiscard]] Request DcmiPowerRequest();

/// Returns true if the answer shows for certain that the BMC has no DCMI power reading: it does not know the command or
/// its group, or answers for another group. False for a passing failure.
[[nodiscard]] bool IsWithoutDcmi(Bytes answer);

/// Errors: as BodyOf; kMalformed for another group or too few bytes. Bytes after the known ones are ignored.
[[nodiscard]] Result<DcmiReading> ParseDcmiPower(Bytes answer);

/// Returns the power now. kUnavailable if the BMC measures none: it is not active, or reports 0 W or 65535 W, which no
/// running machine uses. A BMC that fills in nothing except the power is trusted without its active bit.
[[nodiscard]] Result<Power> PowerOf(const DcmiReading& reading);

}  // namespace kepler::energy::platform::ipmi
