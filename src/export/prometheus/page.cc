#include "export/prometheus/page.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

#include <isa-l/igzip_lib.h>

#include "base/avx.h"

namespace kepler::prometheus {

std::string Page::TextOf(size_t piece) const {
  const size_t begin = piece == 0 ? sizeof kGzipHeader : pieces[piece - 1].end;
  std::string text(pieces[piece].text_bytes, '\0');
  const auto state = std::make_unique_for_overwrite<inflate_state>();  // 90 KB
  isal_inflate_init(state.get());
  // isa-l takes a mutable pointer but does not write to the data.
  state->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(gzip.data() + begin));
  state->avail_in = static_cast<uint32_t>(pieces[piece].end - begin);
  state->next_out = reinterpret_cast<uint8_t*>(text.data());
  state->avail_out = static_cast<uint32_t>(text.size());
  // The agent compressed this data. An error, or too little text, is a bug in these files.
  if (ClearAvxAfter(isal_inflate(state.get())) != ISAL_DECOMP_OK || state->avail_out != 0) std::abort();
  return text;
}

}  // namespace kepler::prometheus
