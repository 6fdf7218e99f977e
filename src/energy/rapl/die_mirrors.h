#pragma once
// Dies that show one counter. intel_rapl makes a package zone for each die, "package-0-die-0" and "package-0-die-1". On
// Cascade Lake-AP each die has a counter of its own, and they must be added. On AMD the energy register belongs to the
// socket and "shared with all cores in socket" (Documentation/hwmon/amd_energy.rst), so that on processors of several
// dies every zone shows all of it (Threadripper 1950X, codecarbon#1274), and only one may count.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "energy/energy_source.h"
#include "energy/rapl/powercap_tree.h"

namespace kepler::energy::rapl {

/// Compares each die with the first die of its package. The first is read, then the die, then the first again: a mirror
/// is outside of the two values around it at most by an update that is late, so a die further away has a counter of its
/// own. One that is within them in two scans between which it moved is a mirror: counters of 15 to 61 µJ a step do not
/// meet twice by chance. What is neither is withheld, so that nothing is counted twice, and caught up should it turn
/// out to be the die's own, back to the die's first reading that was not withheld. While the first die has never been
/// read, the others count. A verdict holds for ever, also across rediscovery; so a mirror does not stand in where the
/// first die goes away. Collection thread only.
class DieMirrors {
 public:
  using ReadAgain = std::function<Answer(size_t index)>;

  /// Which zones there are now.
  void Adopt(std::span<const PowercapZone> zones);
  /// Whether the zone at `index` need not be read.
  [[nodiscard]] bool IsMirror(size_t index) const;
  /// Withholds the readings that repeat, or may repeat, another one's. `again` reads a zone once more; it is not called
  /// once every die is judged.
  void Judge(std::span<DomainReading> readings, const ReadAgain& again);

 private:
  enum class Verdict : uint8_t { kOpen, kSeparate, kMirror };
  struct Die {
    Verdict verdict = Verdict::kOpen;
    std::optional<RawCounter> seen_equal;  // what it showed when it first agreed with the other
    bool first_was_read = false;           // the first die of the package: whether it has ever answered
    bool withheld = false;                 // in the last scan that could read it
  };
  struct Pair {
    size_t first = 0;
    size_t die = 0;
    Die* what = nullptr;
    std::string path;    // of the die, for the log
    uint64_t range = 0;  // of its counter
  };
  /// False while nothing says whether the die may count.
  static bool Compare(const Pair& pair, const Answer& before, const Answer& shown, const ReadAgain& again);

  std::map<std::string, Die> dies_;  // by identity; nodes stay where they are
  std::vector<const Die*> by_zone_;  // null: not a die
  std::vector<Pair> pairs_;
};

}  // namespace kepler::energy::rapl
