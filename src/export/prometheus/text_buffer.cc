#include "export/prometheus/text_buffer.h"

namespace kepler::prometheus {
namespace {

constexpr size_t kPiece = 64 * 1024;

}  // namespace

TextBuffer::TextBuffer(Sink& sink) : sink_(sink), buffer_(kPiece) {}

void TextBuffer::Flush() {
  if (used_ != 0) sink_.Write({buffer_.data(), used_});
  used_ = 0;
}

void TextBuffer::MakeRoom(size_t bytes) {
  Flush();
  if (buffer_.size() < bytes) buffer_.resize(bytes);
}

}  // namespace kepler::prometheus
