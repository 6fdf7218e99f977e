#pragma once
// DeltaTotals: the growth of each counter since the last pass, for delta temporality. The sum of what Grow() returns is
// the total, exactly: energies and times are integers. A counter is known by a keyed 128-bit hash of its name and
// attributes, so 10,000 processes need about 5 MB. One thread.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.h"
#include "export/series/number.h"

namespace kepler::otlp {

class DeltaTotals {
 public:
  struct Growth {
    series::Number value;
    uint64_t start = 0;  // end of the interval before; Unix nanoseconds
  };

  DeltaTotals();

  /// Names the counters that follow. `ends`: such a counter never comes back after a pass without it, so it can be
  /// forgotten.
  void Begin(std::string_view name, bool ends);
  /// `row` and `zone`: encoded attributes. `begin`: time at which the counter was 0, `start` the same in Unix
  /// nanoseconds. Another `begin` is another counter with the same attributes. `time`: of the total. A total below the
  /// last one has no growth until it exceeds that one.
  [[nodiscard]] Growth Grow(std::string_view row, std::string_view zone, const series::Number& total, BootTime begin,
                            uint64_t start, uint64_t time);
  /// Ends a pass over all counters.
  void EndPass();

 private:
  struct Key {
    uint64_t first = 0, second = 0;
    bool operator==(const Key&) const = default;
  };
  struct HashOf {
    using is_avalanching = void;  // the hashes are good already
    size_t operator()(const Key& key) const { return key.first; }
  };
  struct Counter {
    series::Number total;
    BootTime begin;
    uint64_t time = 0;
    uint32_t pass = 0;
    bool ends = false;
  };
  [[nodiscard]] Key KeyOf(std::string_view row, std::string_view zone);

  const uint64_t salt_, other_salt_;
  boost::unordered_flat_map<Key, Counter, HashOf> counters_;
  std::string text_;  // that is hashed
  std::string name_;
  bool ends_ = false;
  uint32_t pass_ = 0;
};

}  // namespace kepler::otlp
