#include "lab/files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "lab/files/model_file.h"
#include "testing/fifo.h"

namespace kepler::lab::files {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "kepler-model-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Files() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }
  std::string Text(const std::string& name) const {
    std::ifstream in(root_ / name);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::vector<std::string> Names(const std::string& directory = "") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / directory)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path root_;
};

TEST_F(Files, MachineWithMoreChipsThanCores_IsRefusedInAnyForm) {
  std::ofstream(root_ / "m.json") << R"({"cores":4,"chips":8})";
  for (const std::string& machine : {Path("m.json"), std::string("cores=4,chips=8")}) {
    const auto read = ReadMachine(machine);
    ASSERT_FALSE(read) << machine;
    EXPECT_THAT(read.error().message, HasSubstr("chips: 8 is more than the 4 cores"));
  }
}

TEST_F(Files, Written_AreThereWithTheirDirectoriesAndNothingElse) {
  const std::vector<OutputFile> files = {{Path("a/b/model.json"), "{}"}, {Path("a/b/card.md"), "# x"}};
  ASSERT_TRUE(CheckWritable(files[0].path));
  ASSERT_TRUE(WriteFiles(files));
  EXPECT_EQ(Text("a/b/model.json"), "{}");
  EXPECT_THAT(Names("a/b"), UnorderedElementsAre("model.json", "card.md"));
}

TEST_F(Files, OneThatCannotBeWritten_NoneIsThereAndOldOnesStay) {
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("old"), "old"}}));
  const auto written = WriteFiles(
      std::vector<OutputFile>{{Path("old"), "new"}, {Path("more/new"), "new"}, {"/dev/full", "does not fit"}});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("/dev/full: No space left on device"));
  EXPECT_EQ(Text("old"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("old"));
}

TEST_F(Files, LeftoversOfAProgramThatWasKilled_AreNotInTheWay) {
  const std::string name = fmt::format(".kepler-model.{}.0.tmp", ::getpid());
  std::ofstream(root_ / name) << "left over";
  const std::string longest(255, 'x');
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("file"), "new"}, {Path(longest), "long"}}));
  EXPECT_EQ(Text("file"), "new");
  EXPECT_EQ(Text(longest), "long");
  EXPECT_EQ(Text(name), "left over");
}

TEST_F(Files, AKilledProgramLeavesNoTemporaryFile) {
  if (!UniqueFd(::open(root_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)).valid())
    GTEST_SKIP() << "this file system has no files without a name";
  testing::MakeFifo(Path("pipe"));
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string more_than_a_pipe(size_t{4} << 20, 'x');
    (void)WriteFiles(std::vector<OutputFile>{{Path("file"), "new"}, {Path("pipe"), more_than_a_pipe}});
    ::_exit(0);
  }
  const UniqueFd pipe(::open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  pollfd polled{.fd = pipe.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&polled, 1, 60'000), 1) << "the pipe is written after the file";
  EXPECT_EQ(::kill(child, SIGTERM), 0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_THAT(Names(), UnorderedElementsAre("pipe"));
}

TEST_F(Files, OneFileUnderTwoNames_IsRefused) {
  std::ofstream(root_ / "a") << "x";
  fs::create_symlink("a", root_ / "b");
  EXPECT_TRUE(CheckDistinct(std::vector{Path("a"), Path("c"), std::string("-"), std::string("-")}));
  const auto same = CheckDistinct(std::vector{Path("c"), Path("a"), Path("b")});
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().message, HasSubstr(Path("a") + " and "));
}

TEST_F(Files, OutputThatWouldReplaceAnInput_IsRefused) {
  fs::create_directory(root_ / "model");
  for (const std::string file : {"data.csv", "model/model.json", "model/card.md"}) {
    std::ofstream(root_ / file) << "x";
    const auto same = CheckOutput(Path("model/../" + file), {Path("model"), "", Path("data.csv")});
    ASSERT_FALSE(same) << file;
    EXPECT_THAT(same.error().message, HasSubstr("are the same file; use another output"));
  }
  EXPECT_TRUE(CheckOutput("-", {"-", Path("data.csv")}));
  EXPECT_TRUE(CheckOutput(Path("model/new.csv"), {Path("model"), Path("data.csv")}));
  EXPECT_FALSE(CheckOutput(Path("data.csv/x"), {})) << "it is checked as an output, too";
  EXPECT_EQ(CheckOutput("", {}).error().message, "the name of the output file is empty");
}

TEST_F(Files, LinkInPlaceOfAFile_IsRefused_WhateverItLeadsTo) {
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("target"), "old"}}));
  testing::MakeFifo(Path("pipe"));
  fs::create_directory(root_ / "directory");
  for (const std::string target : {"target", "pipe", "directory", "not-there", "link"}) {
    fs::create_symlink(target, root_ / "link");
    for (const Status& written : {WriteFiles(std::vector<OutputFile>{{Path("first"), "x"}, {Path("link"), "new"}}),
                                  CheckWritable(Path("link")), CheckFile(Path("link"))}) {
      ASSERT_FALSE(written) << target;
      EXPECT_EQ(written.error().kind, ErrorKind::kInvalid);
      EXPECT_EQ(written.error().message, "cannot write " + Path("link") + ": it is a symbolic link to " + target +
                                             "; name that file, or remove the link");
    }
    fs::remove(root_ / "link");
  }
  EXPECT_EQ(Text("target"), "old");
  EXPECT_THAT(Names(), UnorderedElementsAre("target", "pipe", "directory"));
}

TEST_F(Files, ThroughALinkToADirectory) {
  fs::create_directory(root_ / "directory");
  fs::create_symlink("directory", root_ / "link");
  EXPECT_TRUE(CheckFile(Path("link/file")));
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("link/file"), "new"}, {Path("link/more/file"), "more"}}));
  EXPECT_EQ(Text("directory/file"), "new");
  EXPECT_EQ(Text("directory/more/file"), "more");
}

TEST_F(Files, OpenFileByItsNameInDev_IsWrittenToAsItIs) {
  std::ofstream(root_ / "file") << "before ";
  const UniqueFd open_file(::open(Path("file").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  for (const std::string& name :
       {fmt::format("/dev/fd/{}", open_file.get()), fmt::format("/proc/self/fd/{}", open_file.get())}) {
    EXPECT_TRUE(CheckWritable(name));
    EXPECT_TRUE(WriteFiles(std::vector<OutputFile>{{name, "and "}}));
  }
  EXPECT_EQ(Text("file"), "before and and ");
}

TEST_F(Files, DirectoryInPlaceOfAFile_IsAnErrorThatNamesIt) {
  const auto checked = CheckWritable(root_.string());
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr(root_.string() + ": Is a directory"));
  EXPECT_FALSE(WriteFiles(std::vector<OutputFile>{{root_.string(), "x"}}));
  EXPECT_FALSE(ReadBounded(root_.string(), 10));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(Files, FileInPlaceOfADirectory_IsAnError) {
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("file"), "x"}}));
  EXPECT_FALSE(CheckWritable(Path("file/model.json")));
  EXPECT_FALSE(WriteFiles(std::vector<OutputFile>{{Path("file/model.json"), "x"}}));
}

TEST_F(Files, Devices_AreRefusedBeforeTheyAreRead) {
  for (const char* device : {"/dev/zero", "/dev/null"}) {
    const auto read = ReadBounded(device, size_t{1} << 40);
    ASSERT_FALSE(read) << device;
    EXPECT_EQ(read.error().kind, ErrorKind::kInvalid);
    EXPECT_EQ(read.error().message, std::string(device) + ": a device; use a file or a pipe");
  }
}

TEST_F(Files, TerminalThatIsNotStandardInput_IsRefused) {
  const auto read = ReadBounded("/dev/ptmx", 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "/dev/ptmx: a device; use a file or a pipe");
}

TEST_F(Files, PipeThatNobodyReads_IsNotWaitedFor) {
  testing::MakeFifo(Path("pipe"));
  EXPECT_TRUE(CheckWritable(Path("pipe")));
  const auto written = WriteFiles(std::vector<OutputFile>{{Path("file"), "x"}, {Path("pipe"), "x"}}, 0ms);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(written.error().message, Path("pipe") + ": a pipe without a reader");
  EXPECT_THAT(Names(), UnorderedElementsAre("pipe"));
}

TEST_F(Files, PipeWithAReader_HasAllOfIt) {
  testing::MakeFifo(Path("pipe"));
  const std::string much(1 << 20, 'x');  // more than a pipe holds
  std::string got;
  {
    std::jthread reader([&] { got = Text("pipe"); });
    EXPECT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("pipe"), much}}, 20s));
  }
  EXPECT_EQ(got, much);
}

TEST_F(Files, FileThatIsReadAgain_IsNoPipeAndNoDevice) {
  testing::MakeFifo(Path("pipe"));
  for (const std::string& path : {Path("pipe"), std::string("/dev/null")}) {
    const auto checked = CheckFile(path);
    ASSERT_FALSE(checked) << path;
    EXPECT_THAT(checked.error().message, HasSubstr(path + ": a pipe or a device"));
  }
  EXPECT_TRUE(CheckFile("-"));
  EXPECT_TRUE(CheckFile(Path("new/file")));
}

TEST_F(Files, NameOfADirectoryThatIsNotThere_IsNoFile) {
  const auto checked = CheckWritable(Path("new") + "/");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("new/: Is a directory"));
}

TEST_F(Files, PipeThatNobodyWritesTo_IsNotWaitedFor) {
  testing::MakeFifo(Path("pipe"));
  const auto read = ReadBounded(Path("pipe"), 10, std::chrono::milliseconds(0));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(read.error().message, HasSubstr("pipe: a pipe without a writer"));
}

TEST_F(Files, PipeWithAWriter_IsReadToItsEnd) {
  testing::MakeFifo(Path("pipe"));
  std::jthread writer([path = Path("pipe")] { std::ofstream(path) << "12" << std::flush << "345"; });
  EXPECT_EQ(ReadBounded(Path("pipe"), 5, std::chrono::seconds(20)), "12345");
}

TEST_F(Files, ErrorInAFile_NamesIt) {
  const Error error{ErrorKind::kMalformed, "line 3: no number"};
  EXPECT_EQ(InFile("a.csv", error).error().message, "a.csv: line 3: no number");
  EXPECT_EQ(InFile("a.csv", error).error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(InFile("-", error).error().message, "standard input: line 3: no number");
}

TEST_F(Files, Read_UpToTheBoundAndNoFurther) {
  ASSERT_TRUE(WriteFiles(std::vector<OutputFile>{{Path("file"), "12345"}}));
  EXPECT_EQ(ReadBounded(Path("file"), 5), "12345");
  const auto larger = ReadBounded(Path("file"), 4);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(ReadBounded(Path("none"), 5).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace kepler::lab::files
