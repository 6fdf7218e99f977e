#include "model_store/model_store.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "model_store/guarded.h"
#include "model_store/model_cache.h"

namespace kepler::model_store {
namespace {

std::string ListOf(const model::ModelSet& set) {
  constexpr size_t kMostNamed = 10;
  std::string names;
  for (size_t i = 0; i < std::min(set.size(), kMostNamed); ++i)
    names += (i > 0 ? ", " : "") + set[i]->model.name + " (version " + std::to_string(set[i]->model.version) + ", " +
             set[i]->source + ')';
  return set.size() > kMostNamed ? names + ", ..." : names;
}

/// What `work` found; an exception is a failure like any other.
Look LookAt(const std::function<void(Look&)>& work) {
  Look look;
  const Status looked = Guarded("", [&] { return work(look), Status(); });
  if (looked) return look;
  ++look.refreshes;
  ++look.failed_refreshes;
  look.problems.push_back(looked.error());
  return look;
}

}  // namespace

/// What the threads share and keep alive: a thread that hangs outlives its store.
struct ModelStore::Shared {
  struct Watched {
    std::string shown;
    std::unique_ptr<Source> source;  // its thread's
    bool is_loaded = false;          // under the mutex, as is what follows
    bool is_published = true;        // every change of its models
    model::ModelSet models{};        // as published
  };

  const std::shared_ptr<const Clock> clock;
  const std::shared_ptr<model::ModelBoard> board;
  const ModelCache cache;
  TextBudget budget;
  const std::optional<PublicKeys> keys;
  std::vector<std::string> urls{};  // their keys in the cache
  std::vector<Watched> watched{};   // the same ones from the first thread on

  mutable std::mutex mutex{};  // guards what follows
  std::condition_variable_any changed{};
  log::LogLimiter limiter{std::chrono::hours(1)};
  snapshot::ModelStoreStatus status{};
  bool is_starting = false;  // what there is will be said once
  bool is_said = true;       // ... in the log

  void Watch(Watched& place, const std::stop_token& stop);
  void Safely(const std::function<void()>& work);
  void Load(Watched& place, const std::stop_token& stop);
  void Refresh(Watched& place, const std::stop_token& stop);
  void Take(Watched& place, const Look& look);
  void Publish(Watched& place);
  void SayWhatIsMissing();
  void Say();
};

ModelStore::ModelStore(StoreOptions options, std::shared_ptr<const Clock> clock,
                       std::shared_ptr<model::ModelBoard> board)
    : farewell_(options.farewell),
      shared_(new Shared{
          .clock = std::move(clock),
          .board = std::move(board),
          .cache = ModelCache(std::move(options.cache_directory), options.limits.model + PublicKeys::kSignatureBytes),
          .budget = TextBudget(options.limits),
          .keys = options.keys}) {
  Shared& shared = *shared_;
  const PublicKeys* const keys = shared.keys ? &*shared.keys : nullptr;
  for (Place& place : options.places) {
    std::string shown = place.shown;
    if (place.url) {
      shared.urls.push_back(place.CacheKey(keys != nullptr));
      Add(std::move(shown), std::make_unique<UrlSource>(std::move(place), options.times, shared.cache, shared.budget,
                                                        *shared.clock, keys));
    } else {
      Add(std::move(shown), std::make_unique<FileSource>(std::move(place), shared.budget, *shared.clock, keys));
    }
  }
}

void ModelStore::Add(std::string shown, std::unique_ptr<Source> source) {
  shared_->watched.push_back({.shown = std::move(shown), .source = std::move(source)});
}

ModelStore::~ModelStore() {
  for (BlockingThread& thread : threads_) thread.RequestStop();
  const auto deadline = std::chrono::steady_clock::now() + farewell_;
  for (BlockingThread& thread : threads_) thread.EndBy(deadline);
}

Status ModelStore::Start(std::chrono::milliseconds patience) {
  {
    const std::scoped_lock lock(shared_->mutex);
    shared_->is_starting = true;
  }
  for (Shared::Watched& place : shared_->watched)
    KEPLER_CHECK_OK(Run([&place](Shared& shared, const std::stop_token& stop) { shared.Watch(place, stop); }));
  KEPLER_CHECK_OK(Run([](Shared& shared, const std::stop_token&) { shared.cache.KeepOnly(shared.urls); }));
  std::unique_lock lock(shared_->mutex);
  const auto is_loaded = [&] { return std::ranges::all_of(shared_->watched, &Shared::Watched::is_loaded); };
  if (!shared_->changed.wait_for(lock, patience, is_loaded)) shared_->SayWhatIsMissing();
  shared_->is_starting = false;
  shared_->Say();
  return {};
}

snapshot::ModelStoreStatus ModelStore::status() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->status;
}

size_t ModelStore::descriptors() const {
  // Of a URL: three of Asio's loop, the connection, or before that a file of certificates or what looks a name up.
  constexpr size_t kOfOnePlace = 6;
  return kOfOnePlace * shared_->watched.size();
}

void ModelStore::LoadLocal() {
  for (Shared::Watched& place : shared_->watched) shared_->Load(place, {});
  shared_->cache.KeepOnly(shared_->urls);
  const std::scoped_lock lock(shared_->mutex);
  shared_->Say();
}

void ModelStore::Refresh(const std::stop_token& stop) {
  const BootTime now = shared_->clock->Now();
  for (Shared::Watched& place : shared_->watched)
    if (place.source->next() <= now) shared_->Refresh(place, stop);
}

BootTime ModelStore::next() const {
  BootTime next = BootTime::max();
  for (const Shared::Watched& place : shared_->watched) next = std::min(next, place.source->next());
  return next;
}

Nanoseconds ModelStore::Pause(BootTime now, BootTime due) {
  return std::min<Nanoseconds>(due - now, std::chrono::minutes(1));
}

Status ModelStore::Run(std::function<void(Shared&, const std::stop_token&)> work) {
  KEPLER_TRY(auto thread, BlockingThread::Start("models", [shared = shared_, work = std::move(work)](const auto& stop) {
               shared->Safely([&] { work(*shared, stop); });
             }));
  threads_.push_back(std::move(thread));
  return {};
}

/// The work of the thread of a place.
void ModelStore::Shared::Watch(Watched& place, const std::stop_token& stop) {
  Safely([&] { Load(place, stop); });
  std::unique_lock lock(mutex);
  place.is_loaded = true;
  changed.notify_all();
  if (!is_starting) Say();
  while (!stop.stop_requested()) {
    if (const Nanoseconds pause = Pause(clock->Now(), place.source->next()); pause.count() > 0) {
      changed.wait_for(lock, stop, pause, [] { return false; });
      continue;
    }
    lock.unlock();
    Safely([&] { Refresh(place, stop); });
    lock.lock();
  }
}

/// Each place answers for itself; this is for what is left, such as a line of the log without memory.
void ModelStore::Shared::Safely(const std::function<void()>& work) {
  if (Guarded("", [&] { return work(), Status(); })) return;
  const std::scoped_lock lock(mutex);
  ++status.refreshes;
  ++status.failed_refreshes;
}

void ModelStore::Shared::Load(Watched& place, const std::stop_token& stop) {
  const Look look = LookAt([&](Look& into) { place.source->LoadLocal(into); });
  if (!stop.stop_requested()) Take(place, look);
}

void ModelStore::Shared::Refresh(Watched& place, const std::stop_token& stop) {
  const Look look = LookAt([&](Look& into) { place.source->Refresh(into, stop); });
  if (stop.stop_requested()) return;
  Take(place, look);
  const std::scoped_lock lock(mutex);
  if (!is_starting) Say();
}

void ModelStore::Shared::Take(Watched& place, const Look& look) {
  const std::scoped_lock lock(mutex);
  for (const Error& problem : look.problems)
    limiter.Say(log::Level::kWarn, problem.message, clock->Now(),
                "failed to load a power model; models loaded before stay in use", {{"err", problem.message}});
  for (const Error& problem : look.not_kept)
    limiter.Say(log::Level::kWarn, problem.message, clock->Now(),
                "loaded a power model, but failed to cache it for the next startup",
                {{"err", problem.message}, {"see", "model.cacheDir"}});
  status.refreshes += look.refreshes;
  status.failed_refreshes += look.failed_refreshes;
  if (look.at_place && look.failed_refreshes == 0) status.last_success = clock->Wall();
  place.is_published = place.is_published && !look.changed;
  if (!place.is_published) Publish(place);
}

/// Under the mutex, as is what follows: of other places what they have published, for theirs is their threads' own.
void ModelStore::Shared::Publish(Watched& place) {
  place.models.clear();
  place.source->AddTo(place.models);
  auto set = std::make_shared<model::ModelSet>();
  for (const Watched& each : watched) set->insert(set->end(), each.models.begin(), each.models.end());
  status.models = set->size();
  board->Set(std::move(set));
  place.is_published = true;
  is_said = false;
}

void ModelStore::Shared::SayWhatIsMissing() {
  std::string names;
  for (const Watched& place : watched)
    if (!place.is_loaded) names += (names.empty() ? "" : ", ") + place.shown;
  log::Warn("power models are not loaded yet; the agent continues without them and uses them later",
            {{"places", names}, {"action", "check whether these places are on a server that does not answer"}});
}

void ModelStore::Shared::Say() {
  if (std::exchange(is_said, true)) return;
  const auto set = board->Latest();
  log::Info("loaded power models", {{"models", set->empty() ? "none" : ListOf(*set)}});
}

}  // namespace kepler::model_store
