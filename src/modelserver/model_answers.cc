#include "modelserver/model_answers.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "model/weights_json.h"
#include "modelserver/agent_query.h"
#include "modelserver/own_archive.h"

namespace kepler::modelserver {
namespace {

using http::server::Body;
using http::server::Response;

constexpr size_t kMaxCachedRequests = 4096;
constexpr size_t kMaxReasonBytes = 1000;
constexpr char kJson[] = "application/json";
constexpr char kZip[] = "application/zip";

Body Share(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// A header has one line of ASCII.
std::string HeaderText(std::string_view text) {
  std::string line = EscapeControls(text);
  std::erase_if(line, [](unsigned char c) { return c < ' ' || c > '~'; });
  return line;
}

Response NoModel(std::string_view reason) {
  return {.status = 404, .body = Share(SanitizeUtf8(EscapeControls(reason), kMaxReasonBytes) + "\n")};
}

std::optional<double> MaeOf(const StoredModel& model) {
  const auto found = model.stated.find("mae");
  return found == model.stated.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Response ToError(const Error& error) {
  const bool is_wrong = error.kind == ErrorKind::kMalformed || error.kind == ErrorKind::kInvalid;
  const bool is_bad = is_wrong || error.kind == ErrorKind::kNotFound;
  const unsigned status = is_bad ? 400 : error.kind == ErrorKind::kUnavailable ? 503 : 500;
  return {.status = status, .body = Share(SanitizeUtf8(EscapeControls(error.message), kMaxReasonBytes) + "\n")};
}

Result<std::string> WeightsFor(const StoredModel& model, std::string_view source) {
  if (model.weights) {
    KEPLER_TRY(const std::string text, ReadStored(*model.weights));
    return CompleteWeights(text, model.name, model.machine(), MaeOf(model));
  }
  model::PowerModel some = model.judged_weights->model;
  std::erase_if(some.components, [&](const model::ComponentModel& of) { return !IsOfSource(of.component, source); });
  KEPLER_TRY(const std::string text, model::WriteWeightsJson(some));
  return CompleteWeights(text, some.name, some.machine, MaeOf(model));
}

void ModelAnswers::Use(std::shared_ptr<const ModelIndex> index) {
  const std::scoped_lock lock(mutex_);
  if (index_ == index) return;
  index_ = std::move(index);
  by_request_.clear();
  for (Answers& answers : by_agent_query_) answers.clear();
  bodies_.clear();
  body_bytes_ = 0;
}

std::shared_ptr<const ModelIndex> ModelAnswers::index() const {
  const std::scoped_lock lock(mutex_);
  return index_;
}

AnswerCounts ModelAnswers::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

template <class Make>
Result<Body> ModelAnswers::Share(uint64_t generation, const std::string& key, Make make) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = bodies_.find(key); found != bodies_.end() && index_->generation == generation)
      return found->second;
  }
  KEPLER_TRY(std::string text, make());
  Body body = modelserver::Share(std::move(text));
  const std::scoped_lock lock(mutex_);
  if (index_->generation != generation || body->size() > max_bytes_) return body;
  if (body_bytes_ + body->size() > max_bytes_) {
    bodies_.clear();
    by_request_.clear();  // they hold bodies, too
    for (Answers& answers : by_agent_query_) answers.clear();
    body_bytes_ = 0;
  }
  if (bodies_.emplace(key, body).second) body_bytes_ += body->size();
  return body;
}

Result<Body> ModelAnswers::BodyOf(const ModelIndex& index, const StoredModel& model, const ModelRequest& request) {
  if (!request.weight && model.archive)
    return Share(index.generation, model.archive->relative, [&] { return ReadStored(*model.archive); });
  if (!request.weight)
    return Share(index.generation, model.id + " archive of " + request.source,
                 [&] { return WriteOwnArchive(model.judged_archive->model, request.source); });
  return Share(index.generation, model.id + " weights of " + request.source,
               [&] { return WeightsFor(model, request.source); });
}

ModelAnswers::Cached ModelAnswers::Compute(const ModelIndex& index, std::string_view body) {
  const auto request = ReadModelRequest(body);
  if (!request) return {.response = ToError(request.error())};
  Cached answer = {.response = {}, .unknown_fields = request->unknown_fields};
  const auto selected = SelectModel(index, *request, rules_);
  const Result<Body> text = selected ? BodyOf(index, *selected->model, *request) : std::unexpected(selected.error());
  if (!text) {
    answer.response = ToError(text.error());
    return answer;
  }
  answer.response = {.content_type = request->weight ? kJson : kZip, .body = *text};
  answer.response.headers = {{"X-Model", HeaderText(selected->model->id)},
                             {"X-Model-Choice", HeaderText(selected->reason)}};
  if (!request->weight)
    answer.response.headers.emplace_back(
        "Content-Disposition", HeaderText(fmt::format("attachment; filename={}.zip", selected->model->archive_name)));
  return answer;
}

ModelAnswers::Cached ModelAnswers::ComputeForAgent(const ModelIndex& index, std::string_view query, Wanted wanted) {
  const auto read = ReadAgentQuery(query);
  if (!read) return {.response = ToError(read.error())};
  const auto selected = SelectForAgent(index, *read, rules_.limits);
  if (!selected) return {.response = NoModel(selected.error().message), .unknown_fields = read->unknown_fields};
  const auto& file = wanted == Wanted::kModel ? selected->model->own : selected->model->signature;
  return {.response = file ? ToFile(*file) : NoModel("the model has no signature"),
          .unknown_fields = read->unknown_fields};
}

template <class Make>
Response ModelAnswers::FromCache(Answers& cache, std::string_view key, Make make) {
  std::shared_ptr<const ModelIndex> index;
  {
    const std::scoped_lock lock(mutex_);
    index = index_;
    if (const auto found = cache.find(key); found != cache.end()) {
      ++counts_.cached;
      counts_.unknown_fields += found->second.unknown_fields;
      return found->second.response;
    }
  }
  Cached answer = make(*index);
  Response response = answer.response;
  const std::scoped_lock lock(mutex_);
  ++counts_.computed;
  counts_.unknown_fields += answer.unknown_fields;
  constexpr size_t kMaxKeyBytes = 4096;
  constexpr unsigned kFound = 200;
  constexpr unsigned kNone = 404;
  const bool is_right = response.status == kFound || response.status == kNone;
  const bool is_small = key.size() <= kMaxKeyBytes && response.body->size() <= max_bytes_;
  if (is_right && index_ == index && is_small) {
    if (cache.size() >= kMaxCachedRequests) cache.clear();
    cache.emplace(key, std::move(answer));
  }
  return response;
}

Response ModelAnswers::ToModelRequest(std::string_view body) {
  return FromCache(by_request_, body, [&](const ModelIndex& index) { return Compute(index, body); });
}

Response ModelAnswers::ToAgentQuery(std::string_view query, Wanted wanted) {
  return FromCache(by_agent_query_[static_cast<size_t>(wanted)], query,
                   [&](const ModelIndex& index) { return ComputeForAgent(index, query, wanted); });
}

Response ModelAnswers::ToBestModels(std::string_view query) {
  const auto request = ReadBestModelsRequest(query);
  if (!request) return ToError(request.error());
  {
    const std::scoped_lock lock(mutex_);
    counts_.unknown_fields += request->unknown_fields;
  }
  const auto best = FindBestModels(*index(), *request, rules_);
  if (!best) return ToError(best.error());
  std::string text;
  for (const auto& [output, groups] : *best) {
    std::string names;
    for (const auto& [group, name] : groups)
      names += fmt::format("{}{}:{}", names.empty() ? "" : ",", json::Quote(group), json::Quote(name));
    text += fmt::format("{}{}:{{{}}}", text.empty() ? "" : ",", json::Quote(output), names);
  }
  return {.content_type = kJson, .body = modelserver::Share("{" + text + "}\n")};
}

Response ModelAnswers::ToFile(const StoredFile& file) {
  // The checksum: `file` may be of the index before this one.
  const auto body = Share(index()->generation, file.relative + " " + file.sha256, [&] { return ReadStored(file); });
  if (!body) return ToError(body.error());
  const std::string_view name = file.relative;
  const std::string type = name.ends_with(".json") ? kJson : name.ends_with(".zip") ? kZip : "application/octet-stream";
  return {.content_type = type, .body = *body, .headers = {{"ETag", fmt::format("\"{}\"", file.sha256)}}};
}

}  // namespace kepler::modelserver
