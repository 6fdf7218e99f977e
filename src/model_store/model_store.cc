#include "model_store/model_store.h"

#include <utility>

namespace kepler::model_store {

ModelStore::~ModelStore() {
  for (BlockingThread& thread : threads_) thread.RequestStop();
  const auto deadline = std::chrono::steady_clock::now() + farewell_;
  for (BlockingThread& thread : threads_) thread.EndBy(deadline);
}

Status ModelStore::Start(std::chrono::milliseconds patience) {
  places_->BeginStart();
  for (size_t i = 0; i < places_->size(); ++i)
    KEPLER_CHECK_OK(Run([i](ModelPlaces& places, const std::stop_token& stop) { places.Watch(i, stop); }));
  KEPLER_CHECK_OK(Run([](ModelPlaces& places, const std::stop_token&) { places.CleanCache(); }));
  places_->EndStart(patience);
  return {};
}

size_t ModelStore::descriptors() const {
  // For a URL: three of Asio's loop, and the connection; before it a certificate file, or sockets of a DNS lookup.
  constexpr size_t kOfOnePlace = 6;
  return kOfOnePlace * places_->size();
}

Status ModelStore::Run(std::function<void(ModelPlaces&, const std::stop_token&)> work) {
  KEPLER_TRY(auto thread, BlockingThread::Start("models", [places = places_, work = std::move(work)](const auto& stop) {
               work(*places, stop);
             }));
  threads_.push_back(std::move(thread));
  return {};
}

}  // namespace kepler::model_store
