#pragma once
// Where a model comes from, as somebody wrote it down: a file, a directory, or a URL, and perhaps what to hold it to.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client/url.h"
#include "model/machine.h"
#include "model/power_model.h"
#include "model_store/model_query.h"

namespace kepler::model_store {

/// Maximum number of configured places. Each has its own thread.
inline constexpr size_t kMaxPlaces = 16;

struct Place {
  std::string shown;                          // for labels and logs: without options and query
  std::string path{};                         // "" of a URL
  std::optional<http::client::Url> url{};     // nothing of a path
  std::string sha256{};                       // that the content must have, lower case; "" any
  std::optional<model::OutputType> output{};  // that a model there has, or is taken to have where it does not say it
  // Whether somebody named this model: it is then used for any machine, else only for one like its own.
  bool is_named = true;
  std::string name{};                     // of a model whose file does not say it; weight files mean a formula by it
  std::optional<ModelQuery> query{};      // of a model server
  std::string user{};                     // login at a model server; "" none
  std::string password_file{};            // of that login, read for each request
  [[nodiscard]] std::string Key() const;  // the same for the same place: the URL with its query, or the path
  /// Of a URL: path and query of its signature, "/a.json.sig?b" for "/a.json?b".
  [[nodiscard]] std::string SignatureTarget() const;
  /// Of a model server: path of POST /model, for a server of Kepler 0.7.
  [[nodiscard]] std::string OldTarget() const;
  /// Of a URL: under which what it gave is kept; another one where the signature stands behind the text.
  [[nodiscard]] std::string CacheKey(bool with_signature) const;
};

/// "/models/a.json", "file:///models", "https://host/a.json", each perhaps with "#" and what stands behind it:
/// "sha256=" and 64 hexadecimal digits, "power=AbsPower" or "power=DynPower", or both with "&" between them. kInvalid
/// for anything else, such as a relative path; the error does not repeat the text, which may hold a secret.
[[nodiscard]] Result<Place> ParsePlace(std::string_view text);

/// The model that a model server chooses. `server` is "http://host:8100". kInvalid as ParsePlace(). The machine is in
/// the query, which is never shown.
[[nodiscard]] Result<Place> PlaceOfServer(std::string_view server, ModelQuery query);

/// What the watts of the models of a path stand for, as Kepler's model database says it: by a directory of the name
/// AbsPower or DynPower, the last one of several; AbsPower without any.
[[nodiscard]] model::OutputType OutputOf(std::string_view path);

}  // namespace kepler::model_store
