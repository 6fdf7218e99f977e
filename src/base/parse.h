#pragma once
// Numbers from text, over std::from_chars: locale-free, whole-input match, no exceptions.
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace kepler {

/// True for an ASCII digit, independent of the locale.
[[nodiscard]] constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Returns the text of a one-line file without its line end (LF or CR LF), which most editors add. Blanks are kept.
[[nodiscard]] constexpr std::string_view WithoutLineEnd(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
  return text;
}

/// Parses the whole of `text` as a number. Returns nothing for an empty text, a sign that is not allowed, trailing
/// bytes, or an overflow. `base`: base of an integer, default 10.
template <class T>
  requires std::integral<T> || std::floating_point<T>
[[nodiscard]] std::optional<T> ParseNumber(std::string_view text, auto... base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Cuts the next field off `rest` at `separator`. The last field is the remainder. Returns nothing at the end.
class Splitter {
 public:
  Splitter(std::string_view text, char separator) : rest_(text), separator_(separator) {}
  [[nodiscard]] std::optional<std::string_view> Next() {
    if (done_) return std::nullopt;
    const auto end = rest_.find(separator_);
    const auto field = rest_.substr(0, end);
    if (end == std::string_view::npos)
      done_ = true;
    else
      rest_.remove_prefix(end + 1);
    return field;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

}  // namespace kepler
