#pragma once
// Basic authentication: bcrypt on a thread of its own, its verdicts cached, the same work for users that do not exist.
// On the I/O thread only, except where it says otherwise.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "http/server/event_loop.h"

namespace kepler::http {

enum class Verdict : uint8_t {
  kAllowed,
  kDenied,
  kBusy  // too many different passwords wait already, or there is no thread that could hash this one
};

struct Credentials {
  std::string user;
  std::string password;
};

/// What "Basic <base64>" holds; nothing for any other text.
[[nodiscard]] std::optional<Credentials> ParseBasicAuth(std::string_view header);

class PasswordChecker {
 public:
  using Users = std::map<std::string, std::string, std::less<>>;  // name -> bcrypt hash
  using Done = std::move_only_function<void(Verdict)>;

  explicit PasswordChecker(EventLoop& loop);
  /// After the loop has stopped. Waits for the hash in progress; calls nothing.
  ~PasswordChecker();
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;

  /// `done` is called at once, or later on the loop's thread. Requests for the same password share one hash.
  void Check(const Users& users, const Credentials& credentials, Done done);

 private:
  using Tag = std::array<unsigned char, 32>;
  struct Job {
    Tag tag;
    bool known_user = false;
    std::string hash;
    std::string password;
  };
  /// The latest verdicts of one kind, oldest first.
  class Cache {
   public:
    [[nodiscard]] bool Has(const Tag& tag) const;
    void Add(const Tag& tag);

   private:
    std::deque<Tag> tags_;
  };

  [[nodiscard]] Tag MakeTag(bool known_user, std::string_view user, std::string_view hash,
                            std::string_view password) const;
  [[nodiscard]] bool Enqueue(Job job);
  /// Makes the worker's thread if there is none yet; false where that cannot be done now.
  [[nodiscard]] bool HaveWorker();
  void Work(const std::stop_token& stop);  // the worker's thread
  void Finish(const Tag& tag, bool matches);

  EventLoop& loop_;
  Tag secret_;  // so that tags mean nothing outside this process
  Cache allowed_;
  Cache denied_;
  std::map<Tag, std::vector<Done>> waiting_;
  SystemClock clock_;
  log::LogLimiter limiter_;

  std::mutex mutex_;  // guards queue_
  std::condition_variable_any wake_;
  std::deque<Job> queue_;
  std::jthread worker_;  // started by the first hash; last, so that it ends before what it uses
};

}  // namespace kepler::http
