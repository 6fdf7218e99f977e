#pragma once
// For tests: places of models with or without the threads of a store, and what their log says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model_store/model_store.h"
#include "model_store/model_text_test_util.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::model_store {

/// Whether something that another thread does happens. One that it does not do in a minute, it never does.
template <class Happened>
[[nodiscard]] bool ComesToBe(const Happened& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class StoreTest : public ::testing::Test {
 protected:
  void Make(const std::vector<std::string>& places, UrlTimes times = {}) {
    std::vector<Place> parsed;
    for (const std::string& text : places) {
      auto place = ParsePlace(text);
      ASSERT_TRUE(place) << place.error().message;
      parsed.push_back(*std::move(place));
    }
    MakePlaces(std::move(parsed), times);
  }
  void MakePlaces(std::vector<Place> places, UrlTimes times = {}) {
    PlacesOptions options{
        .places = std::move(places), .times = times, .cache_directory = cache_, .limits = limits_, .keys = keys_};
    places_ = std::make_shared<ModelPlaces>(std::move(options), kepler::testing::Lend(clock_), board_);
  }
  /// What the log says of it.
  std::string Load() {
    ::testing::internal::CaptureStdout();
    places_->BeginStart();
    for (size_t i = 0; i < places_->size(); ++i) places_->Load(i, {});
    places_->CleanCache();
    places_->EndStart({});
    return ::testing::internal::GetCapturedStdout();
  }
  std::string RefreshAfter(Nanoseconds time) {
    clock_.Advance(time);
    ::testing::internal::CaptureStdout();
    const BootTime now = clock_.Now();
    for (size_t i = 0; i < places_->size(); ++i)
      if (places_->next(i) <= now) places_->Refresh(i, {});
    return ::testing::internal::GetCapturedStdout();
  }
  /// Time until the first place is refreshed; negative if that time is over.
  [[nodiscard]] Nanoseconds UntilNext() const {
    BootTime next = BootTime::max();
    for (size_t i = 0; i < places_->size(); ++i) next = std::min(next, places_->next(i));
    return next - clock_.Now();
  }
  /// The places are the store's from now on.
  [[nodiscard]] Status Start(std::chrono::milliseconds patience) {
    store_.emplace(std::move(places_), farewell_);
    return store_->Start(patience);
  }
  /// "name version", in order.
  [[nodiscard]] std::vector<std::string> Models() const {
    std::vector<std::string> names;
    for (const auto& known : *board_->Latest())
      names.push_back(known->model.name + ' ' + std::to_string(known->model.version));
    std::ranges::sort(names);
    return names;
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::FakeClock clock_;
  const std::shared_ptr<model::ModelBoard> board_ = std::make_shared<model::ModelBoard>();
  std::string cache_;  // "": none
  TextLimits limits_;
  std::optional<PublicKeys> keys_;
  std::chrono::milliseconds farewell_ = std::chrono::minutes(10);
  std::shared_ptr<ModelPlaces> places_;
  std::optional<ModelStore> store_;
};

}  // namespace kepler::model_store
