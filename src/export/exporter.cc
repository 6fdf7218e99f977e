#include "export/exporter.h"

#include <utility>

#include "base/thread.h"

namespace kepler {

Status PushExporter::Start() {
  KEPLER_TRY(thread_, StartThread(name_, [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

void PushExporter::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void PushExporter::OnSnapshot(const std::shared_ptr<const snapshot::Snapshot>& snapshot) {
  std::shared_ptr<const snapshot::Snapshot> before;  // outlives the lock
  const std::scoped_lock lock(mutex_);
  before = std::exchange(waiting_, snapshot);
  if (before) ++skipped_;
  changed_.notify_one();
}

uint64_t PushExporter::skipped() const {
  const std::scoped_lock lock(mutex_);
  return skipped_;
}

void PushExporter::Loop(const std::stop_token& stop) {
  while (true) {
    std::shared_ptr<const snapshot::Snapshot> next;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return waiting_ != nullptr; }) || stop.stop_requested()) return;
      next.swap(waiting_);
    }
    Export(*next, stop);
  }
}

}  // namespace kepler
