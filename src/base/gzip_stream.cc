#include "base/gzip_stream.h"

#include <array>
#include <cstdlib>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "base/avx.h"

namespace kepler {

struct GzipStream::State {
  uint16_t header;
  isal_zstream stream{};
  std::vector<uint8_t> level_buffer = std::vector<uint8_t>(ISAL_DEF_LVL1_DEFAULT);
  std::array<uint8_t, 64 * 1024> piece;

  void Begin() {
    isal_deflate_init(&stream);
    stream.level = 1;
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
    stream.gzip_flag = header;
  }
  void Run(std::string_view plain, uint16_t flush, std::string& out) {
    // isa-l takes a mutable pointer but does not write to the data.
    stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uint32_t>(plain.size());
    stream.flush = flush;
    do {
      stream.next_out = piece.data();
      stream.avail_out = static_cast<uint32_t>(piece.size());
      // Every error is caused by a wrong argument (level, buffer, flush), which is a bug in this file.
      if (ClearAvxAfter(isal_deflate(&stream)) != COMP_OK) std::abort();
      out.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

GzipStream::GzipStream(Header header) : state_(std::make_unique<State>()) {
  state_->header = header == Header::kWritten ? IGZIP_GZIP : IGZIP_GZIP_NO_HDR;
  state_->Begin();
}

GzipStream::~GzipStream() = default;

void GzipStream::Write(std::string_view plain, Flush flush, std::string& out) {
  state_->Run(plain, flush == Flush::kFull ? FULL_FLUSH : NO_FLUSH, out);
}

void GzipStream::End(std::string& out) {
  state_->stream.end_of_stream = 1;
  state_->Run({}, NO_FLUSH, out);
  state_->Begin();
}

}  // namespace kepler
