// Answers to a client: any bytes give answers or an error, and the same ones in pieces of any size. What follows an
// answer is read as the next answer on the same connection, as if that were kept.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz.h"
#include "http/client/answer_reader.h"

namespace {

using namespace kepler::http::client;

struct Outcome {
  unsigned status = 0;
  std::string body, refusal, location, retry_after;
  bool is_error = false;
  bool operator==(const Outcome&) const = default;
};

/// Reads one answer in pieces of `step` and removes it from `bytes`.
Outcome ReadOne(std::string_view& bytes, size_t step, Method method) {
  constexpr uint64_t kMax = 1000;
  Outcome outcome;
  const Peer peer{.host = "h"};
  const ClientRequest request{.method = method, .target = "/", .max_bytes = kMax};
  bool has_head = false;
  const OnPiece take = [&](std::string_view piece) -> kepler::Status {
    if (piece.empty() == has_head) std::abort();  // the first piece is empty, and no other one
    has_head = true;
    outcome.body += piece;
    return {};
  };
  AnswerReader reader(peer, request, take);
  kepler::Status status;
  while (status && !reader.done() && !bytes.empty()) {
    status = reader.Take(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  const std::string_view all(bytes.data() - reader.excess(), bytes.size() + reader.excess());
  if (status && !reader.done()) status = reader.End();
  if (!status && status.error().message.empty()) std::abort();
  outcome.is_error = !status;
  if (!status) outcome.body.clear();  // how much of it was read before an error depends on the pieces
  if (status) {
    const Answer& answer = reader.answer();
    if (!reader.done() || !reader.has_head() || outcome.body.size() > kMax) std::abort();
    if (answer.body.size() > kMaxRefusal || answer.ok() != has_head) std::abort();
    if (method == Method::kHead && !outcome.body.empty()) std::abort();
    outcome.status = answer.status;
    outcome.refusal = answer.body;
    outcome.location = answer.location;
    outcome.retry_after = answer.retry_after;
    if (reader.keeps() && reader.excess() > 0) std::abort();
  }
  bytes = all;
  return outcome;
}

std::vector<Outcome> ReadAll(std::string_view bytes, size_t step) {
  std::vector<Outcome> outcomes;
  for (Method method = Method::kGet; outcomes.size() < 4 && !bytes.empty(); method = Method::kHead) {
    outcomes.push_back(ReadOne(bytes, step, method));
    // Errors, bodies up to the end, and long refusals leave no exact place where the next answer begins.
    if (outcomes.back().is_error || outcomes.back().refusal.size() == kMaxRefusal) break;
  }
  return outcomes;
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto whole = ReadAll(text, text.size() + 1);
  for (const size_t step : {size_t{1}, size_t{7}})
    if (ReadAll(text, step) != whole) std::abort();
}
