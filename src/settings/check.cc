#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

std::string WithUnit(const Key& key, int64_t number) {
  const std::string_view unit = key.details.unit;
  return fmt::format("{}{}{}", ShowNumber(key, number), unit.empty() ? "" : " ", unit);
}

template <class Number>
Mistakes CheckBounds(const Key& key, Number value, std::string_view shown) {
  const Details& rules = key.details;
  if (value < static_cast<Number>(rules.min))
    return {{fmt::format("{} is less than {}", shown, WithUnit(key, rules.min))}};
  if (value > static_cast<Number>(rules.max))
    return {{fmt::format("{} is more than {}", shown, WithUnit(key, rules.max))}};
  if (value > 0 && value < static_cast<Number>(rules.min_above_zero))
    return {{fmt::format("{} is neither 0 nor at least {}", shown, WithUnit(key, rules.min_above_zero))}};
  return {};
}

struct Checker {
  const Key& key;

  Mistakes operator()(int* value) const { return CheckBounds(key, int64_t{*value}, WithUnit(key, *value)); }
  Mistakes operator()(int64_t* value) const { return CheckBounds(key, *value, WithUnit(key, *value)); }
  Mistakes operator()(double* value) const { return CheckBounds(key, *value, fmt::format("{}", *value)); }
  Mistakes operator()(Duration* value) const {
    const int64_t count = value->count();
    return CheckBounds(key, count, WithUnit(key, count));
  }
  Mistakes operator()(std::string* value) const {
    if (key.details.required && value->empty()) return {{"is required"}};
    const std::string_view why = key.details.is_path ? WhyNoPath(*value) : std::string_view();
    if (why.empty()) return {};
    const Field otherwise = Default(key);
    const auto* const* text = std::get_if<std::string*>(&otherwise);
    *value = text != nullptr ? **text : std::string();  // no other rule is to show it
    return {{std::string(why)}};
  }
  Mistakes operator()(const Several& several) const {
    Mistakes mistakes;
    size_t place = 0;
    several.each(several.values, [&](const Field&, const Field& item) {
      const auto* const* text = std::get_if<std::string*>(&item);
      Mistakes found = text != nullptr && (*text)->empty()
                           ? Mistakes{{several.keyed ? "is empty" : "has an empty item"}}
                           : Check(key, item);
      for (Mistake& mistake : found) mistakes.push_back({std::move(mistake.reason), place});
      ++place;
    });
    return mistakes;
  }
  template <class Other>
  Mistakes operator()(Other) const {
    return {};
  }
};

}  // namespace

std::string ShowNumber(const Key& key, int64_t number) {
  if (std::holds_alternative<Duration*>(Default(key))) return FormatDuration(Duration(number));
  return fmt::format("{}", number);
}

Mistakes Check(const Key& key, const Field& field) { return std::visit(Checker{key}, field); }

}  // namespace kepler::settings
