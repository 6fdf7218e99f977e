#pragma once
// Who gets the descriptors of the process: first the program, for what it reads (meters, its kernel side, the files of
// a tick); the clients what is left.
#include <cstdint>

#include "base/result.h"

namespace kepler::daemon {

/// Descriptors reserved in addition to those that are open after startup: files and folders that a tick or a reload
/// reads, a meter or a cgroup tree that appears later, a scrape's own reading of /proc, a client on its way in.
inline constexpr uint64_t kSpareDescriptors = 16;
/// Fewer for clients, and the program does not start.
inline constexpr uint64_t kMinClientDescriptors = 4;

/// How many descriptors clients may have of `limit`, while `open` ones are in use and parts of the program will want
/// `more` than kSpareDescriptors. The error says which limit would do.
[[nodiscard]] Result<uint64_t> ClientDescriptors(uint64_t limit, uint64_t open, uint64_t more);

/// The same of this process, now.
[[nodiscard]] Result<uint64_t> ClientDescriptors(uint64_t more = 0);

/// Takes what the machine allows, up to 2,048.
void RaiseDescriptorLimit();
/// RLIMIT_NOFILE, the soft one.
[[nodiscard]] uint64_t DescriptorLimit();
/// Those of this process that are open now.
[[nodiscard]] Result<uint64_t> CountOpenDescriptors();

}  // namespace kepler::daemon
