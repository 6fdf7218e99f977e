#include "apps/kepler/report_file.h"

#include <cerrno>

namespace kepler::agent {

Status WriteReport(const std::string& path, std::FILE* stream, const std::string& text) {
  std::FILE* const file = path.empty() ? stream : std::fopen(path.c_str(), "we");
  if (file == nullptr) return FailErrno("open", path);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int why = errno;
  if (file != stream) std::fclose(file);
  return is_written ? Status() : FailErrno("write", path.empty() ? "the report" : path, why);
}

}  // namespace kepler::agent
