#include "export/otlp/request_builder.h"

#include <utility>

namespace kepler::otlp {

RequestBuilder::RequestBuilder(Compression compression, std::function<void(push::Request)> take)
    : take_(std::move(take)) {
  if (compression == Compression::kGzip) gzip_.emplace(GzipStream::Header::kWritten);
}

void RequestBuilder::Add(std::string_view head, std::string_view rest, uint64_t points) {
  if (plain_bytes_ != 0 && plain_bytes_ + head.size() + rest.size() > kMaxBytes) End();
  Write(head);
  Write(rest);
  points_ += points;
}

void RequestBuilder::Write(std::string_view piece) {
  plain_bytes_ += piece.size();
  if (gzip_)
    gzip_->Write(piece, GzipStream::Flush::kNone, body_);
  else
    body_ += piece;
}

void RequestBuilder::End() {
  if (plain_bytes_ == 0) return;
  if (gzip_) gzip_->End(body_);
  body_.shrink_to_fit();  // it may wait in the queue
  take_({.body = std::make_shared<const std::string>(std::exchange(body_, {})), .points = points_});
  plain_bytes_ = 0;
  points_ = 0;
}

}  // namespace kepler::otlp
