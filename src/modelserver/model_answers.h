#pragma once
// Answers to requests for models, from the current index and the files of the store. Requests for one model share one
// answer: bodies are cached by model, and whole answers by the bytes of the request, until the index changes.
// Thread-safe; an answer that is not cached reads a file and blocks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/server/server.h"
#include "modelserver/selection.h"

namespace kepler::modelserver {

struct AnswerCounts {
  uint64_t cached = 0;          // answers from memory
  uint64_t computed = 0;        // answers that needed a choice
  uint64_t unknown_fields = 0;  // fields and parameters of requests, ignored
};

class ModelAnswers {
 public:
  /// `max_cached_bytes`: limit of the bodies of archives and weights in the cache.
  ModelAnswers(SelectionRules rules, size_t max_cached_bytes)
      : rules_(std::move(rules)), max_bytes_(max_cached_bytes) {}

  /// Later requests use this index, which is not null; cached answers are dropped if it is another one.
  void Use(std::shared_ptr<const ModelIndex> index);
  [[nodiscard]] std::shared_ptr<const ModelIndex> index() const;

  /// POST /model with this body: a stored archive byte for byte, our own model as an archive, or weights as JSON. 400
  /// with a reason if the request is wrong or no model fits, 503 if a file has changed.
  [[nodiscard]] http::server::Response ToModelRequest(std::string_view body);
  /// GET /best/model.json, or the signature of that model, with this query of an agent. 404 if no model fits, or if it
  /// is not signed.
  enum class Wanted : uint8_t { kModel, kSignature };
  [[nodiscard]] http::server::Response ToAgentQuery(std::string_view query, Wanted wanted);
  /// GET /best-models with this query.
  [[nodiscard]] http::server::Response ToBestModels(std::string_view query);
  /// A file of the store as it was indexed.
  [[nodiscard]] http::server::Response ToFile(const StoredFile& file);

  [[nodiscard]] AnswerCounts counts() const;

 private:
  struct Cached {
    http::server::Response response;
    size_t unknown_fields = 0;
  };
  using Answers = std::map<std::string, Cached, std::less<>>;
  using Bodies = std::map<std::string, http::server::Body, std::less<>>;

  [[nodiscard]] Cached Compute(const ModelIndex& index, std::string_view body);
  [[nodiscard]] Cached ComputeForAgent(const ModelIndex& index, std::string_view query, Wanted wanted);
  /// The answer of `cache` with that key, else the one that `make` returns, which is kept unless it is an error.
  template <class Make>
  [[nodiscard]] http::server::Response FromCache(Answers& cache, std::string_view key, Make make);
  [[nodiscard]] Result<http::server::Body> BodyOf(const ModelIndex& index, const StoredModel& model,
                                                  const ModelRequest& request);
  /// The cached body with that key, else the one that `make` returns.
  template <class Make>
  [[nodiscard]] Result<http::server::Body> Share(uint64_t generation, const std::string& key, Make make);

  const SelectionRules rules_;
  const size_t max_bytes_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ModelIndex> index_ = std::make_shared<const ModelIndex>();  // never null
  Answers by_request_;                                                              // POST /model, by body
  std::array<Answers, 2> by_agent_query_;                                           // by Wanted
  Bodies bodies_;
  size_t body_bytes_ = 0;
  AnswerCounts counts_;
};

/// Weights of a model for a client of Kepler 0.7: those of its file with model_name, machine_spec and mae, or those of
/// our own model, limited to the components of `source`. Blocks.
[[nodiscard]] Result<std::string> WeightsFor(const StoredModel& model, std::string_view source);

/// An error as an answer: 400 for a wrong request and for no model, 503 if a file has changed, else 500.
[[nodiscard]] http::server::Response ToError(const Error& error);

}  // namespace kepler::modelserver
