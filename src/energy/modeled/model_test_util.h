#pragma once
// A machine of two Zen 3 processors whose energy is estimated.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "energy/meter.h"
#include "energy/modeled/model_source.h"
#include "model/default_model.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy::modeled {

/// A line through a machine's power; chosen whatever machine it is of.
inline model::KnownModel Line(std::string name, std::string feature,
                              std::vector<std::pair<model::Component, model::Linear>> parts) {
  model::KnownModel known{.model = {.name = std::move(name),
                                    .features = {std::move(feature)},
                                    .domain = {{0, 1000}},
                                    .components = {},
                                    .machine = {}},
                          .source = std::string("/etc/kepler/model.json"),
                          .chosen = true};
  for (auto& [part, line] : parts)
    known.model.components.push_back({.component = part,
                                      .trainer = "linear",
                                      .predictor = {.limits = {}, .scale = {}, .formula = std::move(line)},
                                      .label = {0, 500},
                                      .accuracy = {}});
  return known;
}

class ModelledMachine : public ::testing::Test {
 protected:
  ModelledMachine() { Stat(0, 0, 2); }
  void Stat(int busy, int idle, int cpus) {
    std::string text = fmt::format("cpu  {} 0 0 {} 0 0 0 12345 0 0\n", busy, idle);
    for (int i = 0; i < cpus; ++i) text += fmt::format("cpu{} 0 0 0 0\n", i);
    tree_.Write("stat", text + "softirq 9 1 1 0 0 0 0\n");
    tree_.Write("vmstat", "pgfault 9\n");
    tree_.Write("meminfo", "MemTotal: 9 kB\nMemAvailable: 4 kB\n");
  }
  void Open(status::Domain measures = status::Domain::kPlatform) {
    auto source = std::make_unique<ModelSource>(options_, measures, clock_);
    source_ = source.get();
    meter_ = std::make_unique<Meter>(std::move(source), clock_);
    ASSERT_TRUE(meter_->Open());
    meter_->Sample();
  }
  void SampleAfter(Nanoseconds time) {
    clock_.Advance(time);
    meter_->Sample();
  }
  const ZoneDelta& Zone(std::string_view name) const {
    size_t z = 0;
    while (z < meter_->zones().size() && meter_->zones()[z].name != name) ++z;
    EXPECT_LT(z, meter_->zones().size()) << name;
    return meter_->deltas()[z];
  }
  double Joules(std::string_view zone) const { return Zone(zone).energy.ToJoules(); }
  double PlatformAfter(Nanoseconds time) {
    SampleAfter(time);
    return Joules("platform");
  }
  void Set(std::vector<model::KnownModel> models) {
    model::ModelSet set;
    for (auto& known : models) set.push_back(std::make_shared<const model::KnownModel>(std::move(known)));
    board_->Set(std::make_shared<const model::ModelSet>(std::move(set)));
  }
  /// The shipped model of this machine with `cpus` CPUs.
  static model::PowerModel Shipped(uint32_t cpus = 2) {
    return model::DefaultModel({.cores = cpus, .cpuid = {.vendor = "AuthenticAMD", .family = 25, .model = 1}});
  }
  static double Wall(double busy_cpus, uint32_t cpus = 2) {
    return model::EstimateRow(Shipped(cpus), std::array{busy_cpus * 1000}, cpus).watts[4];
  }
  std::vector<std::string> Zones() const {
    std::vector<std::string> names;
    for (const auto& zone : meter_->zones()) names.push_back(zone.name);
    return names;
  }

  testing::FakeTree tree_;
  testing::FakeClock clock_;
  std::shared_ptr<model::ModelBoard> board_ = std::make_shared<model::ModelBoard>();
  std::shared_ptr<NodeEvents> events_ = std::make_shared<NodeEvents>();
  ModelSourceOptions options_{.proc_stat = std::make_shared<os::ProcStatReader>(tree_.root(), clock_),
                              .events = events_,
                              .models = board_,
                              .machine = {.cpuid = {.vendor = "AuthenticAMD", .family = 25, .model = 1}}};
  std::unique_ptr<Meter> meter_;
  ModelSource* source_ = nullptr;
};

}  // namespace kepler::energy::modeled
