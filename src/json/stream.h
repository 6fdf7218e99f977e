#pragma once
// JSON read as its bytes come, without a tree: the text may be larger than memory. Pure; one thread. 32 levels at most.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace kepler::json {

/// Receives the parts of a JSON text in their order. An error ends the reading; the stream adds the byte to it.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual Status BeginObject() = 0;
  virtual Status EndObject() = 0;
  virtual Status BeginList() = 0;
  virtual Status EndList() = 0;
  virtual Status Key(std::string_view key) = 0;
  virtual Status Text(std::string_view text) = 0;
  /// `rough` may differ from the number in the last bit; `text` is the number as it stands in the JSON text.
  virtual Status Number(double rough, std::string_view text) = 0;
  /// true, false, or nothing for null.
  virtual Status Literal(std::optional<bool> value) = 0;
};

class Stream {
 public:
  enum class LongKeys : uint8_t { kRefused, kCut };

  /// `visitor` must outlive the stream. Texts are cut after `max_text` bytes. A longer key is kMalformed, or cut too.
  explicit Stream(Visitor& visitor, size_t max_text = SIZE_MAX, LongKeys long_keys = LongKeys::kRefused);
  ~Stream();
  /// kMalformed, with the byte, for what is not JSON; else the error of the visitor. No call may follow an error.
  [[nodiscard]] Status Read(std::string_view piece);
  /// Reads one of several JSON texts that follow each other, at most to its end, where the next call begins another,
  /// whose bytes are counted from 0 again.
  /// Returns the number of bytes read. Not to be mixed with Read() and Finish().
  [[nodiscard]] Result<size_t> ReadOne(std::string_view piece);
  /// True at the end of a text.
  [[nodiscard]] bool AtEnd() const;
  /// To call once, after the last piece.
  [[nodiscard]] Status Finish();

 private:
  class Impl;  // keeps the JSON library out of here
  std::unique_ptr<Impl> impl_;
};

/// What a text contains that does not begin like JSON, with a remedy: "HTML, not JSON; ...". Empty if it may be JSON.
[[nodiscard]] std::string_view WhatInPlaceOfJson(std::string_view text);

}  // namespace kepler::json
