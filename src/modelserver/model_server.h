#pragma once
// The model server: the routes of upstream's server and ours over one store, and the thread that scans the store.
// Handlers run on the workers of the HTTP server. Create and destroy on one thread; destroy after the HTTP server has
// stopped.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/small_file.h"
#include "http/server/server.h"
#include "modelserver/model_answers.h"
#include "modelserver/model_tree.h"

namespace kepler::modelserver {

/// Who may read models if the web file has users. Uploads always need a login or a client certificate.
enum class Readers : uint8_t { kLogin, kOpen };

struct ModelServerOptions {
  std::string store;  // root of the directory tree
  SelectionRules rules;
  Readers readers = Readers::kLogin;
  size_t cached_bytes = size_t{64} << 20;  // bodies in memory
  std::string version;                     // for the metric of the build
};

class ModelServer {
 public:
  explicit ModelServer(ModelServerOptions options);

  /// Scans the store for the first time; the error names what is wrong with it.
  [[nodiscard]] Status Load();
  /// Scans the store again. After an error the previous index stays in use; the error is logged. Any thread.
  void Rescan(BootTime now);
  /// Starts the thread that scans the store every `interval`.
  [[nodiscard]] Status Watch(std::chrono::milliseconds interval);
  /// Requests a scan by the thread at once. Any thread.
  void Wake();

  /// Adds all routes, before the server starts.
  void AddRoutes(http::server::Server& server);
  /// Before the server starts: `more` returns further metrics, in the same format. Any thread.
  void AddMetrics(std::function<std::string()> more) { more_metrics_ = std::move(more); }
  /// The metrics in the text format of Prometheus.
  [[nodiscard]] std::string Metrics() const;
  [[nodiscard]] const ModelAnswers& answers() const { return answers_; }

 private:
  using Handler = http::server::Response (ModelServer::*)(const http::server::Request&);

  void Add(http::server::Server& server, const http::server::Route& route, std::string name, Handler handler);
  /// A route that the setting of readers applies to.
  void AddReading(http::server::Server& server, http::server::Route route, std::string name, Handler handler);
  [[nodiscard]] http::server::Response OnModel(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnBestModels(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnList(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnBestForAgent(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnListPage(const http::server::Request& request);
  /// The card of our own model. Kept, since it takes a read of the whole model and charts.
  [[nodiscard]] http::server::Response CardOf(const ModelIndex& index, const StoredModel& own);
  struct PageState {
    uint64_t generation = 0;  // of the index
    FileStamp decisions{};    // file of a card
    bool operator==(const PageState&) const = default;
  };
  /// The kept answer with that key; nothing if it was made from another state.
  [[nodiscard]] std::optional<http::server::Response> FindPage(const std::string& key, const PageState& state) const;
  void KeepPage(const std::string& key, const PageState& state, const http::server::Response& page);
  /// Keeps a list of all models, which takes tens of milliseconds for thousands of models.
  template <class Make>
  [[nodiscard]] http::server::Response ListOf(const std::string& key, Make make);
  [[nodiscard]] http::server::Response OnModelPath(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnUpload(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnStoredFile(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnHealth(const http::server::Request& request);
  [[nodiscard]] http::server::Response OnMetrics(const http::server::Request& request);
  void Run(const std::stop_token& stop, std::chrono::milliseconds interval);

  const std::string version_;
  const Readers readers_;
  std::mutex store_mutex_;  // of scans
  ModelTree tree_;          // under store_mutex_
  ModelAnswers answers_;
  log::LogLimiter limiter_;  // under store_mutex_
  std::function<std::string()> more_metrics_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, uint64_t> requests_;  // by route and status
  struct KeptPage {
    PageState state;
    http::server::Response page;
  };
  static constexpr size_t kMaxPages = 32;
  std::map<std::string, KeptPage> pages_;  // by id of the model, or path of a list
  std::atomic<uint64_t> scans_ = 0;
  std::atomic<uint64_t> failed_scans_ = 0;
  struct Waiting;
  const std::shared_ptr<Waiting> waiting_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace kepler::modelserver
