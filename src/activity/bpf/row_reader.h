#pragma once
// RowReader: reads the output of a BPF iterator as rows of one fixed size. read(2) returns at most 32 KiB at a time and
// may stop anywhere. A partial row is carried over to the next read.
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/result.h"

namespace kepler::activity::bpf {

class RowReader {
 public:
  RowReader() : buffer_(std::make_unique_for_overwrite<std::byte[]>(kBytes)) {}

  /// Reads `fd` to its end and calls `visit(const Row&)` for each row. The row is in the buffer. Errors: as FailErrno;
  /// kMalformed if the end comes within a row. Rows visited before an error are valid.
  template <class Row, class Visit>
  Status Read(int fd, Visit&& visit) {
    static_assert(std::is_trivially_copyable_v<Row> && sizeof(Row) <= kBytes && alignof(Row) <= alignof(uint64_t));
    size_t held = 0;
    for (;;) {
      KEPLER_TRY(const size_t fresh, Fill(fd, held));
      if (fresh == 0) break;
      held += fresh;
      size_t at = 0;
      for (; held - at >= sizeof(Row); at += sizeof(Row)) visit(*reinterpret_cast<const Row*>(buffer_.get() + at));
      held -= at;
      std::memmove(buffer_.get(), buffer_.get() + at, held);
    }
    if (held != 0) return Fail(ErrorKind::kMalformed, "read BPF iterator: the last row is truncated");
    return {};
  }

 private:
  static constexpr size_t kBytes = size_t{64} << 10;
  /// Calls read(2) once, behind the first `held` bytes. Returns 0 at the end.
  Result<size_t> Fill(int fd, size_t held) {
    for (;;) {
      const ssize_t got = ::read(fd, buffer_.get() + held, kBytes - held);
      if (got >= 0) return static_cast<size_t>(got);
      // EAGAIN: the kernel passed a million tasks without a row and interrupted the read (bpf_seq_read, Linux 5.8).
      if (errno != EINTR && errno != EAGAIN) return FailErrno("read", "BPF iterator");
    }
  }

  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace kepler::activity::bpf
