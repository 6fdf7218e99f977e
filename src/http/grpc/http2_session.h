#pragma once
// Http2Session: the client's end of one HTTP/2 connection (RFC 9113) with one call at a time. It turns calls into bytes
// and bytes into answers, without I/O. nghttp2 does framing, HPACK, flow control and settings. One thread.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/client/client.h"
#include "http/grpc/framing.h"

struct nghttp2_session;

namespace kepler::http::grpc {

class Http2Session {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// The headers are "" if the server did not send them. Trailers are headers too.
  struct Answer {
    unsigned http_status = 0;
    std::string content_type{}, encoding{}, status{}, text{}, details{};
    std::string body{};
    bool is_too_large = false;  // the body ends at the limit
  };
  static constexpr size_t kMaxHeaders = 16 * 1024;  // bytes of all headers of an answer

  /// `max_body`: bytes of the body of an answer. Aborts if memory is exhausted.
  explicit Http2Session(size_t max_body);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  /// Begins the next call; the one before must have ended. `message` is not null. Error: kUnavailable.
  [[nodiscard]] Status Begin(const Headers& headers, std::array<char, kPrefixBytes> prefix, client::SharedText message);
  /// Bytes to send; "": none now. They stay in place until NoteSent() has taken all of them.
  [[nodiscard]] std::string_view Unsent();
  void NoteSent(size_t bytes) { sent_ += bytes; }
  void Take(std::string_view received);

  /// Whether the server has sent a header of the answer.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  [[nodiscard]] bool has_ended() const { return has_answer_ || failure_; }
  /// Returns the answer, once the call has ended. Errors: kUnavailable if the server refused or reset the call,
  /// kMalformed for bytes that are not HTTP/2 and for headers above the limit.
  [[nodiscard]] Result<Answer> TakeAnswer();
  /// Whether another call can begin.
  [[nodiscard]] bool CanContinue() const;
  /// What the server or nghttp2 said about the connection, such as "GOAWAY NO_ERROR: max_age"; "": nothing.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  struct Callbacks;
  void Fill();
  void Fail(ErrorKind kind, std::string_view what);
  void NoteHeader(std::string_view name, std::string_view value);
  void NoteBody(std::string_view piece);
  void NoteClose(uint32_t error);
  [[nodiscard]] size_t CopyMessage(char* to, size_t size);
  [[nodiscard]] bool IsMessageSent() const { return copied_ == kPrefixBytes + message_->size(); }

  const size_t max_body_;
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_;
  std::string out_;  // bytes that are being sent
  size_t sent_ = 0;  // of them
  std::string reason_;

  // The current call.
  int32_t stream_ = 0;
  std::array<char, kPrefixBytes> prefix_{};
  client::SharedText message_;
  size_t copied_ = 0;  // bytes of prefix and message that nghttp2 has
  Answer answer_;
  size_t header_bytes_ = 0;
  bool has_begun_ = false, has_answer_ = false, is_closed_ = true;
  std::optional<Error> failure_;
};

}  // namespace kepler::http::grpc
