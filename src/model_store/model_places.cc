#include "model_store/model_places.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model_store/guarded.h"

namespace kepler::model_store {
namespace {

std::string ListOf(const model::ModelSet& set) {
  constexpr size_t kMaxNamed = 10;
  std::string names;
  for (size_t i = 0; i < std::min(set.size(), kMaxNamed); ++i)
    names += (i > 0 ? ", " : "") + set[i]->model.name + " (version " + std::to_string(set[i]->model.version) + ", " +
             set[i]->source + ')';
  return set.size() > kMaxNamed ? names + ", ..." : names;
}

/// Returns the result of `work`. An exception counts as a failed refresh.
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

ModelPlaces::ModelPlaces(PlacesOptions options, std::shared_ptr<const Clock> clock,
                         std::shared_ptr<model::ModelBoard> board)
    : clock_(std::move(clock)),
      board_(std::move(board)),
      cache_(std::move(options.cache_directory), options.limits.model + PublicKeys::kSignatureBytes),
      budget_(options.limits),
      keys_(options.keys),
      read_archive_(std::move(options.read_archive)) {
  const PublicKeys* const keys = keys_ ? &*keys_ : nullptr;
  const ReadArchive* const archives = read_archive_ ? &read_archive_ : nullptr;
  for (Place& place : options.places) {
    std::string shown = place.shown;
    if (place.url) {
      urls_.push_back(place.CacheKey(keys != nullptr));
      Add(std::move(shown),
          std::make_unique<UrlSource>(std::move(place), options.times, cache_, budget_, *clock_, keys, archives));
      watched_.back().is_url = true;
      status_.last_fetch = WallTime();
    } else {
      Add(std::move(shown), std::make_unique<FileSource>(std::move(place), budget_, *clock_, keys, archives));
    }
  }
}

void ModelPlaces::Add(std::string shown, std::unique_ptr<Source> source) {
  watched_.push_back({.shown = std::move(shown), .source = std::move(source)});
}

void ModelPlaces::BeginStart() {
  const std::scoped_lock lock(mutex_);
  is_starting_ = true;
}

void ModelPlaces::EndStart(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto is_loaded = [&] { return std::ranges::all_of(watched_, &Watched::is_loaded); };
  if (!changed_.wait_for(lock, patience, is_loaded)) SayWhatIsMissing();
  is_starting_ = false;
  Say();
}

void ModelPlaces::Load(size_t place, const std::stop_token& stop) {
  Watched& watched = watched_[place];
  Safely([&] {
    const Look look = LookAt([&](Look& into) { watched.source->LoadLocal(into); });
    if (!stop.stop_requested()) Take(watched, look);
  });
  Safely([&] {
    const std::scoped_lock lock(mutex_);
    watched.is_loaded = true;
    changed_.notify_all();
    if (!is_starting_) Say();
  });
}

void ModelPlaces::Refresh(size_t place, const std::stop_token& stop) {
  Safely([&] {
    Watched& watched = watched_[place];
    const Look look = LookAt([&](Look& into) { watched.source->Refresh(into, stop); });
    if (stop.stop_requested()) return;
    Take(watched, look);
    const std::scoped_lock lock(mutex_);
    if (!is_starting_) Say();
  });
}

void ModelPlaces::Watch(size_t place, const std::stop_token& stop) {
  Load(place, stop);
  while (!stop.stop_requested()) {
    if (const Nanoseconds pause = Pause(clock_->Now(), next(place)); pause.count() > 0) {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, pause, [] { return false; });
    } else {
      Refresh(place, stop);
    }
  }
}

void ModelPlaces::CleanCache() {
  Safely([&] { cache_.KeepOnly(urls_); });
}

status::ModelStoreStatus ModelPlaces::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

Nanoseconds ModelPlaces::Pause(BootTime now, BootTime due) {
  return std::min<Nanoseconds>(due - now, std::chrono::minutes(1));
}

/// Places report their own failures. This catches the others, such as a log line for which no memory is left.
void ModelPlaces::Safely(const std::function<void()>& work) {
  if (Guarded("", [&] { return work(), Status(); })) return;
  const std::scoped_lock lock(mutex_);
  ++status_.refreshes;
  ++status_.failed_refreshes;
}

void ModelPlaces::Take(Watched& place, const Look& look) {
  const std::scoped_lock lock(mutex_);
  for (const Error& problem : look.problems)
    limiter_.Say(log::Level::kWarn, problem.message, clock_->Now(),
                 "failed to load a power model; models loaded before stay in use", {{"err", problem.message}});
  for (const Error& problem : look.not_kept)
    limiter_.Say(log::Level::kWarn, problem.message, clock_->Now(),
                 "loaded a power model, but failed to cache it for the next startup",
                 {{"err", problem.message}, {"see", "model.cacheDir"}});
  status_.refreshes += look.refreshes;
  status_.failed_refreshes += look.failed_refreshes;
  if (look.at_place && look.failed_refreshes == 0) NoteSuccess(place);
  place.is_published = place.is_published && !look.changed;
  if (!place.is_published) Publish(place);
}

/// The caller holds the mutex.
void ModelPlaces::NoteSuccess(Watched& place) {
  place.fetched = status_.last_success = clock_->Wall();
  if (!place.is_url) return;
  status_.last_fetch = place.fetched;
  for (const Watched& each : watched_)
    if (each.is_url) status_.last_fetch = std::min(*status_.last_fetch, each.fetched);
}

/// The caller holds the mutex, also for the functions below. Uses the published models of other places, because other
/// threads use their sources.
void ModelPlaces::Publish(Watched& place) {
  place.models.clear();
  place.source->AddTo(place.models);
  auto set = std::make_shared<model::ModelSet>();
  for (const Watched& each : watched_) set->insert(set->end(), each.models.begin(), each.models.end());
  status_.models = set->size();
  board_->Set(std::move(set));
  place.is_published = true;
  is_said_ = false;
}

void ModelPlaces::SayWhatIsMissing() {
  std::string names;
  for (const Watched& place : watched_)
    if (!place.is_loaded) names += (names.empty() ? "" : ", ") + place.shown;
  log::Warn("power models are not loaded yet; the agent continues without them and uses them later",
            {{"places", names}, {"action", "check whether these places are on a server that does not answer"}});
}

void ModelPlaces::Say() {
  if (std::exchange(is_said_, true)) return;
  const auto set = board_->Latest();
  log::Info("loaded power models", {{"models", set->empty() ? "none" : ListOf(*set)}});
}

}  // namespace kepler::model_store
