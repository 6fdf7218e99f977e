#include "activity/bpf/libbpf_log.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace kepler::activity::bpf {
namespace {

thread_local std::string* said = nullptr;

int Append(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG || said == nullptr || said->size() > (size_t{64} << 10)) return 0;
  std::array<char, 512> line;
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (length > 0) said->append(line.data(), std::min(static_cast<size_t>(length), line.size() - 1));
  return length;
}

}  // namespace

LibbpfLog::LibbpfLog() : before_(::libbpf_set_print(Append)) { said = &text_; }

LibbpfLog::~LibbpfLog() {
  said = nullptr;
  ::libbpf_set_print(before_);
}

/// libbpf's message is "prog 'NAME': failed to load" or "prog 'NAME': BPF program load failed".
std::string LibbpfLog::Refused() const {
  constexpr std::string_view kOpen = "prog '";
  const std::string_view text = text_;
  for (size_t at = text.find(kOpen); at != std::string_view::npos; at = text.find(kOpen, at + 1)) {
    const std::string_view rest = text.substr(at + kOpen.size());
    const size_t close = rest.find('\'');
    if (close == std::string_view::npos) break;
    const std::string_view what = rest.substr(close);
    if (what.starts_with("': failed to load") || what.starts_with("': BPF program load "))
      return std::string(rest.substr(0, close));
  }
  return {};
}

}  // namespace kepler::activity::bpf
