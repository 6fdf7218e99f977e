// A visitor that keeps all samples as text.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "export/series/visit.h"

namespace kepler::series {

/// `name{label=value,…} value @begin`, values in the unit that they are kept in.
class LineVisitor final : public Visitor {
 public:
  using Visitor::Add;
  void Begin(const Family& family) override { family_ = &family; }
  void Add(const Labels& labels, const Number& value, BootTime begin) override {
    lines[std::string(family_->name)].push_back(Line(labels, "", begin, ValueText(value)));
  }
  void AddZones(const Labels& labels, std::span<const ZoneLabel> zones, const Cells& cells, BootTime begin) override {
    const auto add = [&](auto row) {
      for (const ZoneLabel& zone : zones) AddCell(labels, zone, ValueText(row[zone.index]), begin);
    };
    std::visit(add, cells);
  }
  [[nodiscard]] uint64_t samples() const {
    uint64_t all = 0;
    for (const auto& [name, of_family] : lines) all += of_family.size();
    return all;
  }

  std::map<std::string, std::vector<std::string>> lines;

 private:
  static std::string ValueText(const Number& value) {
    struct Writer {
      std::string operator()(Energy energy) const { return fmt::format("{}uJ", energy.microjoules()); }
      std::string operator()(Nanoseconds time) const { return fmt::format("{}ns", time.count()); }
      std::string operator()(uint64_t count) const { return fmt::format("{}", count); }
      std::string operator()(double real) const { return fmt::format("{}", real); }
    };
    return std::visit(Writer{}, value);
  }
  void AddCell(const Labels& labels, const ZoneLabel& zone, const std::string& value, BootTime begin) {
    lines[std::string(family_->name)].push_back(Line(labels, zone.name, begin, value));
  }
  std::string Line(const Labels& labels, std::string_view zone, BootTime begin, const std::string& value) const {
    std::string text;
    auto next = labels.values.begin();
    for (const std::string_view name : family_->labels) {
      if (name == "node_name") continue;
      const bool is_zone = next == labels.values.end();
      text += fmt::format("{}={} ", name, is_zone ? zone : *next);
      if (!is_zone) ++next;
    }
    if (labels.further != nullptr)
      for (const auto& [name, label] : *labels.further) text += fmt::format("{}={} ", name, label);
    return fmt::format("{}{} @{}", text, value,
                       std::chrono::duration_cast<std::chrono::seconds>(begin.time_since_epoch()).count());
  }

  const Family* family_ = nullptr;
};

}  // namespace kepler::series
