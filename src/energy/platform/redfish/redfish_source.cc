#include "energy/platform/redfish/redfish_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"

namespace kepler::energy::platform::redfish {
namespace {

std::string PlaceOf(const Resource& resource, const Sensor& sensor) {
  if (sensor.id.empty()) return resource.uri;
  return fmt::format("{}#/{}/{}", resource.uri, sensor.labels.source_type, sensor.id);
}

/// The reading of `sensor` in `readings`.
DomainReading AnswerOf(const Sensor& sensor, const Resource& resource, std::span<const Reading> readings, BootTime at) {
  const auto found = std::ranges::find(readings, sensor.id, &Reading::id);
  if (found == readings.end())
    return {at, Error{ErrorKind::kNotFound, PlaceOf(resource, sensor) + ": the BMC no longer has this reading"}};
  if (!found->power)
    return {at, Error{ErrorKind::kMalformed,
                      fmt::format("{}: {}", PlaceOf(resource, sensor), found->power.error().message)}};
  DomainReading reading{at, *found->power};
  reading.counter = found->counter;
  return reading;
}

}  // namespace

RedfishSource::RedfishSource(RedfishOptions options, std::shared_ptr<const Clock> clock)
    : options_(std::move(options)), clock_(std::move(clock)) {}

Status RedfishSource::Reload() {
  if (!stamps_.empty() && !HaveChanged(stamps_)) return client_ ? Status() : std::unexpected(*file_error_);
  auto access = ReadBmcFile(options_.bmc_file, options_.node_name, stamps_);
  if (!access) {
    file_error_ = access.error();
    if (!client_) return std::unexpected(*file_error_);
    log::Warn("failed to load the changed BMC file; the old one stays in use until it is corrected",
              {{"file", options_.bmc_file}, {"err", file_error_->message}});
    return {};
  }
  if (!access->warning.empty()) log::Warn(access->warning, {{"file", options_.bmc_file}});
  if (client_) log::Info("reloaded the BMC file", {{"file", options_.bmc_file}, {"bmc", access->id}});
  auto next = std::make_unique<BmcClient>(*std::move(access), options_.timeout, clock_);
  if (client_) next->Replace(*client_);
  client_ = std::move(next);
  return {};
}

Result<std::vector<Domain>> RedfishSource::Discover() {
  KEPLER_CHECK_OK(Reload());
  const Search search{.bmc_id = client_->access().id, .chassis = client_->access().chassis};
  const auto fetch = [this](const std::string& uri) { return client_->Get(uri, interrupted_.get_token()); };
  KEPLER_TRY(sensors_, FindSensors(search, fetch));
  searched_at_ = clock_->Now();
  misses_value_ = false;
  LogDoubts();
  return MakeDomains();
}

/// Logs each state of the doubts once.
void RedfishSource::LogDoubts() {
  std::string doubts;
  for (const Sensor& sensor : sensors_.sensors)
    if (!sensor.doubt.empty() && !doubts.contains(sensor.doubt))
      doubts += fmt::format("{}chassis {}: {}", doubts.empty() ? "" : "; ", sensor.labels.chassis_id, sensor.doubt);
  if (doubts == std::exchange(doubts_, doubts)) return;
  if (doubts.empty())
    log::Info("the BMC states the power of the machine clearly again", {{"bmc", client_->access().id}});
  else
    log::Warn("the BMC does not clearly state the power of the machine",
              {{"bmc", client_->access().id}, {"err", doubts}});
}

std::vector<Domain> RedfishSource::MakeDomains() const {
  std::vector<Domain> domains;
  std::set<std::string> zones;
  for (const Sensor& sensor : sensors_.sensors) {
    const Resource& resource = sensors_.resources[sensor.resource];
    Domain domain;
    domain.path = PlaceOf(resource, sensor);
    domain.key = fmt::format("{} {} {}", sensor.labels.bmc_id, static_cast<int>(resource.kind), domain.path);
    // With the BMC, because the file may name another one later: its sensors are new series.
    domain.zone = fmt::format("{}/{}/{}/{}", sensor.labels.bmc_id, sensor.labels.chassis_id, sensor.labels.source_type,
                              sensor.labels.source_id);
    if (!zones.insert(domain.zone).second) domain.zone = domain.key;  // a BMC may use an id twice
    domain.sensor = sensor.labels;
    domain.doubt = sensor.doubt;
    const std::string_view use = sensor.labels.whole    ? "counts in the total of the machine"
                                 : sensor.doubt.empty() ? "a part of another sensor"
                                                        : "does not count";
    domain.note = fmt::format("{}{}{}", sensor.labels.source_name, sensor.labels.source_name.empty() ? "" : ", ", use);
    domains.push_back(std::move(domain));
  }
  return domains;
}

void RedfishSource::Read(std::vector<DomainReading>& out) {
  out.assign(sensors_.sensors.size(), {clock_->Now(), Error{ErrorKind::kUnavailable, "not read"}});
  timeouts_ = 0;
  for (size_t i = 0; i < sensors_.resources.size(); ++i) ReadResource(i, out);
  RejectZero(out);
}

void RedfishSource::ReadResource(size_t resource, std::vector<DomainReading>& out) {
  const Resource& place = sensors_.resources[resource];
  Result<json::Value> got =
      timeouts_ < kMaxTimeouts
          ? client_->Get(place.uri, interrupted_.get_token())
          : Fail(ErrorKind::kTimeout, fmt::format("{}: not requested, because the BMC does not answer", place.uri));
  const BootTime now = clock_->Now();
  if (!got && got.error().kind == ErrorKind::kTimeout) ++timeouts_;
  const auto readings = got ? ReadingsOf(*got, place.kind) : std::vector<Reading>();
  for (size_t i = 0; i < out.size(); ++i) {
    const Sensor& sensor = sensors_.sensors[i];
    if (sensor.resource != resource) continue;
    out[i] = got ? AnswerOf(sensor, place, readings, now) : DomainReading{now, got.error()};
    misses_value_ |= got && sensor.labels.whole && std::holds_alternative<Error>(out[i].value);
  }
}

void RedfishSource::RejectZero(std::vector<DomainReading>& out) const {
  for (size_t i = 0; i < out.size(); ++i) {
    const Power* const power = std::get_if<Power>(&out[i].value);
    const bool is_zero = power != nullptr && *power == Power();
    if (sensors_.sensors[i].labels.whole && !is_zero) return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const Sensor& sensor = sensors_.sensors[i];
    if (!sensor.labels.whole) continue;
    out[i].value = Error{ErrorKind::kMalformed,
                         fmt::format("{}: the BMC reports 0 W for a machine that is on; check whether it is the BMC of "
                                     "this node, and its firmware",
                                     PlaceOf(sensors_.resources[sensor.resource], sensor))};
  }
}

std::chrono::milliseconds RedfishSource::MaxFarewell() const {
  constexpr std::chrono::milliseconds kMaxLogin = std::chrono::seconds(5);
  return std::min(options_.timeout, kMaxLogin) + BmcClient::kMaxFarewell;
}

bool RedfishSource::HasChanged() {
  const Nanoseconds period = misses_value_ || !sensors_.complete ? kRepairPeriod : kSearchPeriod;
  return HaveChanged(stamps_) || clock_->Now() - searched_at_ >= period;
}

}  // namespace kepler::energy::platform::redfish
