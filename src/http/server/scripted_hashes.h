#pragma once
// For the tests: a hash function that begins and ends when the test says.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "http/server/hash_worker.h"

namespace kepler::http::testing {

/// Stands in for bcrypt: lets the test see each hash begin and says when it ends.
class ScriptedHashes {
 public:
  HashWorker::Matches Function() {
    return [this](const std::string& password, const std::string& hash) {
      std::unique_lock lock(mutex_);
      begun_.push_back(password);
      hashes_.push_back(hash);
      changed_.notify_all();
      changed_.wait(lock, [&, number = begun_.size()] { return ended_ >= number; });
      return password == "right";
    };
  }
  ~ScriptedHashes() { EndAll(); }
  void WaitFor(size_t begun) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() >= begun; });
  }
  /// The first `count` of all.
  void End(size_t count) {
    const std::scoped_lock lock(mutex_);
    ended_ = count;
    changed_.notify_all();
  }
  void EndAll() { End(SIZE_MAX); }
  std::vector<std::string> begun() const {
    const std::scoped_lock lock(mutex_);
    return begun_;
  }
  std::vector<std::string> hashes() const {
    const std::scoped_lock lock(mutex_);
    return hashes_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> begun_, hashes_;
  size_t ended_ = 0;
};

}  // namespace kepler::http::testing
