// Values of numpy in a pickle: bytes, numbers and arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "lab/pickle/names.h"
#include "lab/pickle/nodes.h"

namespace kepler::lab::pickle {
namespace {

using Kind = Node::Kind;

struct Field {
  std::string name = {};  // empty: the whole value
  char kind = 'f';        // f, i, u, b, O: as numpy has them
  size_t bytes = 8;
  size_t offset = 0;
};

struct Dtype {
  std::vector<Field> fields;
  size_t bytes = 8;  // of one value
};

struct Shape {
  std::vector<size_t> sizes;
  bool is_fortran = false;
};

std::optional<size_t> CountOf(const Node* node) {
  if (node == nullptr || node->kind != Kind::kNumber || !(node->number >= 0 && node->number <= 1e9))
    return std::nullopt;
  return static_cast<size_t>(node->number);
}

/// A plain type: "f8", in the byte order of this machine.
std::optional<Field> PlainField(const Source& source, const Node* dtype) {
  if (dtype == nullptr || dtype->kind != Kind::kObject || dtype->text != kDtype) return std::nullopt;
  const Node* const name = source.Item(source[dtype->items[0]], 0);
  if (name == nullptr || name->kind != Kind::kText || name->text.size() < 2) return std::nullopt;
  const Node* const order = dtype->items.size() < 2 ? nullptr : source.Item(source[dtype->items[1]], 1);
  if (order != nullptr && order->text == ">") return std::nullopt;
  const auto bytes = ParseNumber<size_t>(std::string_view(name->text).substr(1));
  if (!bytes || *bytes == 0 || *bytes > 4096) return std::nullopt;
  return Field{.kind = name->text[0], .bytes = *bytes};
}

bool IsNumber(const Field& field) {
  switch (field.kind) {
    case 'f':
      return field.bytes == 4 || field.bytes == 8;
    case 'i':
    case 'u':
      return field.bytes <= 8 && (field.bytes & (field.bytes - 1)) == 0;
    default:
      return field.kind == 'b' && field.bytes == 1;
  }
}

/// Nothing for types other than numbers, and named fields of numbers, and objects.
std::optional<Dtype> DtypeOf(const Source& source, const Node* node) {
  const auto plain = PlainField(source, node);
  if (!plain) return std::nullopt;
  if (plain->kind != 'V') {
    if (plain->kind != 'O' && !IsNumber(*plain)) return std::nullopt;
    return Dtype{.fields = {*plain}, .bytes = plain->bytes};
  }
  if (node->items.size() < 2) return std::nullopt;
  const Node& state = source[node->items[1]];
  const Node* const names = source.Item(state, 3);
  const Node* const places = source.Item(state, 4);
  if (names == nullptr || places == nullptr) return std::nullopt;
  Dtype dtype{.fields = {}, .bytes = plain->bytes};
  for (const Id id : names->items) {
    const Node* const place = source.Find(*places, source[id].text);
    if (place == nullptr) return std::nullopt;
    auto field = PlainField(source, source.Item(*place, 0));
    const auto offset = CountOf(source.Item(*place, 1));
    if (!field || !IsNumber(*field) || !offset || *offset + field->bytes > dtype.bytes) return std::nullopt;
    field->name = source[id].text;
    field->offset = *offset;
    dtype.fields.push_back(*std::move(field));
  }
  return dtype;
}

std::optional<Shape> ShapeOf(const Source& source, const Node* list, bool is_fortran) {
  if (list == nullptr || list->kind != Kind::kList || (is_fortran && list->items.size() > 2)) return std::nullopt;
  Shape shape{.sizes = {}, .is_fortran = is_fortran && list->items.size() == 2};
  for (size_t i = 0; i < list->items.size(); ++i) {
    const auto size = CountOf(source.Item(*list, i));
    if (!size) return std::nullopt;
    shape.sizes.push_back(*size);
  }
  return shape;
}

/// Bytes of all values; nothing above a gigabyte.
std::optional<size_t> BytesOf(const Shape& shape, size_t bytes) {
  for (const size_t size : shape.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > size_t{1} << 30) return std::nullopt;
  return bytes;
}

template <class T>
double As(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

double NumberAt(const Field& field, const char* bytes) {
  if (field.kind == 'f') return field.bytes == 4 ? As<float>(bytes) : As<double>(bytes);
  const bool is_signed = field.kind == 'i';
  switch (field.bytes) {
    case 1:
      return is_signed ? As<int8_t>(bytes) : As<uint8_t>(bytes);
    case 2:
      return is_signed ? As<int16_t>(bytes) : As<uint16_t>(bytes);
    case 4:
      return is_signed ? As<int32_t>(bytes) : As<uint32_t>(bytes);
    default:
      return is_signed ? As<int64_t>(bytes) : As<uint64_t>(bytes);
  }
}

std::vector<double> Column(const Field& field, const Dtype& dtype, const Shape& shape, std::string_view bytes) {
  const size_t count = bytes.size() / dtype.bytes;
  const size_t columns = shape.is_fortran ? shape.sizes[1] : 1;
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = shape.is_fortran ? i % columns * shape.sizes[0] + i / columns : i;
    numbers[i] = NumberAt(field, bytes.data() + from * dtype.bytes + field.offset);
  }
  return numbers;
}

/// Makes `id` the array of `bytes`.
Status SetArray(Source& source, Id id, const Dtype& dtype, const Shape& shape, std::string_view bytes) {
  if (BytesOf(shape, dtype.bytes) != bytes.size() || dtype.fields.empty() || dtype.fields[0].kind == 'O')
    return source.Refuse("an array whose bytes do not fit its shape and type");
  if (dtype.fields[0].name.empty()) {
    source[id] = {.kind = Kind::kNumbers, .numbers = Column(dtype.fields[0], dtype, shape, bytes)};
    return {};
  }
  Node columns{.kind = Kind::kDict};
  for (const Field& field : dtype.fields) {
    KEPLER_TRY(const Id key, source.Add({.kind = Kind::kText, .text = field.name}));
    KEPLER_TRY(const Id column, source.Add({.kind = Kind::kNumbers, .numbers = Column(field, dtype, shape, bytes)}));
    columns.items.insert(columns.items.end(), {key, column});
  }
  source[id] = std::move(columns);
  return {};
}

/// Makes `id` the array, or the number if `shape` is null, that these parts of an object describe.
Status SetFromText(Source& source, Id id, const Node* dtype_of, const Node* shape_of, bool is_fortran,
                   const Node* bytes) {
  const auto dtype = DtypeOf(source, dtype_of);
  const auto shape = shape_of == nullptr ? Shape() : ShapeOf(source, shape_of, is_fortran);
  if (!dtype || !shape || bytes == nullptr) return source.Refuse("an array of an unsupported type or shape");
  if (bytes->kind == Kind::kList && dtype->fields[0].kind == 'O') {
    const Node list = *bytes;
    source[id] = list;
    return {};
  }
  const std::string copy = bytes->text;  // its place may move
  KEPLER_CHECK_OK(SetArray(source, id, *dtype, *shape, copy));
  if (shape_of == nullptr && source[id].kind == Kind::kNumbers)
    source[id] = {.kind = Kind::kNumber, .number = source[id].numbers[0]};
  return {};
}

/// joblib writes the values of an array behind the object that describes it.
Status ReadJoblibArray(Source& source, Id id) {
  const Node state = source[source[id].items[1]];
  const Node* const order = source.Find(state, "order");
  const auto dtype = DtypeOf(source, source.Find(state, "dtype"));
  const auto shape = ShapeOf(source, source.Find(state, "shape"), order != nullptr && order->text == "F");
  if (!dtype || !shape || dtype->fields.empty()) return source.Refuse("an array of an unsupported type or shape");
  if (dtype->fields[0].kind == 'O') {
    KEPLER_TRY(const Id objects, ReadOne(source));
    const Node list = source[objects];
    source[id] = list;
    return {};
  }
  if (CountOf(source.Find(state, "numpy_array_alignment_bytes")).value_or(0) != 0) {
    KEPLER_TRY(const uint64_t padding, source.TakeNumber(1));
    KEPLER_TRY([[maybe_unused]] const std::string_view skipped, source.Take(padding));
  }
  const auto size = BytesOf(*shape, dtype->bytes);
  if (!size) return source.Refuse("an array of more than 1 GiB");
  KEPLER_TRY(const std::string_view bytes, source.Take(*size));
  return SetArray(source, id, *dtype, *shape, bytes);
}

/// Bytes as protocol 2 writes them: one character of a text per byte.
Status SetBytes(Source& source, Id id, const Node* text) {
  if (text == nullptr || text->kind != Kind::kText || !IsValidUtf8(text->text))
    return source.Refuse("bytes without a text");
  std::string bytes;
  for (std::string_view rest = text->text; !rest.empty();) {
    const Character character = FirstCharacter(rest);
    if (character.code > 0xff) return source.Refuse("a text that is not Latin-1");
    bytes += static_cast<char>(character.code);
    rest.remove_prefix(character.bytes);
  }
  source[id] = {.kind = Kind::kText, .text = std::move(bytes)};
  return {};
}

}  // namespace

Status Decode(Source& source, Id object) {
  const std::string_view name = source[object].text;
  const Node& arguments = source[source[object].items[0]];
  const auto argument = [&](size_t i) { return source.Item(arguments, i); };
  if (source[object].items.size() == 1) {
    if (name == kEncode) return SetBytes(source, object, argument(0));
    if (name.ends_with(kScalar)) return SetFromText(source, object, argument(0), nullptr, false, argument(1));
    if (!name.ends_with(kFromBuffer)) return {};
    const Node* const order = argument(3);
    return SetFromText(source, object, argument(1), argument(2), order != nullptr && order->text == "F", argument(0));
  }
  if (name == kJoblibArray) return ReadJoblibArray(source, object);
  if (!name.ends_with(kReconstruct)) return {};
  const Node& state = source[source[object].items[1]];
  const Node* const fortran = source.Item(state, 3);
  return SetFromText(source, object, source.Item(state, 2), source.Item(state, 1),
                     fortran != nullptr && fortran->number != 0, source.Item(state, 4));
}

}  // namespace kepler::lab::pickle
