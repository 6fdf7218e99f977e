#include "http/grpc/http2_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/parse.h"
#include "base/text.h"

namespace kepler::http::grpc {
namespace {

constexpr size_t kPiece = 64 * 1024;  // bytes to send that are made at a time
constexpr size_t kMaxReason = 200;

std::string_view TextOf(const uint8_t* bytes, size_t size) { return {reinterpret_cast<const char*>(bytes), size}; }

}  // namespace

/// What nghttp2 calls. `self` is the Http2Session. Results: 0, or an error that ends the stream or the session.
struct Http2Session::Callbacks {
  static Http2Session& Of(void* self) { return *static_cast<Http2Session*>(self); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self) {
    if (frame->hd.stream_id == Of(self).stream_)
      Of(self).NoteHeader(TextOf(name, name_size), TextOf(value, value_size));
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size, void* self) {
    if (stream == Of(self).stream_) Of(self).NoteBody(TextOf(bytes, size));
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    Http2Session& session = Of(self);
    if (frame->hd.type == NGHTTP2_GOAWAY)
      session.reason_ = SanitizeUtf8(fmt::format("GOAWAY {}: {}", nghttp2_http2_strerror(frame->goaway.error_code),
                                                 TextOf(frame->goaway.opaque_data, frame->goaway.opaque_data_len)),
                                     kMaxReason);
    const bool has_flags = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (has_flags && frame->hd.stream_id == session.stream_ && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      session.has_answer_ = true;
    return 0;
  }
  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int error, void* self) {
    Of(self).reason_ = nghttp2_strerror(error);
    return 0;
  }
  static int OnError(nghttp2_session*, int, const char* text, size_t size, void* self) {
    Of(self).reason_ = SanitizeUtf8({text, size}, kMaxReason);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
    if (stream == Of(self).stream_) Of(self).NoteClose(error);
    return 0;
  }
  static ssize_t OnRead(nghttp2_session*, int32_t, uint8_t* to, size_t size, uint32_t* flags, nghttp2_data_source*,
                        void* self) {
    const size_t copied = Of(self).CopyMessage(reinterpret_cast<char*>(to), size);
    if (Of(self).IsMessageSent()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(copied);
  }
};

Http2Session::Http2Session(size_t max_body) : max_body_(max_body), session_(nullptr, nghttp2_session_del) {
  nghttp2_session_callbacks* made = nullptr;
  Check(nghttp2_session_callbacks_new(&made) == 0, "memory is left");
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> callbacks(
      made, nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, Callbacks::OnInvalidFrame);
  nghttp2_session_callbacks_set_error_callback2(made, Callbacks::OnError);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::OnClose);
  nghttp2_session* session = nullptr;
  Check(nghttp2_session_client_new(&session, made, this) == 0, "memory is left");
  session_.reset(session);
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaders}}};
  Check(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0, "memory is left");
}

Http2Session::~Http2Session() = default;

Status Http2Session::Begin(const Headers& headers, std::array<char, kPrefixBytes> prefix, client::SharedText message) {
  prefix_ = prefix;
  message_ = std::move(message);
  reason_.clear();
  copied_ = header_bytes_ = 0;
  answer_ = {};
  has_begun_ = has_answer_ = is_closed_ = false;
  failure_.reset();
  std::vector<nghttp2_nv> pairs;
  // nghttp2 takes mutable pointers but copies the bytes.
  const auto bytes = [](const std::string& text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
  for (const auto& [name, value] : headers)
    pairs.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  const nghttp2_data_provider provider{.source = {.ptr = nullptr}, .read_callback = Callbacks::OnRead};
  stream_ = nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(), &provider, nullptr);
  if (stream_ > 0) return {};
  is_closed_ = true;
  return kepler::Fail(ErrorKind::kUnavailable, nghttp2_strerror(stream_));
}

size_t Http2Session::CopyMessage(char* to, size_t size) {
  size_t copied = 0;
  const auto copy = [&](std::string_view from) {
    const size_t count = std::min(from.size(), size - copied);
    std::memcpy(to + copied, from.data(), count);
    copied += count;
    copied_ += count;
  };
  if (copied_ < kPrefixBytes) copy(std::string_view(prefix_.data(), kPrefixBytes).substr(copied_));
  if (copied_ >= kPrefixBytes) copy(std::string_view(*message_).substr(copied_ - kPrefixBytes));
  return copied;
}

std::string_view Http2Session::Unsent() {
  if (sent_ == out_.size()) Fill();
  return std::string_view(out_).substr(sent_);
}

void Http2Session::Fill() {
  out_.clear();
  sent_ = 0;
  while (out_.size() < kPiece) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) return Fail(ErrorKind::kUnavailable, nghttp2_strerror(static_cast<int>(size)));
    if (size == 0) break;
    out_ += TextOf(bytes, static_cast<size_t>(size));
  }
  // nghttp2 has ended the session because of what it received.
  if (out_.empty() && nghttp2_session_want_read(session_.get()) == 0 && !has_ended())
    Fail(ErrorKind::kMalformed, "the server violates HTTP/2");
}

void Http2Session::Take(std::string_view received) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(received.data());
  const ssize_t taken = nghttp2_session_mem_recv(session_.get(), bytes, received.size());
  if (taken < 0) Fail(ErrorKind::kMalformed, nghttp2_strerror(static_cast<int>(taken)));
}

void Http2Session::Fail(ErrorKind kind, std::string_view what) {
  if (has_ended()) return;
  failure_ = Error{kind, reason_.empty() ? std::string(what) : fmt::format("{} ({})", what, reason_)};
}

void Http2Session::NoteHeader(std::string_view name, std::string_view value) {
  has_begun_ = true;
  header_bytes_ += name.size() + value.size();
  if (header_bytes_ > kMaxHeaders)
    return Fail(ErrorKind::kMalformed, fmt::format("the headers of the answer have more than {} bytes", kMaxHeaders));
  if (name == ":status") answer_.http_status = ParseNumber<unsigned>(value).value_or(0);
  const std::pair<std::string_view, std::string*> kept[] = {{"content-type", &answer_.content_type},
                                                            {"grpc-encoding", &answer_.encoding},
                                                            {"grpc-status", &answer_.status},
                                                            {"grpc-message", &answer_.text},
                                                            {"grpc-status-details-bin", &answer_.details}};
  for (const auto& [kept_name, to] : kept)
    if (name == kept_name) *to = value;
}

void Http2Session::NoteBody(std::string_view piece) {
  const size_t left = max_body_ - answer_.body.size();
  answer_.body += piece.substr(0, left);
  if (piece.size() <= left) return;
  answer_.is_too_large = has_answer_ = true;
}

void Http2Session::NoteClose(uint32_t error) {
  is_closed_ = true;
  Fail(ErrorKind::kUnavailable, fmt::format("the server reset the call: {}", nghttp2_http2_strerror(error)));
}

Result<Http2Session::Answer> Http2Session::TakeAnswer() {
  message_.reset();
  if (failure_) return std::unexpected(*failure_);
  return std::move(answer_);
}

bool Http2Session::CanContinue() const {
  return is_closed_ && !failure_ && sent_ == out_.size() && nghttp2_session_check_request_allowed(session_.get()) != 0;
}

}  // namespace kepler::http::grpc
