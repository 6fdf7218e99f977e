#pragma once
// Rig: what source_behaviour_test.cc needs to know about the machine of a source. For tests only.
#include <memory>
#include <string_view>

#include "energy/energy_source.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::energy {

/// A machine that a source can read, and what may happen to it.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual std::unique_ptr<EnergySource> MakeSource() = 0;
  virtual void Build() = 0;
  /// One second passes in which every domain uses some energy.
  virtual void Work() = 0;
  /// What the source reads disappears; Build() brings it back.
  virtual void Vanish() = 0;
  /// Everything holds `text` instead of a number.
  virtual void Garble(std::string_view text) = 0;
  /// Where it is: in the message of every error.
  [[nodiscard]] virtual std::string Place() const { return tree.root(); }

  testing::FakeTree tree;
  testing::FakeClock clock;
};

}  // namespace kepler::energy
