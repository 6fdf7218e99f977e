#pragma once
// Runs a program below the importance of everything else, with limits, and waits for its end. Blocks; any thread.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace kepler::modelserver::jobs {

struct ChildOptions {
  std::vector<std::string> argv{};  // argv[0] is the path of the program
  std::string directory{};          // where it works
  std::string log{};                // its stdout and stderr are added to this file
  std::chrono::milliseconds time{30 * 60 * 1000};
  size_t memory_bytes = size_t{2} << 30;  // data of each of its processes
  size_t file_bytes = size_t{1} << 30;    // of a file that it writes, including the log
};

enum class ChildEnd : uint8_t { kDone, kFailed, kKilled, kTimedOut, kStopped };  // kKilled: by a signal

/// Exit code of a child that could not become the program.
inline constexpr int kNotStarted = 127;

struct Ended {
  ChildEnd how = ChildEnd::kDone;
  int exit_code = 0;     // of kFailed
  std::string reason{};  // "exit code 1", "signal 9"; empty for kDone
};

/// The child has the lowest priority for CPU and disk, ends with this thread, and is killed with its own children when
/// the time is over or `stop` is requested. An error means that it could not be started.
[[nodiscard]] Result<Ended> RunChild(const ChildOptions& options, const std::stop_token& stop);

}  // namespace kepler::modelserver::jobs
