#include "export/prometheus/sink.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace kepler::prometheus {

struct GzipSink::Deflate {
  isal_zstream stream{};
  std::vector<uint8_t> level_buffer;
  std::array<uint8_t, 64 * 1024> piece;
  Page page;

  void Run(uint16_t flush);
};

namespace {

// Measured on 19 MB of exposition (bench/export_bench.cc). Level 0 is as fast, but its output is 40 % larger. Level 2
// is no smaller. Level 3 takes three times as long.
constexpr uint32_t kLevel = 1;
constexpr size_t kLevelBuffer = ISAL_DEF_LVL1_DEFAULT;

}  // namespace

GzipSink::GzipSink() : deflate_(std::make_unique<Deflate>()) {
  isal_deflate_init(&deflate_->stream);
  deflate_->level_buffer.resize(kLevelBuffer);
  deflate_->stream.level = kLevel;
  deflate_->stream.level_buf = deflate_->level_buffer.data();
  deflate_->stream.level_buf_size = static_cast<uint32_t>(deflate_->level_buffer.size());
  // A header written by isa-l would be part of the first piece.
  deflate_->stream.gzip_flag = IGZIP_GZIP_NO_HDR;
  deflate_->page.gzip.assign(kGzipHeader, sizeof kGzipHeader);
}

GzipSink::~GzipSink() = default;

void GzipSink::Deflate::Run(uint16_t flush) {
  stream.flush = flush;
  do {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uint32_t>(piece.size());
    // Every error is caused by a wrong argument (level, buffer, flush), which is a bug in this file.
    if (isal_deflate(&stream) != COMP_OK) std::abort();
    page.gzip.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

void GzipSink::Write(std::string_view piece) {
  while (!piece.empty()) {
    const size_t size = std::min<size_t>(piece.size(), std::numeric_limits<uint32_t>::max());
    // isa-l takes a mutable pointer but does not write to the data.
    deflate_->stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
    deflate_->stream.avail_in = static_cast<uint32_t>(size);
    deflate_->Run(FULL_FLUSH);  // later text does not refer to earlier text
    deflate_->page.pieces.push_back({.end = deflate_->page.gzip.size(), .text_bytes = size});
    piece.remove_prefix(size);
  }
}

Page GzipSink::Finish() && {
  deflate_->stream.end_of_stream = 1;
  deflate_->stream.avail_in = 0;
  deflate_->Run(NO_FLUSH);
  return std::move(deflate_->page);
}

namespace {

// Pieces are compressed one by one. At 64 KiB, a page of 10,000 processes is 6 % larger than in one piece; at this size
// 3 %. Each slow client without gzip support keeps one plain piece in memory.
constexpr size_t kPiece = 128 * 1024;

}  // namespace

TextBuffer::TextBuffer(GzipSink& sink) : sink_(sink), buffer_(kPiece) {}

void TextBuffer::Flush() {
  if (used_ != 0) sink_.Write({buffer_.data(), used_});
  used_ = 0;
}

void TextBuffer::MakeRoom(size_t bytes) {
  Flush();
  if (buffer_.size() < bytes) buffer_.resize(bytes);
}

}  // namespace kepler::prometheus
