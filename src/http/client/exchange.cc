#include "http/client/exchange.h"

#include <algorithm>
#include <utility>

namespace kepler::http::client {

Exchange::Exchange(const Peer& peer, const ClientRequest& request, const OnPiece& take, ClientConnection::Time end)
    : request_(request), end_(end), outgoing_(peer, request), reader_(peer, request, take) {}

ClientConnection::Time Exchange::After(std::chrono::milliseconds silence) const {
  return std::min(std::chrono::steady_clock::now() + silence, end_);
}

Result<Answer> Exchange::Run(ClientConnection& connection) {
  deadline_ = After(request_.deadlines.silence);
  while (!reader_.done()) {
    KEPLER_CHECK_OK(PrepareNext());
    KEPLER_TRY(const ClientConnection::Progress progress, connection.Wait(unsent_, deadline_, reader_.has_head()));
    KEPLER_CHECK_OK(Note(progress));
  }
  return std::move(reader_.answer());
}

Status Exchange::PrepareNext() {
  if (!unsent_.empty() || is_sent_ || is_given_up_) return {};
  KEPLER_TRY(unsent_, outgoing_.Next());
  is_sent_ = unsent_.empty();
  if (!is_sent_) deadline_ = After(request_.deadlines.silence);  // the body may have taken its time
  return {};
}

Status Exchange::Note(const ClientConnection::Progress& progress) {
  const Deadlines& deadlines = request_.deadlines;
  if (progress.sent > 0) {
    has_sent_ = true;
    unsent_.remove_prefix(progress.sent);
    deadline_ = After(deadlines.silence);
  }
  if (!progress.received.empty()) KEPLER_CHECK_OK(reader_.Take(progress.received));
  // One deadline for all heads, so that interim answers cannot extend it.
  if (!progress.received.empty() && reader_.has_head())
    deadline_ = After(deadlines.body_silence.count() > 0 ? deadlines.body_silence : deadlines.silence);
  // The server may have answered before it closed the connection, or it does not want the rest.
  if (progress.is_cut || (reader_.has_head() && !reader_.answer().ok() && !is_sent_)) {
    is_given_up_ = true;
    unsent_ = {};
  }
  return progress.ended && !reader_.done() ? reader_.End() : Status();
}

bool Exchange::CanRestart(const Error& error) const {
  if (error.kind != ErrorKind::kUnavailable || reader_.has_begun() || outgoing_.has_streamed()) return false;
  return IsRepeatable(request_) || !has_sent_;
}

}  // namespace kepler::http::client
