#include "model/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <boost/json/basic_parser_impl.hpp>

#include "base/parse.h"
#include "base/text.h"

namespace kepler::model {
namespace {

using boost::system::error_code;

/// Builds the tree from what Boost's parser meets. Its own doubles may be off by the last bit: the text is read again.
class TreeBuilder {
 public:
  static constexpr size_t max_object_size = SIZE_MAX;      // NOLINT(readability-identifier-naming)
  static constexpr size_t max_array_size = SIZE_MAX;       // NOLINT(readability-identifier-naming)
  static constexpr size_t max_key_size = size_t{1} << 16;  // NOLINT(readability-identifier-naming)
  static constexpr size_t max_string_size = SIZE_MAX;      // NOLINT(readability-identifier-naming)

  Json root;
  std::string reason;  // of our own refusal

  explicit TreeBuilder(size_t max_values) : left_(max_values) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) { return Open(Json{Json::Object()}, error); }
  bool on_object_end(size_t, error_code& error) {
    std::set<std::string_view> keys;
    for (const auto& [key, unused] : std::get<Json::Object>(open_.back()->value))
      if (!keys.insert(key).second) return Refuse(fmt::format("the key \"{}\" appears twice", key), error);
    return Close();
  }
  bool on_array_begin(error_code& error) { return Open(Json{Json::Numbers()}, error); }
  bool on_array_end(size_t, error_code&) { return Close(); }
  bool on_key_part(std::string_view part, size_t, error_code&) { return Collect(part); }
  bool on_key(std::string_view part, size_t, error_code&) {
    text_ += part;
    std::get<Json::Object>(open_.back()->value).push_back({std::exchange(text_, {}), Json()});
    return true;
  }
  bool on_string_part(std::string_view part, size_t, error_code&) { return Collect(part); }
  bool on_string(std::string_view part, size_t, error_code& error) {
    text_ += part;
    return Take(Json{std::exchange(text_, {})}, error);
  }
  bool on_number_part(std::string_view part, error_code&) { return Collect(part); }
  bool on_int64(int64_t number, std::string_view part, error_code& error) {
    return OnNumber(static_cast<double>(number), part, error);
  }
  bool on_uint64(uint64_t number, std::string_view part, error_code& error) {
    return OnNumber(static_cast<double>(number), part, error);
  }
  bool on_double(double number, std::string_view part, error_code& error) { return OnNumber(number, part, error); }
  bool on_bool(bool value, error_code& error) { return Take(Json{value}, error); }
  bool on_null(error_code& error) { return Take(Json{nullptr}, error); }
  bool on_comment_part(std::string_view, error_code&) { return true; }
  bool on_comment(std::string_view, error_code&) { return true; }

 private:
  bool Collect(std::string_view part) {
    text_ += part;
    return true;
  }
  bool Refuse(std::string why, error_code& error) {
    reason = std::move(why);
    error = boost::json::error::incomplete;  // any: the reason is what is told
    return false;
  }
  bool OnNumber(double rough, std::string_view part, error_code& error) {
    text_ += part;
    const std::string text = std::exchange(text_, {});
    const auto exact = ParseNumber<double>(text);
    const bool too_small = !exact && std::abs(rough) < 1;
    if (!exact && !too_small) return Refuse(fmt::format("the number {:.40} is too large", text), error);
    return Take(Json{exact.value_or(0)}, error);
  }
  /// Where it belongs, or nullptr: too many. The address stays valid while its children are built: only then does its
  /// parent grow again.
  Json* Put(Json value, error_code& error) {
    if (!Count(1, error)) return nullptr;
    if (open_.empty()) return &(root = std::move(value));
    auto& parent = open_.back()->value;
    if (auto* const object = std::get_if<Json::Object>(&parent)) return &(object->back().value = std::move(value));
    if (auto* const numbers = std::get_if<Json::Numbers>(&parent)) {
      if (!Count(numbers->size(), error)) return nullptr;
      parent = AsList(*numbers);
    }
    return &std::get<Json::List>(parent).emplace_back(std::move(value));
  }
  bool Count(size_t values, error_code& error) {
    if (values > left_) return Refuse("too many values for a model", error);
    left_ -= values;
    return true;
  }
  bool Take(Json value, error_code& error) {
    if (!open_.empty() && std::holds_alternative<double>(value.value))
      if (auto* const numbers = std::get_if<Json::Numbers>(&open_.back()->value)) {
        numbers->push_back(std::get<double>(value.value));
        return true;
      }
    return Put(std::move(value), error) != nullptr;
  }
  bool Open(Json value, error_code& error) {
    Json* const place = Put(std::move(value), error);
    if (place != nullptr) open_.push_back(place);
    return place != nullptr;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  static Json::List AsList(const Json::Numbers& numbers) {
    Json::List list;
    list.reserve(numbers.size());
    for (const double number : numbers) list.push_back(Json{number});
    return list;
  }

  size_t left_;  // how many values there may still be
  std::vector<Json*> open_;
  std::string text_;  // what came of a key, string or number
};

std::string_view KindOf(const Json& json) {
  constexpr std::string_view kKinds[] = {"null",   "true or false", "a number", "a text",
                                         "a list", "a list",        "an object"};
  return kKinds[json.value.index()];
}

/// Puts the way from `from` to `wanted` behind `path`; false where it is not in there.
bool FindWay(const Json& from, const Json* wanted, std::string& path) {
  if (&from == wanted) return true;
  const size_t length = path.size();
  if (const auto* const object = std::get_if<Json::Object>(&from.value))
    for (const auto& [key, value] : *object) {
      path += path.empty() ? key : "." + key;
      if (FindWay(value, wanted, path)) return true;
      path.resize(length);
    }
  if (const auto* const list = std::get_if<Json::List>(&from.value))
    for (size_t i = 0; i < list->size(); ++i) {
      path += fmt::format("[{}]", i);
      if (FindWay((*list)[i], wanted, path)) return true;
      path.resize(length);
    }
  return false;
}

}  // namespace

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

Result<Json> ParseJson(std::string_view text, size_t max_values) {
  boost::json::basic_parser<TreeBuilder> parser{boost::json::parse_options{}, max_values};
  error_code error;
  const size_t read = parser.write_some(false, text.data(), text.size(), error);
  const TreeBuilder& builder = parser.handler();
  if (const std::string_view what = WhatInPlaceOfJson(text); error && !what.empty())
    return Fail(ErrorKind::kMalformed, std::string(what));
  if (error)
    return Fail(ErrorKind::kMalformed, fmt::format("parse JSON, near byte {}: {}", read,
                                                   builder.reason.empty() ? error.message() : builder.reason));
  if (const size_t more = text.find_first_not_of(" \t\r\n", read); more != std::string_view::npos)
    return Fail(ErrorKind::kMalformed, fmt::format("parse JSON: unexpected text after byte {}", more));
  return std::move(parser.handler().root);
}

std::string JsonAt::Path() const {
  std::string path;
  FindWay(*root_, json_, path);
  return path;
}

std::unexpected<Error> JsonAt::Refuse(std::string_view reason) const {
  const std::string path = Path();
  return Fail(ErrorKind::kMalformed, fmt::format("{}: {}", path.empty() ? "the file" : path, reason));
}

std::unexpected<Error> JsonAt::RefuseKind(std::string_view wanted) const {
  return Refuse(fmt::format("expected {}, found {}", wanted, KindOf(*json_)));
}

Result<const Json::Object*> JsonAt::Members() const {
  if (const auto* const object = std::get_if<Json::Object>(&json_->value)) return object;
  return RefuseKind("an object");
}

Result<std::optional<JsonAt>> JsonAt::Find(std::string_view key) const {
  KEPLER_TRY(const auto* const members, Members());
  for (const auto& [name, value] : *members)
    if (name == key) return At(value);
  return std::nullopt;
}

Result<JsonAt> JsonAt::Member(std::string_view key) const {
  KEPLER_TRY(auto found, Find(key));
  if (!found) return Refuse(fmt::format("\"{}\" is missing", key));
  return *std::move(found);
}

Result<std::vector<JsonAt>> JsonAt::Elements() const {
  const auto* const numbers = std::get_if<Json::Numbers>(&json_->value);
  const auto* const list = std::get_if<Json::List>(&json_->value);
  if (list == nullptr && (numbers == nullptr || !numbers->empty()))
    return RefuseKind(numbers == nullptr ? "a list" : "a list with values that are not numbers");
  std::vector<JsonAt> elements;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) elements.push_back(At((*list)[i]));
  return elements;
}

Result<std::span<const double>> JsonAt::Numbers() const {
  if (const auto* const numbers = std::get_if<Json::Numbers>(&json_->value)) return std::span(*numbers);
  return RefuseKind("a list of numbers");
}

Result<double> JsonAt::Number() const {
  if (const auto* const number = std::get_if<double>(&json_->value)) return *number;
  return RefuseKind("a number");
}

Result<std::string_view> JsonAt::Text() const {
  if (const auto* const text = std::get_if<std::string>(&json_->value)) return *text;
  return RefuseKind("a text");
}

Result<uint64_t> JsonAt::Count(uint64_t most) const {
  KEPLER_TRY(const double number, Number());
  if (!(number >= 0 && number <= static_cast<double>(most)) || number != std::floor(number))
    return Refuse(fmt::format("{} is not a whole number from 0 to {}", number, most));
  return static_cast<uint64_t>(number);
}

std::string JsonText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : SanitizeUtf8(text, std::string::npos)) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted += '"';
}

}  // namespace kepler::model
