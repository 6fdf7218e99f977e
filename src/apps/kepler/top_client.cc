#include "apps/kepler/top_client.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parse.h"
#include "base/small_file.h"
#include "base/text.h"
#include "base/thread.h"
#include "json/document.h"
#include "status/zone_origin.h"

namespace kepler::agent {
namespace {

constexpr uint64_t kMaxAnswer = uint64_t{16} << 20;
constexpr std::chrono::milliseconds kSilence{5'000};
constexpr std::chrono::milliseconds kTotal{15'000};
constexpr size_t kMaxReason = 300;
constexpr double kMaxHistorySeconds = 3600;  // the API keeps an hour

/// Returns true if requests to the host cross no network. A login at this host needs no TLS.
bool IsThisMachine(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

/// Returns the reason and the remedy for a status other than 2xx.
std::string ReasonOf(const http::client::Answer& answer) {
  if (answer.status == 401) return "401: set --user and --password-file";
  if (answer.status == 404) return "404: there is no JSON API; is it another program, or an older agent?";
  if (!answer.location.empty())
    return fmt::format("{}: redirects to {}; set --url to the URL of the agent", answer.status,
                       ShowUnlessSecret(answer.location, kMaxReason));
  const std::string body = ApiReason(answer.body);
  return fmt::format("{}: {}", answer.status,
                     body.empty() ? "the answer has no reason; is it an agent?" : ShowUnlessSecret(body, kMaxReason));
}

}  // namespace

Result<TopClient> TopClient::Open(const TopSettings& settings) {
  TopClient client;
  KEPLER_TRY(client.url_, http::client::ParseUrl(settings.url));
  while (client.url_.target.ends_with('/')) client.url_.target.pop_back();
  for (const auto& [path, text] :
       {std::pair(&settings.ca_file, &client.url_.peer.ca), std::pair(&settings.cert_file, &client.url_.peer.cert),
        std::pair(&settings.key_file, &client.url_.peer.key)}) {
    if (path->empty()) continue;
    KEPLER_TRY(*text, ReadSmallFile(*path));
  }
  client.user_ = settings.user;
  if (!settings.password_file.empty()) {
    KEPLER_TRY(client.password_, ReadSecretFile(settings.password_file));
  }
  KEPLER_CHECK_OK(http::client::CheckPeer(client.url_.peer));
  return client;
}

Result<std::string> TopClient::Get(const std::string& target, const std::stop_token& stop) const {
  const http::client::ClientRequest request{.target = url_.target + target,
                                            .user = user_,
                                            .password = password_,
                                            .allow_plain_login = IsThisMachine(url_.peer.host),
                                            .deadlines = {.silence = kSilence, .total = kTotal},
                                            .max_bytes = kMaxAnswer};
  std::string body;
  const auto take = [&](std::string_view piece) -> Status {
    body += piece;
    return {};
  };
  const auto answer = client_->Send(url_.peer, request, take, stop);
  if (!answer) return std::unexpected(answer.error());
  if (answer->ok()) return body;
  return Fail(ErrorKind::kInvalid, fmt::format("{}: {}", Place(), http::client::HideLogin(ReasonOf(*answer), request)));
}

std::string ApiReason(std::string_view body) {
  if (const auto parsed = json::Parse(body))
    if (const auto reason = json::Cursor(*parsed).Text("error")) return std::string(*reason);
  return std::string(Trim(body));
}

Result<top::Readings> ReadingsOf(const TopSource& source, std::string_view text) {
  auto readings = top::ReadReadings(text);
  if (readings) return readings;
  return Fail(readings.error().kind, fmt::format("{}: {}", source.Place(), readings.error().message));
}

std::vector<std::string> RemarksOf(const TopSource& source, const top::Readings& readings) {
  std::vector<std::string> remarks = source.Remarks();
  const auto is = [](status::Origin origin) {
    return [origin](const top::ZoneReading& zone) { return status::OriginOf(zone.source) == origin; };
  };
  if (std::ranges::any_of(readings.zones, is(status::Origin::kSimulated)))
    remarks.emplace_back("power is simulated: the fake meter is in use, and nothing is measured");
  const bool is_estimated =
      !readings.zones.empty() && std::ranges::all_of(readings.zones, is(status::Origin::kEstimated));
  if (is_estimated &&
      std::ranges::none_of(remarks, [](const std::string& remark) { return remark.starts_with(kEstimateRemark); }))
    remarks.push_back(fmt::format("{}no energy meter is in use", kEstimateRemark));
  return remarks;
}

Result<std::unique_ptr<TopPoller>> TopPoller::Start(std::unique_ptr<TopSource> source, Duration interval) {
  UniqueFd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) return FailErrno("create", "an eventfd");
  std::unique_ptr<TopPoller> poller(new TopPoller(std::move(source), interval, std::move(event)));
  KEPLER_TRY(poller->thread_,
             StartThread("poller", [self = poller.get()](const std::stop_token& stop) { self->Work(stop); }));
  return poller;
}

void TopPoller::Ask(const std::string& target, size_t history) {
  const std::scoped_lock lock(mutex_);
  history_ = history;
  if (target == target_) return;
  target_ = target;
  is_new_ = true;
  changed_.notify_one();
}

std::optional<Result<TopAnswer>> TopPoller::Take() {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  const std::scoped_lock lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

void TopPoller::Work(const std::stop_token& stop) {
  auto next = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    std::string target;
    size_t history = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, stop, next, [&] { return is_new_; });
      is_new_ = false;
      target = target_;
      history = history_;
    }
    if (stop.stop_requested()) return;
    next = std::chrono::steady_clock::now() + interval_;
    if (target.empty()) continue;
    auto answer = Fetch(target, history, stop);
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
    eventfd_write(event_.get(), 1);
  }
}

Result<TopAnswer> TopPoller::Fetch(const std::string& target, size_t history, const std::stop_token& stop) {
  TopAnswer answer;
  KEPLER_TRY(const std::string text, source_->Get(target, stop));
  KEPLER_TRY(answer.readings, ReadingsOf(*source_, text));
  answer.remarks = RemarksOf(*source_, answer.readings);
  if (answer.readings.time == time_) return answer;
  time_ = answer.readings.time;
  const double seconds =
      std::clamp(answer.readings.interval_seconds * static_cast<double>(history), 60.0, kMaxHistorySeconds);
  const auto points = source_->Get(fmt::format("/api/v1/history?seconds={:.0f}", std::ceil(seconds)), stop);
  if (!points) return answer;  // the screen works without a sparkline
  if (auto read = top::ReadHistory(*points)) answer.history = std::move(*read);
  return answer;
}

}  // namespace kepler::agent
