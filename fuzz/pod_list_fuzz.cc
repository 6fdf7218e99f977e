// A list and a watch of pods, whole and in pieces: the same answer, nothing longer than its limit. And the other JSON
// of a cluster.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz.h"
#include "workload/kubernetes/node.h"
#include "workload/kubernetes/pod_json.h"

namespace kubernetes = kepler::workload::kubernetes;

// As in corpus/pod_list_fuzz.
const kubernetes::AskedTexts kAsked = {.labels = {"a", "b/c"}, .annotations = {"a", "example.com/owner"}};

// Room for two or three pods, so that short inputs reach it.
constexpr size_t kMaxBytes = 2048;

constexpr size_t kMaxHost = 253;
constexpr size_t kMaxError = 1024;

kepler::Result<kubernetes::PodList> Parse(std::string_view text, size_t piece) {
  kubernetes::PodListReader reader(kAsked, kMaxBytes);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    KEPLER_CHECK_OK(reader.Read(text.substr(0, piece)));
  return reader.Finish();
}

void CheckTexts(const kubernetes::Pod& pod) {
  for (const auto* texts : {&pod.labels, &pod.annotations}) {
    if (texts->size() > 2) std::abort();
    for (const auto& [name, value] : *texts)
      if (value.size() > kepler::kMaxLabelBytes || !kepler::IsValidUtf8(value)) std::abort();
  }
}

/// What is taken of a watch until its end or its first error.
std::vector<std::string> EventsOf(std::string_view text, size_t piece) {
  std::vector<std::string> events;
  const auto take = [&](const kubernetes::PodEvent& event) -> kepler::Status {
    CheckTexts(event.pod);
    events.push_back(event.pod.uid + ' ' + event.pod.name + ' ' + event.resource_version + ' ' + event.message);
    return {};
  };
  kubernetes::PodEventReader reader(take, kAsked, kMaxBytes);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    if (!reader.Read(text.substr(0, piece))) break;
  return events;
}

void Fuzz(std::string_view text) {
  const auto whole = Parse(text, SIZE_MAX);
  const auto pieces = Parse(text, 3);
  if (whole.has_value() != pieces.has_value() || (whole && *whole != *pieces)) std::abort();
  if (whole && whole->bytes > kMaxBytes) std::abort();
  for (const auto& pod : whole.value_or(kubernetes::PodList()).pods) {
    if (pod.uid.empty() || pod.name.empty() || pod.name.size() > kubernetes::kMaxText) std::abort();
    CheckTexts(pod);
  }
  if (EventsOf(text, SIZE_MAX) != EventsOf(text, 3)) std::abort();
  if (const auto node = kubernetes::ParseNode(text)) {
    if (node->host.empty() || node->host.size() > kMaxHost || node->name.size() > kMaxHost) std::abort();
    if (node->port == 0) std::abort();
  } else if (node.error().message.size() > kMaxError) {
    std::abort();
  }
  if (kubernetes::MessageOf(text).find('\n') != std::string::npos) std::abort();
}
