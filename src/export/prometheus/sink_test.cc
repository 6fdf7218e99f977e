#include "export/prometheus/sink.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include <isa-l/igzip_lib.h>

namespace kepler::prometheus {
namespace {

/// The content of exactly one gzip member, checksum and length verified; "" and a failure otherwise.
std::string Gunzip(std::string member) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(member.data());
  state.avail_in = static_cast<uint32_t>(member.size());
  std::string text;
  std::vector<uint8_t> piece(10'000);
  while (state.block_state != ISAL_BLOCK_FINISH) {
    state.next_out = piece.data();
    state.avail_out = static_cast<uint32_t>(piece.size());
    const uint32_t before = state.avail_in;
    if (isal_inflate(&state) != ISAL_DECOMP_OK) {
      ADD_FAILURE() << "isal_inflate";
      return "";
    }
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size() - state.avail_out);
    if (state.avail_out == piece.size() && state.avail_in == before && state.block_state != ISAL_BLOCK_FINISH) {
      ADD_FAILURE() << "truncated";
      return "";
    }
  }
  EXPECT_EQ(state.avail_in, 0u) << "bytes after the member";
  return text;
}

Page MakePage(const std::vector<std::string>& pieces) {
  GzipSink sink;
  for (const auto& piece : pieces) sink.Write(piece);
  return std::move(sink).Finish();
}

std::string Gzip(const std::vector<std::string>& pieces) { return MakePage(pieces).gzip; }

TEST(GzipSink, Nothing_EmptyMember) { EXPECT_EQ(Gunzip(Gzip({})), ""); }

TEST(GzipSink, Pieces_OneMemberWithAllOfThem) {
  EXPECT_EQ(Gzip({"x"}).substr(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ(Gunzip(Gzip({"kepler_", "", "node", "\n"})), "kepler_node\n");
}

TEST(GzipSink, LargeRepetitiveText_SmallAndEqual) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "kepler_process_cpu_joules_total{pid=\"" + std::to_string(i) + "\"} 1\n";
  const std::string member = Gzip({text.substr(0, 70'000), text.substr(70'000)});
  EXPECT_LT(member.size(), text.size() / 5);
  EXPECT_EQ(Gunzip(member), text);
}

TEST(GzipSink, Incompressible_Equal) {
  std::string noise;
  uint32_t random = 1;
  for (int i = 0; i < 300'000; ++i) noise += static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
  EXPECT_EQ(Gunzip(Gzip({noise})), noise);
  EXPECT_EQ(MakePage({noise}).TextOf(0), noise);
}

TEST(Page, EachPiece_ReadBackByItselfInAnyOrder) {
  std::vector<std::string> pieces;
  for (int i = 0; i < 5; ++i) {
    std::string& piece = pieces.emplace_back();
    for (int row = 0; row < 2'000; ++row) piece += "kepler_process_cpu_watts{pid=\"" + std::to_string(i) + "\"} 1.5\n";
  }
  const Page page = MakePage(pieces);
  ASSERT_EQ(page.pieces.size(), pieces.size());
  for (const size_t i : std::initializer_list<size_t>{4, 0, 2, 3, 1}) EXPECT_EQ(page.TextOf(i), pieces[i]);
}

TEST(Page, NothingWritten_NoPiece) { EXPECT_TRUE(MakePage({""}).pieces.empty()); }

RC_GTEST_PROP(Page, AnyPieces_ReadBackOneByOne, (const std::vector<std::string>& pieces)) {
  const Page page = MakePage(pieces);
  size_t next = 0;
  for (const auto& piece : pieces)
    if (!piece.empty()) RC_ASSERT(page.TextOf(next++) == piece);
  RC_ASSERT(next == page.pieces.size());
}

RC_GTEST_PROP(GzipSink, AnyPieces_ReadBack, (const std::vector<std::string>& pieces)) {
  std::string whole;
  for (const auto& piece : pieces) whole += piece;
  RC_ASSERT(Gunzip(Gzip(pieces)) == whole);
}

}  // namespace
}  // namespace kepler::prometheus
