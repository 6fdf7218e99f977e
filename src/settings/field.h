#pragma once
// Pointers to setting values in any struct: a closed set of types, and lists and maps of them.
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/duration.h"

namespace kepler::settings {

struct Several;
/// A struct with its own table, used as an item of a list or map.
struct Block {
  void* values;
};
/// Pointer to a value; the alternative is the type. uint8_t is an enumerator, and uint32_t holds the bits of an
/// EnumSet: the names are the key's choices.
using Field =
    std::variant<bool*, int*, int64_t*, double*, Duration*, std::string*, uint8_t*, uint32_t*, Several, Block>;

/// A list or a map of any type. A list has no keys.
struct Several {
  void* values;
  bool keyed;  // a map
  void (*clear)(void* values);
  void (*each)(void* values, const std::function<void(const Field& key, const Field& item)>& see);
  /// Adds the item, with its key, that `set` fills, if `set` returns true. Returns false if the key already exists.
  bool (*add)(void* values, const std::function<bool(const Field& key, const Field& item)>& set);

  /// Returns a field that points to no value, for the type of the items.
  [[nodiscard]] Field Sample() const;
};

/// A set of enumerators of E, which start at 0.
template <class E>
struct EnumSet {
  using Enum = E;
  constexpr EnumSet(std::initializer_list<E> members) {
    for (const E member : members) bits |= 1u << static_cast<uint8_t>(member);
  }
  bool operator==(const EnumSet&) const = default;

  uint32_t bits = 0;
};

namespace internal {

template <class V>
concept SeveralValues = requires { typename V::value_type; } && !std::same_as<V, std::string>;
template <class V>
concept KeyedValues = SeveralValues<V> && requires { typename V::mapped_type; };

template <class V>
Field FieldOf(V& value);

template <KeyedValues V>
Several SeveralOf(V& map) {
  return {&map, true, [](void* values) { static_cast<V*>(values)->clear(); },
          [](void* values, const auto& see) {
            // the keys are never written
            for (auto& [key, item] : *static_cast<V*>(values))
              see(FieldOf(const_cast<typename V::key_type&>(key)), FieldOf(item));
          },
          [](void* values, const auto& set) {
            typename V::key_type key{};
            typename V::mapped_type item{};
            if (!set(FieldOf(key), FieldOf(item))) return true;
            return static_cast<V*>(values)->try_emplace(std::move(key), std::move(item)).second;
          }};
}

template <SeveralValues V>
Several SeveralOf(V& list) {
  return {&list, false, [](void* values) { static_cast<V*>(values)->clear(); },
          [](void* values, const auto& see) {
            for (auto& item : *static_cast<V*>(values)) see({}, FieldOf(item));
          },
          [](void* values, const auto& set) {
            typename V::value_type item{};
            if (set({}, FieldOf(item))) static_cast<V*>(values)->push_back(std::move(item));
            return true;
          }};
}

template <class V>
Field FieldOf(V& value) {
  if constexpr (std::is_enum_v<V>) {
    static_assert(sizeof(V) == 1);
    return reinterpret_cast<uint8_t*>(&value);
  } else if constexpr (requires { typename V::Enum; }) {
    return &value.bits;
  } else if constexpr (SeveralValues<V>) {
    return SeveralOf(value);
  } else if constexpr (std::constructible_from<Field, V*>) {
    return &value;
  } else {
    static_assert(std::is_aggregate_v<V>, "a key is a type of Field, an enum, a set, a list, a map or a block");
    return Block{&value};
  }
}

}  // namespace internal

/// Returns "duration", "list of mappings", ... for messages.
[[nodiscard]] std::string TypeName(const Field& field);

}  // namespace kepler::settings
