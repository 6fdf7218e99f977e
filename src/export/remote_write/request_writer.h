#pragma once
// RequestWriter: each new snapshot as requests of remote write, compressed with the block format of snappy, for
// push::Pusher. Names, labels and values are those of /metrics; `instance` and `job`, which a scrape adds, are added
// here. The buffers are kept, so the steady state allocates per request, not per series. One thread: the pusher's.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "export/push/delivery.h"
#include "export/remote_write/write_message.h"
#include "export/series/reading.h"
#include "export/series/visit.h"

namespace kepler::remote_write {

struct WriterOptions {
  Version version = Version::k1;
  series::Selection selection{};
  // Values of labels. An empty one leaves the label out.
  std::string node_name{};
  std::string job{};
  std::string instance{};
};

class RequestWriter final : private series::Visitor {
 public:
  static constexpr size_t kMaxSeries = 2000;            // of a request, plus the zones of a row
  static constexpr size_t kMaxBytes = size_t{1} << 20;  // of a request before compression, plus one row

  /// `read` is called for each push.
  RequestWriter(WriterOptions options, std::function<series::Reading()> read);

  /// Passes the requests of the latest snapshot. None if it was passed before: a server may refuse a second sample of
  /// one time. A series of the last push that is missing in this one gets a stale marker; a server would otherwise show
  /// its last sample for five minutes.
  void Encode(const std::function<void(push::Request)>& take);

 private:
  void Begin(const series::Family& family) override;
  [[nodiscard]] bool Wants(size_t /*samples*/) override { return is_sent_; }
  void Add(const series::Labels& labels, const series::Number& value, BootTime begin) override;
  void AddZones(const series::Labels& labels, std::span<const series::ZoneLabel> zones, const series::Cells& cells,
                BootTime begin) override;
  [[nodiscard]] std::string_view NameOf(std::string_view label) const;
  void MakeRow(const series::Labels& labels);
  void OpenRow();
  void AddSample(std::string_view zone, double value, BootTime begin);
  void Flush();
  [[nodiscard]] int64_t StartOf(BootTime begin) const;
  [[nodiscard]] std::string_view Valid(std::string_view value);
  void Keep(const series::Reading& reading);

  const WriterOptions options_;
  const std::function<series::Reading()> read_;
  const std::unique_ptr<WriteMessage> message_;
  // The last push. The snapshot is a copy: ticks reuse snapshots that no reader has.
  series::Reading last_;
  std::shared_ptr<snapshot::Snapshot> last_snapshot_;  // that of last_; null: there was no push
  // The current push.
  const snapshot::Snapshot* snapshot_ = nullptr;
  const std::function<void(push::Request)>* take_ = nullptr;
  int64_t time_ = 0;                          // of all samples, in Unix milliseconds
  size_t series_ = 0;                         // in the message
  std::string compressed_;                    // reused
  boost::unordered_flat_set<uint64_t> keys_;  // hashes of the labels of all its series
  uint64_t sum_of_keys_ = 0;                  // that of the last push is the same if no series came or ended
  bool is_ending_ = false;                    // the visited series are those of the last push
  // The current family.
  const series::Family* family_ = nullptr;
  bool is_sent_ = false;
  bool is_family_open_ = false;   // in the message
  std::vector<Label> template_;   // labels of its series, sorted; values of the constant ones
  std::vector<size_t> value_at_;  // index in template_ of each label that has a value
  uint64_t family_key_ = 0;       // hash of `template_`
  // The current row.
  std::vector<Label> row_;
  uint64_t row_key_ = 0;              // hash of family and labels
  bool is_row_open_ = false;          // in the message
  std::deque<std::string> repaired_;  // values in `row_` that were not UTF-8
};

}  // namespace kepler::remote_write
