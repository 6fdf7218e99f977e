#include "report/command/report_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace kepler::report::command {
namespace {

constexpr size_t kBlock = size_t{256} << 10;
constexpr size_t kMaxLine = size_t{1} << 20;

/// Waits for data in a pipe. Its writer may start later.
Status AwaitWriter(const std::string& path, int pipe, const std::function<void(std::string_view)>& say) {
  constexpr int kPatienceMs = 2000;
  const auto wait = [&](int limit_ms) {
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    int ready = -1;
    do ready = ::poll(&waiting, 1, limit_ms);
    while (ready < 0 && errno == EINTR);
    return ready;
  };
  int ready = wait(kPatienceMs);
  if (ready == 0) {
    say(path + ": the pipe has no data yet; waiting for a program that writes to it");
    ready = wait(-1);
  }
  return ready < 0 ? FailErrno("read", path) : Status();
}

/// Returns kInvalid if an input begins like a compressed file.
Status CheckBegin(const std::string& path, std::string_view begin) {
  struct Compression {
    std::string_view magic;
    std::string_view name;
    std::string_view reader;
  };
  constexpr std::array<Compression, 3> kCompressions = {
      {{"\x1F\x8B", "gzip", "zcat"}, {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"}, {"\xFD\x37zXZ", "xz", "xzcat"}}};
  for (const auto& [magic, name, reader] : kCompressions)
    if (begin.starts_with(magic))
      return Fail(ErrorKind::kInvalid,
                  fmt::format("{}: compressed with {}; use {} FILE | kepler report -", path, name, reader));
  return {};
}

/// Reads the lines of a file one by one.
class LineFile {
 public:
  static Result<LineFile> Open(const std::string& path, const std::function<void(std::string_view)>& say) {
    LineFile file;
    file.path_ = path;
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    file.fd_ = UniqueFd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.fd_.get() < 0) return FailErrno("open", path);
    struct stat info{};
    if (::fstat(file.fd_.get(), &info) != 0) return FailErrno("open", path);
    // Standard input is never opened twice: both descriptors of a file would share one offset.
    file.is_regular_ = path != "-" && S_ISREG(info.st_mode);
    if (path == "-" || file.is_regular_) return file;
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))
      return Fail(ErrorKind::kInvalid, path + ": a device, not a file; use - for standard input");
    if (::fcntl(file.fd_.get(), F_SETFL, 0) != 0) return FailErrno("open", path);
    if (S_ISFIFO(info.st_mode)) KEPLER_CHECK_OK(AwaitWriter(path, file.fd_.get(), say));
    return file;
  }

  /// Returns false at the end of the file, and for a last line without a line end.
  Result<bool> Next() {
    begin_ = next_;
    is_too_long_ = false;
    size_t end = text_.find('\n', begin_);
    while (end == std::string::npos) {
      text_.erase(0, begin_);
      begin_ = next_ = 0;
      const size_t searched = text_.size();
      KEPLER_TRY(const bool has_more, Fill());
      if (!has_more) return false;
      end = text_.find('\n', searched);
      if (end != std::string::npos || text_.size() <= kMaxLine) continue;
      is_too_long_ = true;
      text_.clear();
    }
    next_ = end + 1;
    if (++number_ == 1 && line().starts_with(report::kByteOrderMark)) begin_ += report::kByteOrderMark.size();
    return true;
  }
  /// Parses the current line. The result is valid until the next call with this reader.
  [[nodiscard]] Result<const report::EnergyLine*> Parse(report::LineReader& reader) const {
    if (is_too_long_) return Fail(ErrorKind::kMalformed, fmt::format("the line has more than {} MiB", kMaxLine >> 20));
    return reader.Read(line());
  }
  [[nodiscard]] std::string Place() const { return fmt::format("{}:{}", path_, number_); }
  [[nodiscard]] bool is_regular() const { return is_regular_; }

 private:
  LineFile() = default;

  [[nodiscard]] std::string_view line() const { return std::string_view(text_).substr(begin_, next_ - 1 - begin_); }

  Result<bool> Fill() {
    const size_t size = text_.size();
    ssize_t read = 0;
    text_.resize_and_overwrite(size + kBlock, [&](char* bytes, size_t) {
      read = ::read(fd_.get(), bytes + size, kBlock);
      return size + static_cast<size_t>(std::max<ssize_t>(read, 0));
    });
    if (read < 0) return FailErrno("read", path_);
    if (number_ == 0 && size == 0 && !is_too_long_) KEPLER_CHECK_OK(CheckBegin(path_, text_));
    return read > 0;
  }

  std::string path_;
  UniqueFd fd_;
  bool is_regular_ = false;
  std::string text_;  // bytes that were read
  size_t begin_ = 0;  // of the current line
  size_t next_ = 0;   // begin of the next line
  size_t number_ = 0;
  bool is_too_long_ = false;  // the begin of the current line is not in text_
};

/// A file and the time of its first readable line. Pipes and devices stay open at that line.
struct Input {
  std::string path;
  report::Milliseconds first{};
  std::optional<LineFile> file{};
  bool is_used_up = false;  // a pipe without a readable line
};

/// Opens a file to find its first time. The lines of a regular file are read (and reported, if invalid) later.
Result<Input> Begin(const std::string& path, const std::function<const report::EnergyLine*(const LineFile&)>& read_line,
                    report::LineReader& reader, const std::function<void(std::string_view)>& say) {
  Input input{.path = path};
  KEPLER_TRY(LineFile file, LineFile::Open(path, say));
  while (true) {
    KEPLER_TRY(const bool is_line, file.Next());
    if (!is_line) {
      input.is_used_up = !file.is_regular();
      return input;
    }
    if (const auto line = file.Parse(reader)) {
      input.first = (*line)->time;
      break;
    }
    if (!file.is_regular()) static_cast<void>(read_line(file));
  }
  if (!file.is_regular()) input.file = std::move(file);
  return input;
}

}  // namespace

Result<LinesRead> ReadEnergyLines(std::span<const std::string> paths,
                                  const std::function<void(const report::EnergyLine&)>& take,
                                  const std::function<void(std::string_view)>& refuse,
                                  const std::function<void(std::string_view)>& say) {
  LinesRead read;
  report::LineReader reader;
  const auto read_line = [&](const LineFile& file) -> const report::EnergyLine* {
    const auto line = file.Parse(reader);
    ++read.lines;
    if (line) return *line;
    ++read.refused;
    refuse(fmt::format("{}: {}", file.Place(), line.error().message));
    return nullptr;
  };
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    KEPLER_TRY(inputs.emplace_back(), Begin(path, [&](const LineFile& file) { return read_line(file); }, reader, say));
  }
  std::ranges::sort(inputs, {}, &Input::first);
  for (Input& input : inputs) {
    bool is_at_line = input.file.has_value();
    if (input.is_used_up) continue;
    if (!is_at_line) {
      KEPLER_TRY(input.file, LineFile::Open(input.path, say));
    }
    while (true) {
      if (!is_at_line) {
        KEPLER_TRY(const bool is_line, input.file->Next());
        if (!is_line) break;
      }
      is_at_line = false;
      if (const report::EnergyLine* const line = read_line(*input.file)) take(*line);
    }
    input.file.reset();
  }
  return read;
}

}  // namespace kepler::report::command
