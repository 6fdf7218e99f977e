#include "export/json_lines/file_exporter.h"

#include <condition_variable>
#include <utility>

namespace kepler::json_lines {

struct FileExporter::State {
  State(FileOptions from, std::function<series::Reading()> reads, std::shared_ptr<const Clock> its_clock)
      : options(std::move(from)),
        read(std::move(reads)),
        clock(std::move(its_clock)),
        file(options.path, options.limits) {
    status.exporter = "json_lines";
  }

  const FileOptions options;
  const std::function<series::Reading()> read;
  const std::shared_ptr<const Clock> clock;
  RotatingFile file;
  log::LogLimiter limiter;
  std::string block;
  uint64_t last_sequence = 0;
  std::mutex read_mutex;   // held during `read`
  bool has_ended = false;  // guarded by read_mutex: `read` may be gone
  std::mutex wait_mutex;
  std::condition_variable_any stopped;  // by the stop token only
  mutable std::mutex mutex;
  status::PushStatus status;  // guarded by mutex
};

FileExporter::FileExporter(FileOptions options, std::function<series::Reading()> read,
                           std::shared_ptr<const Clock> clock)
    : state_(std::make_shared<State>(std::move(options), std::move(read), std::move(clock))) {}

FileExporter::~FileExporter() { Stop(); }

void FileExporter::Stop(std::chrono::steady_clock::time_point deadline) {
  if (thread_) thread_->EndBy(deadline);
  thread_.reset();
  const std::scoped_lock lock(state_->read_mutex);
  state_->has_ended = true;
}

Status FileExporter::Start() {
  const auto state = state_;
  KEPLER_TRY(BlockingThread thread,
             BlockingThread::Start("json_lines", [state](const std::stop_token& stop) { Loop(state, stop); }));
  thread_.emplace(std::move(thread));
  return {};
}

status::PushStatus FileExporter::status() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->status;
}

void FileExporter::WriteOnce() { WriteOnce(*state_); }

void FileExporter::WriteOnce(State& state) {
  series::Reading reading;
  {
    const std::scoped_lock lock(state.read_mutex);
    if (state.has_ended) return;
    reading = state.read();
  }
  if (!reading.snapshot || reading.snapshot->sequence == state.last_sequence) return;
  state.last_sequence = reading.snapshot->sequence;
  LineOptions lines = state.options.lines;
  lines.stale = reading.stale;
  state.block.clear();
  const uint64_t count = AppendLines(*reading.snapshot, lines, state.block);
  const Status written = state.file.Append(state.block);
  const std::scoped_lock lock(state.mutex);
  if (written) {
    ++state.status.requests;
    state.status.points += count;
    state.status.last_success = state.clock->Wall();
    return;
  }
  ++state.status.failures[static_cast<size_t>(status::PushFailure::kFile)];
  state.status.dropped_points[static_cast<size_t>(status::PushDrop::kFile)] += count;
  state.limiter.Say(
      log::Level::kError, "write", state.clock->Now(), "failed to write the JSON lines of a tick",
      {{"err", written.error().message}, {"action", "the next tick is tried; its totals include this one"}});
}

void FileExporter::Loop(const std::shared_ptr<State>& state, const std::stop_token& stop) {
  std::unique_lock lock(state->wait_mutex);
  BootTime next = state->clock->Now();
  while (!stop.stop_requested()) {
    WriteOnce(*state);
    const BootTime now = state->clock->Now();
    next += ((now - next) / state->options.interval + 1) * state->options.interval;  // missed times are skipped
    state->stopped.wait_for(lock, stop, next - now, [] { return false; });
  }
  WriteOnce(*state);  // the energy since the latest interval, which nobody could write later
}

}  // namespace kepler::json_lines
