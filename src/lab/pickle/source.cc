#include <fmt/format.h>

#include <utility>

#include "lab/pickle/nodes.h"

namespace kepler::lab::pickle {
namespace {

constexpr size_t kMaxNodes = 2'000'000;

}  // namespace

Result<std::string_view> Source::Take(size_t count) {
  if (bytes_.size() - at_ < count) return Refuse("it is truncated");
  at_ += count;
  return bytes_.substr(at_ - count, count);
}

Result<std::string_view> Source::TakeLine() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return Refuse("it is truncated");
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

Result<uint64_t> Source::TakeNumber(size_t bytes) {
  KEPLER_TRY(const std::string_view taken, Take(bytes));
  uint64_t number = 0;
  for (size_t i = taken.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(taken[i]);
  return number;
}

Result<Id> Source::Add(Node node) {
  if (nodes_.size() == kMaxNodes) return Refuse(fmt::format("more than {} values", kMaxNodes));
  nodes_.emplace_back();
  KEPLER_CHECK_OK(Set(static_cast<Id>(nodes_.size() - 1), std::move(node)));
  return static_cast<Id>(nodes_.size() - 1);
}

Status Source::Set(Id id, Node node) {
  const size_t bytes = node.text.size() + node.items.size() * sizeof(Id) + node.numbers.size() * sizeof(double);
  if (bytes > bytes_left_) return Refuse("its values are too large");
  bytes_left_ -= bytes;
  nodes_[id] = std::move(node);
  return {};
}

const Node* Source::Find(const Node& dict, std::string_view key) const {
  if (dict.kind == Node::Kind::kDict)
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2)
      if (const Node& each = nodes_[dict.items[i]]; each.kind == Node::Kind::kText && each.text == key)
        return &nodes_[dict.items[i + 1]];
  return nullptr;
}

const Node* Source::Item(const Node& list, size_t i) const {
  return list.kind == Node::Kind::kList && i < list.items.size() ? &nodes_[list.items[i]] : nullptr;
}

std::unexpected<Error> Source::Refuse(std::string_view reason, ErrorKind kind) const {
  return Fail(kind, fmt::format("byte {}: {}", at_, reason));
}

}  // namespace kepler::lab::pickle
