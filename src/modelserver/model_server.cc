#include "modelserver/model_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <string_view>

#include "base/base64.h"
#include "base/text.h"
#include "base/thread.h"
#include "json/document.h"
#include "model/any_json.h"
#include "modelserver/decision_log.h"
#include "modelserver/model_list.h"
#include "modelserver/model_pages.h"
#include "modelserver/publisher.h"
#include "modelserver/server_metrics.h"

namespace kepler::modelserver {
namespace {

using http::server::Request;
using http::server::Response;
using http::server::RunsOn;

constexpr std::string_view kModels = "/models/";
constexpr char kBest[] = "/best/model.json";
constexpr char kBestSignature[] = "/best/model.json.sig";
constexpr std::string_view kFiles = "/db/";
/// Bodies of all requests at once.
constexpr size_t kMaxBodies = size_t{8} << 20;
constexpr size_t kMaxUploads = 2 * kMaxUploadBytes;
/// Of a worker, for another process that publishes the same model.
constexpr std::chrono::milliseconds kPublishPatience{1000};

Response Text(unsigned status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text))};
}

Response NotFound() { return Text(404, "there is no such model; GET /models lists them\n"); }

Response Page(std::string html) {
  Response response = Text(200, std::move(html));
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Content-Security-Policy", std::string(kPagePolicy)}, {"X-Content-Type-Options", "nosniff"}};
  return response;
}

/// Of an upload.
Response ToRefusal(const Error& error) {
  Response refusal = ToError(error);
  if (error.kind == ErrorKind::kUnavailable) refusal.status = 409;
  if (error.kind != ErrorKind::kTimeout) return refusal;
  refusal.status = 503;  // another process publishes the model, which takes milliseconds
  return refusal;
}

}  // namespace

/// Where the scanning thread waits for its next scan.
struct ModelServer::Waiting {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool is_woken = false;  // under mutex
};

ModelServer::ModelServer(ModelServerOptions options)
    : version_(std::move(options.version)),
      readers_(options.readers),
      tree_(std::move(options.store)),
      answers_(std::move(options.rules), options.cached_bytes),
      waiting_(std::make_shared<Waiting>()) {}

Status ModelServer::Load() {
  KEPLER_TRY(auto index, tree_.Scan());
  ++scans_;
  for (const SkippedFile& file : index->skipped)
    log::Warn("skipped a file of the model store", {{"file", file.relative}, {"reason", file.reason}});
  log::Info("loaded the model store", {{"directory", tree_.root()},
                                       {"models", std::to_string(index->models.size())},
                                       {"skipped", std::to_string(index->skipped.size())}});
  answers_.Use(std::move(index));
  return {};
}

void ModelServer::Rescan(BootTime now) {
  const std::scoped_lock lock(store_mutex_);
  auto index = tree_.Scan();
  ++scans_;
  if (!index) {
    ++failed_scans_;
    return limiter_.Say(log::Level::kError, index.error().message, now,
                        "failed to scan the model store; earlier models stay in use", {{"err", index.error().message}});
  }
  const auto previous = answers_.index();
  if (*index == previous) return;
  for (const SkippedFile& file : (*index)->skipped)
    limiter_.Say(log::Level::kWarn, file.relative + file.reason, now, "skipped a file of the model store",
                 {{"file", file.relative}, {"reason", file.reason}});
  log::Info("the model store has changed",
            {{"models", std::to_string((*index)->models.size())}, {"before", std::to_string(previous->models.size())}});
  answers_.Use(*std::move(index));
}

Status ModelServer::Watch(std::chrono::milliseconds interval) {
  KEPLER_TRY(thread_,
             StartThread("model-store", [this, interval](const std::stop_token& stop) { Run(stop, interval); }));
  return {};
}

void ModelServer::Wake() {
  const std::scoped_lock lock(waiting_->mutex);
  waiting_->is_woken = true;
  waiting_->changed.notify_all();
}

void ModelServer::Run(const std::stop_token& stop, std::chrono::milliseconds interval) {
  const SystemClock clock;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(waiting_->mutex);
      waiting_->changed.wait_for(lock, stop, interval, [&] { return waiting_->is_woken; });
      waiting_->is_woken = false;
    }
    if (!stop.stop_requested()) Rescan(clock.Now());
  }
}

void ModelServer::Add(http::server::Server& server, const http::server::Route& route, std::string name,
                      Handler handler) {
  server.Handle(route,
                [this, name = std::move(name), handler](const Request& request, const http::server::Responder& answer) {
                  Response response = (this->*handler)(request);
                  {
                    const std::scoped_lock lock(mutex_);
                    ++requests_[{name, response.status}];
                  }
                  answer(std::move(response));
                });
}

void ModelServer::AddReading(http::server::Server& server, http::server::Route route, std::string name,
                             Handler handler) {
  route.open = readers_ == Readers::kOpen;
  Add(server, route, std::move(name), handler);
}

void ModelServer::AddRoutes(http::server::Server& server) {
  constexpr auto kWorkers = RunsOn::kWorkers;
  AddReading(server,
             {.path = "/model",
              .methods = {"POST"},
              .max_body = kMaxRequestBytes,
              .max_bodies = kMaxBodies,
              .runs_on = kWorkers},
             "model", &ModelServer::OnModel);
  AddReading(server, {.path = "/best-models", .runs_on = kWorkers}, "best-models", &ModelServer::OnBestModels);
  for (const char* const path : {kBest, kBestSignature})
    AddReading(server, {.path = path, .runs_on = kWorkers}, "best", &ModelServer::OnBestForAgent);
  AddReading(server, {.path = "/models", .runs_on = kWorkers}, "models", &ModelServer::OnList);
  AddReading(server, {.path = "/", .runs_on = kWorkers}, "list-page", &ModelServer::OnListPage);
  AddReading(server, {.path = std::string(kModels), .runs_on = kWorkers}, "own-files", &ModelServer::OnModelPath);
  Add(server,
      {.path = std::string(kModels),
       .methods = {"PUT"},
       .max_body = kMaxUploadBytes,
       .max_bodies = kMaxUploads,
       .runs_on = kWorkers},
      "upload", &ModelServer::OnUpload);
  AddReading(server, {.path = std::string(kFiles), .runs_on = kWorkers}, "db", &ModelServer::OnStoredFile);
  AddReading(server, {.path = "/healthz"}, "healthz", &ModelServer::OnHealth);
  AddReading(server, {.path = "/metrics"}, "metrics", &ModelServer::OnMetrics);
}

Response ModelServer::OnModel(const Request& request) {
  const std::string type = ToLowerAscii(request.headers.Get("Content-Type"));
  if (!type.starts_with("application/json") && !type.contains("+json"))
    return Text(415, "the request must have the header Content-Type: application/json\n");
  return answers_.ToModelRequest(request.body == nullptr ? std::string_view() : std::string_view(*request.body));
}

Response ModelServer::OnBestModels(const Request& request) { return answers_.ToBestModels(request.query); }

Response ModelServer::OnBestForAgent(const Request& request) {
  using Wanted = ModelAnswers::Wanted;
  return answers_.ToAgentQuery(request.query, request.path == kBest ? Wanted::kModel : Wanted::kSignature);
}

std::optional<Response> ModelServer::FindPage(const std::string& key, const PageState& state) const {
  const std::scoped_lock lock(mutex_);
  const auto kept = pages_.find(key);
  return kept != pages_.end() && kept->second.state == state ? std::optional(kept->second.page) : std::nullopt;
}

void ModelServer::KeepPage(const std::string& key, const PageState& state, const Response& page) {
  const std::scoped_lock lock(mutex_);
  if (pages_.size() >= kMaxPages) pages_.clear();
  pages_.insert_or_assign(key, KeptPage{state, page});
}

template <class Make>
Response ModelServer::ListOf(const std::string& key, Make make) {
  const auto index = answers_.index();
  const PageState state{.generation = index->generation};
  if (auto kept = FindPage(key, state)) return *std::move(kept);
  Response list = make(*index);
  KeepPage(key, state, list);
  return list;
}

Response ModelServer::OnList(const Request& request) {
  return ListOf(request.path, [](const ModelIndex& index) {
    Response response = Text(200, WriteModelList(index));
    response.content_type = "application/json";
    return response;
  });
}

Response ModelServer::OnListPage(const Request& request) {
  return ListOf(request.path, [](const ModelIndex& index) { return Page(WriteListPage(index)); });
}

Response ModelServer::CardOf(const ModelIndex& index, const StoredModel& own) {
  const std::string path = tree_.root() + "/.versions/" + own.name + kDecisionsFile;
  const PageState state{.generation = index.generation, .decisions = StampOf(path)};
  if (auto kept = FindPage(own.id, state)) return *std::move(kept);
  const auto decisions = ReadDecisions(path);
  if (!decisions) log::Warn("cannot show the decisions about a model", {{"err", decisions.error().message}});
  const auto text = ReadStored(*own.own);
  const auto model = text ? model::ReadAnyModelJson(*text, {.name = own.name}) : std::unexpected(text.error());
  Response page = Page(WriteCardPage(
      own, {.model = model ? &*model : nullptr, .decisions = decisions ? *decisions : std::span<const Decision>()}));
  if (model) KeepPage(own.id, state, page);
  return page;
}

/// The card of a model, or a file of our own model.
Response ModelServer::OnModelPath(const Request& request) {
  const auto index = answers_.index();
  const std::string_view rest = std::string_view(request.path).substr(kModels.size());
  const size_t slash = rest.find('/');
  const StoredModel* const own = index->FindOwn(rest.substr(0, slash));
  if (own != nullptr && slash == std::string_view::npos) return CardOf(*index, *own);
  const std::string_view file = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  if (own != nullptr && file == kOwnFile) return answers_.ToFile(*own->own);
  if (own != nullptr && file == kSignatureFile && own->signature) return answers_.ToFile(*own->signature);
  const StoredModel* const other = index->FindById(rest);
  return other == nullptr ? NotFound() : Page(WriteCardPage(*other));
}

/// PUT /models/NAME with model.json, and its signature in base64 as the header X-Model-Signature.
Response ModelServer::OnUpload(const Request& request) {
  const std::string& user = request.user.empty() ? request.peer.certificate : request.user;
  if (user.empty())
    return Text(403,
                "uploads need a login or a client certificate: set users or client_auth_type in the file of "
                "--web-config-file\n");
  const std::string_view name = std::string_view(request.path).substr(kModels.size());
  const auto signature = DecodeBase64(request.headers.Get("X-Model-Signature"));
  if (!signature) return Text(400, "X-Model-Signature: it is not base64\n");
  const std::string_view json = request.body == nullptr ? std::string_view() : std::string_view(*request.body);
  if (const StoredModel* const known = answers_.index()->FindOwn(name);
      known != nullptr && known->id != "models/" + std::string(name))
    return Text(
        409,
        "the store has a model of this name that was not uploaded; use another name, or remove it from the store\n");
  const auto published = Publish(tree_.root(), {.name = name,
                                                .json = json,
                                                .signature = *signature,
                                                .publisher = "kepler-model serve",
                                                .patience = kPublishPatience});
  if (!published) return ToRefusal(published.error());
  log::Info("published a model", {{"name", std::string(name)},
                                  {"version", std::to_string(published->version)},
                                  {"sha256", published->sha256},
                                  {"user", user}});
  Rescan(SystemClock().Now());
  Response answer =
      Text(published->is_new ? 201 : 200, fmt::format("{{\"name\":{},\"version\":{},\"sha256\":\"{}\"}}\n",
                                                      json::Quote(name), published->version, published->sha256));
  answer.content_type = "application/json";
  return answer;
}

Response ModelServer::OnStoredFile(const Request& request) {
  const auto index = answers_.index();
  const StoredFile* const file = index->FindFile(std::string_view(request.path).substr(kFiles.size()));
  return file == nullptr ? NotFound() : answers_.ToFile(*file);
}

Response ModelServer::OnHealth(const Request& /*request*/) { return Text(200, "ok\n"); }

Response ModelServer::OnMetrics(const Request& /*request*/) {
  Response response = Text(200, Metrics());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

std::string ModelServer::Metrics() const {
  const auto index = answers_.index();
  ServerFigures figures{.version = version_,
                        .index = *index,
                        .answers = answers_.counts(),
                        .scans = scans_,
                        .failed_scans = failed_scans_};
  if (more_metrics_) figures.more = more_metrics_();
  {
    const std::scoped_lock lock(mutex_);
    figures.requests = requests_;
  }
  return WriteMetrics(figures);
}

}  // namespace kepler::modelserver
