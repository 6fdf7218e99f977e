#pragma once
// Encoder: each new snapshot as OTLP requests, for push::Pusher. One thread:
// the pusher's.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "export/otlp/metrics_writer.h"
#include "export/push/pusher.h"
#include "status/push_status.h"

namespace kepler::otlp {

struct Reading {
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // null: no snapshot yet
  bool stale = false;                                  // too old for its watts to be valid
  std::vector<status::PushStatus> pushes{};
};

struct EncoderOptions {
  Resource resource{};
  series::Selection selection{};
  Compression compression = Compression::kGzip;
};

class Encoder {
 public:
  /// `read` is called for each push.
  Encoder(EncoderOptions options, std::function<Reading()> read);

  /// Passes the requests of the latest snapshot. None if it was passed before:
  /// a server may refuse a second data point of one time.
  void Encode(const std::function<void(push::Request)>& take);

 private:
  const EncoderOptions options_;
  const std::function<Reading()> read_;
  MetricsWriter writer_;
  uint64_t last_sequence_ = 0;
};

}  // namespace kepler::otlp
