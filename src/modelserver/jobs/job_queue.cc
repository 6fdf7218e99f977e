#include "modelserver/jobs/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <mutex>
#include <random>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "base/thread.h"
#include "lab/files/files.h"

namespace kepler::modelserver::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "job-";
constexpr char kLogFile[] = "/log";
constexpr char kResultFile[] = "/result";
constexpr size_t kMaxResultBytes = size_t{64} << 20;

std::string NewId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

bool HasEnded(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

JobState StateOf(ChildEnd end) {
  switch (end) {
    case ChildEnd::kDone:
      return JobState::kDone;
    case ChildEnd::kFailed:
    case ChildEnd::kKilled:
      return JobState::kFailed;
    case ChildEnd::kTimedOut:
      return JobState::kTimedOut;
    case ChildEnd::kStopped:
      break;
  }
  return JobState::kCancelled;
}

uint64_t SizeOf(const std::string& path) {
  std::error_code missing;
  const uint64_t size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

/// The bytes of a file from `begin` on; at most `max`.
Result<std::string> ReadFrom(const std::string& path, uint64_t begin, uint64_t max) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return FailErrno("open", path);
  in.seekg(static_cast<std::streamoff>(begin));
  std::string text(max, '\0');
  in.read(text.data(), static_cast<std::streamsize>(max));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

/// The last line that a step wrote to the log: of a failed one, the error. `begin`: size of the log before the step.
std::string LastLine(const std::string& log, uint64_t begin) {
  constexpr uint64_t kMax = 500;
  const uint64_t end = SizeOf(log);
  if (end <= begin) return "";
  const uint64_t size = std::min(kMax, end - begin);
  const std::string tail = ReadFrom(log, end - size, size).value_or("");
  const std::string_view text = Trim(tail);
  return EscapeControls(text.substr(text.rfind('\n') + 1));
}

}  // namespace

std::string_view Name(JobState state) {
  constexpr std::array<std::string_view, kJobStates> kNames = {"queued", "running",   "done",
                                                               "failed", "timed_out", "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

struct JobQueue::Shared {
  struct Entry {
    JobView view;
    Job job;
    std::stop_source stop{};
  };
  struct Outcome {
    JobState state = JobState::kDone;
    std::string reason{};
    std::string result{};
    bool is_server_fault = false;
  };

  JobOptions options;
  const Clock& clock;
  mutable std::mutex mutex{};
  std::condition_variable_any changed{};
  std::list<Entry> entries{};                 // under mutex; an entry that runs stays where it is
  std::array<uint64_t, kJobStates> counts{};  // of ended jobs
  std::jthread thread{};

  [[nodiscard]] std::string DirectoryOf(std::string_view id) const {
    return fmt::format("{}/{}{}", options.directory, kPrefix, id);
  }
  [[nodiscard]] Entry* Find(std::string_view id) {
    const auto found =
        std::ranges::find(entries, id, [](const Entry& entry) { return std::string_view(entry.view.id); });
    return found == entries.end() ? nullptr : &*found;
  }
  void Run(const std::stop_token& stop);
  [[nodiscard]] Entry* Next(const std::stop_token& stop);
  [[nodiscard]] Outcome Work(const Entry& entry) const;
  [[nodiscard]] bool IsServerFault(const Ended& ended) const;
  [[nodiscard]] Status CheckRoom() const;
  [[nodiscard]] Status WriteInput(const std::string& directory, const Job& job) const;
  [[nodiscard]] std::function<void()> End(Entry& entry, Outcome outcome);
  void Forget();
};

JobQueue::Shared::Outcome JobQueue::Shared::Work(const Entry& entry) const {
  const auto failed = [](const Error& error) {
    return Outcome{.state = JobState::kFailed, .reason = error.message, .is_server_fault = true};
  };
  const std::string directory = DirectoryOf(entry.view.id);
  ChildOptions child = options.child;
  child.directory = directory;
  child.log = directory + kLogFile;
  const auto deadline = std::chrono::steady_clock::now() + child.time;
  for (const auto& arguments : entry.job.steps) {
    child.argv = {options.program};
    child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
    child.time = std::max(std::chrono::milliseconds(0),
                          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()));
    const uint64_t log_size = SizeOf(child.log);
    const auto ended = RunChild(child, entry.stop.get_token());
    if (!ended) return failed(ended.error());
    if (ended->how == ChildEnd::kTimedOut)
      return {.state = JobState::kTimedOut,
              .reason = fmt::format("the job took longer than {} s", options.child.time.count() / 1000)};
    const std::string line = ended->how == ChildEnd::kFailed ? LastLine(child.log, log_size) : "";
    if (ended->how != ChildEnd::kDone)
      return {.state = StateOf(ended->how),
              .reason = fmt::format("{}: {}{}{}", arguments.front(), ended->reason, line.empty() ? "" : ": ", line),
              .is_server_fault = IsServerFault(*ended)};
  }
  auto result = entry.job.collect(directory);
  if (!result) return failed(result.error());
  if (const Status written = lab::files::WriteFile(directory + kResultFile, *result); !written)
    return failed(written.error());
  return {.result = *std::move(result)};
}

bool JobQueue::Shared::IsServerFault(const Ended& ended) const {
  if (ended.how == ChildEnd::kKilled) return true;
  return ended.how == ChildEnd::kFailed &&
         (ended.exit_code == options.fault_exit_code || ended.exit_code == kNotStarted);
}

/// Removes the oldest ended jobs beyond max_ended. Under the mutex.
void JobQueue::Shared::Forget() {
  size_t kept = 0;
  for (auto at = entries.rbegin(); at != entries.rend();) {
    if (!HasEnded(at->view.state) || ++kept <= options.max_ended) {
      ++at;
      continue;
    }
    std::error_code ignored;
    fs::remove_all(DirectoryOf(at->view.id), ignored);
    at = std::make_reverse_iterator(entries.erase(std::next(at).base()));
  }
}

/// Under the mutex. Returns what is to be said without it.
std::function<void()> JobQueue::Shared::End(Entry& entry, Outcome outcome) {
  entry.view.state = outcome.state;
  entry.view.reason = std::move(outcome.reason);
  entry.view.is_server_fault = outcome.is_server_fault;
  entry.view.result_bytes = outcome.result.size();
  ++counts[static_cast<size_t>(outcome.state)];
  auto say = [view = entry.view, done = std::move(entry.job.done),
              result = std::make_shared<std::string>(std::move(outcome.result))] {
    const bool is_good = view.state == JobState::kDone;
    log::Info(
        is_good ? "a training job is done" : "a training job has no result",
        {{"job", view.id}, {"name", view.name}, {"state", std::string(Name(view.state))}, {"reason", view.reason}});
    if (done) done(view, std::move(*result));
  };
  entry.job = {};
  Forget();
  return say;
}

JobQueue::Shared::Entry* JobQueue::Shared::Next(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  const auto is_queued = [](const Entry& entry) { return entry.view.state == JobState::kQueued; };
  changed.wait(lock, stop, [&] { return std::ranges::any_of(entries, is_queued); });
  if (stop.stop_requested()) return nullptr;
  Entry& next = *std::ranges::find_if(entries, is_queued);
  next.view.state = JobState::kRunning;
  return &next;
}

void JobQueue::Shared::Run(const std::stop_token& stop) {
  while (Entry* const entry = Next(stop)) {
    // A copy: Cancel() of other jobs may forget this one while its result is passed on.
    const std::stop_callback end(stop, [job = entry->stop]() mutable { job.request_stop(); });
    const BootTime begin = clock.Now();
    Outcome outcome = Work(*entry);
    std::function<void()> say;
    {
      const std::scoped_lock lock(mutex);
      entry->view.seconds = std::chrono::duration<double>(clock.Now() - begin).count();
      say = End(*entry, std::move(outcome));
    }
    say();
  }
}

JobQueue::JobQueue(JobOptions options, const Clock& clock)
    : shared_(new Shared{.options = std::move(options), .clock = clock}) {}

JobQueue::~JobQueue() {
  shared_->thread.request_stop();
  if (shared_->thread.joinable()) shared_->thread.join();
  for (const JobView& job : All()) (void)Cancel(job.id);
}

Status JobQueue::Start() {
  const std::string& directory = shared_->options.directory;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return FailErrno("create", directory, error.value());
  for (fs::directory_iterator at(directory, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    log::Warn("removed a training job of an earlier process; ask for it again", {{"directory", at->path().string()}});
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
  }
  if (error) return FailErrno("read", directory, error.value());
  KEPLER_TRY(shared_->thread,
             StartThread("training", [shared = shared_.get()](const std::stop_token& stop) { shared->Run(stop); }));
  return {};
}

/// Under the mutex.
Status JobQueue::Shared::CheckRoom() const {
  const auto queued =
      std::ranges::count(entries, JobState::kQueued, [](const Entry& entry) { return entry.view.state; });
  if (static_cast<size_t>(queued) < options.max_queued) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("{} training jobs wait already; try again later", queued));
}

Status JobQueue::Shared::WriteInput(const std::string& directory, const Job& job) const {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return FailErrno("create", directory, error.value());
  return lab::files::WriteFile(directory + "/" + job.input_name, std::string(job.input));
}

Result<std::string> JobQueue::Add(Job job) {
  JobView view{.id = NewId(), .name = job.name, .user = job.user, .asked = shared_->clock.Wall()};
  const std::string directory = shared_->DirectoryOf(view.id);
  {
    const std::scoped_lock lock(shared_->mutex);
    KEPLER_CHECK_OK(shared_->CheckRoom());
  }
  Status ready = shared_->WriteInput(directory, job);
  const std::scoped_lock lock(shared_->mutex);
  if (ready) ready = shared_->CheckRoom();  // others may have been faster
  if (!ready) {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
    return std::unexpected(ready.error());
  }
  std::string id = view.id;
  job.input = {};
  shared_->entries.push_back({.view = std::move(view), .job = std::move(job)});
  shared_->changed.notify_all();
  return id;
}

bool JobQueue::Cancel(std::string_view id) {
  std::function<void()> say;
  {
    const std::scoped_lock lock(shared_->mutex);
    Shared::Entry* const entry = shared_->Find(id);
    if (entry == nullptr || HasEnded(entry->view.state)) return false;
    if (entry->view.state == JobState::kRunning) return entry->stop.request_stop(), true;
    say = shared_->End(*entry, {.state = JobState::kCancelled, .reason = "cancelled before it ran"});
  }
  say();
  return true;
}

std::optional<JobView> JobQueue::Find(std::string_view id) const {
  const std::scoped_lock lock(shared_->mutex);
  const auto* const entry = shared_->Find(id);
  return entry == nullptr ? std::nullopt : std::optional(entry->view);
}

std::vector<JobView> JobQueue::All() const {
  const std::scoped_lock lock(shared_->mutex);
  std::vector<JobView> all;
  for (const auto& entry : shared_->entries) all.push_back(entry.view);
  return all;
}

Result<std::string> JobQueue::Log(std::string_view id, size_t max) const {
  if (!Find(id)) return Fail(ErrorKind::kNotFound, "there is no such job");
  const std::string path = shared_->DirectoryOf(id) + kLogFile;
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) return FailErrno("read", path, error.value());
  const uint64_t left_out = size - std::min<uint64_t>(size, max);
  KEPLER_TRY(std::string text, ReadFrom(path, left_out, size - left_out));
  if (left_out > 0) text.insert(0, fmt::format("({} bytes are left out; these are the last {})\n", left_out, max));
  return text;
}

Result<std::string> JobQueue::ReadResult(std::string_view id) const {
  const auto job = Find(id);
  if (!job) return Fail(ErrorKind::kNotFound, "there is no such job");
  if (job->state != JobState::kDone)
    return Fail(ErrorKind::kNotFound, fmt::format("the job has no result: it is {}", Name(job->state)));
  return ReadSmallFile(shared_->DirectoryOf(id) + kResultFile, kMaxResultBytes);
}

std::vector<uint64_t> JobQueue::ended() const {
  const std::scoped_lock lock(shared_->mutex);
  return {shared_->counts.begin(), shared_->counts.end()};
}

}  // namespace kepler::modelserver::jobs
