// Values of numpy in a pickle: bytes, numbers and arrays.
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "lab/pickle/names.h"
#include "lab/pickle/nodes.h"

namespace kepler::lab::pickle {
namespace {

using Kind = Node::Kind;

constexpr size_t kMaxArrayBytes = size_t{1} << 30;
constexpr size_t kMaxFields = 64;  // scikit-learn's trees have 8

struct Field {
  std::string name = {};  // empty: the whole value
  char kind = 'f';        // f, i, u, b: numbers; V: named fields; O: objects
  size_t bytes = 8;
  size_t offset = 0;
};

/// The type and shape of an array.
struct Layout {
  std::vector<Field> fields;
  size_t bytes = 8;  // of one value
  size_t rows = 1;   // of two dimensions, in the order of Fortran
  size_t columns = 1;
  size_t all_bytes = 8;
};

std::optional<size_t> CountOf(const Node* node) {
  if (node == nullptr || node->kind != Kind::kNumber || !(node->number >= 0 && node->number <= 1e9))
    return std::nullopt;
  return static_cast<size_t>(node->number);
}

/// A type without its named fields: "f8", in the byte order of this machine.
std::optional<Field> FieldOf(const Source& source, const Node* dtype) {
  if (dtype == nullptr || dtype->kind != Kind::kObject || dtype->text != kDtype) return std::nullopt;
  const Node* const name = source.Item(source[dtype->items[0]], 0);
  const Node* const order = dtype->items.size() < 2 ? nullptr : source.Item(source[dtype->items[1]], 1);
  if (name == nullptr || name->text.empty() || (order != nullptr && order->text == ">")) return std::nullopt;
  const auto bytes = ParseNumber<size_t>(std::string_view(name->text).substr(1));
  const char kind = name->text[0];
  const bool is_valid = kind == 'f'   ? bytes == 4 || bytes == 8
                        : kind == 'b' ? bytes == 1
                        : kind == 'i' || kind == 'u'
                            ? bytes.value_or(9) <= 8 && std::has_single_bit(*bytes)
                            : (kind == 'V' || kind == 'O') && bytes.value_or(0) != 0 && bytes <= 4096;
  if (!is_valid) return std::nullopt;
  return Field{.kind = kind, .bytes = *bytes};
}

std::optional<std::vector<Field>> NamedFields(const Source& source, const Node& dtype, size_t all_bytes) {
  if (dtype.items.size() < 2) return std::nullopt;
  const Node* const names = source.Item(source[dtype.items[1]], 3);
  const Node* const places = source.Item(source[dtype.items[1]], 4);
  if (names == nullptr || places == nullptr || names->items.empty() || names->items.size() > kMaxFields)
    return std::nullopt;
  std::vector<Field> fields;
  for (const Id id : names->items) {
    const Node* const place = source.Find(*places, source[id].text);
    auto field = place == nullptr ? std::nullopt : FieldOf(source, source.Item(*place, 0));
    const auto offset = place == nullptr ? std::nullopt : CountOf(source.Item(*place, 1));
    if (!field || !offset || field->kind == 'V' || field->kind == 'O' || *offset + field->bytes > all_bytes)
      return std::nullopt;
    fields.push_back({.name = source[id].text, .kind = field->kind, .bytes = field->bytes, .offset = *offset});
  }
  return fields;
}

/// Nothing for other types than numbers, objects and named fields of numbers, for Fortran's order of more than two
/// dimensions, and for more than kMaxArrayBytes. Without `shape`: of one number.
std::optional<Layout> LayoutOf(const Source& source, const Node* dtype, const Node* shape, bool is_fortran) {
  const auto whole = FieldOf(source, dtype);
  if (!whole) return std::nullopt;
  Layout layout{.fields = {*whole}, .bytes = whole->bytes, .all_bytes = whole->bytes};
  if (whole->kind == 'V') {
    auto fields = NamedFields(source, *dtype, whole->bytes);
    if (!fields) return std::nullopt;
    layout.fields = *std::move(fields);
  }
  if (shape == nullptr) return layout;
  if (shape->kind != Kind::kList || (is_fortran && shape->items.size() > 2)) return std::nullopt;
  for (size_t i = 0; i < shape->items.size(); ++i) {
    const auto size = CountOf(source.Item(*shape, i));
    if (!size || __builtin_mul_overflow(layout.all_bytes, *size, &layout.all_bytes) ||
        layout.all_bytes > kMaxArrayBytes)
      return std::nullopt;
    if (is_fortran && shape->items.size() == 2) (i == 0 ? layout.rows : layout.columns) = *size;
  }
  return layout;
}

double NumberAt(const Field& field, std::string_view bytes) {
  bytes = bytes.substr(field.offset, field.bytes);
  if (field.kind != 'f') return NumberOf(bytes, field.kind == 'i');
  float single = 0;
  double number = 0;
  std::memcpy(field.bytes == 4 ? static_cast<void*>(&single) : &number, bytes.data(), field.bytes);
  return field.bytes == 4 ? static_cast<double>(single) : number;
}

Node ColumnOf(const Field& field, const Layout& layout, std::string_view bytes) {
  Node column{.kind = Kind::kNumbers};
  const size_t count = bytes.size() / layout.bytes;
  for (size_t i = 0; i < count; ++i) {
    const size_t from = layout.rows == 1 ? i : i % layout.columns * layout.rows + i / layout.columns;
    column.numbers.push_back(NumberAt(field, bytes.substr(from * layout.bytes, layout.bytes)));
  }
  return column;
}

/// Makes `id` the array of `bytes`.
Status SetArray(Source& source, Id id, const Layout& layout, std::string_view bytes) {
  if (layout.all_bytes != bytes.size() || layout.fields[0].kind == 'O')
    return source.Refuse("an array whose bytes do not fit its shape and type");
  if (layout.fields[0].name.empty()) return source.Set(id, ColumnOf(layout.fields[0], layout, bytes));
  Node columns{.kind = Kind::kDict};
  for (const Field& field : layout.fields) {
    KEPLER_TRY(const Id key, source.Add({.kind = Kind::kText, .text = field.name}));
    KEPLER_TRY(const Id column, source.Add(ColumnOf(field, layout, bytes)));
    columns.items.insert(columns.items.end(), {key, column});
  }
  return source.Set(id, std::move(columns));
}

/// Makes `id` the array, or the number if `shape` is null, that these parts of an object describe.
Status SetValue(Source& source, Id id, const Node* dtype, const Node* shape, const Node* fortran, const Node* values) {
  const bool is_fortran = fortran != nullptr && (fortran->number != 0 || fortran->text == "F");
  const auto layout = LayoutOf(source, dtype, shape, is_fortran);
  if (!layout || values == nullptr) return source.Refuse("an array of an unsupported type, shape or size");
  const Node copy = *values;  // its place may move
  if (copy.kind == Kind::kList && layout->fields[0].kind == 'O') return source.Set(id, copy);
  KEPLER_CHECK_OK(SetArray(source, id, *layout, copy.text));
  if (shape == nullptr && source[id].kind == Kind::kNumbers)
    source[id] = {.kind = Kind::kNumber, .number = source[id].numbers[0]};
  return {};
}

/// joblib writes the values of an array behind the object that describes it.
Status ReadJoblibArray(Source& source, Id id) {
  const Node state = source[source[id].items[1]];
  const Node* const order = source.Find(state, "order");
  const auto layout = LayoutOf(source, source.Find(state, "dtype"), source.Find(state, "shape"),
                               order != nullptr && order->text == "F");
  if (!layout || source.Find(state, "shape") == nullptr)
    return source.Refuse("an array of an unsupported type, shape or size");
  if (layout->fields[0].kind == 'O') {
    KEPLER_TRY(const Id objects, ReadOne(source));
    return source.Set(id, source[objects]);
  }
  if (CountOf(source.Find(state, "numpy_array_alignment_bytes")).value_or(0) != 0) {
    KEPLER_TRY(const uint64_t padding, source.TakeNumber(1));
    KEPLER_TRY([[maybe_unused]] const std::string_view skipped, source.Take(padding));
  }
  KEPLER_TRY(const std::string_view bytes, source.Take(layout->all_bytes));
  return SetArray(source, id, *layout, bytes);
}

/// Decodes bytes as protocol 2 stores them: as a text with one character per byte.
Status SetBytes(Source& source, Id id, const Node* text) {
  if (text == nullptr || !IsValidUtf8(text->text)) return source.Refuse("bytes without a text");
  std::string bytes;
  for (std::string_view rest = text->text; !rest.empty();) {
    const Character character = FirstCharacter(rest);
    if (character.code > 0xff) return source.Refuse("a text that is not Latin-1");
    bytes += static_cast<char>(character.code);
    rest.remove_prefix(character.bytes);
  }
  return source.Set(id, {.kind = Kind::kText, .text = std::move(bytes)});
}

}  // namespace

Status Decode(Source& source, Id object) {
  const std::string name = source[object].text;
  const bool has_state = source[object].items.size() > 1;
  const auto part = [&](size_t i) { return source.Item(source[source[object].items[has_state ? 1 : 0]], i); };
  if (has_state && name == kJoblibArray) return ReadJoblibArray(source, object);
  if (has_state && name.ends_with(kReconstruct)) return SetValue(source, object, part(2), part(1), part(3), part(4));
  if (has_state) return {};
  if (name == kEncode) return SetBytes(source, object, part(0));
  if (name.ends_with(kScalar)) return SetValue(source, object, part(0), nullptr, nullptr, part(1));
  if (name.ends_with(kFromBuffer)) return SetValue(source, object, part(1), part(2), part(3), part(0));
  return {};
}

}  // namespace kepler::lab::pickle
