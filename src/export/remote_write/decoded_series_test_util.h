#pragma once
// Reads requests of remote write without the library that writes them.
#include <fmt/format.h>
#include <snappy.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "export/remote_write/write_message.h"
#include "testing/wire_message.h"

namespace kepler::remote_write {

using testing::WireMessage;

struct Decoded {
  std::vector<std::string> series;              // "name{label=value label=value} value @time start=start"
  std::map<std::string, std::string> metadata;  // by name: "type=1 help=... unit=..."
};

/// Appends a series. Throws if its labels are not sorted, not unique, or have an empty text.
inline void AddSeries(const std::vector<std::pair<std::string, std::string>>& labels, const WireMessage& series,
                      Decoded& to) {
  const auto by_name = [](const auto& pair) { return pair.first; };
  if (std::ranges::adjacent_find(labels, std::ranges::greater_equal(), by_name) != labels.end())
    throw std::runtime_error("labels are not sorted, or one of them is there twice");
  std::string text;
  for (const auto& [name, value] : labels) {
    if (name.empty() || value.empty()) throw std::runtime_error("an empty text in a label");
    if (name != "__name__") text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  if (labels.at(0).first != "__name__") throw std::runtime_error("no name");
  const auto samples = series.All(2);
  if (samples.size() != 1) throw std::runtime_error("not one sample");
  constexpr uint64_t kStaleMarker = 0x7FF0000000000002U;
  const std::string value = samples[0].Number(1) == kStaleMarker ? "stale" : fmt::format("{}", samples[0].Double(1));
  to.series.push_back(fmt::format("{}{{{}}} {} @{} start={}", labels[0].second, text, value, samples[0].Number(2),
                                  samples[0].Number(3)));
}

inline void DecodeV1(const WireMessage& request, Decoded& to) {
  for (const WireMessage& series : request.All(1)) {
    std::vector<std::pair<std::string, std::string>> labels;
    for (const WireMessage& label : series.All(1)) labels.emplace_back(label.Text(1), label.Text(2));
    AddSeries(labels, series, to);
  }
  for (const WireMessage& data : request.All(3))
    to.metadata[data.Text(2)] = fmt::format("type={} help={} unit={}", data.Number(1), data.Text(4), data.Text(5));
}

inline void DecodeV2(const WireMessage& request, Decoded& to) {
  const std::vector<std::string> symbols = request.Texts(4);
  if (symbols.empty() || !symbols[0].empty()) throw std::runtime_error("the first symbol is not empty");
  for (const WireMessage& series : request.All(5)) {
    std::vector<std::pair<std::string, std::string>> labels;
    const auto refs = series.Packed(1);
    for (size_t i = 0; i < refs.size(); i += 2) labels.emplace_back(symbols.at(refs[i]), symbols.at(refs.at(i + 1)));
    AddSeries(labels, series, to);
    const WireMessage data = series.One(5);
    to.metadata[labels[0].second] =
        fmt::format("type={} help={} unit={}", data.Number(1), symbols.at(data.Number(3)), symbols.at(data.Number(4)));
  }
}

[[nodiscard]] inline Decoded Decode(const std::string& body, Version version) {
  std::string plain;
  if (!snappy::Uncompress(body.data(), body.size(), &plain)) throw std::runtime_error("not snappy");
  Decoded decoded;
  (version == Version::k1 ? DecodeV1 : DecodeV2)(WireMessage(plain), decoded);
  return decoded;
}

}  // namespace kepler::remote_write
