#pragma once
// Page: a rendered exposition as one gzip member whose pieces can be read back one by one. So the plain text, forty
// times as large, never exists as a whole. Immutable once made; any thread.
#include <cstddef>
#include <string>
#include <vector>

namespace kepler::prometheus {

struct Page {
  struct Piece {
    size_t end = 0;         // in `gzip`; the next one begins there
    size_t text_bytes = 0;  // of its plain text
  };
  std::string gzip;
  std::vector<Piece> pieces;

  /// The plain text of a piece. Throws std::bad_alloc.
  [[nodiscard]] std::string TextOf(size_t piece) const;
};

/// Before the first piece: ID1 ID2 CM FLG MTIME XFL OS (RFC 1952, 2.3), 255 is "unknown".
inline constexpr char kGzipHeader[] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff'};

}  // namespace kepler::prometheus
