#include "http/client/answer_reader.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/text.h"

namespace kepler::http::client {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using boost::system::error_code;
// By its two names: the type of a view differs between versions of Boost.
using Text = beast::string_view;

constexpr uint32_t kMaxHead = 8 * 1024;
constexpr size_t kMaxPending = 64 * 1024;  // of a line behind the head
constexpr size_t kLastChunk = 5;           // of "0 CR LF CR LF", which is the least that follows any chunk header
constexpr size_t kMaxInterim = 16;         // servers send one or two: 100 Continue, 103 Early Hints

/// Whether another answer follows (RFC 9110, 15.2). 101 is final: the connection has another protocol then.
bool IsInterim(unsigned status) { return status / 100 == 1 && status != 101; }

std::string_view ViewOf(Text text) { return {text.data(), text.size()}; }

void KeepFirst(std::string& value, Text text) {
  if (value.empty()) value = ViewOf(text).substr(0, kMaxRefusal);
}

/// Says what is wrong with an answer. The texts of the parser are for its programmers.
std::string Explain(const error_code& error) {
  using Parsing = beast::http::error;
  const auto is_one_of = [&error](auto... codes) { return ((error == codes) || ...); };
  if (error == Parsing::bad_version) return "the answer is not HTTP/1.x";
  if (error == Parsing::bad_status) return "the status is not a number of three digits";
  if (error == Parsing::bad_reason) return "the status line has an invalid character";
  if (is_one_of(Parsing::bad_field, Parsing::bad_value, Parsing::bad_obs_fold))
    return "a header has an invalid character";
  if (error == Parsing::bad_line_ending) return "a line of the head does not end with CR LF";
  if (error == Parsing::header_limit) return fmt::format("the head has more than {} KiB", kMaxHead / 1024);
  if (is_one_of(Parsing::bad_content_length, Parsing::multiple_content_length))
    return "Content-Length is not one valid number of bytes";
  if (error == Parsing::bad_transfer_encoding) return "Transfer-Encoding is invalid";
  if (is_one_of(Parsing::bad_chunk, Parsing::bad_chunk_extension)) return "a chunk header is invalid";
  return error.message();
}

}  // namespace

/// Beast calls it with the parts of one answer.
class AnswerReader::Parser final : public beast::http::basic_parser<false> {
 public:
  Parser(const Peer& peer, const ClientRequest& request, const OnPiece& take)
      : peer_(peer), request_(request), take_(take), wanted_(ToLowerAscii(request.wanted_header)) {
    eager(true);
    header_limit(kMaxHead);
    body_limit(boost::none);
    skip(request.method == Method::kHead);
  }

  Answer answer;
  Status failure;         // of `take`, or of the limit
  bool has_head = false;  // of a final answer
  bool is_cut = false;    // enough of a refusal is known

 private:
  void Note(Status status, error_code& error) {
    if (status) return;
    failure = std::move(status);
    error = make_error_code(boost::system::errc::operation_canceled);
  }

  void on_request_impl(beast::http::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int code, Text, int, error_code&) override { answer.status = static_cast<unsigned>(code); }
  void on_field_impl(field name, Text text, Text value, error_code&) override {
    if (name == field::retry_after) KeepFirst(answer.retry_after, value);
    if (name == field::location) KeepFirst(answer.location, value);
    if (!wanted_.empty() && ToLowerAscii(ViewOf(text)) == wanted_) KeepFirst(answer.wanted, value);
  }
  void on_header_impl(error_code& error) override {
    has_head = !IsInterim(answer.status);
    if (answer.ok()) Note(take_({}), error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code& error) override {
    const std::string_view text = ViewOf(body);
    if (!answer.ok()) {
      answer.body += text.substr(0, kMaxRefusal - answer.body.size());
      is_cut = answer.body.size() == kMaxRefusal;
      return text.size();
    }
    received_ += text.size();
    if (received_ > request_.max_bytes)
      Note(Fail(ErrorKind::kInvalid,
                fmt::format("the answer of {}{} has more than {} bytes", peer_.Url(),
                            request_.target.substr(0, request_.target.find('?')), request_.max_bytes)),
           error);
    else if (!text.empty())
      Note(take_(text), error);
    return text.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  const Peer& peer_;
  const ClientRequest& request_;
  const OnPiece& take_;
  const std::string wanted_;  // name of a header in lower case
  uint64_t received_ = 0;
};

AnswerReader::AnswerReader(const Peer& peer, const ClientRequest& request, const OnPiece& take)
    : peer_(peer), request_(request), take_(take), parser_(MakeParser()) {}

AnswerReader::~AnswerReader() = default;

std::unique_ptr<AnswerReader::Parser> AnswerReader::MakeParser() const {
  return std::make_unique<Parser>(peer_, request_, take_);
}

bool AnswerReader::has_head() const { return parser_->has_head; }
bool AnswerReader::done() const { return parser_->has_head && (parser_->is_done() || parser_->is_cut); }
bool AnswerReader::keeps() const {
  return parser_->is_done() && parser_->keep_alive() && pending_.empty() && parser_->answer.status != 101;
}
Answer& AnswerReader::answer() { return parser_->answer; }

Status AnswerReader::Take(std::string_view bytes) {
  has_begun_ = has_begun_ || !bytes.empty();
  if (!pending_.empty()) {
    bytes = pending_ += bytes;
    // Boost 1.81 asserts that it sees the whole last chunk when it is called a second time within one.
    if (parser_->has_head && parser_->chunked() && bytes.size() < kLastChunk) return {};
  }
  while (!bytes.empty() && !done()) {
    error_code error;
    const size_t used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (!parser_->failure) return parser_->failure;
    bytes.remove_prefix(used);
    if (error == beast::http::error::need_more || (!error && used == 0)) break;
    if (error)
      return Fail(ErrorKind::kMalformed, fmt::format("read the answer of {}: {}", peer_.Url(), Explain(error)));
    if (parser_->has_head || !parser_->is_done()) continue;
    if (++interim_ > kMaxInterim)
      return Fail(ErrorKind::kMalformed,
                  fmt::format("{} sent more than {} interim responses (1xx)", peer_.Url(), kMaxInterim));
    parser_ = MakeParser();
  }
  pending_ = std::string(bytes);  // `bytes` may be a part of it
  if (pending_.size() > kMaxPending && !done())
    return Fail(ErrorKind::kMalformed,
                fmt::format("read the answer of {}: a chunk header or the trailer has more than {} KiB", peer_.Url(),
                            kMaxPending / 1024));
  return {};
}

Status AnswerReader::End() {
  error_code error;
  if (has_begun_ && parser_->got_some() && pending_.empty()) parser_->put_eof(error);
  if (!parser_->failure) return parser_->failure;
  if (!error && done()) return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("read the answer of {}: the connection ended {}", peer_.Url(),
                                                   has_begun_ ? "too early" : "without an answer"));
}

}  // namespace kepler::http::client
