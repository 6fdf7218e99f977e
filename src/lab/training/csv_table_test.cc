#include "lab/training/csv_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace kepler::lab::training {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

Table Read(std::string text) {
  auto table = Table::ReadCsv(std::move(text));
  EXPECT_TRUE(table) << table.error().message;
  return table ? *std::move(table) : Table();
}
std::string ErrorOf(std::string text) {
  const auto table = Table::ReadCsv(std::move(text));
  if (table) return "no error";
  EXPECT_EQ(table.error().kind, ErrorKind::kMalformed);
  return table.error().message;
}
std::vector<double> NumbersOf(const Table& table, size_t column) {
  const auto numbers = table.Numbers(column);
  EXPECT_TRUE(numbers) << numbers.error().message;
  return numbers.value_or(std::vector<double>());
}
std::string NumberError(std::string_view cell) {
  const auto numbers = Read(fmt::format("time,watts\n1,2\n2,{}\n", cell)).Numbers(1);
  return numbers ? "no error" : numbers.error().message;
}

TEST(Table, ThreeRows_AreRead) {
  const Table table = Read("a,b\n1,2\n3.5,-4e2\n+5, 6 \n");
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_THAT(table.names(), ElementsAre("a", "b"));
  EXPECT_THAT(NumbersOf(table, 0), ElementsAre(1, 3.5, 5));
  EXPECT_THAT(NumbersOf(table, 1), ElementsAre(2, -400, 6));
}

TEST(Table, LineEndsMarkAndEmptyLines_ChangeNothing) {
  const Table plain = Read("a,b\n1,2\n3,4\n");
  for (const char* text :
       {"a,b\r\n1,2\r\n3,4\r\n",
        "\xef\xbb\xbf"
        "a,b\n1,2\n3,4",
        "\na,b\n\n1,2\r\n\r\n3,4\n\n", "a,b\n1,2\n3,4\r", " a ,\tb\n1,2\n3,4\n", "\"a\",\"b\"\r\n\"1\",2\r\n3,\"4\""}) {
    const Table table = Read(text);
    EXPECT_THAT(table.names(), ElementsAre("a", "b")) << text;
    EXPECT_EQ(NumbersOf(table, 0), NumbersOf(plain, 0)) << text;
    EXPECT_EQ(NumbersOf(table, 1), NumbersOf(plain, 1)) << text;
  }
}

TEST(Table, Quotes_HoldCommasQuotesAndLines) {
  const Table table = Read("name,watts\n\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\r\nlines\",3\n\"\",4\n");
  EXPECT_THAT(table.Texts(0), ElementsAre("a,b", "say \"hi\"", "two\r\nlines", ""));
  EXPECT_THAT(NumbersOf(table, 1), ElementsAre(1, 2, 3, 4));
}

TEST(Table, LineOfARow_CountsEmptyAndQuotedOnes) {
  const auto table = Table::ReadCsv("a,b\n\n1,\"x\ny\"\n3,4\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->LineOf(0), 3U);
  EXPECT_EQ(table->LineOf(1), 5U);
}

TEST(Table, CopiesAndMoves_KeepTheirCells) {
  Table first = Read("a\nx\n");
  const Table copy = first;
  const Table moved = std::move(first);
  EXPECT_THAT(copy.Texts(0), ElementsAre("x"));
  EXPECT_THAT(moved.Texts(0), ElementsAre("x"));
}

TEST(Table, ColumnThatNobodyAsksFor_MayHoldAnything) {
  const Table table = Read(",watts,note\n0,1,n/a\n1,2,\n");
  EXPECT_THAT(NumbersOf(table, 1), ElementsAre(1, 2));
  EXPECT_THAT(table.Texts(2), ElementsAre("n/a", ""));
}

TEST(Table, RowOfAnotherLength_SaysItsLine) {
  EXPECT_THAT(ErrorOf("a,b\n1,2\n\n3\n"), AllOf(HasSubstr("line 4"), HasSubstr("1 cells"), HasSubstr("2")));
  EXPECT_THAT(ErrorOf("a,b\n\"x\ny\",2\n3,4,5\n"), AllOf(HasSubstr("line 4"), HasSubstr("3 cells")));
  EXPECT_THAT(ErrorOf("a,b\n1,2,"), AllOf(HasSubstr("line 2"), HasSubstr("3 cells")));
}

TEST(Table, BrokenQuotes_SayLineAndColumn) {
  EXPECT_THAT(ErrorOf("a,b\n1,\"2\n3,4\n"), AllOf(HasSubstr("column 2 ('b')"), HasSubstr("opened in line 2")));
  EXPECT_THAT(ErrorOf("a,b\n1,2\n3,\"4\"x\n"), AllOf(HasSubstr("line 3, column 2 ('b')"), HasSubstr("closing quote")));
  EXPECT_THAT(ErrorOf("a,b\n1\"2\",2\n"), AllOf(HasSubstr("line 2, column 1 ('a')"), HasSubstr("quote inside")));
  EXPECT_THAT(ErrorOf("a,\"b"), HasSubstr("line 1, column 2"));
}

TEST(Table, MoreCellsThanAllowed_IsAnError) {
  EXPECT_TRUE(Table::ReadCsv("a,b\n1,2\n3,4\n", 4));
  const auto more = Table::ReadCsv("a,b\n1,2\n3,4\n", 3);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(more.error().message, HasSubstr("line 3: more than 3 cells"));
  EXPECT_FALSE(Table::ReadCsv(std::string(100, ','), 50)) << "nor a header";
}

TEST(Table, NothingToTrainOn_IsAnError) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no header"));
  EXPECT_THAT(ErrorOf("\xef\xbb\xbf\r\n\n"), HasSubstr("no header"));
  EXPECT_THAT(ErrorOf("a,b\n"), AllOf(HasSubstr("line 2"), HasSubstr("no row")));
  EXPECT_THAT(ErrorOf("a,b"), HasSubstr("no row"));
}

TEST(Table, NameThatStandsTwice_IsAnError) {
  EXPECT_THAT(ErrorOf("a,b, a\n1,2,3\n"), AllOf(HasSubstr("line 1"), HasSubstr("'a'")));
  EXPECT_THAT(ErrorOf("x,,\n1,2,3\n"), HasSubstr("two columns"));
}

TEST(Table, Utf16_IsNamed) {
  EXPECT_THAT(ErrorOf(std::string("\xff\xfe"
                                  "a\0,\0",
                                  6)),
              HasSubstr("UTF-16"));
}

TEST(Table, OtherSeparatorsOfSpreadsheets_AreNamed) {
  EXPECT_EQ(ErrorOf("a;b\n1,5;2\n"), "line 1: the columns must be separated by ',', not by ';'");
  EXPECT_EQ(ErrorOf("\na\tb\n1\t2\n"), "line 2: the columns must be separated by ',', not by tabs");
  EXPECT_EQ(ErrorOf("a,b\r1,2\r3,4\r"), "line 1: lines must end with LF or CR LF, not with CR");
}

TEST(Table, CellThatIsNoFiniteNumber_SaysWhereAndWhat) {
  EXPECT_THAT(NumberError("NaN"), AllOf(HasSubstr("line 3, column 2 ('watts')"), HasSubstr("'NaN'")));
  EXPECT_THAT(NumberError(""), AllOf(HasSubstr("line 3, column 2 ('watts')"), HasSubstr("empty")));
  EXPECT_THAT(NumberError("  "), HasSubstr("empty"));
  for (const char* cell : {"inf", "-inf", "1e999", "1 2", "0x10", "1.5W", "--1", "+-1", "+"})
    EXPECT_THAT(NumberError(cell), HasSubstr("not a finite number")) << cell;
  EXPECT_THAT(NumberError("\x1b[2J"), HasSubstr("\\x1b")) << "no control of the terminal";
}

TEST(Table, EmptyCell_IsAGapWhereThatIsAskedFor) {
  const auto got = Read("time,watts\n1,\n2, \t\n3,+5\n").NumbersAndGaps(1);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(*got, ElementsAre(IsNan(), IsNan(), 5));
  for (const char* cell : {"NaN", "inf", "x", "1 2", "\"\"\"\""})
    EXPECT_FALSE(Read(fmt::format("time,watts\n1,{}\n", cell)).NumbersAndGaps(1)) << cell;
}

TEST(Table, Find_KnowsBothAgesOfAName) {
  const Table table = Read("bpf_cpu_time_us,cache_miss\n1,2\n");
  EXPECT_EQ(table.Find("bpf_cpu_time_ms").value(), 0U);
  EXPECT_EQ(table.Find("bpf_cpu_time_us").value(), 0U);
  EXPECT_EQ(table.Find("cache_miss").value(), 1U);
  EXPECT_EQ(table.Find("cpu_cycles").value(), std::nullopt);
  const auto both = Read("bpf_cpu_time_us,bpf_cpu_time_ms\n1,2\n").Find("bpf_cpu_time_ms");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, AllOf(HasSubstr("bpf_cpu_time_us"), HasSubstr("bpf_cpu_time_ms")));
}

TEST(Table, ManyRows_AreAllThere) {
  constexpr size_t kRows = 100'000;
  std::string text = "a,b,c\n";
  for (size_t i = 0; i < kRows; ++i) fmt::format_to(std::back_inserter(text), "{},\"{}\",{}.5\n", i, i, i);
  const Table table = Read(std::move(text));
  ASSERT_EQ(table.rows(), kRows);
  const auto a = NumbersOf(table, 0);
  const auto c = NumbersOf(table, 2);
  for (size_t i = 0; i < kRows; i += 999) {
    EXPECT_EQ(a[i], static_cast<double>(i));
    EXPECT_EQ(c[i], static_cast<double>(i) + 0.5);
  }
}

}  // namespace
}  // namespace kepler::lab::training
