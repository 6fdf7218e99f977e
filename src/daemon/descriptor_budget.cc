#include "daemon/descriptor_budget.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace kepler::daemon {

Status CheckDescriptorLimit(uint64_t min) {
  const uint64_t limit = DescriptorLimit();
  if (limit >= min) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("the limit of open files is {}, but this program needs at least {}; "
                                                   "raise LimitNOFILE= of the unit or ulimit -n",
                                                   limit, min));
}

Result<uint64_t> ClientDescriptors(uint64_t limit, uint64_t open, uint64_t more) {
  const uint64_t kept = kSpareDescriptors + more;
  const uint64_t own = open + kept;
  if (limit >= own + kMinClientDescriptors) return limit - own;
  return Fail(
      ErrorKind::kUnavailable,
      fmt::format(
          "the limit of open files is {}, but this program needs at least {} ({} are open, {} are reserved for files "
          "and servers, {} for clients); raise LimitNOFILE= of the unit or ulimit -n",
          limit, own + kMinClientDescriptors, open, kept, kMinClientDescriptors));
}

Result<uint64_t> ClientDescriptors(uint64_t more) {
  KEPLER_TRY(const uint64_t open, CountOpenDescriptors());
  return ClientDescriptors(DescriptorLimit(), open, more);
}

void RaiseDescriptorLimit() {
  constexpr rlim_t kEnough = 2048;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (wanted <= limit.rlim_cur) return;
  limit.rlim_cur = wanted;
  // If this fails, there are fewer connections, which the server reports.
  [[maybe_unused]] const int ignored = setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t DescriptorLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

Result<uint64_t> CountOpenDescriptors() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  uint64_t count = 0;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) ++count;
  if (error) return FailErrno("list", "/proc/self/fd", error.value());
  return count - 1;  // without the descriptor of the listing
}

}  // namespace kepler::daemon
