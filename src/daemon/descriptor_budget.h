#pragma once
// Divides the file descriptors of the process. The program comes first, for meters, BPF programs and the files of a
// tick. Clients get the rest.
#include <cstdint>

#include "base/result.h"

namespace kepler::daemon {

/// Descriptors reserved in addition to those that are open after startup: files and folders that a tick or a reload
/// reads, a meter or a cgroup tree that appears later, a scrape's own reading of /proc, a client on its way in.
inline constexpr uint64_t kSpareDescriptors = 16;
/// With fewer descriptors for clients, the program does not start.
inline constexpr uint64_t kMinClientDescriptors = 4;

/// Fails if the limit is lower than `min`. Check this before the program opens its files. Otherwise each of them
/// fails with the same cause.
[[nodiscard]] Status CheckDescriptorLimit(uint64_t min);

/// Returns the number of descriptors for clients. `limit`: descriptors of the process. `open`: descriptors in use.
/// `more`: descriptors that the program needs in addition to kSpareDescriptors. The error contains a sufficient limit.
[[nodiscard]] Result<uint64_t> ClientDescriptors(uint64_t limit, uint64_t open, uint64_t more);

/// Same as above, with the limit and the open descriptors of this process.
[[nodiscard]] Result<uint64_t> ClientDescriptors(uint64_t more = 0);

/// Raises the soft limit to the hard limit, but at most to 2,048.
void RaiseDescriptorLimit();
/// Returns the soft limit RLIMIT_NOFILE.
[[nodiscard]] uint64_t DescriptorLimit();
/// Returns the number of open descriptors of this process.
[[nodiscard]] Result<uint64_t> CountOpenDescriptors();

}  // namespace kepler::daemon
