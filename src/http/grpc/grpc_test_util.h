#pragma once
// A gRPC server of a test: frames of HTTP/2 written byte by byte, so that they can be wrong too.
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/grpc/channel.h"
#include "testing/scripted_peer.h"

namespace kepler::http::grpc {

using kepler::testing::PeerConnection;
using kepler::testing::ScriptedPeer;

struct Frame {
  uint8_t type = 0, flags = 0;
  uint32_t stream = 0;
  std::string payload{};
};
inline constexpr uint8_t kEnd = NGHTTP2_FLAG_END_STREAM, kEndHeaders = NGHTTP2_FLAG_END_HEADERS;

inline std::string BigEndian(uint32_t number, size_t bytes = 4) {
  std::string text;
  for (size_t i = bytes; i-- > 0;) text += static_cast<char>(number >> 8 * i);
  return text;
}
inline std::string BytesOf(const Frame& frame) {
  return BigEndian(static_cast<uint32_t>(frame.payload.size()), 3) + static_cast<char>(frame.type) +
         static_cast<char>(frame.flags) + BigEndian(frame.stream) + frame.payload;
}
inline std::string Settings(std::string payload = "") {
  return BytesOf({.type = NGHTTP2_SETTINGS, .payload = std::move(payload)});
}
/// Returns one setting of SETTINGS.
inline std::string Setting(uint16_t id, uint32_t value) { return BigEndian(id, 2) + BigEndian(value); }

using Pairs = std::vector<std::pair<std::string, std::string>>;
/// HEADERS, with each header as a literal without indexing (RFC 7541, 6.2.2).
inline std::string Headers(uint32_t stream, const Pairs& pairs, uint8_t flags = kEndHeaders) {
  const auto text = [](const std::string& value) {
    if (value.size() < 127) return static_cast<char>(value.size()) + value;
    size_t rest = value.size() - 127;
    std::string size = "\x7f";
    for (; rest >= 128; rest /= 128) size += static_cast<char>(rest % 128 + 128);
    return size + static_cast<char>(rest) + value;
  };
  std::string block;
  for (const auto& [name, value] : pairs) block += std::string(1, '\0') + text(name) + text(value);
  return BytesOf({.type = NGHTTP2_HEADERS, .flags = flags, .stream = stream, .payload = block});
}
inline std::string Data(uint32_t stream, std::string payload, uint8_t flags = 0) {
  return BytesOf({.type = NGHTTP2_DATA, .flags = flags, .stream = stream, .payload = std::move(payload)});
}
inline std::string Reset(uint32_t stream, uint32_t code) {
  return BytesOf({.type = NGHTTP2_RST_STREAM, .stream = stream, .payload = BigEndian(code)});
}
inline std::string GoAway(uint32_t last_stream, uint32_t code, const std::string& text = "") {
  return BytesOf({.type = NGHTTP2_GOAWAY, .payload = BigEndian(last_stream) + BigEndian(code) + text});
}
inline std::string Framed(const std::string& message, bool is_compressed = false) {
  return std::string(1, static_cast<char>(is_compressed)) + BigEndian(static_cast<uint32_t>(message.size())) + message;
}
inline const Pairs kHead = {{":status", "200"}, {"content-type", "application/grpc"}};
/// A whole answer with a message and status OK.
inline std::string Ok(uint32_t stream, const std::string& message) {
  return Headers(stream, kHead) + Data(stream, Framed(message)) +
         Headers(stream, {{"grpc-status", "0"}}, kEndHeaders | kEnd);
}
/// An answer with trailers only.
inline std::string Trailers(uint32_t stream, Pairs trailers) {
  trailers.insert(trailers.begin(), kHead.begin(), kHead.end());
  return Headers(stream, trailers, kEndHeaders | kEnd);
}

/// The server's end of a connection.
class GrpcServer {
 public:
  struct Call {
    uint32_t stream = 0;
    std::map<std::string, std::string> headers{};
    std::string body{};
  };

  /// Reads the client's preface and sends `settings`.
  explicit GrpcServer(PeerConnection& client, const std::string& settings = Settings()) : client_(client) {
    nghttp2_hd_inflater* inflater = nullptr;
    nghttp2_hd_inflate_new(&inflater);
    inflater_.reset(inflater);
    is_there_ = client.ReadBytes(24) == NGHTTP2_CLIENT_MAGIC && client.Send(settings);
  }
  /// Nothing: the client is gone.
  std::optional<Frame> Read() {
    const std::string head = client_.ReadBytes(9);
    if (head.size() < 9) return std::nullopt;
    const auto number = [&head](size_t at, size_t bytes) {
      uint32_t value = 0;
      for (size_t i = at; i < at + bytes; ++i) value = value << 8 | static_cast<uint8_t>(head[i]);
      return value;
    };
    Frame frame{.type = static_cast<uint8_t>(head[3]), .flags = static_cast<uint8_t>(head[4]), .stream = number(5, 4)};
    frame.payload = client_.ReadBytes(number(0, 3));
    is_acknowledged_ = is_acknowledged_ || (frame.type == NGHTTP2_SETTINGS && frame.flags == NGHTTP2_FLAG_ACK);
    return frame;
  }
  /// Reads the next call to its end. With `window`, its bytes are allowed again as they come. Nothing: the client is
  /// gone.
  std::optional<Call> ReadCall(bool window = false) {
    Call call;
    while (is_there_) {
      const auto frame = Read();
      if (!frame) break;
      if (frame->type == NGHTTP2_HEADERS) {
        call.stream = frame->stream;
        Inflate(frame->payload, call.headers);
      }
      if (frame->type == NGHTTP2_DATA) {
        call.body += frame->payload;
        const std::string size = BigEndian(static_cast<uint32_t>(frame->payload.size()));
        std::string updates;
        for (const uint32_t stream : {0U, frame->stream})
          updates += BytesOf({.type = NGHTTP2_WINDOW_UPDATE, .stream = stream, .payload = size});
        if (window && !frame->payload.empty()) client_.Send(updates);
      }
      if (frame->type == NGHTTP2_SETTINGS && frame->flags == 0)
        client_.Send(BytesOf({.type = NGHTTP2_SETTINGS, .flags = NGHTTP2_FLAG_ACK}));
      if (call.stream != 0 && (frame->flags & kEnd) != 0 && frame->type <= NGHTTP2_HEADERS) return call;
    }
    return std::nullopt;
  }
  /// Reads until the client has acknowledged the settings. A connection that is closed with unread bytes would be
  /// reset, and the client could lose what was sent to it.
  bool AwaitAck() {
    while (!is_acknowledged_)
      if (!Read()) return false;
    return true;
  }
  bool Send(const std::string& bytes) { return client_.Send(bytes); }

 private:
  void Inflate(const std::string& block, std::map<std::string, std::string>& headers) {
    const auto* at = reinterpret_cast<const uint8_t*>(block.data());
    const auto* const end = at + block.size();
    for (int flags = 0; at < end || (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv pair;
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_.get(), &pair, &flags, at, static_cast<size_t>(end - at), 1);
      if (used < 0) return;
      at += used;
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        headers[{reinterpret_cast<char*>(pair.name), pair.namelen}] = {reinterpret_cast<char*>(pair.value),
                                                                       pair.valuelen};
    }
    nghttp2_hd_inflate_end_headers(inflater_.get());
  }

  PeerConnection& client_;
  std::unique_ptr<nghttp2_hd_inflater, void (*)(nghttp2_hd_inflater*)> inflater_{nullptr, nghttp2_hd_inflate_del};
  bool is_there_ = false;
  bool is_acknowledged_ = false;
};

inline client::Peer PlainPeer(const ScriptedPeer& server) {
  return {.tls = false, .host = "127.0.0.1", .port = server.port()};
}
inline client::ClientRequest CallOf(std::string message) {
  return {.target = "/test.Service/Method",
          .body = std::make_shared<const std::string>(std::move(message)),
          .deadlines = {.total = std::chrono::seconds(30)}};
}

/// Serves each connection with `answers`: one for each call, made from its stream. After the last one the server waits
/// until the client leaves.
inline ScriptedPeer::Conversation Answers(std::vector<std::string (*)(uint32_t stream)> answers) {
  return [answers = std::move(answers)](PeerConnection& client, const std::stop_token&) {
    GrpcServer http2(client);
    for (const auto& answer : answers) {
      const auto call = http2.ReadCall();
      if (!call) return;
      http2.Send(answer(call->stream));
    }
    static_cast<void>(http2.ReadCall());
  };
}

}  // namespace kepler::http::grpc
