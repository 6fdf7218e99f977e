// The opcodes of a pickle. Source: Lib/pickletools.py of CPython.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "lab/pickle/names.h"
#include "lab/pickle/nodes.h"

namespace kepler::lab::pickle {
namespace {

using Kind = Node::Kind;

constexpr size_t kMaxPickles = 4;  // in each other: joblib writes an array of objects as a pickle in the pickle
constexpr uint8_t kProtocol = 0x80;
constexpr uint8_t kMaxProtocol = 5;
constexpr uint8_t kStop = '.';
constexpr size_t kSinceMark = 0;

bool IsKnownName(std::string_view name) {
  if (name.starts_with(kServerPackage)) name.remove_prefix(kServerPackage.size());
  return !name.contains(' ') && kNames.contains(fmt::format(" {} ", name));
}

class Machine {
 public:
  explicit Machine(Source& source) : source_(source) {}

  Result<Id> Run() {
    KEPLER_TRY(const uint64_t first, source_.TakeNumber(1));
    KEPLER_TRY(const uint64_t version, source_.TakeNumber(1));
    if (first != kProtocol || version < 2 || version > kMaxProtocol)
      return source_.Refuse("not a Python pickle of protocol 2 to 5 without compression");
    while (true) {
      KEPLER_TRY(const uint64_t code, source_.TakeNumber(1));
      if (code == kStop) break;
      const Operation* const end = std::end(kOperations);
      const Operation* const found = std::find_if(std::begin(kOperations), end, [&](const Operation& each) {
        return each.codes.contains(static_cast<char>(code));
      });
      if (found == end) return source_.Refuse(fmt::format("opcode {:#04x} is not supported", code));
      KEPLER_CHECK_OK((this->*found->run)(found->argument));
    }
    KEPLER_TRY(const auto result, Pop(1));
    return result[0];
  }

 private:
  struct Operation {
    std::string_view codes;
    Status (Machine::*run)(size_t);
    size_t argument;  // its meaning depends on `run`: often the bytes of a number or of a length
  };
  static const Operation kOperations[33];

  Status Push(Node node) {
    KEPLER_TRY(const Id id, source_.Add(std::move(node)));
    stack_.push_back(id);
    return {};
  }

  /// Removes the last `count` values, none before the last mark; kSinceMark: all since the last mark, and the mark.
  Result<std::vector<Id>> Pop(size_t count) {
    const size_t mark = marks_.empty() ? 0 : marks_.back();
    if (count == kSinceMark ? marks_.empty() : stack_.size() - mark < count)
      return source_.Refuse("a value is missing");
    if (count == kSinceMark) {
      count = stack_.size() - mark;
      marks_.pop_back();
    }
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<Id> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    return values;
  }

  Status None(size_t) { return Push({}); }
  Status Bool(size_t value) { return Push({.kind = Kind::kNumber, .number = static_cast<double>(value)}); }
  Status Empty(size_t kind) { return Push({.kind = static_cast<Kind>(kind)}); }
  Status Unsigned(size_t bytes) {
    KEPLER_TRY(const std::string_view digits, source_.Take(bytes));
    return Push({.kind = Kind::kNumber, .number = NumberOf(digits, false)});
  }
  Status Signed(size_t bytes) {
    KEPLER_TRY(const std::string_view digits, source_.Take(bytes));
    return Push({.kind = Kind::kNumber, .number = NumberOf(digits, true)});
  }
  Status Long(size_t bytes) {
    KEPLER_TRY(const uint64_t length, source_.TakeNumber(bytes));
    return Signed(length);
  }
  /// Big endian.
  Status Float(size_t bytes) {
    KEPLER_TRY(const uint64_t bits, source_.TakeNumber(bytes));
    return Push({.kind = Kind::kNumber, .number = std::bit_cast<double>(std::byteswap(bits))});
  }
  Status Text(size_t bytes) {
    KEPLER_TRY(const uint64_t length, source_.TakeNumber(bytes));
    KEPLER_TRY(const std::string_view text, source_.Take(length));
    return Push({.kind = Kind::kText, .text = std::string(text)});
  }
  Status Skip(size_t bytes) {
    KEPLER_TRY([[maybe_unused]] const std::string_view skipped, source_.Take(bytes));
    return {};
  }

  Status Mark(size_t) {
    marks_.push_back(stack_.size());
    return {};
  }
  Status Tuple(size_t count) {
    KEPLER_TRY(auto items, Pop(count));
    return Push({.kind = Kind::kList, .items = std::move(items)});
  }
  Status Append(size_t count) { return Extend(Kind::kList, count); }
  Status SetItems(size_t count) { return Extend(Kind::kDict, count); }
  /// Adds values to the list or dict before them.
  Status Extend(Kind kind, size_t count) {
    KEPLER_TRY(const auto items, Pop(count));
    if (kind == Kind::kDict && items.size() % 2 != 0) return source_.Refuse("a key without a value");
    if (stack_.empty() || source_[stack_.back()].kind != kind)
      return source_.Refuse("values are added to an object that is not a list or dict");
    std::vector<Id>& to = source_[stack_.back()].items;
    to.insert(to.end(), items.begin(), items.end());
    return {};
  }

  /// 0 bytes: at the next index.
  Status Put(size_t bytes) {
    uint64_t key = memo_.size();
    if (bytes != 0) {
      KEPLER_TRY(key, source_.TakeNumber(bytes));
    }
    if (stack_.empty()) return source_.Refuse("a value is missing");
    memo_[key] = stack_.back();
    return {};
  }
  Status Get(size_t bytes) {
    KEPLER_TRY(const uint64_t key, source_.TakeNumber(bytes));
    const auto found = memo_.find(key);
    if (found == memo_.end()) return source_.Refuse(fmt::format("value {} was not stored", key));
    stack_.push_back(found->second);
    return {};
  }

  Status Name(std::string name) {
    if (!IsKnownName(name))
      return source_.Refuse(fmt::format("it refers to '{}', which no supported model of scikit-learn contains; nothing "
                                        "was executed",
                                        EscapeControls(std::string_view(name).substr(0, 120))),
                            ErrorKind::kUnavailable);
    return Push({.kind = Kind::kName, .text = std::move(name)});
  }
  Status NameOfLines(size_t) {
    KEPLER_TRY(const std::string_view module, source_.TakeLine());
    KEPLER_TRY(const std::string_view name, source_.TakeLine());
    return Name(fmt::format("{}.{}", module, name));
  }
  Status NameOfTexts(size_t) {
    KEPLER_TRY(const auto parts, Pop(2));
    return Name(fmt::format("{}.{}", source_[parts[0]].text, source_[parts[1]].text));
  }

  /// A call of a class or function. It is not made: the result has its name and the arguments.
  Status Call(size_t) {
    KEPLER_TRY(const auto parts, Pop(2));
    if (source_[parts[0]].kind != Kind::kName || source_[parts[1]].kind != Kind::kList)
      return source_.Refuse("a call of something else than a class or function");
    KEPLER_CHECK_OK(Push({.kind = Kind::kObject, .text = std::string(source_[parts[0]].text), .items = {parts[1]}}));
    return Decode(source_, stack_.back());
  }
  Status Build(size_t) {
    KEPLER_TRY(const auto parts, Pop(2));
    Node& object = source_[parts[0]];
    if (object.kind != Kind::kObject || object.items.size() != 1)
      return source_.Refuse("a state for something else than a new object");
    object.items.push_back(parts[1]);
    stack_.push_back(parts[0]);
    return Decode(source_, parts[0]);
  }

  Source& source_;
  std::vector<Id> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Id> memo_;
};

const Machine::Operation Machine::kOperations[] = {
    {"N", &Machine::None, 0},
    {"\x88", &Machine::Bool, 1},
    {"\x89", &Machine::Bool, 0},
    {"K", &Machine::Unsigned, 1},
    {"M", &Machine::Unsigned, 2},
    {"J", &Machine::Signed, 4},
    {"\x8a", &Machine::Long, 1},
    {"\x8b", &Machine::Long, 4},
    {"G", &Machine::Float, 8},
    {"\x8c\x43", &Machine::Text, 1},
    {"XB", &Machine::Text, 4},
    {"\x8d\x8e\x96", &Machine::Text, 8},
    {"\x95", &Machine::Skip, 8},  // length of a frame
    {"(", &Machine::Mark, 0},
    {"])", &Machine::Empty, static_cast<size_t>(Kind::kList)},
    {"}", &Machine::Empty, static_cast<size_t>(Kind::kDict)},
    {"t", &Machine::Tuple, kSinceMark},
    {"\x85", &Machine::Tuple, 1},
    {"\x86", &Machine::Tuple, 2},
    {"\x87", &Machine::Tuple, 3},
    {"a", &Machine::Append, 1},
    {"e", &Machine::Append, kSinceMark},
    {"s", &Machine::SetItems, 2},
    {"u", &Machine::SetItems, kSinceMark},
    {"\x94", &Machine::Put, 0},
    {"q", &Machine::Put, 1},
    {"r", &Machine::Put, 4},
    {"h", &Machine::Get, 1},
    {"j", &Machine::Get, 4},
    {"c", &Machine::NameOfLines, 0},
    {"\x93", &Machine::NameOfTexts, 0},
    {"R\x81", &Machine::Call, 0},
    {"b", &Machine::Build, 0},
};

}  // namespace

double NumberOf(std::string_view digits, bool is_signed) {
  double number = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    const bool has_sign = is_signed && i + 1 == digits.size();
    number = number * 256 + (has_sign ? static_cast<int8_t>(digits[i]) : static_cast<uint8_t>(digits[i]));
  }
  return number;
}

Result<Id> ReadOne(Source& source) {
  if (source.depth == kMaxPickles) return source.Refuse(fmt::format("more than {} pickles in each other", kMaxPickles));
  ++source.depth;
  auto result = Machine(source).Run();
  --source.depth;
  return result;
}

}  // namespace kepler::lab::pickle
