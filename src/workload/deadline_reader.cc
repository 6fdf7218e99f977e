#include "workload/deadline_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/unique_fd.h"
#include "os/file.h"

namespace kepler::workload {
namespace {

/// Time on this thread, without that in which it was kept from running and was not waiting for anything.
class Stopwatch {
 public:
  [[nodiscard]] Nanoseconds Elapsed() const {
    const rusage now = Usage();
    const bool waited = now.ru_nvcsw != usage_.ru_nvcsw;
    return waited ? std::chrono::steady_clock::now() - begin_ : CpuOf(now) - CpuOf(usage_);
  }

 private:
  static rusage Usage() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage;
  }
  static Nanoseconds CpuOf(const rusage& usage) {
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  rusage usage_ = Usage();
};

constexpr std::chrono::milliseconds kGrace{10};

}  // namespace

/// One thread and the file that it reads. Shared by that thread and its reader, since either may be the last.
///
///            Begin()            the thread            the thread
///   kIdle ────────────► kAsked ────────────► kReading ────────────► kDone      Dismiss(), at any time: the thread ends
///     ▲                  │  ▲                                        │         when it next can
///     └─ WaitFor(): not ─┘  └──────────────── Begin() ───────────────┘
///             taken
class DeadlineReader::Worker {
 public:
  struct Answer {
    std::optional<Result<std::string_view>> bytes;  // nothing: the deadline passed
    Nanoseconds took{0};                            // of the file's making; 0 where the thread did not get to it
  };

  void Begin(const File& file, const std::string& payer, size_t max_bytes) {
    {
      const std::scoped_lock lock(mutex_);
      file_ = file;
      payer_ = payer;
      max_bytes_ = max_bytes;
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
    const auto is_done = [this] { return state_ == State::kDone; };
    // Both threads may have been stopped together: that one may only need its turn.
    const bool done = changed_.wait_for(lock, deadline, is_done) || changed_.wait_for(lock, kGrace, is_done);
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
  [[nodiscard]] std::string Shown() const { return file_.Shown(); }
  [[nodiscard]] const std::string& payer() const { return payer_; }

  void Run() {
    while (WaitForWork()) {
      const Stopwatch watch;
      Result<size_t> size = ReadUpTo(file_, bytes_, max_bytes_);  // nobody else touches them meanwhile
      {
        const std::scoped_lock lock(mutex_);
        size_ = std::move(size);
        took_ = watch.Elapsed();
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
  File file_;
  std::string payer_;
  size_t max_bytes_ = 0;
  std::vector<char> bytes_;
  Result<size_t> size_ = size_t{0};
  Nanoseconds took_{0};
};

Result<size_t> DeadlineReader::ReadUpTo(const File& file, std::vector<char>& bytes, size_t max_bytes) {
  constexpr size_t kFirstBytes = size_t{64} << 10;
  KEPLER_TRY(const UniqueFd opened, file.beneath.empty() ? os::OpenAt(AT_FDCWD, file.path.c_str(), O_NOCTTY)
                                                         : os::OpenFileBeneath(file.path, file.beneath));
  bytes.resize(std::min(max_bytes, kFirstBytes));
  size_t size = 0;
  while (size < max_bytes) {
    if (size == bytes.size()) bytes.resize(std::min(max_bytes, 2 * size));
    // The analyzer takes the lock of WaitForWork() for held, whose destructor it does not know.
    const ssize_t got = read(opened.get(), bytes.data() + size,  // NOLINT(clang-analyzer-unix.BlockInCriticalSection)
                             bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", file.Shown());
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  return size;
}

DeadlineReader::DeadlineReader(const Clock& clock, const Limits& limits)
    : clock_(clock), deadline_(limits.deadline), budget_(limits.budget) {
  static_cast<void>(HaveWorker());  // or at the next read, which says why not
  no_thread_ = false;
}

DeadlineReader::~DeadlineReader() {
  if (!running_) return;
  constexpr std::chrono::seconds kTurn{1};  // it reads nothing, and needs only a processor
  running_->worker->Dismiss();
  running_->thread.EndBy(std::chrono::steady_clock::now() + kTurn);
}

Status DeadlineReader::HaveWorker() {
  if (running_) return {};
  if (no_thread_) return Fail(ErrorKind::kUnavailable, "failed to start a thread for it");
  auto worker = std::make_shared<Worker>();
  auto thread = BlockingThread::Start("process-reader", [worker](const std::stop_token&) { worker->Run(); });
  no_thread_ = !thread;
  if (!thread) return Fail(ErrorKind::kIo, std::move(thread).error().message);
  running_.emplace(std::move(worker), *std::move(thread));
  return {};
}

void DeadlineReader::BeginScan() {
  const BootTime now = clock_.Now();
  no_thread_ = false;
  budget_.BeginScan(now);
  std::erase_if(late_, [&](const auto& late) {
    if (!late->thread.HasEnded()) return false;
    budget_.Pause(late->worker->payer(), now);
    return true;
  });
}

Status DeadlineReader::MayRead(const std::string& payer) const {
  if (std::ranges::find(late_, payer, [](const auto& late) { return late->worker->payer(); }) != late_.end())
    return Fail(ErrorKind::kUnavailable, "an earlier read of its unit is still in flight");
  if (late_.size() >= kMaxOverdue)
    return Fail(ErrorKind::kTimeout, "too many reads are in flight, first " + late_.front()->worker->Shown());
  if (const auto why = budget_.Refusal(payer, clock_.Now()); !why.empty())
    return Fail(ErrorKind::kUnavailable, std::string(why));
  return {};
}

Result<std::string_view> DeadlineReader::Read(const std::string& path, const std::string& payer, size_t max_bytes) {
  return Read(File{path}, payer, max_bytes);
}

Result<std::string_view> DeadlineReader::ReadBeneath(const std::string& root, const std::string& path,
                                                     const std::string& payer, size_t max_bytes) {
  return Read(File{root, path}, payer, max_bytes);
}

Result<std::string_view> DeadlineReader::Read(const File& file, const std::string& payer, size_t max_bytes) {
  if (const Status may = MayRead(payer); !may)
    return Fail(may.error().kind, fmt::format("read {}: {}", file.Shown(), may.error().message));
  const auto begin = std::chrono::steady_clock::now();
  KEPLER_CHECK_OK(HaveWorker());
  running_->worker->Begin(file, payer, max_bytes);
  auto answer = running_->worker->WaitFor(deadline_);
  budget_.Charge(payer, std::chrono::steady_clock::now() - begin, answer.took, clock_.Now());
  if (answer.bytes) return *std::move(answer.bytes);
  if (answer.took.count() == 0)
    return Fail(ErrorKind::kUnavailable, fmt::format("read {}: the reading thread got no CPU time", file.Shown()));
  running_->worker->Dismiss();
  late_.push_back(std::make_unique<Running>(*std::move(running_)));
  running_.reset();
  const std::string_view why = file.beneath.empty() ? "its process keeps its memory locked" : "its file system hangs";
  return Fail(ErrorKind::kTimeout,
              fmt::format("read {}: no answer within {} ms; {}", file.Shown(), deadline_.count(), why));
}

void SplitStrings(std::string_view bytes, Extent extent, std::vector<std::string_view>& strings) {
  strings.clear();
  if (extent == Extent::kPrefix) bytes = bytes.substr(0, bytes.rfind('\0') + 1);
  while (!bytes.empty()) {
    const auto end = bytes.find('\0');
    strings.push_back(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
  }
  while (!strings.empty() && strings.back().empty()) strings.pop_back();
}

Result<std::span<const std::string_view>> DeadlineReader::ReadStrings(const std::string& path, const std::string& payer,
                                                                      size_t max_bytes) {
  KEPLER_TRY(const std::string_view bytes, Read(path, payer, max_bytes));
  SplitStrings(bytes, bytes.size() == max_bytes ? Extent::kPrefix : Extent::kWhole, strings_);
  return std::span<const std::string_view>(strings_);
}

}  // namespace kepler::workload
