// Requests to a model server, about any machine, and any answer: our own server reads each body, and an answer gives a
// model that can be used here or a reason.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "fuzz.h"
#include "model/any_json.h"
#include "model_store/model_query.h"
#include "modelserver/agent_query.h"
#include "modelserver/model_request.h"

namespace store = kepler::model_store;

/// A replaced byte becomes three, and the server takes names of 255 bytes.
constexpr size_t kMaxName = 80;

void Fuzz(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('\n'));
  const store::ModelQuery query{.machine = {.processor = std::string(name.substr(0, kMaxName)), .cores = 8},
                                .features = {"bpf_cpu_time_ms", std::string(name)}};
  for (const std::string& body : store::OldBodies(query))
    if (const auto read = kepler::modelserver::ReadModelRequest(body); !read || !read->weight || read->node_type)
      std::abort();
  if (kepler::IsValidUtf8(name) && !kepler::modelserver::ReadAgentQuery(store::BestQuery(query)) &&
      !name.contains('&') && !name.contains('%') && !name.contains('+'))
    std::abort();
  auto model = kepler::model::ReadAnyModelJson(text.substr(std::min(name.size() + 1, text.size())), {.name = "a"});
  if (!model) return;
  const auto known = std::make_shared<const kepler::model::KnownModel>(
      kepler::model::KnownModel{.model = *std::move(model), .source = "here"});
  if (const auto usable = store::CheckUsable(known, query); !usable && usable.error().message.empty()) std::abort();
}
