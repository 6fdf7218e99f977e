// The head of a request: any bytes give a request or a 4xx/5xx; finding its end in pieces equals finding it at once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/server/password_checker.h"
#include "http/server/request_head.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kepler::http;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = FindHeadEnd(text, 0);
  if (end && (*end > size || FindHeadEnd(text.substr(0, *end - 1), 0) || FindHeadEnd(text, *end - 1) != end)) {
    std::abort();
  }
  const auto head = ParseRequestHead(text.substr(0, end.value_or(size)));
  if (!head) {
    if (head.error().status < 400 || head.error().status > 599 || head.error().reason.empty()) std::abort();
    return 0;
  }
  if (head->request.path.empty()) std::abort();
  static_cast<void>(ParseBasicAuth(head->authorization));
  return 0;
}
