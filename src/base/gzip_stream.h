#pragma once
// GzipStream: text as gzip, compressed piece by piece with isa-l. Level 1, measured on 19 MB of exposition
// (bench/export_bench.cc): level 0 is as fast, but its output is 40 % larger; level 2 is no smaller; level 3 takes
// three times as long. One thread.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kepler {

class GzipStream {
 public:
  enum class Header : uint8_t { kWritten, kLeftOut };
  enum class Flush : uint8_t { kNone, kFull };  // kFull: later text does not refer to this piece

  explicit GzipStream(Header header);
  ~GzipStream();

  /// Appends to `out`. `plain` has less than 4 GiB.
  void Write(std::string_view plain, Flush flush, std::string& out);
  /// Appends the end of the text to `out`. The next Write() begins another text.
  void End(std::string& out);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace kepler
