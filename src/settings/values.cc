#include "settings/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/duration.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::settings {
namespace {

/// Parses decimal digits only. A leading zero is refused, because some readers take it for octal. Numbers of a YAML
/// file are converted to decimal before (yaml_scalar.h).
template <class Number>
Status SetWhole(const Key& key, Number& value, std::string_view text) {
  const bool signed_text = text.starts_with('-') || text.starts_with('+');
  const std::string_view digits = text.substr(signed_text ? 1 : 0);
  const std::string_view unit = key.details.unit;
  if (digits.empty() || !std::ranges::all_of(digits, IsDigit) || (digits.size() > 1 && digits.front() == '0'))
    return Bad(fmt::format("{} is not a whole number{}{}", Quote(text), unit.empty() ? "" : " of ", unit));
  const auto number = ParseNumber<Number>(text.starts_with('+') ? digits : text);
  if (!number) return Bad(fmt::format("{} does not fit in {} bits", Quote(text), 8 * sizeof(Number)));
  value = *number;
  return {};
}

/// Returns `"x" is not one of a, b, c; did you mean b?`. An empty choice is not suggested.
std::unexpected<Error> NotOneOf(std::string_view text, std::span<const std::string_view> choices) {
  std::string_view nearest = NearestName(text, choices);
  if (nearest.empty()) nearest = NearestName(ToLowerAscii(text), choices);
  std::vector<std::string_view> named(choices.begin(), choices.end());
  std::erase(named, std::string_view());
  return Bad(fmt::format("{} is not one of {}{}", Quote(text), fmt::join(named, ", "),
                         nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

struct TextSetter {
  const Key& key;
  std::string_view text;

  Status operator()(bool* value) const {
    const auto parsed = ParseBool(text);
    if (!parsed) return Bad(fmt::format("{} is neither true nor false", Quote(text)));
    *value = *parsed;
    return {};
  }
  Status operator()(int* value) const { return SetWhole(key, *value, text); }
  Status operator()(int64_t* value) const { return SetWhole(key, *value, text); }
  Status operator()(double* value) const {
    const auto number = ParseNumber<double>(text.starts_with('+') ? text.substr(1) : text);
    if (!number || !std::isfinite(*number)) return Bad(fmt::format("{} is not a number", Quote(text)));
    *value = *number + 0.0;  // -0 becomes 0
    return {};
  }
  Status operator()(Duration* value) const {
    KEPLER_TRY(*value, ParseDuration(text));
    return {};
  }
  Status operator()(std::string* value) const {
    *value = text;
    return {};
  }
  Status operator()(uint8_t* value) const {
    const auto choices = key.details.choices;
    const auto named = std::ranges::find(choices, text);
    if (named == choices.end()) return NotOneOf(text, choices);
    *value = static_cast<uint8_t>(named - choices.begin());
    return {};
  }
  template <class Other>
  Status operator()(Other) const {
    return Bad("must be a list");
  }
};

uint32_t AllOf(const Key& key) { return (1u << key.details.choices.size()) - 1; }

/// Adds the choices in `text`, in any case: one choice, several separated by commas, or all.
Status AddToSet(const Key& key, uint32_t& set, std::string_view text) {
  const auto choices = key.details.choices;
  Splitter names(text, ',');
  while (const auto part = names.Next()) {
    const std::string name = ToLowerAscii(Trim(*part));
    const auto known = std::ranges::find(choices, name);
    if (known == choices.end() && name != "all") {
      std::vector<std::string_view> all(choices.begin(), choices.end());
      all.emplace_back("all");
      return NotOneOf(Trim(*part), all);
    }
    set |= known == choices.end() ? AllOf(key) : 1u << (known - choices.begin());
  }
  return {};
}

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

Mistakes NotGiven(const Key& key) {
  return {{key.flag.empty() ? "is required" : fmt::format("is required; give --{}", key.flag)}};
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
    if (key.details.required && value->empty()) return NotGiven(key);
    const std::string_view why = key.details.is_path ? WhyNoPath(*value) : std::string_view();
    if (why.empty()) return {};
    const Field otherwise = Default(key);
    const auto* const* text = std::get_if<std::string*>(&otherwise);
    *value = text != nullptr ? **text : std::string();  // no other rule must show the path
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
    return key.details.required && place == 0 ? NotGiven(key) : mistakes;
  }
  template <class Other>
  Mistakes operator()(Other) const {
    return {};
  }
};

}  // namespace

std::string Quote(std::string_view text) {
  constexpr size_t kMaxShownText = 80;
  return fmt::format("\"{}\"", ShowUnlessSecret(text, kMaxShownText));
}

Status SetText(const Key& key, const Field& field, std::string_view text) {
  if (key.details.secret) return std::visit(TextSetter{key, text}, field);
  // Rejected first, so that no other message can quote the secret. For a path, the message says that a path is
  // required.
  if (!key.details.is_path && LooksSecret(text))
    return Bad("the value looks like a key, a certificate or a hash (not shown)");
  return std::visit(TextSetter{key, Trim(text)}, field);
}

Mistakes SetTexts(const Key& key, const Field& field, std::span<const std::string> texts) {
  Mistakes mistakes;
  if (uint32_t* const* set = std::get_if<uint32_t*>(&field)) {
    uint32_t bits = texts.empty() ? *std::get<uint32_t*>(Default(key)) : 0;
    for (const std::string& text : texts)
      if (const Status added = AddToSet(key, bits, text); !added) return {{added.error().message}};
    **set = bits;
    return {};
  }
  const auto& list = std::get<Several>(field);
  list.clear(list.values);
  for (size_t i = 0; i < texts.size(); ++i) {
    list.add(list.values, [&](const Field&, const Field& item) {
      const Status set = SetText(key, item, texts[i]);
      if (!set) mistakes.push_back({set.error().message, i});
      return set.has_value();
    });
  }
  return mistakes;
}

std::string ShowNumber(const Key& key, int64_t number) {
  if (std::holds_alternative<Duration*>(Default(key))) return FormatDuration(Duration(number));
  return fmt::format("{}", number);
}

Mistakes Check(const Key& key, const Field& field) { return std::visit(Checker{key}, field); }

}  // namespace kepler::settings
