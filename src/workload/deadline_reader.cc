#include "workload/deadline_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/thread.h"
#include "base/unique_fd.h"

namespace kepler::workload {
namespace {

Result<size_t> ReadUpTo(const std::string& path, std::vector<char>& bytes) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return FailErrno("open", path);
  size_t size = 0;
  while (size < bytes.size()) {
    // The analyzer takes the lock of WaitForWork() for held, whose destructor it does not know.
    const ssize_t got = read(file.get(), bytes.data() + size,  // NOLINT(clang-analyzer-unix.BlockInCriticalSection)
                             bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  return size;
}

}  // namespace

/// One thread and the file that it reads. Shared by that thread and its reader, since either may be the last.
///
///            Begin()               the thread
///   kIdle ────────────► kReading ────────────► kDone        Dismiss(), at any time: the thread ends when it next can
///     ▲                                          │
///     └──────────── Begin() from here too ───────┘
class DeadlineReader::Worker {
 public:
  void Begin(const std::string& path, const std::string& owner, size_t most) {
    {
      const std::scoped_lock lock(mutex_);
      path_ = path;
      owner_ = owner;
      bytes_.resize(most);
      state_ = State::kReading;
    }
    changed_.notify_all();
  }
  /// Nothing if it is late.
  std::optional<Result<std::string_view>> WaitFor(std::chrono::steady_clock::duration deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, deadline, [this] { return state_ == State::kDone; })) return std::nullopt;
    if (!size_) return std::unexpected(size_.error());
    return std::string_view(bytes_.data(), *size_);
  }
  void Dismiss() {
    {
      const std::scoped_lock lock(mutex_);
      dismissed_ = true;
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool IsDone() const {
    const std::scoped_lock lock(mutex_);
    return state_ == State::kDone;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& owner() const { return owner_; }

  void Run() {
    while (WaitForWork()) {
      Result<size_t> size = ReadUpTo(path_, bytes_);  // nobody else touches them meanwhile
      {
        const std::scoped_lock lock(mutex_);
        size_ = std::move(size);
        state_ = State::kDone;
      }
      changed_.notify_all();
    }
  }

 private:
  /// False: nobody wants anything any more.
  bool WaitForWork() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ == State::kReading || dismissed_; });
    return state_ == State::kReading;
  }

  enum class State : uint8_t { kIdle, kReading, kDone };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  bool dismissed_ = false;
  std::string path_;
  std::string owner_;
  std::vector<char> bytes_;
  Result<size_t> size_ = size_t{0};
};

DeadlineReader::DeadlineReader(std::chrono::milliseconds deadline) : deadline_(deadline) {
  static_cast<void>(HaveWorker());  // or at the next read
}

DeadlineReader::~DeadlineReader() {
  if (worker_) worker_->Dismiss();
}

Status DeadlineReader::MayRead(const std::string& path, const std::string& owner, Time now) {
  std::erase_if(late_, [](const auto& worker) { return worker->IsDone(); });
  const auto refuse = [&](std::string_view why) {
    return Fail(ErrorKind::kUnavailable, fmt::format("read {}: {}", path, why));
  };
  if (std::ranges::find(late_, owner, [](const auto& worker) { return worker->owner(); }) != late_.end())
    return refuse("an earlier read of its owner still waits");
  if (const auto pause = paused_.find(owner); pause != paused_.end() && now < pause->second.end)
    return refuse("an earlier read of its owner was late");
  if (late_.size() >= kMaxLate) return refuse("too many reads wait, that of " + late_.front()->path() + " first");
  if (left_.count() <= 0) return refuse("too long was waited for others");
  return {};
}

Status DeadlineReader::HaveWorker() {
  if (worker_) return {};
  auto worker = std::make_shared<Worker>();
  KEPLER_TRY(std::jthread thread, StartThread("process-reader", [worker](const std::stop_token&) { worker->Run(); }));
  thread.detach();
  worker_ = std::move(worker);
  return {};
}

void DeadlineReader::PauseOwner(const std::string& owner, Time now) {
  if (paused_.size() >= kMaxPaused) paused_.clear();
  Pause& pause = paused_[owner];
  if (now - pause.end > kLongestPause) pause.length = {};
  pause.length = std::clamp(2 * pause.length, kFirstPause, kLongestPause);
  pause.end = now + pause.length;
}

Result<std::string_view> DeadlineReader::Read(const std::string& path, const std::string& owner, size_t most) {
  const Time begin = std::chrono::steady_clock::now();
  KEPLER_CHECK_OK(MayRead(path, owner, begin));
  KEPLER_CHECK_OK(HaveWorker());
  worker_->Begin(path, owner, most);
  auto bytes = worker_->WaitFor(std::min<std::chrono::steady_clock::duration>(deadline_, left_));
  const Time end = std::chrono::steady_clock::now();
  if (!bytes || end - begin > kPrompt) left_ -= end - begin;
  if (bytes) return *std::move(bytes);
  worker_->Dismiss();
  late_.push_back(std::exchange(worker_, nullptr));
  PauseOwner(owner, end);
  return Fail(
      ErrorKind::kUnavailable,
      fmt::format("read {}: no answer within {} ms; its process keeps its memory locked", path, deadline_.count()));
}

}  // namespace kepler::workload
