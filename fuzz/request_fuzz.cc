// A request: any bytes give a head or a 4xx/5xx; finding the end of the head in pieces equals finding it at once, and
// so does reading the body behind it.
#include <algorithm>
#include <string>

#include "fuzz.h"
#include "http/server/message.h"
#include "http/server/password_checker.h"

namespace {

using namespace kepler::http::server;

/// What becomes of a body that comes in pieces of `step`: its text, and how many bytes were used up; nothing where it
/// is incomplete or refused (when a refusal is certain depends on how much is seen at once).
std::string BodyOf(const RequestHead& head, std::string_view bytes, size_t step) {
  constexpr uint64_t kMax = 1000;
  BodyParser parser(head, kMax);
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += step) {
    input += bytes.substr(at, step);
    const auto whole = parser.Take(input);
    if (parser.text().size() > kMax) std::abort();
    if (!whole) break;
    if (*whole) return parser.text() + "|" + std::to_string(std::min(at + step, bytes.size()) - input.size());
  }
  return "";
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto end = FindHeadEnd(text, 0);
  if (end && (*end > text.size() || FindHeadEnd(text.substr(0, *end - 1), 0) || FindHeadEnd(text, *end - 1) != end))
    std::abort();
  const auto head = ParseRequestHead(text.substr(0, end.value_or(text.size())));
  if (!head) {
    if (head.error().status < 400 || head.error().status > 599 || head.error().reason.empty()) std::abort();
    return;
  }
  if (head->request.path.empty()) std::abort();
  if (head->content_length > 0 && !head->transfer_coding.empty()) std::abort();
  static_cast<void>(ParseBasicAuth(head->authorization));
  if (end && head->has_body()) {
    const auto body = text.substr(*end);
    if (BodyOf(*head, body, 1) != BodyOf(*head, body, body.size() + 1)) std::abort();
  }
}
