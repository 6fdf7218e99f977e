#pragma once
// Encoder: each new snapshot as OTLP requests, for push::Pusher. One thread:
// the pusher's.
#include <cstdint>
#include <functional>

#include "export/otlp/metrics_writer.h"
#include "export/push/pusher.h"
#include "export/series/reading.h"

namespace kepler::otlp {

struct EncoderOptions {
  Resource resource{};
  series::Selection selection{};
  Compression compression = Compression::kGzip;
  Temporality temporality = Temporality::kCumulative;
};

class Encoder {
 public:
  /// `read` is called for each push.
  Encoder(EncoderOptions options, std::function<series::Reading()> read);

  /// Passes the requests of the latest snapshot. None if it was passed before:
  /// a server may refuse a second data point of one time.
  void Encode(const std::function<void(push::Request)>& take);

 private:
  const EncoderOptions options_;
  const std::function<series::Reading()> read_;
  MetricsWriter writer_;
  uint64_t last_sequence_ = 0;
};

}  // namespace kepler::otlp
