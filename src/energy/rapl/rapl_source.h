#pragma once
// RaplSource: reads the RAPL counters through the first kernel interface that works. All interfaces show the same
// registers under the same zones, keys and paths, so series do not depend on the interface. The agent keeps the
// interface whose counters have moved until it exits.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "energy/energy_source.h"

namespace kepler::energy::rapl {

/// A kernel interface to the counters.
struct RaplInterface {
  std::string_view name;                                // "powercap", "perf", "msr"
  std::function<std::unique_ptr<EnergySource>()> make;  // an unused interface holds no resources
  std::string refusal{};                                // reason why it must not be opened; "": it may be opened
  std::string warning{};                                // logged if it is used; "" for none
};

class RaplSource final : public EnergySource {
 public:
  /// `in_order`: best interface first.
  explicit RaplSource(std::vector<RaplInterface> in_order);

  [[nodiscard]] std::string_view Name() const override { return "rapl"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  [[nodiscard]] std::string_view Interface() const override;
  /// Opens the interfaces in order until one gives a reading. The error has the reason of every interface. Later calls
  /// search the interface in use. Another one replaces it only while its counters have never moved.
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// After a few readings without a step, reads the other interfaces as well. If one of them moves, all readings are
  /// kGone, and the next Discover() changes to it: an unused register reads 0 for ever.
  void Read(std::vector<DomainReading>& out) override;
  void UpdateMaxPower(size_t index, Domain& domain) override;
  [[nodiscard]] bool HasChanged() override;
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  using Counters = std::map<std::string, uint64_t>;  // microjoules by key of the domain
  struct Candidate {
    RaplInterface interface;
    std::unique_ptr<EnergySource> source;  // kept if it cannot be opened, so that it logs its warnings once
    bool is_open = false;
    std::vector<Domain> domains;  // of its last Discover()
    Counters first;               // first reading of each counter
    bool moved = false;
    bool failed = false;  // could not be opened while another interface was in use
  };
  /// Continues a counter where the previous interface left it.
  struct Shift {
    uint64_t from = 0;  // reading of the new interface...
    uint64_t to = 0;    // ...that continues this reading of the previous one
  };
  [[nodiscard]] Status Open(Candidate& candidate);
  [[nodiscard]] Result<std::vector<Domain>> OpenFirst(std::string reasons, std::optional<Error> cause);
  void TryOpen(Candidate& other);
  void Use(size_t index, const std::string& reason);
  [[nodiscard]] std::vector<Domain> Adopt(std::vector<Domain> domains);
  static void Learn(Candidate& candidate, const std::vector<DomainReading>& readings);
  void Watch(std::vector<DomainReading>& out);
  void CloseOthers();
  static void Close(Candidate& candidate);
  [[nodiscard]] static uint64_t Shifted(uint64_t raw, const Shift& shift, const Domain& domain);

  std::vector<Candidate> candidates_;
  std::optional<size_t> current_;               // interface in use
  std::optional<size_t> next_;                  // interface that the next Discover() changes to
  bool settled_ = false;                        // the counters of the interface in use have moved
  int still_reads_ = 0;                         // of the interface in use, without a step
  std::map<std::string, Shift> shifts_;         // by key of the domain
  std::vector<std::optional<Shift>> shift_of_;  // by index in the last Discover()
  std::vector<DomainReading> readings_;         // of another interface
};

}  // namespace kepler::energy::rapl
