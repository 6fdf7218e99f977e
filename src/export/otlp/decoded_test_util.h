#pragma once
// Reads OTLP requests without the library that writes them: fields of the wire
// format, and the data points as lines.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::otlp {

/// One message in the wire format of protobuf. Throws for bytes that are not.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t tag = Varint(bytes);
      Field field{.number = static_cast<uint32_t>(tag >> 3)};
      switch (tag & 7) {
        case 0:
          field.number64 = Varint(bytes);
          break;
        case 1:
          std::memcpy(&field.number64, Take(bytes, 8).data(), 8);
          break;
        case 2:
          field.bytes = Take(bytes, Varint(bytes));
          break;
        default:
          throw std::runtime_error("unknown wire type");
      }
      fields_.push_back(field);
    }
  }

  [[nodiscard]] std::vector<WireMessage> All(uint32_t number) const {
    std::vector<WireMessage> all;
    for (const Field& field : fields_)
      if (field.number == number) all.emplace_back(field.bytes);
    return all;
  }
  [[nodiscard]] bool Has(uint32_t number) const { return Find(number) != nullptr; }
  [[nodiscard]] WireMessage One(uint32_t number) const { return All(number).at(0); }
  [[nodiscard]] std::string Text(uint32_t number) const {
    const Field* const field = Find(number);
    return field == nullptr ? "" : std::string(field->bytes);
  }
  [[nodiscard]] uint64_t Number(uint32_t number) const {
    const Field* const field = Find(number);
    return field == nullptr ? 0 : field->number64;
  }

 private:
  struct Field {
    uint32_t number = 0;
    uint64_t number64 = 0;
    std::string_view bytes{};
  };
  static std::string_view Take(std::string_view& bytes, uint64_t count) {
    if (count > bytes.size()) throw std::runtime_error("cut");
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
  }
  static uint64_t Varint(std::string_view& bytes) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(Take(bytes, 1)[0]);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  [[nodiscard]] const Field* Find(uint32_t number) const {
    const auto found = std::ranges::find(fields_, number, &Field::number);
    return found == fields_.end() ? nullptr : &*found;
  }
  std::vector<Field> fields_;
};

/// "key=value key=value" of the repeated KeyValue `field`.
inline std::string AttributesOf(const WireMessage& message, uint32_t field) {
  std::string text;
  for (const WireMessage& pair : message.All(field))
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", pair.Text(1), pair.One(2).Text(1));
  return text;
}

/// The data points of a request, one per line: "name[unit] sum|gauge
/// {attributes} value start..time".
inline std::vector<std::string> LinesOf(std::string_view request) {
  std::vector<std::string> lines;
  const auto add = [&](const WireMessage& metric) {
    const bool is_sum = metric.Has(7);
    const WireMessage data = metric.One(is_sum ? 7 : 5);
    if (is_sum && (data.Number(2) != 2 || data.Number(3) != 1)) throw std::runtime_error("no cumulative counter");
    for (const WireMessage& point : data.All(1)) {
      const std::string value = point.Has(6) ? fmt::format("{}", static_cast<int64_t>(point.Number(6)))
                                             : fmt::format("{}", std::bit_cast<double>(point.Number(4)));
      lines.push_back(fmt::format("{}[{}] {} {{{}}} {} {}..{}", metric.Text(1), metric.Text(3),
                                  is_sum ? "sum" : "gauge", AttributesOf(point, 7), value, point.Number(2),
                                  point.Number(3)));
    }
  };
  for (const WireMessage& resource : WireMessage(request).All(1))
    for (const WireMessage& scope : resource.All(2))
      for (const WireMessage& metric : scope.All(2)) add(metric);
  return lines;
}

}  // namespace kepler::otlp
