#pragma once
// ModelPlaces: the files, directories and URLs that power models come from, the models that each gave last, and the set
// of all of them on the board. Has no threads: a place is used by one thread at a time, different places by any number
// of threads. A failure costs its place only: what the place gave before stays in use.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "model/model_set.h"
#include "model_store/model_cache.h"
#include "model_store/place.h"
#include "model_store/public_keys.h"
#include "model_store/source.h"
#include "model_store/text_budget.h"
#include "status/model_store_status.h"

namespace kepler::model_store {

struct PlacesOptions {
  std::vector<Place> places;
  UrlTimes times;
  std::string cache_directory{};  // for models of URLs; empty: none
  TextLimits limits{};
  std::optional<PublicKeys> keys{};  // one of them must have signed each model
  ReadArchive read_archive{};        // empty: archives are refused
};

class ModelPlaces {
 public:
  /// `board` gets the models.
  ModelPlaces(PlacesOptions options, std::shared_ptr<const Clock> clock, std::shared_ptr<model::ModelBoard> board);
  /// Adds a place after those of the options. Only before the first use of a place.
  void Add(std::string shown, std::unique_ptr<Source> source);
  [[nodiscard]] size_t size() const { return watched_.size(); }

  /// Before the first Load(), and after it: waits at most `patience` until all places are loaded. In between the models
  /// are not logged, so that a start logs them once.
  void BeginStart();
  void EndStart(std::chrono::milliseconds patience);

  /// Reads the files of the place, or the cached model of its URL. A failure is logged.
  void Load(size_t place, const std::stop_token& stop);
  /// Reads or fetches the models of the place again. A failure is logged.
  void Refresh(size_t place, const std::stop_token& stop);
  /// Time of the next Refresh().
  [[nodiscard]] BootTime next(size_t place) const { return watched_[place].source->next(); }
  /// Loads the place and refreshes it in time until `stop`.
  void Watch(size_t place, const std::stop_token& stop);
  /// Removes cached models of URLs that are not listed any more.
  void CleanCache();

  /// Any thread.
  [[nodiscard]] status::ModelStoreStatus status() const;
  /// Maximum time to sleep until `due`: a sleep does not advance while the machine is suspended, but `due` comes
  /// nearer.
  [[nodiscard]] static Nanoseconds Pause(BootTime now, BootTime due);

 private:
  struct Watched {
    std::string shown;
    std::unique_ptr<Source> source;  // its thread's
    bool is_url = false;
    WallTime fetched{};        // last success of a URL, under the mutex; epoch: never
    bool is_loaded = false;    // under the mutex, as is what follows
    bool is_published = true;  // false: a change of its models is not on the board yet
    model::ModelSet models{};  // as published
  };
  void Safely(const std::function<void()>& work);
  void Take(Watched& place, const Look& look);
  void NoteSuccess(Watched& place);
  void Publish(Watched& place);
  void SayWhatIsMissing();
  void Say();

  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<model::ModelBoard> board_;
  const ModelCache cache_;
  TextBudget budget_;
  const std::optional<PublicKeys> keys_;
  const ReadArchive read_archive_;
  std::vector<std::string> urls_;  // their keys in the cache
  std::vector<Watched> watched_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  log::LogLimiter limiter_{std::chrono::hours(1)};
  status::ModelStoreStatus status_;
  bool is_starting_ = false;  // the models are logged by EndStart()
  bool is_said_ = true;       // the current models have been logged
};

}  // namespace kepler::model_store
