#include "daemon/self_status.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/parse.h"
#include "daemon/descriptor_budget.h"
#include "os/file.h"
#include "os/proc_stat.h"
#include "os/procfs.h"

namespace kepler::daemon {
namespace {

// Not in host.procfs, where the agent may have another pid.
constexpr const char* kSelf = "/proc/self/";

uint64_t AddressSpaceLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : 0;
}

/// Call once. Alerts take a change of the start time for a restart, so it must not follow steps of the wall clock.
WallTime StartTime() {
  const auto text = os::ReadWholeFile(std::string(kSelf) + "stat");
  if (!text) return {};
  const auto stat = os::ParseProcessStat(*text);
  if (!stat) return {};
  const SystemClock clock;
  const auto since_boot = static_cast<int64_t>(stat->start_ticks) * os::ClockTick();
  return clock.Wall() - (clock.Now().time_since_epoch() - since_boot);
}

}  // namespace

status::SelfStatus ReadSelfStatus() {
  status::SelfStatus self;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  for (const timeval& part : {usage.ru_utime, usage.ru_stime})
    self.cpu += std::chrono::seconds(part.tv_sec) + std::chrono::microseconds(part.tv_usec);
  self.open_fds = CountOpenDescriptors().value_or(0);
  self.max_fds = DescriptorLimit();
  self.virtual_memory_max_bytes = AddressSpaceLimit();
  if (const auto text = os::ReadWholeFile(std::string(kSelf) + "statm")) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    Splitter fields(*text, ' ');
    if (const auto size = fields.Next()) self.virtual_memory_bytes = ParseNumber<uint64_t>(*size).value_or(0) * page;
    if (const auto rss = fields.Next()) self.resident_memory_bytes = ParseNumber<uint64_t>(*rss).value_or(0) * page;
  }
  if (const auto text = os::ReadWholeFile(std::string(kSelf) + "net/netstat")) {
    if (const auto octets = os::ParseIpOctets(*text)) {
      self.network_receive_bytes = octets->received;
      self.network_transmit_bytes = octets->sent;
    }
  }
  static const WallTime kStartTime = StartTime();
  self.start_time = kStartTime;
  return self;
}

}  // namespace kepler::daemon
