#include "apps/kepler/report_input.h"

#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace kepler::agent {
namespace {

/// The lines of a file, one after the other.
class LineFile {
 public:
  static Result<LineFile> Open(const std::string& path) {
    LineFile file;
    file.path_ = path;
    file.stream_.reset(path == "-" ? stdin : std::fopen(path.c_str(), "re"));
    if (file.stream_ == nullptr) return FailErrno("open", path);
    return file;
  }
  LineFile(LineFile&&) noexcept = default;
  LineFile& operator=(LineFile&&) noexcept = default;
  ~LineFile() = default;

  /// False at the end of the file, and for a last line without its end.
  Result<bool> Next() {
    char* text = buffer_.release();
    const ssize_t size = ::getline(&text, &capacity_, stream_.get());
    buffer_.reset(text);
    if (size < 0 && std::ferror(stream_.get()) != 0) return FailErrno("read", path_);
    if (size <= 0 || text[size - 1] != '\n') return false;
    line_ = std::string_view(text, static_cast<size_t>(size) - 1);
    ++number_;
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::string Place() const { return fmt::format("{}:{}", path_, number_); }

 private:
  LineFile() = default;
  struct Close {
    void operator()(std::FILE* stream) const {
      if (stream != stdin) std::fclose(stream);
    }
  };
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::unique_ptr<char, Free> buffer_;
  size_t capacity_ = 0;
  size_t number_ = 0;
  std::string_view line_;
};

/// A file, at its first line that can be read.
struct Opened {
  LineFile file;
  report::Milliseconds first{};
};

}  // namespace

Result<LinesRead> ReadEnergyLines(std::span<const std::string> paths,
                                  const std::function<void(const report::EnergyLine&)>& take,
                                  const std::function<void(std::string_view)>& refuse) {
  LinesRead read;
  report::LineReader reader;
  const auto read_line = [&](const LineFile& file) -> const report::EnergyLine* {
    const auto line = reader.Read(file.line());
    ++read.lines;
    if (line) return *line;
    ++read.refused;
    refuse(fmt::format("{}: {}", file.Place(), line.error().message));
    return nullptr;
  };
  std::vector<Opened> files;
  for (const std::string& path : paths) {
    KEPLER_TRY(LineFile file, LineFile::Open(path));
    while (true) {
      KEPLER_TRY(const bool is_line, file.Next());
      if (!is_line) break;
      const report::EnergyLine* const line = read_line(file);
      if (line == nullptr) continue;
      files.push_back({std::move(file), line->time});
      break;
    }
  }
  std::ranges::sort(files, {}, &Opened::first);
  for (Opened& opened : files) {
    --read.lines;
    do {
      if (const report::EnergyLine* const line = read_line(opened.file)) take(*line);
      KEPLER_TRY(const bool is_line, opened.file.Next());
      if (!is_line) break;
    } while (true);
  }
  return read;
}

}  // namespace kepler::agent
