#pragma once
// A place of models in the settings: a file, a directory or a URL, with an optional checksum and output type.
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
  std::string path{};                         // empty if it is a URL
  std::optional<http::client::Url> url{};     // not set if it is a path
  std::string sha256{};                       // that the content must have, lower case; empty: any
  std::optional<model::OutputType> output{};  // that a model must have; also the default if its file states none
  // The settings name this model. It is used for any machine; other models only for the same or a similar machine.
  bool is_named = true;
  std::string name{};                     // if the file has no name; it selects the formula of a weight file
  std::optional<ModelQuery> query{};      // of a model server
  std::string user{};                     // login at a model server; empty: none
  std::string password_file{};            // of that login, read for each request
  [[nodiscard]] std::string Key() const;  // the URL with its query, or the path; identifies the place
  /// For a URL: path and query of its signature, "/a.json.sig?b" for "/a.json?b".
  [[nodiscard]] std::string SignatureTarget() const;
  /// For a model server: path of POST /model, for a server of Kepler 0.7.
  [[nodiscard]] std::string OldTarget() const;
  /// For a URL: key of its model in the cache. It differs if the signature is kept behind the text.
  [[nodiscard]] std::string CacheKey(bool with_signature) const;
};

/// Parses "/models/a.json", "file:///models" or "https://host/a.json". An optional part after "#" has "sha256=" and 64
/// hexadecimal digits, "power=AbsPower" or "power=DynPower", or both with "&" between them. kInvalid for other texts,
/// such as a relative path. The error does not repeat the text, which may contain a secret.
[[nodiscard]] Result<Place> ParsePlace(std::string_view text);

/// Returns the place of the model that a model server chooses. `server` is "http://host:8100". kInvalid as of
/// ParsePlace(). The machine is in the query, which is never shown.
[[nodiscard]] Result<Place> PlaceOfServer(std::string_view server, ModelQuery query);

/// Returns the output type of the models of a path: the last directory named AbsPower or DynPower, as in Kepler's model
/// database; AbsPower if there is none.
[[nodiscard]] model::OutputType OutputOf(std::string_view path);

}  // namespace kepler::model_store
