#pragma once
// Training jobs: one runs at a time, in child processes with limits, and some wait. Each has a directory with its
// input, its log and its result. Jobs end with the server. Thread-safe.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "modelserver/jobs/child_process.h"

namespace kepler::modelserver::jobs {

enum class JobState : uint8_t { kQueued, kRunning, kDone, kFailed, kTimedOut, kCancelled };
inline constexpr size_t kJobStates = 6;
[[nodiscard]] std::string_view Name(JobState state);  // "timed_out"

struct JobView {
  std::string id{};
  std::string name{};
  std::string user{};
  JobState state = JobState::kQueued;
  std::string reason{};          // why it has no result; empty otherwise
  bool is_server_fault = false;  // it failed, but not because of its input: the disk is full, for example
  WallTime asked{};
  double seconds = 0;  // that it ran
  size_t result_bytes = 0;
};

struct Job {
  std::string name{};
  std::string user{};
  std::string input_name{};                       // file in the directory of the job
  std::string_view input{};                       // only while Add() runs
  std::vector<std::vector<std::string>> steps{};  // arguments of the program, one after the other
  /// Makes the result of what the steps left in the directory. On the thread of the jobs.
  std::function<Result<std::string>(const std::string& directory)> collect{};
  /// Called once, at the end of the job, on the thread of the jobs or of Cancel(). `result` is empty unless kDone.
  std::function<void(const JobView& job, std::string result)> done{};
};

struct JobOptions {
  std::string directory{};  // its jobs; everything else in it is left alone
  std::string program{};    // that runs the steps
  ChildOptions child{};     // limits of one job; argv, directory and log are set here
  int fault_exit_code = 3;  // of a step that failed for another reason than its input: the disk is full, for example
  size_t max_queued = 8;
  size_t max_ended = 32;  // that are kept, with log and result
};

class JobQueue {
 public:
  /// `clock` must outlive it.
  JobQueue(JobOptions options, const Clock& clock);
  /// Ends the running job, and cancels those that wait.
  ~JobQueue();

  /// Makes the directory, removes jobs of an earlier process and starts the thread.
  [[nodiscard]] Status Start();
  /// Writes the input, and returns the id of the job. kUnavailable if too many wait. Blocks.
  [[nodiscard]] Result<std::string> Add(Job job);
  /// Returns false if there is no such job, or if it has ended.
  [[nodiscard]] bool Cancel(std::string_view id);
  [[nodiscard]] std::optional<JobView> Find(std::string_view id) const;
  [[nodiscard]] std::vector<JobView> All() const;  // oldest first
  /// The last `max` bytes, after a line that says how many bytes are left out, if any. kNotFound if there is no such
  /// job, or if it has no log yet.
  [[nodiscard]] Result<std::string> Log(std::string_view id, size_t max) const;
  [[nodiscard]] Result<std::string> ReadResult(std::string_view id) const;
  /// Jobs that have ended in each state since the start.
  [[nodiscard]] std::vector<uint64_t> ended() const;

 private:
  struct Shared;
  const std::unique_ptr<Shared> shared_;
};

}  // namespace kepler::modelserver::jobs
