#pragma once
// A place that is checked periodically. Its latest valid model stays in use, even if the place fails later.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/small_file.h"
#include "base/units.h"
#include "http/client/client.h"
#include "model_store/incoming_text.h"
#include "model_store/loaded_model.h"
#include "model_store/model_cache.h"
#include "model_store/place.h"
#include "model_store/public_keys.h"

namespace kepler::model_store {

/// Result of loading or refreshing a source.
struct Look {
  bool at_place = false;          // false: only the cache was read
  uint64_t refreshes = 0;         // texts that were read or requested
  uint64_t failed_refreshes = 0;  // of them, failures
  bool changed = false;           // the models differ from those before
  std::vector<Error> problems{};  // each names the place
  std::vector<Error> not_kept{};  // valid models that the cache could not keep; each names the place
};

class Source {
 public:
  virtual ~Source() = default;
  /// Loads what needs no other machine. Called first, at startup.
  virtual void LoadLocal(Look& look) = 0;
  /// Reads the files, or sends the requests.
  virtual void Refresh(Look& look, const std::stop_token& stop) = 0;
  /// Time of the next Refresh().
  [[nodiscard]] virtual BootTime next() const = 0;
  virtual void AddTo(model::ModelSet& set) const = 0;
};

/// A file, or the models of a directory: *.json in it and model.json in each of its directories, except hidden ones. A
/// file is read again after a change. If a file of a directory is removed, its model is removed.
class FileSource final : public Source {
 public:
  static constexpr std::chrono::seconds kPeriod{60};
  static constexpr size_t kMaxFiles = 256;  // of a directory

  /// All but `place` must outlive it. `keys`: each model needs a signature by one of them, in FILE.sig; null: none.
  /// `archives`: null: archives are refused.
  FileSource(Place place, TextBudget& budget, const Clock& clock, const PublicKeys* keys = nullptr,
             const ReadArchive* archives = nullptr)
      : place_(std::move(place)), budget_(budget), clock_(clock), keys_(keys), archives_(archives) {}

  void LoadLocal(Look& look) override { Refresh(look, {}); }
  void Refresh(Look& look, const std::stop_token& stop) override;
  [[nodiscard]] BootTime next() const override { return next_; }
  void AddTo(model::ModelSet& set) const override;

 private:
  struct File {
    explicit File(TextBudget& budget) : loaded(budget) {}
    FileStamp read;  // stamp of the last read; all zero: never read
    LoadedModel loaded;
  };
  [[nodiscard]] Result<std::vector<std::string>> List(Look& look) const;
  void Read(const std::string& path, Look& look);
  [[nodiscard]] Result<bool> Take(const std::string& path, const FileStamp& stamp, File& file) const;
  [[nodiscard]] Status CheckSignature(const std::string& path, std::string_view text) const;

  const Place place_;
  TextBudget& budget_;
  const Clock& clock_;
  const PublicKeys* const keys_;
  const ReadArchive* const archives_;
  std::map<std::string, File> files_;
  bool is_directory_ = false;
  BootTime next_{};
};

/// A random number from 0 to 1. Any thread.
[[nodiscard]] double RandomShare();

struct UrlTimes {
  Nanoseconds refresh = std::chrono::hours(1);  // between two requests that succeed
  std::chrono::milliseconds silence{10'000};
  std::chrono::milliseconds total{30'000};
  // Each time between requests is multiplied by a random factor from 1 - jitter to 1 + jitter, so that many agents that
  // start together do not ask together.
  double jitter = 0;
  double (*random)() = RandomShare;  // from 0 to 1; any thread
};

/// A model from a URL. A model server of Kepler 0.7 has no GET for a query and gets a POST. Its models have no
/// signature, so they are refused if there are keys. After a failure the model is fetched again as of RetryPolicy, at
/// the latest after `refresh`. A model whose checksum is given is fetched once.
class UrlSource final : public Source {
 public:
  static constexpr std::chrono::seconds kFirstDelay{10};

  /// All but `place` and `times` must outlive it. `keys`: the model needs a signature by one of them, at the URL with
  /// ".sig" behind its path; null: none. `archives`: null: archives are refused.
  UrlSource(Place place, const UrlTimes& times, const ModelCache& cache, TextBudget& budget, const Clock& clock,
            const PublicKeys* keys = nullptr, const ReadArchive* archives = nullptr)
      : place_(std::move(place)),
        times_(times),
        cache_(cache),
        budget_(budget),
        clock_(clock),
        keys_(keys),
        archives_(archives),
        loaded_(budget) {}

  void LoadLocal(Look& look) override;
  void Refresh(Look& look, const std::stop_token& stop) override;
  [[nodiscard]] BootTime next() const override { return next_; }
  void AddTo(model::ModelSet& set) const override;

 private:
  /// A model and, if there are keys, its signature behind it. One text, so that the cache never mixes two versions.
  struct Answer {
    IncomingText whole;
    size_t signature_bytes = 0;
    [[nodiscard]] std::string_view text() const {
      return whole.text().substr(0, whole.text().size() - signature_bytes);
    }
    [[nodiscard]] std::string_view signature() const { return whole.text().substr(text().size()); }
  };
  struct Fetched {
    Answer answer;
    bool is_new = false;  // another model than before
  };
  [[nodiscard]] Result<Fetched> Fetch(const std::stop_token& stop);
  /// Fetches from a model server of Kepler 0.7.
  [[nodiscard]] Result<Fetched> FetchOld(http::client::Client& client, const std::stop_token& stop);
  [[nodiscard]] Status FetchSignature(http::client::Client& client, Answer& answer, const std::stop_token& stop) const;
  /// Appends the body of a 2xx answer to `into`. `body`: of a POST; empty: a GET.
  [[nodiscard]] Result<http::client::Answer> Send(http::client::Client& client, IncomingText& into,
                                                  const std::string& target, std::string body, size_t most,
                                                  const std::stop_token& stop) const;
  [[nodiscard]] Status CheckAnswer(const http::client::Answer& answer) const;
  /// kNotFound if the cache has no text.
  [[nodiscard]] Result<Answer> LoadKept() const;
  [[nodiscard]] Result<bool> Take(const Answer& answer);
  void Keep(const Answer& answer, bool is_new, Look& look);
  void Fail(Look& look, const Error& error);
  [[nodiscard]] Nanoseconds Spread(Nanoseconds time) const;

  const Place place_;
  const UrlTimes times_;
  const ModelCache& cache_;
  TextBudget& budget_;
  const Clock& clock_;
  const PublicKeys* const keys_;
  const ReadArchive* const archives_;
  LoadedModel loaded_;
  std::optional<std::string> kept_;  // signature in the cache; not set if the cache lacks the loaded model
  unsigned failures_ = 0;            // in a row
  BootTime next_{};
};

}  // namespace kepler::model_store
