// A Python pickle: what is read is a tree of bounded size, and what is refused says why.
#include <variant>

#include "fuzz.h"
#include "lab/pickle/pickle.h"

using kepler::json::Value;

namespace {

size_t CountValues(const Value& value) {
  size_t count = 1;
  if (const auto* const list = std::get_if<Value::List>(&value.value))
    for (const Value& item : *list) count += CountValues(item);
  if (const auto* const object = std::get_if<Value::Object>(&value.value))
    for (const auto& [key, item] : *object) count += CountValues(item);
  return count;
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto read = kepler::lab::pickle::ReadPickle(text);
  if (read ? CountValues(*read) > 2'000'000 : read.error().message.empty()) std::abort();
}
