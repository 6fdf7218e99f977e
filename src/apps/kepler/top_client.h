#pragma once
// TopClient: reads the JSON API of an agent for `kepler top`. TopPoller: a thread that polls a source.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/kepler/top_settings.h"
#include "apps/kepler/top_source.h"
#include "base/duration.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "http/client/client.h"
#include "http/client/url.h"
#include "top/readings.h"

namespace kepler::agent {

class TopClient final : public TopSource {
 public:
  /// Reads the files of the settings. Blocks.
  [[nodiscard]] static Result<TopClient> Open(const TopSettings& settings);

  /// Errors name the URL. kUnavailable: no server answers.
  [[nodiscard]] Result<std::string> Get(const std::string& target, const std::stop_token& stop) const override;
  [[nodiscard]] std::string_view Hint() const override { return "is the agent running? --url sets its address"; }
  [[nodiscard]] std::string Place() const override { return url_.peer.Url() + url_.target; }

 private:
  http::client::Url url_;
  std::string user_, password_;
  std::unique_ptr<http::client::Client> client_ = std::make_unique<http::client::Client>();
};

struct TopAnswer {
  top::Readings readings{};
  std::optional<top::PowerHistory> history{};  // nothing if it was not read
  std::vector<std::string> remarks{};
};

/// Returns the reason in an error of the API, {"error":"…"}, else the text itself.
[[nodiscard]] std::string ApiReason(std::string_view body);

/// Reads an answer of `source`. The error names its place.
[[nodiscard]] Result<top::Readings> ReadingsOf(const TopSource& source, std::string_view text);

/// Returns the remarks of the source and the remarks about the readings.
[[nodiscard]] std::vector<std::string> RemarksOf(const TopSource& source, const top::Readings& readings);

/// Polls a source on a separate thread. One thread may call its functions.
class TopPoller {
 public:
  [[nodiscard]] static Result<std::unique_ptr<TopPoller>> Start(std::unique_ptr<TopSource> source, Duration interval);

  /// A descriptor that is readable while Take() has an answer.
  [[nodiscard]] int fd() const { return event_.get(); }
  /// Sets the target of all later requests. A new target is requested at once. `history`: number of ticks to show.
  void Ask(const std::string& target, size_t history);
  /// Returns the latest answer, each answer once.
  [[nodiscard]] std::optional<Result<TopAnswer>> Take();

 private:
  TopPoller(std::unique_ptr<TopSource> source, Duration interval, UniqueFd event)
      : source_(std::move(source)), interval_(interval), event_(std::move(event)) {}
  void Work(const std::stop_token& stop);
  [[nodiscard]] Result<TopAnswer> Fetch(const std::string& target, size_t history, const std::stop_token& stop);

  const std::unique_ptr<TopSource> source_;
  const Duration interval_;
  const UniqueFd event_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string target_{};
  size_t history_ = 0;
  bool is_new_ = false;  // target_ was not requested yet
  std::string time_{};   // of the tick whose history was read; only for the thread
  std::optional<Result<TopAnswer>> answer_{};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace kepler::agent
