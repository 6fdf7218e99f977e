#include "activity/bpf/row_reader.h"

#include <unistd.h>

#include <cerrno>

namespace kepler::activity::bpf {

Result<size_t> RowReader::Fill(int fd, size_t held) {
  for (;;) {
    const ssize_t got = ::read(fd, buffer_.get() + held, kBytes - held);
    if (got >= 0) return static_cast<size_t>(got);
    // EAGAIN: the kernel passed a million tasks that wrote no row and takes a breath (bpf_seq_read, Linux 5.8).
    if (errno != EINTR && errno != EAGAIN) return FailErrno("read", "BPF iterator");
  }
}

}  // namespace kepler::activity::bpf
