#pragma once
// The table of a program's settings: every key with its flag, meaning and bounds, over any struct. Loading, flags,
// checks, --help, --config.print and the pages for people are all made from it. Defaults stand in the struct only.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "settings/field.h"

namespace kepler::settings {

struct Table;
/// Stands for a struct; tables are held to it when they are compiled.
struct Type {
  void* (*defaults)();  // one of it that nobody writes to
};

/// Where a key's value lies in its struct.
struct Place {
  const Type* type;          // of the struct
  const Type* items;         // of the blocks of a list or a map; null for all else
  Field (*of)(void* whole);  // in a struct of `type`
};

/// What most keys have nothing of.
struct Details {
  std::string_view alias = {};                     // a second spelling of the flag
  std::string_view missing = {};                   // read and checked, but not acted on; what is so instead
  std::string_view unit = {};                      // of a number: "joules"
  bool is_path = false;                            // of a text: the name of a file or directory
  bool secret = false;                             // of a text: taken as it stands, and never shown
  bool required = false;                           // of a text or a list: must be given, and not be empty
  std::span<const std::string_view> choices = {};  // of enumerators: their names, from 0
  const Table* items = nullptr;                    // of blocks
  // Of a number (of each item, of a list) in its own unit, of a duration in nanoseconds.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t min_above_zero = 0;  // where 0 has a meaning of its own
};

struct Key {
  std::string_view path;  // "monitor.interval"; what is below "dev." is for development
  std::string_view flag;  // without "--"; empty: no flag
  std::string_view help;  // one line, no full stop
  Place place;
  Details details = {};
};

/// Keys in the order of printing: those of one block stand together.
struct Table {
  const Type* type;
  std::span<const Key> keys;
};

/// Values of a struct with its table. Only a Draft writes to them.
struct Values {
  std::span<const Key> keys;
  void* whole;
};

namespace internal {

template <class S>
inline constexpr Type kType = {[]() -> void* {
  static S defaults;
  return &defaults;
}};

/// The type of `I` where that is a block.
template <class I>
inline constexpr const Type* kBlock = std::is_aggregate_v<I> ? &kType<I> : nullptr;
/// The type of the blocks that V holds, if it does.
template <class V>
inline constexpr const Type* kItems = nullptr;
template <SeveralValues V>
inline constexpr const Type* kItems<V> = kBlock<typename V::value_type>;
template <KeyedValues V>
inline constexpr const Type* kItems<V> = kBlock<typename V::mapped_type>;

template <class S, class V>
S StructOf(V S::*);

}  // namespace internal

/// kAt<&Config::log, &Log::level>: the member of the member.
template <auto kFirst, auto... kRest>
inline constexpr Place kAt = [] {
  using Struct = decltype(internal::StructOf(kFirst));
  using Value = std::remove_cvref_t<decltype(((std::declval<Struct&>().*kFirst).*....*kRest))>;
  return Place{&internal::kType<Struct>, internal::kItems<Value>, [](void* whole) -> Field {
                 return internal::FieldOf(((static_cast<Struct*>(whole)->*kFirst).*....*kRest));
               }};
}();

[[nodiscard]] constexpr bool IsOneName(const Key& key) { return !key.path.contains('.'); }

/// The table of the struct S: keys of another one do not compile.
template <class S>
struct TableOf : Table {
  consteval explicit TableOf(std::span<const Key> all) : Table{&internal::kType<S>, all} {
    for (const Key& key : all) {
      if (key.place.type != type) throw "a key of another struct";
      const Table* items = key.details.items;
      if (key.place.items != (items != nullptr ? items->type : nullptr))
        throw "a list of blocks has their table in its details";
      if (items != nullptr && !std::ranges::all_of(items->keys, IsOneName)) throw "a block in a list holds no blocks";
    }
  }
  /// Of `whole`, which only a Draft changes.
  [[nodiscard]] Values Of(const S& whole) const { return {keys, const_cast<S*>(&whole)}; }
};

/// The key with `path`; one that is not there is a mistake of the caller.
[[nodiscard]] const Key& KeyAt(std::span<const Key> keys, std::string_view path);

[[nodiscard]] inline Field Default(const Key& key) { return key.place.of(key.place.type->defaults()); }
/// `help`, and that the key does nothing yet where that is so; for people.
[[nodiscard]] std::string Meaning(const Key& key);
[[nodiscard]] inline std::string TypeName(const Key& key) { return TypeName(Default(key)); }
[[nodiscard]] inline bool IsBool(const Key& key) { return std::holds_alternative<bool*>(Default(key)); }
/// Whether it takes several texts.
[[nodiscard]] bool IsList(const Key& key);
/// Accepted everywhere, shown where developers look.
[[nodiscard]] inline bool IsForDevelopment(const Key& key) { return key.path.starts_with("dev."); }

}  // namespace kepler::settings
