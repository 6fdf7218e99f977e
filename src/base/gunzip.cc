#include "base/gunzip.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include <isa-l/igzip_lib.h>

#include "base/avx.h"

namespace kepler {

Result<std::string> Gunzip(std::string_view member, size_t max_bytes) {
  constexpr size_t kPiece = size_t{64} << 10;
  const auto malformed = [](std::string_view why) {
    return Fail(ErrorKind::kMalformed, fmt::format("parse gzip: {}", why));
  };
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  std::string bytes(member);  // the interface takes no const pointer
  state->next_in = reinterpret_cast<uint8_t*>(bytes.data());
  state->avail_in = static_cast<uint32_t>(bytes.size());
  std::string text;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    const size_t done = text.size();
    const size_t room = std::min(kPiece, max_bytes - done + 1);  // one byte more shows that the limit is exceeded
    text.resize(done + room);
    state->next_out = reinterpret_cast<uint8_t*>(text.data() + done);
    state->avail_out = static_cast<uint32_t>(room);
    if (const int error = ClearAvxAfter(isal_inflate(state.get())); error != ISAL_DECOMP_OK)
      return malformed(fmt::format("error {} of isal_inflate", error));
    text.resize(text.size() - state->avail_out);
    if (text.size() > max_bytes) return malformed(fmt::format("more than {} bytes", max_bytes));
    if (text.size() == done && state->block_state != ISAL_BLOCK_FINISH) return malformed("cut");
  }
  return text;
}

}  // namespace kepler
