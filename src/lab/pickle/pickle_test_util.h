#pragma once
// Pickles in tests, as opcodes, and what is read as one line of JSON.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lab/pickle/pickle.h"

namespace kepler::lab::pickle {

using std::string_literals::operator""s;

inline std::string Show(const json::Value& value) {
  const auto join = [](const auto& items, std::string_view ends, const auto& show) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ",") + show(item);
    return fmt::format("{}{}{}", ends[0], text, ends[1]);
  };
  if (const auto* const number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
  if (const auto* const text = std::get_if<std::string>(&value.value)) return json::Quote(*text);
  if (const auto* const numbers = std::get_if<json::Value::Numbers>(&value.value))
    return join(*numbers, "[]", [](double number) { return fmt::format("{}", number); });
  if (const auto* const list = std::get_if<json::Value::List>(&value.value)) return join(*list, "[]", Show);
  if (const auto* const object = std::get_if<json::Value::Object>(&value.value))
    return join(*object, "{}", [](const json::Member& each) { return json::Quote(each.key) + ":" + Show(each.value); });
  return "null";
}

inline std::string ReadFile(std::string_view bytes) {
  const auto read = ReadPickle(bytes);
  return read ? Show(*read) : "refused: " + read.error().message;
}

/// Of opcodes without their header.
inline std::string Read(std::string_view code) { return ReadFile("\x80\x04" + std::string(code)); }
inline ErrorKind KindOf(std::string_view code) { return ReadPickle("\x80\x04" + std::string(code)).error().kind; }

}  // namespace kepler::lab::pickle
