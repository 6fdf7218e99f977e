#pragma once
// A machine with a power PMU: the sysfs files of the kernel, and a double of perf_event_open(2). A counter is a file
// with a number. An open event counts from 0, follows its CPU's counter, and stops when its CPU goes offline.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "energy/rapl/perf_event.h"
#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::energy::rapl {

inline constexpr uint64_t kPerfJoule = uint64_t{1} << 32;  // counts

class PerfMachine {
 public:
  explicit PerfMachine(testing::FakeTree& tree) : tree_(tree) {}

  /// Writes the PMU with its usual events, each as "pkg" or "cores".
  void Pmu(const std::string& cpumask, const std::map<std::string, int>& events) {
    tree_.Write(kPmu + "type", "24\n");
    Cpumask(cpumask);
    for (const auto& [name, config] : events) {
      const std::string event = kPmu + "events/energy-" + name;
      tree_.Write(event, "event=0x0" + std::to_string(config) + "\n");
      tree_.Write(event + ".scale", "2.3283064365386962890625e-10\n");
      tree_.Write(event + ".unit", "Joules\n");
    }
  }
  void Cpumask(const std::string& list) { tree_.Write(kPmu + "cpumask", list + "\n"); }
  void Cpu(uint32_t cpu, uint32_t package, uint32_t die = 0) {
    const std::string topology = "devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    tree_.Write(topology + "physical_package_id", std::to_string(package) + "\n");
    tree_.Write(topology + "die_id", std::to_string(die) + "\n");
  }
  void Online(const std::string& list) { tree_.Write("devices/system/cpu/online", list + "\n"); }
  [[nodiscard]] static std::string File(uint32_t cpu, uint64_t config) {
    return "perf/cpu" + std::to_string(cpu) + "/" + std::to_string(config);
  }
  void Count(uint32_t cpu, uint64_t config, uint64_t value) {
    tree_.Write(File(cpu, config), std::to_string(value) + "\n");
  }
  /// The CPU goes offline and comes back.
  void EndEvents(uint32_t cpu) { ++ends_[cpu]; }
  /// Events that are open answer ENODEV from now on.
  void Reload() { ++driver_; }
  /// Events cannot be opened until this is cleared.
  std::optional<Error> refusal;

  [[nodiscard]] PerfOpener opener() {
    return [this](const PerfEvent& event, uint32_t cpu) -> Result<std::unique_ptr<PerfCounter>> {
      if (refusal) return std::unexpected(*refusal);
      if (event.type != 24) return Fail(ErrorKind::kNotFound, "open perf event: no such PMU");
      auto counter = std::make_unique<Counter>(*this, cpu, tree_.Path(File(cpu, event.config)));
      KEPLER_CHECK_OK(counter->Start());
      return counter;
    };
  }

  inline static const std::string kPmu = "bus/event_source/devices/power/";

 private:
  class Counter final : public PerfCounter {
   public:
    Counter(PerfMachine& machine, uint32_t cpu, std::string path)
        : machine_(machine), cpu_(cpu), path_(std::move(path)), ends_(machine.ends_[cpu]), driver_(machine.driver_) {}
    Status Start() {
      KEPLER_TRY(begin_, os::ReadNumber<uint64_t>(path_, buffer_));
      return {};
    }
    [[nodiscard]] Result<uint64_t> Read() override {
      if (machine_.driver_ != driver_) return Fail(ErrorKind::kGone, "read perf event: No such device");
      if (machine_.ends_[cpu_] != ends_) return count_;
      KEPLER_TRY(const uint64_t now, os::ReadNumber<uint64_t>(path_, buffer_));
      count_ = now - begin_;
      return count_;
    }

   private:
    PerfMachine& machine_;
    uint32_t cpu_;
    std::string path_;
    int ends_;
    int driver_;
    uint64_t begin_ = 0;
    uint64_t count_ = 0;
    os::ReadBuffer buffer_;
  };

  testing::FakeTree& tree_;
  std::map<uint32_t, int> ends_;
  int driver_ = 0;
};

}  // namespace kepler::energy::rapl
