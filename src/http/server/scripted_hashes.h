#pragma once
// For the tests: a hash function that begins and ends when the test says.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server/hash_worker.h"

namespace kepler::http::server::testing {

/// Replaces bcrypt: the test sees when each hash begins, and decides when it ends. The function may outlive the object;
/// its hashes then end at once.
class ScriptedHashes {
 public:
  [[nodiscard]] HashWorker::Matches Function() const {
    return [state = state_](const std::string& password, const std::string& hash) {
      std::unique_lock lock(state->mutex);
      state->begun.push_back(password);
      state->hashes.push_back(hash);
      state->changed.notify_all();
      state->changed.wait(lock, [&, number = state->begun.size()] { return state->ended >= number; });
      return password == "right";
    };
  }
  ~ScriptedHashes() { EndAll(); }
  void WaitFor(size_t begun) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->begun.size() >= begun; });
  }
  /// Ends the first `count` hashes.
  void End(size_t count) {
    const std::scoped_lock lock(state_->mutex);
    state_->ended = count;
    state_->changed.notify_all();
  }
  void EndAll() { End(SIZE_MAX); }
  [[nodiscard]] std::vector<std::string> begun() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->begun;
  }
  [[nodiscard]] std::vector<std::string> hashes() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->hashes;
  }

 private:
  struct State {
    std::mutex mutex;  // guards all members below
    std::condition_variable changed;
    std::vector<std::string> begun{}, hashes{};
    size_t ended = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace kepler::http::server::testing
