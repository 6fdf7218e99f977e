#pragma once
// Requests of a test to a scripted peer.
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "http/client/client.h"
#include "testing/scripted_peer.h"

namespace kepler::http::client {

inline constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\n";

/// A script that sends one text to everybody.
inline kepler::testing::ScriptedPeer::Script Says(std::string text) {
  return [text = std::move(text)](const std::string&, const kepler::testing::ScriptedPeer::Send& send,
                                  const std::stop_token&) { send(text); };
}
inline kepler::testing::ScriptedPeer::Script SaysOk(std::string rest) {
  return Says(std::string(kOk) + std::move(rest));
}

struct Outcome {
  Result<Answer> answer;
  std::string body;
};

inline Peer PlainPeer(const kepler::testing::ScriptedPeer& server) {
  return {.tls = false, .host = "127.0.0.1", .port = server.port()};
}

inline Outcome Send(Client& client, const Peer& peer, const ClientRequest& request, const std::stop_token& stop = {}) {
  Outcome outcome;
  outcome.answer = client.Send(
      peer, request,
      [&](std::string_view piece) -> Status {
        outcome.body += piece;
        return {};
      },
      stop);
  return outcome;
}

/// On a connection of its own.
inline Outcome Get(const Peer& peer, const ClientRequest& request = {.target = "/pods"},
                   const std::stop_token& stop = {}) {
  Client client;
  return Send(client, peer, request, stop);
}

}  // namespace kepler::http::client
