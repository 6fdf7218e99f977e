#pragma once
// A fast reader for JSON objects of the most frequent form. All others are for Stream. Pure.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/parse.h"

namespace kepler::json {

namespace internal {

/// Reads tokens. An empty result or false: the text has another form.
class PlainTokens {
 public:
  PlainTokens(std::string_view text, size_t max_text) : rest_(text), max_text_(max_text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  bool Take(char expected) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A text of ASCII without escapes, after its first quote.
  bool TakeText(std::string_view& text) {
    const size_t size = PlainSize();
    if (size > max_text_ || size == rest_.size() || rest_[size] != '"') return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return true;
  }
  /// Digits, also with a decimal point. What follows them is not checked.
  bool TakeNumber(std::string_view& number) {
    constexpr size_t kMaxNumber = 30;  // characters; no overflow
    size_t size = rest_.starts_with('0') ? 1 : Digits(0);
    if (size == 0) return false;
    if (size < rest_.size() && rest_[size] == '.') {
      const size_t decimals = Digits(size + 1);
      if (decimals == 0) return false;
      size += 1 + decimals;
    }
    if (size > kMaxNumber) return false;
    number = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

 private:
  [[nodiscard]] size_t Digits(size_t begin) const {
    size_t end = begin;
    while (end < rest_.size() && IsDigit(rest_[end])) ++end;
    return end - begin;
  }
  /// Number of bytes before a quote, backslash, control character or byte above 127.
  [[nodiscard]] size_t PlainSize() const {
    size_t size = 0;
    if constexpr (std::endian::native == std::endian::little) {
      for (; size + sizeof(uint64_t) <= rest_.size(); size += sizeof(uint64_t)) {
        uint64_t bytes = 0;
        std::memcpy(&bytes, rest_.data() + size, sizeof bytes);
        if (const uint64_t marks = Marks(bytes); marks != 0)
          return size + static_cast<size_t>(std::countr_zero(marks) / 8);
      }
    }
    const auto is_plain = [](unsigned char c) { return c >= ' ' && c < 0x80 && c != '"' && c != '\\'; };
    while (size < rest_.size() && is_plain(static_cast<unsigned char>(rest_[size]))) ++size;
    return size;
  }
  /// The lowest bit that is set is in the first byte that is not plain (Bit Twiddling Hacks, "less than" and "zero").
  static uint64_t Marks(uint64_t bytes) {
    constexpr uint64_t kOnes = 0x0101'0101'0101'0101, kHigh = kOnes << 7;
    const auto below = [](uint64_t of, uint64_t limit) { return (of - kOnes * limit) & ~of & kHigh; };
    return (bytes & kHigh) | below(bytes, ' ') | below(bytes ^ (kOnes * '"'), 1) | below(bytes ^ (kOnes * '\\'), 1);
  }

  std::string_view rest_;
  const size_t max_text_;
};

template <class Visitor>
bool ReadPlainMembers(PlainTokens& tokens, Visitor& visitor, bool has_objects) {
  if (!visitor.BeginObject()) return false;
  std::string_view text;
  const auto read_value = [&] {
    if (tokens.Take('"')) return tokens.TakeText(text) && visitor.Text(text);
    if (tokens.TakeNumber(text)) return visitor.Number(0, text).has_value();
    return has_objects && tokens.Take('{') && ReadPlainMembers(tokens, visitor, false);
  };
  if (tokens.Take('}')) return visitor.EndObject().has_value();
  do
    if (!tokens.Take('"') || !tokens.TakeText(text) || !tokens.Take(':') || !visitor.Key(text) || !read_value())
      return false;
  while (tokens.Take(','));
  return tokens.Take('}') && visitor.EndObject();
}

}  // namespace internal

/// Reads an object whose members are texts, numbers, and objects of them: in ASCII, without escapes, signs, exponents,
/// tabs and line ends, except one CR at the end. Calls `visitor`, a json::Visitor, like Stream, but the rough numbers
/// are 0. Returns false if the text has another form or a text or key of more than `max_text` bytes, and if the visitor
/// refuses a part. The visitor may have some parts then; Stream gives the result or the error.
template <class Visitor>
[[nodiscard]] bool ReadPlainObject(std::string_view text, size_t max_text, Visitor& visitor) {
  internal::PlainTokens tokens(text, max_text);
  return tokens.Take('{') && internal::ReadPlainMembers(tokens, visitor, true) &&
         (tokens.rest().empty() || tokens.rest() == "\r");
}

}  // namespace kepler::json
