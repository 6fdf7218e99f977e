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
#include "status/model_store_status.h"

namespace kepler::model_store {

class ModelStore {
 public:
  /// `farewell`: maximum time that the destructor waits for reads and fetches. A fetch is cancelled at once; a read of
  /// a hung disk is not.
  explicit ModelStore(std::shared_ptr<ModelPlaces> places,
                      std::chrono::milliseconds farewell = std::chrono::milliseconds(300))
      : places_(std::move(places)), farewell_(farewell) {}
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  /// Starts the threads. Waits at most `patience` for the files and for the cached models of URLs, since files may be
  /// on another machine; models that come later are used then.
  [[nodiscard]] Status Start(std::chrono::milliseconds patience);
  /// Any thread.
  [[nodiscard]] status::ModelStoreStatus status() const { return places_->status(); }
  /// Maximum number of descriptors that the threads have open at once. Any thread.
  [[nodiscard]] size_t descriptors() const;

 private:
  [[nodiscard]] Status Run(std::function<void(ModelPlaces&, const std::stop_token&)> work);

  const std::shared_ptr<ModelPlaces> places_;  // a thread that hangs outlives its store
  const std::chrono::milliseconds farewell_;
  std::vector<BlockingThread> threads_;
};

}  // namespace kepler::model_store
