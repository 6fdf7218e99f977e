// What must be given: on the command line of a program that can do nothing without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "settings/command_line.h"

namespace kepler::settings {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Copy {
  std::string from;
  std::vector<std::string> columns;
  std::string to;
};
constexpr Key kCopyKeys[] = {
    Key("from", "from", "What to read", kAt<&Copy::from>, {.is_path = true, .required = true, .argument = true}),
    Key("columns", "columns", "Which columns", kAt<&Copy::columns>, {.required = true}),
    Key("to", "to", "What to write", kAt<&Copy::to>, {.argument = true}),
};
constexpr TableOf<Copy> kCopy(kCopyKeys);

Parsed<Copy> Given(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "copy");
  return ParseCommandLine<Copy>(arguments, {.name = "copy", .about = "Copies.", .build = {}}, kCopy,
                                [](Draft&, Copy&) {});
}

TEST(Required, AllGiven_Runs) { EXPECT_EQ(Given({"--from=a.csv", "--columns=x"}).action, Action::kRun); }

TEST(Required, NothingGiven_EachIsNamedWithItsFlag) {
  const auto parsed = Given({});
  EXPECT_EQ(parsed.action, Action::kReject);
  EXPECT_EQ(parsed.text, "from: is required; give --from\ncolumns: is required; give --columns\n");
}

TEST(Required, NotGiven_HasOneErrorAlthoughARuleOfTheProgramFailsToo) {
  const auto parse = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "copy");
    return ParseCommandLine<Copy>(arguments, {.name = "copy", .about = "", .build = {}}, kCopy,
                                  [](Draft& draft, Copy& copy) {
                                    if (copy.columns.empty()) draft.Reject("columns", "has no column");
                                    for (size_t i = 0; i < copy.columns.size(); ++i)
                                      if (copy.columns[i] != "x") draft.Reject("columns", "is not x", i);
                                  })
        .text;
  };
  EXPECT_EQ(parse({"--from=a"}), "columns: is required; give --columns\n");
  EXPECT_EQ(parse({"--from=a", "--columns=", "--columns=y"}), "--columns: has an empty item\n--columns: is not x\n");
}

TEST(Required, Empty_IsNotGiven) {
  EXPECT_EQ(Given({"--from=", "--columns=x"}).text, "--from: is required; give --from\n");
}

TEST(Required, Help_SaysSoInPlaceOfADefault) {
  const std::string help = Given({"--help"}).text;
  EXPECT_THAT(help, HasSubstr("--from=PATH                       What to read (required)\n"));
  EXPECT_THAT(help, HasSubstr("--columns=ITEM ...                Which columns (required)\n"));
}

TEST(ConfigFile, ProgramWithoutOne_HasNoFlagForIt) {
  const auto parse = [](std::vector<const char*> arguments, bool has_config_file) {
    arguments.insert(arguments.begin(), "copy");
    return ParseCommandLine<Copy>(arguments,
                                  {.name = "copy", .about = "", .build = {}, .has_config_file = has_config_file}, kCopy,
                                  [](Draft&, Copy&) {});
  };
  EXPECT_THAT(parse({"--help"}, true).text, HasSubstr("--config.file"));
  const std::string help = parse({"--help"}, false).text;
  EXPECT_THAT(help, Not(HasSubstr("--config")));
  EXPECT_THAT(help, HasSubstr("--version"));
  EXPECT_EQ(parse({"--config.print"}, false).text, "copy: error: unknown long flag '--config.print', try --help\n");
}

TEST(Argument, WithoutAFlag_IsTheNextKeyOfTheTable) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"a.csv", "--columns=x", "b.csv"},
                                                    {"--columns", "x", "a.csv", "b.csv"},
                                                    {"--from=a.csv", "b.csv", "--columns=x"},
                                                    {"--columns=x", "--", "a.csv", "b.csv"}}) {
    const auto parsed = Given(arguments);
    EXPECT_EQ(parsed.action, Action::kRun) << parsed.text;
    EXPECT_EQ(parsed.config.from, "a.csv");
    EXPECT_EQ(parsed.config.to, "b.csv");
  }
}

TEST(Argument, MoreThanTheTableAccepts_IsAnError) {
  EXPECT_EQ(Given({"a", "b", "c", "--columns=x"}).text, "copy: error: unexpected c, try --help\n");
  EXPECT_EQ(Given({"a", "--from=b", "--columns=x"}).text, "copy: error: flag 'from' cannot be repeated, try --help\n");
  EXPECT_EQ(Given({"--columns=x"}).text, "from: is required; give --from\n");
}

TEST(Argument, Help_NamesItInTheUsage) {
  EXPECT_THAT(Given({"--help"}).text, HasSubstr("usage: copy [<flags>] <from> [<to>]\n"));
}

}  // namespace
}  // namespace kepler::settings
