#pragma once
// Protobuf fields with a length, written into memory of a known size: for the many labels of each format that uses
// protobuf. Numbers of fields are below 16. Source: protobuf.dev/programming-guides/encoding. Users link protozero.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/varint.hpp>

namespace kepler::series {

/// Tag of a field with a length.
[[nodiscard]] constexpr char TextTag(uint32_t field) { return static_cast<char>(field << 3 | 2); }

/// Bytes of a field with `content` bytes of content.
[[nodiscard]] inline size_t FieldSize(size_t content) {
  return 1 + static_cast<size_t>(protozero::length_of_varint(content)) + content;
}

/// Bytes of the content of a pair: the message {1: name, 2: value}.
[[nodiscard]] inline size_t PairSize(std::string_view name, std::string_view value) {
  return FieldSize(name.size()) + FieldSize(value.size());
}

// Each Put function writes at `at` and returns the end of what it wrote.

inline char* PutBytes(char* at, std::string_view bytes) {
  return at + bytes.copy(at, bytes.size());  // memcpy() refuses the null pointer of an empty view
}

inline char* PutVarint(char* at, uint64_t value) { return at + protozero::add_varint_to_buffer(at, value); }

/// Puts the tag and the length of a field.
inline char* PutHead(char* at, uint32_t field, size_t content) {
  *at++ = TextTag(field);
  return PutVarint(at, content);
}

inline char* PutField(char* at, uint32_t field, std::string_view content) {
  return PutBytes(PutHead(at, field, content.size()), content);
}

/// Puts a field with a pair: a label of remote write and of the exposition format.
inline char* PutPair(char* at, uint32_t field, std::string_view name, std::string_view value) {
  return PutField(PutField(PutHead(at, field, PairSize(name, value)), 1, name), 2, value);
}

/// Appends `size` bytes that put(at) writes.
template <class Put>
void AppendBytes(std::string& out, size_t size, const Put& put) {
  const size_t before = out.size();
  out.resize_and_overwrite(before + size, [&](char* text, size_t /*capacity: libstdc++ 12*/) {
    put(text + before);
    return before + size;
  });
}

inline void AppendPair(std::string& out, uint32_t field, std::string_view name, std::string_view value) {
  AppendBytes(out, FieldSize(PairSize(name, value)), [&](char* at) { PutPair(at, field, name, value); });
}

}  // namespace kepler::series
