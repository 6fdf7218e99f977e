#include "base/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"
#include "yaml/value.h"

namespace kepler::yaml {
namespace {

using Kind = Value::Kind;

constexpr size_t kMaxShownKey = 80;

/// Returns the number of keys and values.
size_t Count(const Value& value) {
  size_t count = 1 + value.keys.size();
  for (const Value& item : value.items) count += Count(item);
  return count;
}

size_t Depth(const Value& value) {
  size_t deepest = 0;
  for (const Value& item : value.items) deepest = std::max(deepest, Depth(item));
  return deepest + 1;
}

/// Adds the entries of `other` whose keys `map` does not have.
void AddMissing(Value& map, const Value& other) {
  for (size_t i = 0; i < other.keys.size(); ++i) {
    if (std::ranges::find(map.keys, other.keys[i].text, &Key::text) != map.keys.end()) continue;
    map.keys.push_back(other.keys[i]);
    map.items.push_back(other.items[i]);
  }
}

/// Builds the tree from the library's events. Ignores all events after the first error, because the library stops only
/// for an exception.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { begin_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (Charge(mark.line + 1, 1)) Complete({.kind = Kind::kNull, .line = mark.line + 1}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) return Fail(mark.line + 1, "this alias is inside the value that it refers to");
    if (!Charge(mark.line + 1, Count(it->second))) return;
    if (stack_.size() + Depth(it->second) > kMaxDepth) return FailDepth(mark.line + 1);
    Complete(Value(it->second), YAML::NullAnchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!Charge(mark.line + 1, 1)) return;
    // yaml-cpp 0.7 writes a single byte for the escapes \N (U+0085) and \_ (U+00A0), which is not UTF-8.
    if (!IsValidUtf8(value)) return Fail(mark.line + 1, "an escape is not valid UTF-8; write the character itself");
    const bool quoted = tag == "!" || tag.ends_with(":str");
    Complete({.kind = Kind::kScalar, .quoted = quoted, .line = mark.line + 1, .text = value}, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(Kind::kList, mark.line + 1, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(Kind::kMap, mark.line + 1, anchor);
  }
  void OnMapEnd() override { Close(); }

  [[nodiscard]] const YAML::Mark& begin() const { return begin_; }
  [[nodiscard]] const std::optional<SyntaxError>& error() const { return error_; }
  [[nodiscard]] Value TakeRoot() { return std::exchange(root_, {}); }

 private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::vector<Value> merges = {};  // values of "<<"
    bool merging = false;            // the next value belongs to "<<"
  };

  void Fail(int line, std::string message) {
    if (!error_) error_ = SyntaxError{line, std::move(message)};
  }
  void FailDepth(int line) { Fail(line, fmt::format("nested more than {} levels deep", kMaxDepth)); }

  /// Counts values before they are stored. Copies for anchors and aliases count too, which limits their number.
  bool Charge(int line, size_t count) {
    values_ += count;
    if (values_ > kMaxValues) Fail(line, fmt::format("more than {} keys and values, aliases included", kMaxValues));
    return !error_;
  }

  void Open(Kind kind, int line, YAML::anchor_t anchor) {
    if (!Charge(line, 1)) return;
    if (stack_.size() >= kMaxDepth) return FailDepth(line);
    stack_.push_back({.value = {.kind = kind, .line = line}, .anchor = anchor});
  }

  void Close() {
    if (error_) return;
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    for (const Value& merge : frame.merges) AddMissing(frame.value, merge);
    Complete(std::move(frame.value), frame.anchor);
  }

  void Complete(Value value, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      if (!Charge(value.line, Count(value))) return;
      anchors_[anchor] = value;
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = stack_.back();
    const bool is_list = frame.value.kind == Kind::kList;
    if (!is_list && frame.merging)
      AddMerge(frame, std::move(value));
    else if (!is_list && frame.value.keys.size() == frame.value.items.size())
      AddKey(frame, std::move(value));
    else
      frame.value.items.push_back(std::move(value));
  }

  void AddKey(Frame& frame, Value key) {
    if (key.kind != Kind::kScalar) return Fail(key.line, "a key must be plain text");
    if (key.text == "<<" && !key.quoted) {
      frame.merging = true;
      return;
    }
    const auto same = std::ranges::find(frame.value.keys, key.text, &Key::text);
    if (same != frame.value.keys.end())
      return Fail(key.line, fmt::format("key {} is given twice, first in line {}",
                                        ShowUnlessSecret(key.text, kMaxShownKey), same->line));
    frame.value.keys.push_back({std::move(key.text), key.line});
  }

  void AddMerge(Frame& frame, Value value) {
    frame.merging = false;
    const auto is_map = [](const Value& one) { return one.kind == Kind::kMap; };
    if (is_map(value))
      frame.merges.push_back(std::move(value));
    else if (value.kind == Kind::kList && std::ranges::all_of(value.items, is_map))
      std::ranges::move(value.items, std::back_inserter(frame.merges));
    else
      Fail(value.line, "\"<<\" takes a mapping or a list of mappings");
  }

  YAML::Mark begin_;  // of the document
  std::optional<SyntaxError> error_;
  Value root_;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;
  size_t values_ = 0;
};

int LineAt(const std::string& text, std::string::const_iterator place) {
  return 1 + static_cast<int>(std::count(text.begin(), place, '\n'));
}

/// Finds bytes that are not UTF-8, and control characters: YAML 1.2 (5.1) allows only these three. yaml-cpp 0.7 takes
/// 0x04 for the end of the file and drops the text after a 0x00.
std::optional<SyntaxError> FindBadBytes(const std::string& text) {
  if (const std::string clean = SanitizeUtf8(text, std::string::npos); clean != text)
    return SyntaxError{LineAt(text, std::ranges::mismatch(text, clean).in1),
                       "not UTF-8 text; save the file in that encoding"};
  const auto forbidden = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  };
  const auto found = std::ranges::find_if(text, forbidden);
  if (found == text.end()) return std::nullopt;
  return SyntaxError{LineAt(text, found), fmt::format("control character {}, which YAML does not allow",
                                                      EscapeControls(std::string_view(&*found, 1)))};
}

std::string_view Line(std::string_view text, int number) {
  Splitter lines(text, '\n');
  std::string_view line;
  for (int i = 0; i < number; ++i) line = lines.Next().value_or("");
  return line;
}

/// Returns the error message. The library's message for a tab in the indentation does not mention the tab.
std::string Explain(std::string_view text, int line, const std::string& message) {
  const std::string_view content = Line(text, line);
  const std::string_view indentation = content.substr(0, content.find_first_not_of(" \t"));
  if (indentation.find('\t') != std::string_view::npos) return "the line is indented with a tab; use spaces";
  return "not valid YAML: " + message;
}

/// Returns an error if more follows the document that began at `begin`.
std::optional<SyntaxError> FindMore(YAML::Parser& parser, YAML::Mark begin) {
  TreeBuilder next;
  while (parser.HandleNextDocument(next)) {
    if (next.error()) return next.error();
    // The scanner of yaml-cpp 0.7 does not advance at some texts, such as a comma: there would be documents without
    // end.
    if (next.begin().pos == begin.pos)
      return SyntaxError{begin.line + 1, "not valid YAML: unexpected start of a value"};
    begin = next.begin();
    const Value more = next.TakeRoot();
    if (more.kind != Kind::kNull)
      return SyntaxError{more.line, "a second document starts here; the file must hold one"};
  }
  return std::nullopt;
}

}  // namespace

std::expected<Value, SyntaxError> Parse(const std::string& text) {
  if (text.size() > kMaxBytes) return std::unexpected(SyntaxError{0, fmt::format("larger than {} bytes", kMaxBytes)});
  if (auto error = FindBadBytes(text)) return std::unexpected(*std::move(error));
  TreeBuilder first;
  try {
    // yaml-cpp 0.7 accepts an unclosed quote at the end of the file if white space follows. The trimmed text prevents
    // this.
    std::istringstream in(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(first)) return Value{};
    if (first.error()) return std::unexpected(*first.error());
    if (auto error = FindMore(parser, first.begin())) return std::unexpected(*std::move(error));
    return first.TakeRoot();
  } catch (const YAML::Exception& e) {
    if (first.error()) return std::unexpected(*first.error());  // the first error is the cause
    return std::unexpected(SyntaxError{e.mark.line + 1, Explain(text, e.mark.line + 1, e.msg)});
  } catch (const std::exception& e) {
    return std::unexpected(SyntaxError{0, fmt::format("not valid YAML: {}", e.what())});
  }
}

}  // namespace kepler::yaml
