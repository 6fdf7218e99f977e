#pragma once
// WriteMessage: the protobuf of one request of remote write. Version 1.0 is prometheus.WriteRequest
// (prompb/remote.proto and types.proto of github.com/prometheus/prometheus), 2.0 is io.prometheus.write.v2.Request
// (prompb/io/prometheus/write/v2/types.proto, Prometheus 3.16). One thread.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "export/series/family.h"

namespace kepler::remote_write {

enum class Version : uint8_t { k1 = 1, k2 = 2 };

struct Label {
  std::string_view name;
  std::string_view value;  // UTF-8, not empty
};

struct Sample {
  double value = 0;
  int64_t time = 0;   // in Unix milliseconds, as `start`
  int64_t start = 0;  // time at which a counter was 0; 0: unknown
};

class WriteMessage {
 public:
  virtual ~WriteMessage() = default;
  /// Begins the rows of a family in this message.
  virtual void BeginFamily(const series::Family& family) = 0;
  /// Begins a row, which is one series, or one per zone. `labels`: sorted by name, with __name__ and without the zone.
  virtual void BeginRow(std::span<const Label> labels) = 0;
  /// Adds a series of the row with one sample. `zone`: value of its last label; "": it has no further label.
  virtual void Add(std::string_view zone, const Sample& sample) = 0;
  /// Bytes so far.
  [[nodiscard]] virtual size_t size() const = 0;
  /// Returns the message, which is valid until the next call. Only Clear() may follow.
  [[nodiscard]] virtual std::string_view Finish() = 0;
  /// Begins an empty message in the same memory. BeginFamily() and BeginRow() must follow.
  virtual void Clear() = 0;
};

[[nodiscard]] std::unique_ptr<WriteMessage> MakeWriteMessage(Version version);

}  // namespace kepler::remote_write
