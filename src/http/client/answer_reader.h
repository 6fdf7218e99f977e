#pragma once
// AnswerReader: parses the answer to one request from the bytes of a connection, in pieces of any size. Pure. For the
// files of this room, and for the fuzzer.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client/client.h"

namespace kepler::http::client {

class AnswerReader {
 public:
  /// Names the server in errors, by the URL of `peer` and the target without its query. All must outlive the reader.
  AnswerReader(const Peer& peer, const ClientRequest& request, const OnPiece& take);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Bytes arrived. Errors: kMalformed, kInvalid above max_bytes, and those of `take`. Not after done().
  [[nodiscard]] Status Take(std::string_view bytes);
  /// The connection ended. kUnavailable: too early.
  [[nodiscard]] Status End();
  /// Whether a byte has arrived.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Whether the head of the final answer is complete.
  [[nodiscard]] bool has_head() const;
  /// Whether the answer is complete, or all of it that is wanted.
  [[nodiscard]] bool done() const;
  /// After done(): whether the connection can carry another request.
  [[nodiscard]] bool keeps() const;
  /// After done(): number of bytes that arrived behind the answer.
  [[nodiscard]] size_t excess() const { return pending_.size(); }
  [[nodiscard]] Answer& answer();

 private:
  class Parser;
  [[nodiscard]] std::unique_ptr<Parser> MakeParser() const;

  const Peer& peer_;
  const ClientRequest& request_;
  const OnPiece& take_;
  std::unique_ptr<Parser> parser_;
  std::string pending_;  // bytes that the parser has not used
  size_t interim_ = 0;   // answers so far
  bool has_begun_ = false;
};

}  // namespace kepler::http::client
