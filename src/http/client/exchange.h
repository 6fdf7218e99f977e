#pragma once
// Exchange: one request and its answer over an open connection. For the files of this room.
#include <chrono>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "http/client/answer_reader.h"
#include "http/client/client.h"
#include "http/client/client_connection.h"
#include "http/client/outgoing.h"

namespace kepler::http::client {

class Exchange {
 public:
  /// All must outlive it. Nothing is sent after `end`.
  Exchange(const Peer& peer, const ClientRequest& request, const OnPiece& take, ClientConnection::Time end);

  /// Errors are those of Client::Send(). Once.
  [[nodiscard]] Result<Answer> Run(ClientConnection& connection);
  /// After an answer: whether the connection can carry another request.
  [[nodiscard]] bool keeps() const { return reader_.keeps() && is_sent_; }
  /// After an error: whether the same request may be sent on another connection, because this one was closed before it
  /// carried an answer.
  [[nodiscard]] bool CanRestart(const Error& error) const;

 private:
  [[nodiscard]] ClientConnection::Time After(std::chrono::milliseconds silence) const;
  [[nodiscard]] Status PrepareNext();
  [[nodiscard]] Status Note(const ClientConnection::Progress& progress);

  const ClientRequest& request_;
  const ClientConnection::Time end_;
  Outgoing outgoing_;
  AnswerReader reader_;
  ClientConnection::Time deadline_{};
  std::string_view unsent_;
  bool is_sent_ = false;      // the whole request
  bool is_given_up_ = false;  // no more of the request is sent
  bool has_sent_ = false;     // a byte of it
};

}  // namespace kepler::http::client
