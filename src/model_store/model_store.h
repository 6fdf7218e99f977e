#pragma once
// ModelStore: the power models of files, directories and URLs, which it checks again while the agent runs. Each place
// has a thread of its own, so a place that hangs or fails delays only newer versions of its own models: no other place,
// no tick, and not the exit of the agent. A fetch from a URL can be cancelled; a read of a file on a dead server
// cannot. Its thread is left behind (base/thread.h), and the agent ends by _exit().
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "model/model_set.h"
#include "model_store/place.h"
#include "model_store/public_keys.h"
#include "model_store/source.h"
#include "model_store/text_budget.h"
#include "snapshot/status.h"

namespace kepler::model_store {

struct StoreOptions {
  std::vector<Place> places;
  UrlTimes times;
  std::string cache_directory{};  // for what URLs gave; "": none
  TextLimits limits{};
  std::optional<PublicKeys> keys{};  // by which every model must be signed
  /// Maximum time that the destructor waits for reads and fetches. A fetch is cancelled at once; a read of a hung disk
  /// is not.
  std::chrono::milliseconds farewell{300};
};

class ModelStore {
 public:
  /// `board`: where the models go.
  ModelStore(StoreOptions options, std::shared_ptr<const Clock> clock, std::shared_ptr<model::ModelBoard> board);
  /// For tests: one more, behind those of the options. Before anything else.
  void Add(std::string shown, std::unique_ptr<Source> source);
  ~ModelStore();
  ModelStore(const ModelStore&) = delete;
  ModelStore& operator=(const ModelStore&) = delete;

  /// From now on threads read the files, and what is kept of URLs, then ask the URLs and look for files that change.
  /// Waits at most `patience` for the first part, since files may be another machine's; what comes later is used then.
  [[nodiscard]] Status Start(std::chrono::milliseconds patience);
  /// Any thread.
  [[nodiscard]] snapshot::ModelStoreStatus status() const;
  /// So many descriptors it may have open at once. Any thread.
  [[nodiscard]] size_t descriptors() const;

  /// Reads the files, and what is kept of URLs. What cannot be read is said in the log. For tests, which have no
  /// threads, as is what follows.
  void LoadLocal();
  /// Looks at every place that is due now.
  void Refresh(const std::stop_token& stop);
  /// When the next one is due.
  [[nodiscard]] BootTime next() const;
  /// How long to sleep until `due`, at most: a sleep stands still while the machine is suspended, and `due` comes
  /// nearer.
  [[nodiscard]] static Nanoseconds Pause(BootTime now, BootTime due);

 private:
  struct Shared;
  /// Starts `work` on a thread of its own.
  [[nodiscard]] Status Run(std::function<void(Shared&, const std::stop_token&)> work);

  const std::chrono::milliseconds farewell_;
  const std::shared_ptr<Shared> shared_;
  std::vector<BlockingThread> threads_;
};

}  // namespace kepler::model_store
