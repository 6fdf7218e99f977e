#include "json/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>

#include "base/text.h"

namespace kepler::json {

using boost::system::error_code;

constexpr size_t kMaxKey = size_t{1} << 16;

namespace internal {  // Stream::Impl has one, so that it cannot be this file's alone

/// Joins the parts that Boost's parser calls with; the names are the library's.
class Handler {
 public:
  static constexpr size_t max_object_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;   // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = SIZE_MAX;     // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;  // NOLINT(readability-identifier-naming)

  std::optional<Error> refusal;  // of the visitor

  Handler(Visitor& visitor, size_t max_text, Stream::LongKeys long_keys)
      : visitor_(visitor),
        max_text_(max_text),
        max_key_(long_keys == Stream::LongKeys::kCut ? SIZE_MAX : std::min(max_text, kMaxKey)) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) { return Check(visitor_.BeginObject(), error); }
  bool on_object_end(size_t, error_code& error) { return Check(visitor_.EndObject(), error); }
  bool on_array_begin(error_code& error) { return Check(visitor_.BeginList(), error); }
  bool on_array_end(size_t, error_code& error) { return Check(visitor_.EndList(), error); }
  bool on_key_part(std::string_view part, size_t size, error_code& error) {
    return CheckKey(size, error) && Collect(part);
  }
  bool on_key(std::string_view part, size_t size, error_code& error) {
    return CheckKey(size, error) && Check(visitor_.Key(Whole(part)), error) && Clear();
  }
  bool on_string_part(std::string_view part, size_t, error_code&) { return Collect(part); }
  bool on_string(std::string_view part, size_t, error_code& error) {
    return Check(visitor_.Text(Whole(part)), error) && Clear();
  }
  bool on_number_part(std::string_view part, error_code&) { return Collect(part); }
  bool on_int64(int64_t number, std::string_view part, error_code& error) {
    return OnNumber(static_cast<double>(number), part, error);
  }
  bool on_uint64(uint64_t number, std::string_view part, error_code& error) {
    return OnNumber(static_cast<double>(number), part, error);
  }
  bool on_double(double number, std::string_view part, error_code& error) { return OnNumber(number, part, error); }
  bool on_bool(bool value, error_code& error) { return Check(visitor_.Literal(value), error); }
  bool on_null(error_code& error) { return Check(visitor_.Literal(std::nullopt), error); }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

 private:
  bool Check(Status status, error_code& error) {
    if (status) return true;
    refusal = std::move(status).error();
    error = boost::json::error::incomplete;  // any: the refusal is what is reported
    return false;
  }
  bool CheckKey(size_t size, error_code& error) const {
    if (size <= max_key_) return true;
    error = boost::json::error::key_too_large;
    return false;
  }
  bool Collect(std::string_view part) {
    text_ += part.substr(0, max_text_ - text_.size());
    return true;
  }
  /// A text in one part, as most are, is not copied.
  std::string_view Whole(std::string_view part) {
    if (text_.empty()) return part.substr(0, max_text_);
    Collect(part);
    return text_;
  }
  bool Clear() {
    text_.clear();
    return true;
  }
  bool OnNumber(double rough, std::string_view part, error_code& error) {
    return Check(visitor_.Number(rough, Whole(part)), error) && Clear();
  }

  Visitor& visitor_;
  const size_t max_text_;
  const size_t max_key_;
  std::string text_;  // the first parts of a key, text or number
};

}  // namespace internal

class Stream::Impl {
 public:
  Impl(Visitor& visitor, size_t max_text, LongKeys long_keys)
      : parser_(boost::json::parse_options{}, visitor, max_text, long_keys) {}

  Status Read(std::string_view piece) {
    KEPLER_TRY(const size_t read, ReadSome(piece));
    if (const size_t more = piece.find_first_not_of(" \t\r\n", read); more != std::string_view::npos)
      return Fail(ErrorKind::kMalformed,
                  fmt::format("parse JSON: unexpected text after byte {}", bytes_ + more - read));
    return {};
  }
  Result<size_t> ReadOne(std::string_view piece) {
    if (AtEnd()) {
      parser_.reset();
      bytes_ = 0;
    }
    return ReadSome(piece);
  }
  bool AtEnd() const { return parser_.done(); }
  Status Finish() {
    error_code error;
    if (!parser_.done()) static_cast<void>(parser_.write_some(false, nullptr, 0, error));
    if (error && bytes_ == 0) return Fail(ErrorKind::kMalformed, "parse JSON: the text is empty");
    if (error) return Refuse(error);
    return {};
  }

 private:
  Result<size_t> ReadSome(std::string_view piece) {
    if (piece.empty()) return 0;
    error_code error;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
    const bool is_first = std::exchange(bytes_, bytes_ + read) == 0;
    const std::string_view what = error && is_first ? WhatInPlaceOfJson(piece) : "";
    if (!what.empty()) return Fail(ErrorKind::kMalformed, std::string(what));
    if (error) return Refuse(error);
    return read;
  }
  std::unexpected<Error> Refuse(const error_code& error) {
    const auto& refusal = parser_.handler().refusal;
    return Fail(refusal ? refusal->kind : ErrorKind::kMalformed,
                fmt::format("parse JSON, near byte {}: {}", bytes_, refusal ? refusal->message : error.message()));
  }

  uint64_t bytes_ = 0;
  boost::json::basic_parser<internal::Handler> parser_;
};

Stream::Stream(Visitor& visitor, size_t max_text, LongKeys long_keys)
    : impl_(std::make_unique<Impl>(visitor, max_text, long_keys)) {}
Stream::~Stream() = default;
Status Stream::Read(std::string_view piece) { return impl_->Read(piece); }
Result<size_t> Stream::ReadOne(std::string_view piece) { return impl_->ReadOne(piece); }
bool Stream::AtEnd() const { return impl_->AtEnd(); }
Status Stream::Finish() { return impl_->Finish(); }

std::string_view WhatInPlaceOfJson(std::string_view text) {
  constexpr size_t kLooked = 64;
  if (text.starts_with("PK\x03\x04")) return "a zip archive, not JSON; convert it with kepler-model import";
  if (text.starts_with("\x1f\x8b")) return "compressed by gzip, not JSON; unpack it";
  const std::string_view rest = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (rest.empty() || std::string_view("{[\"-0123456789tfn").contains(rest.front())) return "";
  const std::string begin = ToLowerAscii(rest.substr(0, kLooked));
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html")) return "HTML, not JSON; check the file or URL";
  const bool is_text =
      std::ranges::none_of(begin, [](char c) { return c >= 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n'; });
  return is_text ? "text, not JSON" : "binary data, not JSON";
}

}  // namespace kepler::json
