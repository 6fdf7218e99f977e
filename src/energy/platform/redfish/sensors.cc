#include "energy/platform/redfish/sensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace kepler::energy::platform::redfish {
namespace {

constexpr size_t kMaxPages = 8;
constexpr size_t kMaxSensors = 128;

struct Chassis {
  std::string uri;
  std::string id;
  std::string container;  // URI of the chassis that contains it; "" if there is none
  json::Value resource;
};

/// Sensors that together measure a chassis.
struct Candidate {
  std::vector<Resource> resources;
  std::vector<Sensor> sensors;
  Power sum;
  std::string missing{};  // power supplies without a reading; "" if every part of the chassis has one

  [[nodiscard]] bool has_power() const { return sum > Power(); }
  [[nodiscard]] bool complete() const { return missing.empty(); }
  void Miss(std::string_view supply) {
    if (!missing.empty()) missing += ", ";
    missing += supply;
  }
  void Add(Resource resource, Sensor sensor, Power power) {
    sensor.resource = resources.size();
    resources.push_back(std::move(resource));
    sensors.push_back(std::move(sensor));
    sum = sum + power;
  }
};

bool IsAboutBmc(const Error& error) {
  return error.kind == ErrorKind::kTimeout || error.kind == ErrorKind::kUnavailable;
}
bool IsSameUri(std::string_view a, std::string_view b) {
  while (a.ends_with('/')) a.remove_suffix(1);
  while (b.ends_with('/')) b.remove_suffix(1);
  return a == b;
}

/// Two chassis may have the same supplies, which count once.
void Append(const Resource& place, Sensor sensor, Sensors& all) {
  const auto is_same = [&](const Resource& r) { return r.kind == place.kind && IsSameUri(r.uri, place.uri); };
  const auto known = std::ranges::find_if(all.resources, is_same);
  sensor.resource = static_cast<size_t>(known - all.resources.begin());
  const auto is_sensor = [&](const Sensor& s) { return s.resource == sensor.resource && s.id == sensor.id; };
  if (const auto same = std::ranges::find_if(all.sensors, is_sensor); same != all.sensors.end()) {
    same->labels.whole |= sensor.labels.whole;  // the other chassis may be a part of this one
    return;
  }
  if (all.sensors.size() >= kMaxSensors) return;
  if (known == all.resources.end()) all.resources.push_back(place);
  all.sensors.push_back(std::move(sensor));
}

class Finder {
 public:
  Finder(const Search& search, const Fetch& fetch) : search_(search), fetch_(fetch) {}
  Result<Sensors> Run();

 private:
  using Maybe = Result<std::optional<json::Value>>;
  Maybe Get(const std::string& uri);
  Maybe Follow(const json::Value& from, std::string_view link);
  Result<std::vector<std::string>> Members(std::string uri);
  Status ReadChassis();
  Status ChooseChassis();
  Result<Candidate> Best(const Chassis& chassis);
  Result<Candidate> Supplies(const Chassis& chassis);
  Status AddSupply(const Chassis& chassis, const std::string& uri, Candidate& supplies);
  Result<Candidate> Environment(const Chassis& chassis);
  Candidate Controls(const Chassis& chassis, const std::string& uri, const json::Value& power);
  Candidate OldSupplies(const Chassis& chassis, const std::string& uri, const json::Value& power);
  [[nodiscard]] Sensor MakeSensor(const Chassis& chassis, const Reading& reading, std::string_view type) const;
  [[nodiscard]] bool IsContained(const Chassis& chassis) const;
  std::unexpected<Error> FailEmpty() const;

  const Search& search_;
  const Fetch& fetch_;
  std::vector<Chassis> chassis_;
  std::vector<std::pair<std::string, std::string>> containers_;  // URI of every chassis, and of what contains it
  std::vector<std::string> measured_;                            // URIs of the chassis that have sensors
  std::vector<std::string> problems_;                            // why resources have no reading
};

/// Nothing if only this resource cannot be read.
Finder::Maybe Finder::Get(const std::string& uri) {
  auto fetched = fetch_(uri);
  if (fetched) return *std::move(fetched);
  if (IsAboutBmc(fetched.error())) return std::unexpected(std::move(fetched).error());
  problems_.push_back(fetched.error().message);
  return std::nullopt;
}

Finder::Maybe Finder::Follow(const json::Value& from, std::string_view link) {
  const std::string uri = LinkOf(from, link);
  return uri.empty() ? Maybe(std::nullopt) : Get(uri);
}

Result<std::vector<std::string>> Finder::Members(std::string uri) {
  std::vector<std::string> members;
  for (size_t page = 0; page < kMaxPages && !uri.empty(); ++page) {
    KEPLER_TRY(const auto collection, Get(uri));
    if (!collection) break;
    std::ranges::move(MembersOf(*collection), std::back_inserter(members));
    uri = NextOf(*collection);
  }
  return members;
}

Status Finder::ReadChassis() {
  KEPLER_TRY(const json::Value root, fetch_(std::string(kServiceRoot)));
  const std::string collection = LinkOf(root, "Chassis");
  if (collection.empty())
    return Fail(ErrorKind::kMalformed,
                fmt::format("{} has no link to Chassis; the endpoint is probably not a BMC", kServiceRoot));
  KEPLER_TRY(const auto members, Members(collection));
  for (const std::string& uri : members) {
    KEPLER_TRY(auto resource, Get(uri));
    if (!resource) continue;
    Chassis chassis{
        .uri = uri, .id = IdOf(*resource, uri), .container = LinkOf(*resource, "ContainedBy"), .resource = {}};
    containers_.emplace_back(chassis.uri, chassis.container);
    chassis.resource = *std::move(resource);
    chassis_.push_back(std::move(chassis));
  }
  return {};
}

/// Keeps the chassis to read.
Status Finder::ChooseChassis() {
  if (search_.chassis.empty()) {
    const auto is_machine = [](const Chassis& c) { return !IsPartOrRack(TextOf(c.resource, "ChassisType")); };
    if (std::ranges::any_of(chassis_, is_machine)) std::erase_if(chassis_, std::not_fn(is_machine));
    return {};
  }
  for (const std::string& id : search_.chassis) {
    if (std::ranges::find(chassis_, id, &Chassis::id) != chassis_.end()) continue;
    std::vector<std::string_view> known;
    known.reserve(chassis_.size());
    for (const Chassis& chassis : chassis_) known.emplace_back(chassis.id);
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("the BMC {} has no chassis \"{}\" that can be read, only: {}; correct chassis in the BMC file",
                    search_.bmc_id, id, fmt::join(known, ", ")));
  }
  std::erase_if(chassis_, [this](const Chassis& chassis) {
    return std::ranges::find(search_.chassis, chassis.id) == search_.chassis.end();
  });
  return {};
}

Sensor Finder::MakeSensor(const Chassis& chassis, const Reading& reading, std::string_view type) const {
  Sensor sensor{.resource = 0, .id = reading.id, .labels = {}};
  sensor.labels.bmc_id = search_.bmc_id;
  sensor.labels.chassis_id = chassis.id;
  sensor.labels.source_id = reading.id;
  sensor.labels.source_name = reading.name;
  sensor.labels.source_type = type;
  return sensor;
}

Status Finder::AddSupply(const Chassis& chassis, const std::string& uri, Candidate& supplies) {
  KEPLER_TRY(const auto supply, Get(uri));
  if (!supply) {
    supplies.Miss(uri);
    return {};
  }
  if (!IsThere(*supply)) return {};
  KEPLER_TRY(const auto metrics, Follow(*supply, "Metrics"));
  Resource place{LinkOf(*supply, "Metrics"), Kind::kMetrics};
  auto readings = metrics ? ReadingsOf(*metrics, Kind::kMetrics) : std::vector<Reading>();
  if (readings.empty() || !readings[0].power) {
    place = {uri, Kind::kSupply};
    readings = ReadingsOf(*supply, Kind::kSupply);
  }
  if (readings.empty() || !readings[0].power) {
    supplies.Miss(IdOf(*supply, uri));
    return {};
  }
  Sensor sensor = MakeSensor(chassis, readings[0], "PowerSupply");
  sensor.labels.source_id = IdOf(*supply, uri);
  sensor.labels.source_name = TextOf(*supply, "Name");
  supplies.Add(std::move(place), std::move(sensor), *readings[0].power);
  return {};
}

Result<Candidate> Finder::Supplies(const Chassis& chassis) {
  Candidate supplies;
  KEPLER_TRY(const auto subsystem, Follow(chassis.resource, "PowerSubsystem"));
  if (!subsystem) return supplies;
  KEPLER_TRY(const auto members, Members(LinkOf(*subsystem, "PowerSupplies")));
  for (const std::string& uri : members) KEPLER_CHECK_OK(AddSupply(chassis, uri, supplies));
  return supplies;
}

Result<Candidate> Finder::Environment(const Chassis& chassis) {
  Candidate found;
  KEPLER_TRY(const auto metrics, Follow(chassis.resource, "EnvironmentMetrics"));
  if (!metrics) return found;
  for (const Reading& reading : ReadingsOf(*metrics, Kind::kEnvironment)) {
    if (!reading.power) continue;
    Sensor sensor = MakeSensor(chassis, reading, "EnvironmentMetrics");
    sensor.labels.source_id = IdOf(*metrics, "EnvironmentMetrics");
    found.Add({LinkOf(chassis.resource, "EnvironmentMetrics"), Kind::kEnvironment}, std::move(sensor), *reading.power);
  }
  return found;
}

Candidate Finder::Controls(const Chassis& chassis, const std::string& uri, const json::Value& power) {
  Candidate found{.resources = {{uri, Kind::kControls}}, .sensors = {}, .sum = {}};
  const auto readings = ReadingsOf(power, Kind::kControls);
  const auto [whole, doubt] = ChooseControl(readings, SystemsIn(chassis.resource));
  for (size_t i = 0; i < readings.size(); ++i) {
    if (!readings[i].power) {
      problems_.push_back(
          fmt::format("{}: PowerControl {}: {}", uri, readings[i].id, readings[i].power.error().message));
      continue;
    }
    Sensor sensor = MakeSensor(chassis, readings[i], "PowerControl");
    sensor.labels.whole = whole == i;
    sensor.doubt = whole == i || !whole ? doubt : "";
    found.sensors.push_back(std::move(sensor));
  }
  if (whole) found.sum = *readings[*whole].power;
  return found;
}

Candidate Finder::OldSupplies(const Chassis& chassis, const std::string& uri, const json::Value& power) {
  Candidate found{.resources = {{uri, Kind::kOldSupplies}}, .sensors = {}, .sum = {}};
  for (const Reading& reading : ReadingsOf(power, Kind::kOldSupplies)) {
    if (!reading.power) {
      found.Miss(reading.id);
      continue;
    }
    found.sensors.push_back(MakeSensor(chassis, reading, "PowerSupply"));
    found.sum = found.sum + *reading.power;
  }
  return found;
}

/// A reading of 0 W is the last choice: this program runs on the machine.
Result<Candidate> Finder::Best(const Chassis& chassis) {
  KEPLER_TRY(Candidate supplies, Supplies(chassis));
  if (supplies.has_power() && supplies.complete()) return supplies;
  KEPLER_TRY(Candidate environment, Environment(chassis));
  if (environment.has_power()) return environment;
  std::vector<Candidate> rest;
  KEPLER_TRY(const auto power, Follow(chassis.resource, "Power"));
  if (power) rest.push_back(Controls(chassis, LinkOf(chassis.resource, "Power"), *power));
  rest.push_back(std::move(supplies));
  if (power) rest.push_back(OldSupplies(chassis, LinkOf(chassis.resource, "Power"), *power));
  rest.push_back(std::move(environment));
  const auto is_whole = [](const Candidate& c) { return c.has_power() && c.complete(); };
  auto best = std::ranges::find_if(rest, is_whole);
  if (best == rest.end()) best = std::ranges::find_if(rest, &Candidate::has_power);
  if (best == rest.end()) best = std::ranges::find_if(rest, [](const Candidate& c) { return !c.sensors.empty(); });
  return best != rest.end() ? std::move(*best) : Candidate();
}

/// Whether another chassis that has sensors contains `chassis`, directly or not. A chassis between the two may be one
/// that is not read.
bool Finder::IsContained(const Chassis& chassis) const {
  std::string_view container = chassis.container;
  for (size_t depth = 0; depth < containers_.size() && !container.empty(); ++depth) {
    const auto is_container = [&](std::string_view uri) { return IsSameUri(uri, container); };
    if (is_container(chassis.uri)) return false;  // a circle
    if (std::ranges::any_of(measured_, is_container)) return true;
    const auto next = std::ranges::find_if(containers_, is_container, &std::pair<std::string, std::string>::first);
    if (next == containers_.end()) return false;
    container = next->second;
  }
  return false;
}

std::unexpected<Error> Finder::FailEmpty() const {
  constexpr size_t kMaxShown = 3;
  const auto shown = std::span(problems_).first(std::min(problems_.size(), kMaxShown));
  return Fail(ErrorKind::kNotFound, fmt::format("the BMC {} has no power reading in {} chassis{}{}", search_.bmc_id,
                                                chassis_.size(), shown.empty() ? "" : ": ", fmt::join(shown, "; ")));
}

Result<Sensors> Finder::Run() {
  KEPLER_CHECK_OK(ReadChassis());
  KEPLER_CHECK_OK(ChooseChassis());
  std::vector<std::pair<const Chassis*, Candidate>> found;
  for (const Chassis& chassis : chassis_) {
    KEPLER_TRY(Candidate best, Best(chassis));
    if (best.sensors.empty()) continue;
    measured_.push_back(chassis.uri);
    found.emplace_back(&chassis, std::move(best));
  }
  Sensors all;
  for (auto& [chassis, best] : found) {
    const bool contained = IsContained(*chassis);
    all.complete = all.complete && best.complete();
    for (Sensor& sensor : best.sensors) {
      sensor.labels.whole = sensor.labels.whole && !contained && best.complete();
      if (!best.complete())
        sensor.doubt = fmt::format("does not count, because these supplies have no reading: {}", best.missing);
      const Resource& place = best.resources[sensor.resource];
      Append(place, std::move(sensor), all);
    }
  }
  if (all.sensors.empty()) return FailEmpty();
  return all;
}

}  // namespace

Result<Sensors> FindSensors(const Search& search, const Fetch& fetch) { return Finder(search, fetch).Run(); }

}  // namespace kepler::energy::platform::redfish
