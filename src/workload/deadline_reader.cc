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
///            Begin()           the thread            the thread
///   kIdle ────────────► kAsked ────────────► kReading ────────────► kDone      Dismiss(), at any time: the thread ends
///     ▲                   │                                           │        when it next can
///     └───────────────────┴── WaitFor(): not taken ── or Begin() ─────┘
class DeadlineReader::Worker {
 public:
  struct Answer {
    std::optional<Result<std::string_view>> bytes;  // nothing: the deadline passed
    Nanoseconds took{0};                            // since the thread took it; 0: it did not
  };

  void Begin(const std::string& path, const std::string& payer, size_t max_bytes) {
    {
      const std::scoped_lock lock(mutex_);
      path_ = path;
      payer_ = payer;
      bytes_.resize(max_bytes);
      state_ = State::kAsked;
    }
    changed_.notify_all();
  }
  /// The deadline is that of the thread from when it runs: that it does not is not the file's fault.
  Answer WaitFor(std::chrono::milliseconds deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, deadline, [this] { return state_ != State::kAsked; })) {
      state_ = State::kIdle;
      return {};
    }
    const bool done = changed_.wait_for(lock, deadline, [this] { return state_ == State::kDone; });
    if (!done) return {.bytes = std::nullopt, .took = deadline};
    if (!size_) return {.bytes = std::unexpected(size_.error()), .took = took_};
    return {.bytes = std::string_view(bytes_.data(), *size_), .took = took_};
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
  [[nodiscard]] const std::string& payer() const { return payer_; }

  void Run() {
    while (WaitForWork()) {
      const auto begin = std::chrono::steady_clock::now();
      Result<size_t> size = ReadUpTo(path_, bytes_);  // nobody else touches them meanwhile
      {
        const std::scoped_lock lock(mutex_);
        size_ = std::move(size);
        took_ = std::chrono::steady_clock::now() - begin;
        state_ = State::kDone;
      }
      changed_.notify_all();
    }
  }

 private:
  /// False: nobody wants anything any more.
  bool WaitForWork() {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return state_ == State::kAsked || dismissed_; });
      if (state_ != State::kAsked) return false;
      state_ = State::kReading;
    }
    changed_.notify_all();
    return true;
  }

  enum class State : uint8_t { kIdle, kAsked, kReading, kDone };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kIdle;
  bool dismissed_ = false;
  std::string path_;
  std::string payer_;
  std::vector<char> bytes_;
  Result<size_t> size_ = size_t{0};
  Nanoseconds took_{0};
};

DeadlineReader::DeadlineReader(const Clock& clock, std::chrono::milliseconds deadline)
    : clock_(clock), deadline_(deadline) {
  static_cast<void>(HaveWorker());  // or at the next read
}

DeadlineReader::~DeadlineReader() {
  if (worker_) worker_->Dismiss();
}

Status DeadlineReader::HaveWorker() {
  if (worker_) return {};
  auto worker = std::make_shared<Worker>();
  KEPLER_TRY(std::jthread thread, StartThread("process-reader", [worker](const std::stop_token&) { worker->Run(); }));
  thread.detach();
  worker_ = std::move(worker);
  return {};
}

void DeadlineReader::BeginLook() {
  const BootTime now = clock_.Now();
  budget_.BeginLook(now);
  std::erase_if(late_, [&](const auto& worker) {
    if (!worker->IsDone()) return false;
    budget_.Charge(worker->payer(), {}, ReadBudget::kSlow, now);  // its pause begins now
    return true;
  });
}

Status DeadlineReader::MayRead(const std::string& path, const std::string& payer) const {
  const auto refuse = [&](std::string_view why) {
    return Fail(ErrorKind::kUnavailable, fmt::format("read {}: {}", path, why));
  };
  if (std::ranges::find(late_, payer, [](const auto& worker) { return worker->payer(); }) != late_.end())
    return refuse("an earlier read of its user or container still waits");
  if (late_.size() >= kMaxLate) return refuse("too many reads wait, that of " + late_.front()->path() + " first");
  if (const auto why = budget_.Refusal(payer, clock_.Now()); !why.empty()) return refuse(why);
  return {};
}

Result<std::string_view> DeadlineReader::Read(const std::string& path, const std::string& payer, size_t max_bytes) {
  KEPLER_CHECK_OK(MayRead(path, payer));
  KEPLER_CHECK_OK(HaveWorker());
  const auto begin = std::chrono::steady_clock::now();
  worker_->Begin(path, payer, max_bytes);
  auto answer = worker_->WaitFor(deadline_);
  budget_.Charge(payer, std::chrono::steady_clock::now() - begin, answer.took, clock_.Now());
  if (answer.bytes) return *std::move(answer.bytes);
  if (answer.took.count() == 0) return Fail(ErrorKind::kUnavailable, fmt::format("read {}: no CPU time for it", path));
  worker_->Dismiss();
  late_.push_back(std::exchange(worker_, nullptr));
  return Fail(ErrorKind::kTimeout, fmt::format("read {}: no answer within {} ms; its process keeps its memory locked",
                                               path, deadline_.count()));
}

}  // namespace kepler::workload
