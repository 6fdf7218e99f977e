#include "model_store/model_store.h"

#include <algorithm>
#include <utility>

#include "base/thread.h"
#include "model_store/guarded.h"

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

}  // namespace

ModelStore::ModelStore(StoreOptions options, const Clock& clock, std::shared_ptr<model::ModelBoard> board)
    : clock_(clock),
      board_(std::move(board)),
      cache_(std::move(options.cache_directory), options.limits.model),
      budget_(options.limits) {
  for (Place& place : options.places) {
    if (place.url) urls_.push_back(place.Key());
    if (place.url)
      sources_.push_back(std::make_unique<UrlSource>(std::move(place), options.times, cache_, budget_, clock));
    else
      sources_.push_back(std::make_unique<FileSource>(std::move(place), budget_, clock));
  }
}

ModelStore::~ModelStore() = default;  // the thread is asked to stop, and joined

void ModelStore::LoadLocal() {
  for (const auto& source : sources_) Take(LookAt([&](Look& look) { source->LoadLocal(look); }));
  Say();
  cache_.KeepOnly(urls_);
}

Status ModelStore::Start(std::chrono::milliseconds patience) {
  KEPLER_TRY(thread_, StartThread("models", [this](const std::stop_token& stop) { Loop(stop); }));
  std::unique_lock lock(mutex_);
  if (!loaded_.wait_for(lock, patience, [this] { return is_loaded_; }))
    log::Warn("power models are not read yet: the agent goes on without them and uses them once they are there",
              {{"action", "see whether the files of model.sources are on a server that does not answer"}});
  return {};
}

snapshot::ModelStoreStatus ModelStore::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

BootTime ModelStore::next() const {
  BootTime next = BootTime::max();
  for (const auto& source : sources_) next = std::min(next, source->next());
  return next;
}

Nanoseconds ModelStore::Pause(BootTime now, BootTime due) {
  return std::min<Nanoseconds>(due - now, std::chrono::minutes(1));
}

void ModelStore::Loop(const std::stop_token& stop) {
  Safely([this] { LoadLocal(); });
  {
    const std::scoped_lock lock(mutex_);
    is_loaded_ = true;
  }
  loaded_.notify_all();
  std::unique_lock lock(waiting_);
  while (!stop.stop_requested()) {
    const BootTime due = next();
    if (due == BootTime::max()) return;  // there are no places
    if (const Nanoseconds pause = Pause(clock_.Now(), due); pause.count() > 0)
      stopped_.wait_for(lock, stop, pause, [] { return false; });
    else
      Safely([&] { Refresh(stop); });
  }
}

/// Each place answers for itself; this is for what is left, such as a line of the log without memory.
void ModelStore::Safely(const std::function<void()>& work) {
  if (Guarded("", [&] { return work(), Status(); })) return;
  const std::scoped_lock lock(mutex_);
  ++status_.refreshes;
  ++status_.failed_refreshes;
}

void ModelStore::Refresh(const std::stop_token& stop) {
  const BootTime now = clock_.Now();
  for (const auto& source : sources_) {
    if (stop.stop_requested()) return;
    if (source->next() > now) continue;
    const Look look = LookAt([&](Look& into) { source->Refresh(into, stop); });
    if (!stop.stop_requested()) Take(look);
  }
  Say();
}

Look ModelStore::LookAt(const std::function<void(Look&)>& work) {
  Look look;
  const Status looked = Guarded("", [&] { return work(look), Status(); });
  if (looked) return look;
  ++look.refreshes;
  ++look.failed_refreshes;
  look.problems.push_back(looked.error());
  return look;
}

void ModelStore::Take(const Look& look) {
  for (const Error& problem : look.problems)
    limiter_.Say(log::Level::kWarn, problem.message, clock_.Now(),
                 "a power model is not taken; models that were taken before stay in use", {{"err", problem.message}});
  for (const Error& problem : look.not_kept)
    limiter_.Say(log::Level::kWarn, problem.message, clock_.Now(),
                 "a power model is taken, but cannot be kept for a start at which it cannot be reached",
                 {{"err", problem.message}, {"see", "model.cacheDir"}});
  {
    const std::scoped_lock lock(mutex_);
    status_.refreshes += look.refreshes;
    status_.failed_refreshes += look.failed_refreshes;
    if (look.at_place && look.failed_refreshes == 0) status_.last_success = clock_.Wall();
  }
  is_published_ = is_published_ && !look.changed;
  if (!is_published_) Publish();
}

void ModelStore::Publish() {
  auto set = std::make_shared<model::ModelSet>();
  for (const auto& source : sources_) source->AddTo(*set);
  {
    const std::scoped_lock lock(mutex_);
    status_.models = set->size();
  }
  board_->Set(std::move(set));
  is_published_ = true;
  is_said_ = false;
}

void ModelStore::Say() {
  if (std::exchange(is_said_, true)) return;
  const auto set = board_->Latest();
  log::Info("the power models that there are", {{"models", set->empty() ? "none" : ListOf(*set)}});
}

}  // namespace kepler::model_store
