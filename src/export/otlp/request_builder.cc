#include "export/otlp/request_builder.h"

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace kepler::otlp {

struct RequestBuilder::Deflate {
  isal_zstream stream{};
  std::vector<uint8_t> level_buffer = std::vector<uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::array<uint8_t, 32 * 1024> piece;

  /// Level 1, as for /metrics (export/prometheus/sink.cc).
  void Begin() {
    isal_deflate_init(&stream);
    stream.level = 1;
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
    stream.gzip_flag = IGZIP_GZIP;
  }
  void Run(std::string_view plain, std::string& out) {
    // isa-l takes a mutable pointer but does not write to the data.
    stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uint32_t>(plain.size());
    do {
      stream.next_out = piece.data();
      stream.avail_out = static_cast<uint32_t>(piece.size());
      // Every error is caused by a wrong argument (level, buffer), which is a
      // bug in this file.
      if (isal_deflate(&stream) != COMP_OK) std::abort();
      out.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

RequestBuilder::RequestBuilder(Compression compression, std::function<void(push::Request)> take)
    : take_(std::move(take)), deflate_(compression == Compression::kGzip ? std::make_unique<Deflate>() : nullptr) {
  if (deflate_) deflate_->Begin();
}

RequestBuilder::~RequestBuilder() = default;

void RequestBuilder::Add(std::string_view head, std::string_view rest, uint64_t points) {
  if (plain_bytes_ != 0 && plain_bytes_ + head.size() + rest.size() > kMaxBytes) End();
  Write(head);
  Write(rest);
  points_ += points;
}

void RequestBuilder::Write(std::string_view piece) {
  plain_bytes_ += piece.size();
  if (deflate_)
    deflate_->Run(piece, body_);
  else
    body_ += piece;
}

void RequestBuilder::End() {
  if (plain_bytes_ == 0) return;
  if (deflate_) {
    deflate_->stream.end_of_stream = 1;
    deflate_->Run({}, body_);
    deflate_->Begin();
  }
  body_.shrink_to_fit();  // it may wait in the queue
  take_({.body = std::make_shared<const std::string>(std::exchange(body_, {})), .points = points_});
  plain_bytes_ = 0;
  points_ = 0;
}

}  // namespace kepler::otlp
