#pragma once
// The table of a program's settings: every key with its flag, meaning and bounds, for any struct. Loading, flags,
// checks, --help, --config.print and the documentation pages use the table. Only the struct contains the defaults.
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
/// Identifies a struct. Tables are checked against it at compile time.
struct Type {
  void* (*defaults)();  // returns a read-only default object of the struct
};

/// Location of a key's value in its struct.
struct Place {
  const Type* type;          // type of the struct
  const Type* items;         // type of the blocks of a list or map; otherwise null
  Field (*of)(void* whole);  // returns the field in a struct of `type`
};

/// Optional details of a key.
struct Details {
  std::string_view alias = {};  // second spelling of the flag
  // set if the key is checked but has no effect; describes the current behaviour
  std::string_view missing = {};
  std::string_view unit = {};                      // unit of a number: "joules"
  bool is_path = false;                            // text: path of a file or directory
  bool secret = false;                             // text: used without trimming, and never shown
  bool required = false;                           // text or list: must be given, and must not be empty
  bool argument = false;                           // may be given without its flag, in the order of the table
  std::span<const std::string_view> choices = {};  // enumerators: their names, from 0
  const Table* items = nullptr;                    // table of the blocks
  // Bounds of a number (or of each item of a list) in its own unit; of a duration in nanoseconds.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t min_above_zero = 0;  // minimum above zero, if 0 has a special meaning
};

struct Key {
  std::string_view path;  // "monitor.interval"; keys below "dev." are for development
  std::string_view flag;  // without "--"; empty: no flag
  std::string_view help;  // one line, no full stop
  Place place;
  Details details = {};
};

/// Keys in printing order. Keys of one block are adjacent.
struct Table {
  const Type* type;
  std::span<const Key> keys;
};

/// Values of a struct with its table. Only a Draft changes the values.
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

/// The type of `I` if `I` is a block.
template <class I>
inline constexpr const Type* kBlock = std::is_aggregate_v<I> ? &kType<I> : nullptr;
/// The type of the blocks in V, if V contains blocks.
template <class V>
inline constexpr const Type* kItems = nullptr;
template <SeveralValues V>
inline constexpr const Type* kItems<V> = kBlock<typename V::value_type>;
template <KeyedValues V>
inline constexpr const Type* kItems<V> = kBlock<typename V::mapped_type>;

template <class S, class V>
S StructOf(V S::*);

}  // namespace internal

/// kAt<&Config::log, &Log::level> is the member `level` of the member `log`.
template <auto kFirst, auto... kRest>
inline constexpr Place kAt = [] {
  using Struct = decltype(internal::StructOf(kFirst));
  using Value = std::remove_cvref_t<decltype(((std::declval<Struct&>().*kFirst).*....*kRest))>;
  return Place{&internal::kType<Struct>, internal::kItems<Value>, [](void* whole) -> Field {
                 return internal::FieldOf(((static_cast<Struct*>(whole)->*kFirst).*....*kRest));
               }};
}();

[[nodiscard]] constexpr bool IsOneName(const Key& key) { return !key.path.contains('.'); }

/// The table of the struct S. A key of another struct does not compile.
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
  /// Returns the values of `whole`, which only a Draft changes.
  [[nodiscard]] Values Of(const S& whole) const { return {keys, const_cast<S*>(&whole)}; }
};

/// Returns the key with `path`. A missing key is a bug in the caller.
[[nodiscard]] const Key& KeyAt(std::span<const Key> keys, std::string_view path);

[[nodiscard]] inline Field Default(const Key& key) { return key.place.of(key.place.type->defaults()); }
/// Returns `help`, plus a note if the key has no effect yet, for documentation.
[[nodiscard]] std::string Meaning(const Key& key);
[[nodiscard]] inline std::string TypeName(const Key& key) { return TypeName(Default(key)); }
[[nodiscard]] inline bool IsBool(const Key& key) { return std::holds_alternative<bool*>(Default(key)); }
/// Returns true if the key accepts several texts.
[[nodiscard]] bool IsList(const Key& key);
/// Development keys are accepted everywhere but shown only in developer documentation.
[[nodiscard]] inline bool IsForDevelopment(const Key& key) { return key.path.starts_with("dev."); }

}  // namespace kepler::settings
