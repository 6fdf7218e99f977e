#pragma once
// Reads protobuf without the library that writes it: the fields of one message in the wire format.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::testing {

/// Throws for bytes that are no message.
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
  /// The texts of a repeated field.
  [[nodiscard]] std::vector<std::string> Texts(uint32_t number) const {
    std::vector<std::string> all;
    for (const Field& field : fields_)
      if (field.number == number) all.emplace_back(field.bytes);
    return all;
  }
  [[nodiscard]] uint64_t Number(uint32_t number) const {
    const Field* const field = Find(number);
    return field == nullptr ? 0 : field->number64;
  }
  [[nodiscard]] double Double(uint32_t number) const { return std::bit_cast<double>(Number(number)); }
  /// The varints of a packed field.
  [[nodiscard]] std::vector<uint64_t> Packed(uint32_t number) const {
    std::vector<uint64_t> values;
    const Field* const field = Find(number);
    for (std::string_view bytes = field == nullptr ? "" : field->bytes; !bytes.empty();)
      values.push_back(Varint(bytes));
    return values;
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

}  // namespace kepler::testing
