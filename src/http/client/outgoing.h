#pragma once
// Outgoing: the bytes of one request, piece by piece. For the files of this room.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/client/client.h"

namespace kepler::http::client {

class Outgoing {
 public:
  /// Both must outlive it.
  Outgoing(const Peer& peer, const ClientRequest& request);

  /// The next piece, valid until the next call; "" at the end. Errors: those of a streamed body, kInvalid if the body
  /// does not have its length.
  [[nodiscard]] Result<std::string_view> Next();
  /// Whether a streamed body was asked for a piece, so that the request cannot be sent again.
  [[nodiscard]] bool has_streamed() const { return has_streamed_; }

 private:
  [[nodiscard]] Result<std::string_view> NextOf(const StreamedBody& body);

  const ClientRequest& request_;
  const std::string head_;
  std::string chunk_;
  uint64_t streamed_ = 0;  // bytes of the body
  bool has_begun_ = false;
  bool has_streamed_ = false;
  bool has_ended_ = false;
};

}  // namespace kepler::http::client
