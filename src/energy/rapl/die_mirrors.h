#pragma once
// DieMirrors: detects dies that show the same counter. intel_rapl creates a package zone for each die,
// "package-0-die-0" and "package-0-die-1". On Cascade Lake-AP each die has its own counter, and the counters must be
// added. On AMD the energy register belongs to the socket ("shared with all cores in socket",
// Documentation/hwmon/amd_energy.rst). With several dies, each zone then shows the energy of the whole socket
// (Threadripper 1950X, codecarbon#1274), and only one zone may count.
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

/// Compares each die with the first die of its package. Reads the first die, then the other die, then the first die
/// again. The value of a mirror is between the two values of the first die, except for a delayed update. A die with a
/// larger distance is separate. A die between the two values in two scans, with different values, is a mirror: counters
/// with steps of 15 to 61 µJ do not agree twice by chance. Until the verdict, readings of the die are withheld, so that
/// no energy is counted twice. If the die is separate, the withheld energy is counted later, from its first reading
/// that was not withheld. Before the first die was read, the other dies count. A verdict is final, also after
/// rediscovery. A mirror therefore does not replace a first die that is removed. Collection thread only.
class DieMirrors {
 public:
  using ReadAgain = std::function<Answer(size_t index)>;

  /// Sets the current zones.
  void Adopt(std::span<const PowercapZone> zones);
  /// Returns true if the zone at `index` is a mirror, which need not be read.
  [[nodiscard]] bool IsMirror(size_t index) const;
  /// Withholds the readings of mirrors and of dies without a verdict. `again` reads a zone once more. It is not called
  /// after all dies have a verdict.
  void Judge(std::span<DomainReading> readings, const ReadAgain& again);

 private:
  enum class Verdict : uint8_t { kOpen, kSeparate, kMirror };
  struct Die {
    Verdict verdict = Verdict::kOpen;
    std::optional<RawCounter> seen_equal;  // value at the first agreement with the first die
    bool first_was_read = false;           // the first die of the package has given a reading
    bool withheld = false;                 // in the latest scan that could read the die
  };
  struct Pair {
    size_t first = 0;
    size_t die = 0;
    Die* what = nullptr;
    std::string path;    // of the die, for the log
    uint64_t range = 0;  // of its counter
  };
  /// Returns true if the die may count, or has a verdict now.
  static bool Compare(const Pair& pair, const Answer& before, const Answer& shown, const ReadAgain& again);

  std::map<std::string, Die> dies_;  // by identity; nodes stay where they are
  std::vector<const Die*> by_zone_;  // null: not a die
  std::vector<Pair> pairs_;
};

}  // namespace kepler::energy::rapl
