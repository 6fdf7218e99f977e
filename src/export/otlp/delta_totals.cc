#include "export/otlp/delta_totals.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <type_traits>
#include <variant>

namespace kepler::otlp {
namespace {

using series::Number;

uint64_t RandomSalt() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

/// Returns total - last, 0 if it is negative.
Number Difference(const Number& total, const Number& last) {
  const auto subtract = [&](auto now) -> Number {
    const auto* const before = std::get_if<decltype(now)>(&last);
    if (before == nullptr) return now;  // no family changes its type
    return now > *before ? decltype(now)(now - *before) : decltype(now){};
  };
  return std::visit(subtract, total);
}

bool IsBelow(const Number& total, const Number& last) { return total.index() == last.index() && total < last; }

}  // namespace

DeltaTotals::DeltaTotals() : salt_(RandomSalt()), other_salt_(RandomSalt()) {}

void DeltaTotals::Begin(std::string_view name, bool ends) {
  name_ = name;
  ends_ = ends;
}

DeltaTotals::Key DeltaTotals::KeyOf(std::string_view row, std::string_view zone) {
  const auto hash = [this](uint64_t salt) {
    std::memcpy(text_.data(), &salt, sizeof salt);
    return uint64_t{std::hash<std::string_view>()(text_)};
  };
  text_.assign(sizeof salt_, '\0');
  text_ += name_;
  text_ += '\0';
  text_ += row;
  text_ += zone;
  return {.first = hash(salt_), .second = hash(other_salt_)};
}

DeltaTotals::Growth DeltaTotals::Grow(std::string_view row, std::string_view zone, const Number& total, BootTime begin,
                                      uint64_t start, uint64_t time) {
  const auto [found, is_new] = counters_.try_emplace(KeyOf(row, zone));
  Counter& counter = found->second;
  const bool is_same = !is_new && counter.begin == begin;
  Growth growth{.value = is_same ? Difference(total, counter.total) : total,
                .start = is_new    ? start
                         : is_same ? counter.time
                                   : std::max(start, counter.time)};
  growth.start = std::min(growth.start, time);  // the wall clock may have been set back
  const bool keeps = is_same && IsBelow(total, counter.total);
  counter = {.total = keeps ? counter.total : total, .begin = begin, .time = time, .pass = pass_, .ends = ends_};
  return growth;
}

void DeltaTotals::EndPass() {
  boost::unordered::erase_if(counters_,
                             [this](const auto& pair) { return pair.second.ends && pair.second.pass != pass_; });
  ++pass_;
}

}  // namespace kepler::otlp
