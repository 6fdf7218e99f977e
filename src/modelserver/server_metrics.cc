#include "modelserver/server_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace kepler::modelserver {
namespace {

void AddFamily(std::string& page, std::string_view name, std::string_view type, std::string_view help) {
  page += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void AddSingle(std::string& page, std::string_view name, std::string_view type, std::string_view help, uint64_t value) {
  AddFamily(page, name, type, help);
  page += fmt::format("{} {}\n", name, value);
}

}  // namespace

std::string WriteMetrics(const ServerFigures& figures) {
  const ModelIndex& index = figures.index;
  const auto own = std::ranges::count_if(index.models, [](const StoredModel& model) { return model.own.has_value(); });
  std::string page;
  AddFamily(page, "kepler_model_server_build_info", "gauge", "Version of the model server");
  page += fmt::format("kepler_model_server_build_info{{version=\"{}\"}} 1\n", figures.version);
  AddFamily(page, "kepler_model_server_models", "gauge", "Models in the store, by kind");
  page += fmt::format("kepler_model_server_models{{kind=\"archive\"}} {}\n",
                      index.models.size() - static_cast<size_t>(own));
  page += fmt::format("kepler_model_server_models{{kind=\"own\"}} {}\n", own);
  AddSingle(page, "kepler_model_server_skipped_files", "gauge", "Files of the store that cannot be read as models",
            index.skipped.size());
  AddSingle(page, "kepler_model_server_index_changes_total", "counter", "Indexes made since startup", index.generation);
  AddSingle(page, "kepler_model_server_scans_total", "counter", "Scans of the store", figures.scans);
  AddSingle(page, "kepler_model_server_failed_scans_total", "counter", "Scans of the store that failed",
            figures.failed_scans);
  AddSingle(page, "kepler_model_server_cached_answers_total", "counter", "Model requests answered from memory",
            figures.answers.cached);
  AddSingle(page, "kepler_model_server_computed_answers_total", "counter", "Model requests that needed a choice",
            figures.answers.computed);
  AddSingle(page, "kepler_model_server_unknown_fields_total", "counter",
            "Fields and parameters of requests that were ignored because they are unknown",
            figures.answers.unknown_fields);
  page += figures.more;
  AddFamily(page, "kepler_model_server_requests_total", "counter", "Requests by route and HTTP status");
  for (const auto& [key, count] : figures.requests)
    page += fmt::format("kepler_model_server_requests_total{{route=\"{}\",code=\"{}\"}} {}\n", key.first, key.second,
                        count);
  return page;
}

}  // namespace kepler::modelserver
