#pragma once
// ModelStore: the threads that keep power models up to date (model_places.h). Each place has a thread of its own, so a
// place that hangs or fails delays only newer versions of its own models: no other place, no tick, and not the exit of
// the agent. A fetch from a URL can be cancelled; a read of a file on a dead server cannot. Its thread is left behind
// (base/thread.h), and the agent ends by _exit(). Owned by one thread.
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "base/thread.h"
#include "model_store/model_places.h"
#include "snapshot/status.h"

namespace kepler::model_store {

class ModelStore {
 public:
  /// `board`: where the models go.
  ModelStore(StoreOptions options, std::shared_ptr<const Clock> clock, std::shared_ptr<model::ModelBoard> board)
      : farewell_(options.farewell),
        clock_(clock),
        places_(std::make_shared<ModelPlaces>(std::move(options), std::move(clock), std::move(board))) {}
  /// For tests: one more, behind those of the options. Before anything else.
  void Add(std::string shown, std::unique_ptr<Source> source) { places_->Add(std::move(shown), std::move(source)); }
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  /// Starts the threads. Waits at most `patience` for the files and for the cached models of URLs, since files may be
  /// on another machine; models that come later are used then.
  [[nodiscard]] Status Start(std::chrono::milliseconds patience);
  /// Any thread.
  [[nodiscard]] snapshot::ModelStoreStatus status() const { return places_->status(); }
  /// Maximum number of descriptors that the threads have open at once. Any thread.
  [[nodiscard]] size_t descriptors() const;

  /// For tests, which have no threads, as is what follows.
  void LoadLocal();
  void Refresh(const std::stop_token& stop);
  [[nodiscard]] BootTime next() const;
  [[nodiscard]] static Nanoseconds Pause(BootTime now, BootTime due) { return ModelPlaces::Pause(now, due); }

 private:
  [[nodiscard]] Status Run(std::function<void(ModelPlaces&, const std::stop_token&)> work);

  const std::chrono::milliseconds farewell_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<ModelPlaces> places_;  // a thread that hangs outlives its store
  std::vector<BlockingThread> threads_;
};

}  // namespace kepler::model_store
