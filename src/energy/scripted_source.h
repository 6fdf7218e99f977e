#pragma once
// For tests of what stands above the sources: sources whose answers the test writes down.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "energy/estimate_source.h"

namespace kepler::energy {

/// What the test changes while the Meter, which owns the source, reads it. Must outlive the source.
struct Script {
  std::string name = "scripted";
  Authority authority = Authority::kMeasured;  // of a ScriptedSource
  status::Domain domain = status::Domain::kCpu;
  std::vector<Domain> domains;  // what Discover() finds
  std::optional<Error> discover_error;
  std::vector<Answer> values;             // by index into `domains` at the last Discover()
  std::optional<Energy> counter;          // of all readings
  std::vector<std::optional<Power>> max;  // by the same index: what is possible by now; empty: as discovered
  std::set<std::string> offline;          // keys of domains that are switched off
  bool only_load = false;                 // of all readings, and of a ScriptedEstimate
  status::EstimateStatus estimate;        // of a ScriptedEstimate
  MeasuredParts measured;                 // what UseAtLeast() was told last
  Nanoseconds age{0};                     // of a reading when it is given
  int discoveries = 0;

  size_t Add(Domain found, Answer value) {
    domains.push_back(std::move(found));
    values.push_back(std::move(value));
    return domains.size() - 1;
  }
};

template <class Interface>
class Scripted : public Interface {
 public:
  Scripted(Script& script, const Clock& clock) : script_(script), clock_(clock) {}
  [[nodiscard]] std::string_view Name() const override { return script_.name; }
  [[nodiscard]] status::Domain domain() const override { return script_.domain; }
  [[nodiscard]] Result<std::vector<Domain>> Discover() override {
    ++script_.discoveries;
    if (script_.discover_error) return std::unexpected(*script_.discover_error);
    found_ = Keys();
    return script_.domains;
  }
  [[nodiscard]] bool HasChanged() override { return Keys() != found_; }
  [[nodiscard]] bool IsOffline(const Domain& domain) override { return script_.offline.contains(domain.key); }
  void Read(std::vector<DomainReading>& out) override {
    out.clear();
    for (const auto& value : script_.values) {
      out.push_back({clock_.Now() - script_.age, value, script_.only_load});
      out.back().counter = script_.counter;
    }
  }
  void UpdateMaxPower(size_t index, Domain& domain) override {
    if (index < script_.max.size()) domain.max_power = script_.max[index];
  }

 protected:
  Script& script_;

 private:
  [[nodiscard]] std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    keys.reserve(script_.domains.size());
    for (const Domain& domain : script_.domains) keys.push_back(domain.key);
    return keys;
  }

  const Clock& clock_;
  std::vector<std::string> found_;  // the keys at the last Discover()
};

class ScriptedSource final : public Scripted<EnergySource> {
 public:
  using Scripted::Scripted;
  [[nodiscard]] Authority authority() const override { return script_.authority; }
};

class ScriptedEstimate final : public Scripted<EstimateSource> {
 public:
  using Scripted::Scripted;
  [[nodiscard]] bool only_load() const override { return script_.only_load; }
  [[nodiscard]] const status::EstimateStatus& estimate() const override { return script_.estimate; }
  void UseAtLeast(const MeasuredParts& parts) override { script_.measured = parts; }
};

}  // namespace kepler::energy
