#pragma once
// Exporter: what sends snapshots somewhere by itself; who is asked (/metrics, the table on stdout) reads the board.
// PushExporter: one with a thread of its own.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "snapshot/snapshot.h"

namespace kepler {

class Exporter {
 public:
  virtual ~Exporter() = default;  // stops
  [[nodiscard]] virtual Status Start() = 0;
  /// A new one is published (snapshot::Board::Subscribe). On the collection thread: never blocks, and keeps no more
  /// than one that it works on.
  virtual void OnSnapshot(const std::shared_ptr<const snapshot::Snapshot>& snapshot) = 0;
};

/// Works on a thread of its own, on the newest snapshot that there is when it has time: what was published meanwhile is
/// skipped and counted, so that the slowest receiver holds up nobody.
class PushExporter : public Exporter {
 public:
  /// `name`: of the thread.
  explicit PushExporter(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] Status Start() final;
  void OnSnapshot(const std::shared_ptr<const snapshot::Snapshot>& snapshot) final;
  [[nodiscard]] uint64_t skipped() const;

 protected:
  /// On the exporter's thread. `stop`: the exporter ends, whatever it waits for.
  virtual void Export(const snapshot::Snapshot& snapshot, const std::stop_token& stop) = 0;
  /// By the destructor of whoever has Export(): from then on it is not called.
  void Stop();

 private:
  void Loop(const std::stop_token& stop);

  const std::string name_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const snapshot::Snapshot> waiting_;  // guarded by mutex_, as is the next
  uint64_t skipped_ = 0;
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler
