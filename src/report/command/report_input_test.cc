#include "report/command/report_input.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/fake_tree.h"

namespace kepler::report::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string LineAt(int second, std::string_view pod) {
  return fmt::format(R"({{"version":1,"time":"2026-11-27T00:00:{:02}.000Z","node":"n","level":"pod","pod_id":"{}")"
                     R"(,"joules":{{"package":{}.000001}}}})",
                     second, pod, second);
}

/// Returns the pods, microjoules and refusals in the order of the calls. The last item has the numbers of lines.
std::vector<std::string> ReadAll(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  const auto read = ReadEnergyLines(
      paths,
      [&](const EnergyLine& line) {
        out.push_back(fmt::format("{} {}", line.Text("pod_id"), line.joules.front().second.microjoules()));
      },
      [&](std::string_view why) { out.emplace_back(why); }, [](std::string_view) {});
  out.push_back(read ? fmt::format("{} lines, {} refused", read->lines, read->refused) : read.error().message);
  return out;
}

TEST(ReportInput, ByteOrderMarkAndCarriageReturnsOfWindows_AreNoPartOfLines) {
  testing::FakeTree tree;
  tree.Write("f", fmt::format("\xEF\xBB\xBF{}\r\n{}\r\n<html>\r\n", LineAt(1, "a"), LineAt(2, "b")));
  EXPECT_THAT(ReadAll({tree.Path("f")}),
              ElementsAre("a 1000001", "b 2000001", tree.Path("f") + ":3: HTML, not JSON; check the file or URL",
                          "3 lines, 1 refused"));
}

TEST(ReportInput, LastLineWithoutItsEnd_MayStillBeWritten) {
  testing::FakeTree tree;
  tree.Write("f", LineAt(1, "a") + "\n" + LineAt(2, "b"));
  EXPECT_THAT(ReadAll({tree.Path("f")}), ElementsAre("a 1000001", "1 lines, 0 refused"));
}

/// The buffer has 256 KiB, and a line at most 1 MiB.
TEST(ReportInput, LongLines_AreReadOrRefusedByThemselves) {
  testing::FakeTree tree;
  const std::string padding(700'000, ' ');
  tree.Write("f", LineAt(1, "a") + padding + "\n" + padding + LineAt(2, "b") + "\n" +
                      LineAt(3, std::string(3'000'000, 'x')) + "\n" + LineAt(4, "d") + "\n");
  EXPECT_THAT(ReadAll({tree.Path("f")}),
              ElementsAre("a 1000001", "b 2000001", tree.Path("f") + ":3: the line has more than 1 MiB", "d 4000001",
                          "4 lines, 1 refused"));
}

TEST(ReportInput, Files_AreReadInTheOrderOfTheirTimes) {
  testing::FakeTree tree;
  tree.Write("new", LineAt(3, "c") + "\n");
  tree.Write("old", "{]\n" + LineAt(1, "a") + "\n");
  EXPECT_THAT(ReadAll({tree.Path("new"), tree.Path("old")}),
              ElementsAre(HasSubstr("old:1: parse JSON"), "a 1000001", "c 3000001", "3 lines, 1 refused"));
}

TEST(ReportInput, DirectoryAndCompressedFile_AreErrors) {
  testing::FakeTree tree;
  tree.MakeDir("d");
  EXPECT_THAT(ReadAll({tree.Path("d")}), ElementsAre(HasSubstr("Is a directory")));
  tree.Write("f.gz", "\x1F\x8B\x08");
  EXPECT_THAT(ReadAll({tree.Path("f.gz")}), ElementsAre(HasSubstr("use zcat FILE | kepler report -")));
}

}  // namespace
}  // namespace kepler::report::command
