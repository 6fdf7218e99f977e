// What a powercap directory may hold: names and numbers of any bytes.

#include "base/counter_delta.h"
#include "base/parse.h"
#include "base/text.h"
#include "energy/rapl/powercap_tree.h"
#include "fuzz.h"

void Fuzz(std::string_view text) {
  const auto name = kepler::energy::rapl::ParseZoneName(text);
  if (name.base.size() > 64 || kepler::SanitizeUtf8(name.base, 64) != name.base) std::abort();
  if (name.die && !name.index) std::abort();

  kepler::Splitter lines(text, '\n');
  const auto before = kepler::ParseNumber<uint64_t>(kepler::Trim(lines.Next().value_or("")));
  const auto after = kepler::ParseNumber<uint64_t>(kepler::Trim(lines.Next().value_or("")));
  const auto range = kepler::ParseNumber<uint64_t>(kepler::Trim(lines.Next().value_or("")));
  if (!before || !after) return;
  const auto max = kepler::Energy::Joules(10'000);
  const auto delta = kepler::DeltaBetween(kepler::RawCounter{*before}, {*after}, {range, max});
  if (delta.energy < kepler::Energy() || delta.energy > max || delta.refused < kepler::Energy()) std::abort();
}
