#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "json/stream.h"

namespace kepler::json {

/// Writes down what it meets, and refuses the text "no".
class EventRecorder final : public Visitor {
 public:
  std::string seen{};

  /// `with_rough`: write down the rough number, too.
  explicit EventRecorder(bool with_rough = true) : with_rough_(with_rough) {}

  Status BeginObject() override { return See("{"); }
  Status EndObject() override { return See("}"); }
  Status BeginList() override { return See("["); }
  Status EndList() override { return See("]"); }
  Status Key(std::string_view key) override { return See(fmt::format("key {}", key)); }
  Status Text(std::string_view text) override {
    return text == "no" ? Fail(ErrorKind::kInvalid, "not that") : See(fmt::format("text {}", text));
  }
  Status Number(double rough, std::string_view text) override {
    return See(with_rough_ ? fmt::format("number {} {}", rough, text) : fmt::format("number {}", text));
  }
  Status Literal(std::optional<bool> value) override { return See(value ? fmt::format("{}", *value) : "null"); }

 private:
  Status See(std::string_view what) {
    seen += fmt::format("{};", what);
    return {};
  }

  const bool with_rough_;
};

}  // namespace kepler::json
