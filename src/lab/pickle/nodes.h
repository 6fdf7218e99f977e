#pragma once
// Values of a pickle while it is read. Internal to the room.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::lab::pickle {

/// A value, as an index: several places may share it, and a list may contain itself.
using Id = uint32_t;

struct Node {
  enum class Kind : uint8_t { kNone, kNumber, kText, kList, kDict, kName, kObject, kNumbers };
  Kind kind = Kind::kNone;
  double number = 0;
  std::string text = {};       // also bytes; of kName and kObject the name of the class or function
  std::vector<Id> items = {};  // of kDict: key, value, key ...; of kObject: the arguments, and the state if it has one
  std::vector<double> numbers = {};  // of an array
};

/// The values that were read, and the bytes that follow.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] Result<std::string_view> Take(size_t count);
  [[nodiscard]] bool IsAtEnd() const { return at_ == bytes_.size(); }
  /// Up to a line end, which is skipped.
  [[nodiscard]] Result<std::string_view> TakeLine();
  /// Little endian, without a sign.
  [[nodiscard]] Result<uint64_t> TakeNumber(size_t bytes);
  [[nodiscard]] Result<Id> Add(Node node);
  /// Replaces a value.
  [[nodiscard]] Status Set(Id id, Node node);
  [[nodiscard]] Node& operator[](Id id) { return nodes_[id]; }
  [[nodiscard]] const Node& operator[](Id id) const { return nodes_[id]; }
  /// The value of a dict, or nullptr.
  [[nodiscard]] const Node* Find(const Node& dict, std::string_view key) const;
  /// Item `i` of a list, or nullptr.
  [[nodiscard]] const Node* Item(const Node& list, size_t i) const;
  /// "byte 12: reason".
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view reason, ErrorKind kind = ErrorKind::kMalformed) const;

  size_t depth = 0;  // of pickles in pickles

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  std::vector<Node> nodes_;
  size_t bytes_left_ = size_t{256} << 20;  // of the values: a call in a pickle may copy a value that others share
};

/// Little endian; with a sign in two's complement.
[[nodiscard]] double NumberOf(std::string_view digits, bool is_signed);

/// Runs the opcodes of one pickle, up to its end, and returns its value.
[[nodiscard]] Result<Id> ReadOne(Source& source);

/// Replaces an object that stands for bytes, a number or an array of numpy by that value, as soon as it is complete.
/// Arrays of joblib are read from the source. Other objects stay as they are.
[[nodiscard]] Status Decode(Source& source, Id object);

}  // namespace kepler::lab::pickle
