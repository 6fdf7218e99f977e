#pragma once
// Page: a rendered exposition as one gzip member, in pieces that can be decompressed one by one. The plain text, which
// is forty times larger, therefore never exists as a whole. Immutable; any thread.
#include <cstddef>
#include <string>
#include <vector>

namespace kepler::prometheus {

struct Page {
  struct Piece {
    size_t end = 0;         // offset in `gzip`; the next piece begins there
    size_t text_bytes = 0;  // size of the plain text
  };
  std::string gzip;
  std::vector<Piece> pieces;

  /// Returns the plain text of a piece. Throws std::bad_alloc.
  [[nodiscard]] std::string TextOf(size_t piece) const;
};

/// Header before the first piece: ID1 ID2 CM FLG MTIME XFL OS (RFC 1952, 2.3); 255 is "unknown".
inline constexpr char kGzipHeader[] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};

}  // namespace kepler::prometheus
