#pragma once
// ModelStore: the power models of files, directories and URLs, looked at again while the agent runs. Whatever hangs or
// fails there costs at most what is newer than the models in use, never a tick.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "model/model_set.h"
#include "model_store/model_cache.h"
#include "model_store/place.h"
#include "model_store/source.h"
#include "model_store/text_budget.h"
#include "snapshot/status.h"

namespace kepler::model_store {

struct StoreOptions {
  std::vector<Place> places;
  UrlTimes times;
  std::string cache_directory{};  // for what URLs gave; "": none
  TextLimits limits{};
};

class ModelStore {
 public:
  /// `board`: where the models go. `clock` must outlive it.
  ModelStore(StoreOptions options, const Clock& clock, std::shared_ptr<model::ModelBoard> board);
  /// For tests: one more, behind those of the options. Before anything else.
  void Add(std::unique_ptr<Source> source) { sources_.push_back(std::move(source)); }
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  /// From now on a thread reads the files, and what is kept of URLs, then asks the URLs and looks for files that
  /// change. Waits at most `patience` for the first part, since files may be another machine's; what comes later is
  /// used then.
  [[nodiscard]] Status Start(std::chrono::milliseconds patience);
  [[nodiscard]] snapshot::ModelStoreStatus status() const;

  /// Reads the files, and what is kept of URLs. What cannot be read is said in the log. For the thread, first of all,
  /// and for tests that have none, as is Refresh().
  void LoadLocal();
  /// Looks at every place that is due now.
  void Refresh(const std::stop_token& stop);
  /// When the next one is due.
  [[nodiscard]] BootTime next() const;
  /// How long to sleep until `due`, at most: a sleep stands still while the machine is suspended, and `due` comes
  /// nearer.
  [[nodiscard]] static Nanoseconds Pause(BootTime now, BootTime due);

 private:
  void Loop(const std::stop_token& stop);
  void Safely(const std::function<void()>& work);
  /// What `work` found; an exception is a failure like any other.
  [[nodiscard]] static Look LookAt(const std::function<void(Look&)>& work);
  void Take(const Look& look);
  void Publish();
  void Say();

  const Clock& clock_;
  const std::shared_ptr<model::ModelBoard> board_;
  const ModelCache cache_;
  std::vector<std::string> urls_;  // their keys in it
  // The thread's own, once it runs:
  TextBudget budget_;
  std::vector<std::unique_ptr<Source>> sources_;
  log::LogLimiter limiter_{std::chrono::hours(1)};
  bool is_published_ = true;  // every change of the models
  bool is_said_ = true;       // ... in the log

  mutable std::mutex mutex_;  // guards what follows
  snapshot::ModelStoreStatus status_;
  bool is_loaded_ = false;  // LoadLocal() is over
  std::condition_variable loaded_;

  std::mutex waiting_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // keep last: it uses everything above
};

}  // namespace kepler::model_store
