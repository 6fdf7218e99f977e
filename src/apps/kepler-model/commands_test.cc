// The commands of kepler-model as main() calls them: exit code, output and files for good, missing and malformed input.
#include "apps/kepler-model/commands.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "json/document.h"
#include "testing/fake_tree.h"
#include "testing/scripted_peer.h"

namespace kepler::lab::tool {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Ended {
  int code = 0;
  std::string out, err;
};

Ended RunTool(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"kepler-model"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = RunProgram(argv);
  std::fflush(stdout);
  std::string out = ::testing::internal::GetCapturedStdout();
  return {.code = code, .out = std::move(out), .err = ::testing::internal::GetCapturedStderr()};
}

/// 30 rows of 10 W + 2 W for each 1,000 cycles and 1 W for each 1,000 instructions.
std::string Measurements() {
  std::string csv = "timestamp,node,cpu_cycles,cpu_instructions,cache_miss,package_power\n";
  for (int i = 0; i < 30; ++i) {
    const int cycles = 1000 * (i % 7), instructions = 1000 * (i % 5);
    csv += fmt::format("{},n,{},{},{},{}\n", 1'700'000'000 + i, cycles, instructions, 10 * (i % 3),
                       10 + 2 * (i % 7) + i % 5);
  }
  return csv;
}

class Commands : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(std::string_view name) const { return tree_.Path(name); }
  [[nodiscard]] std::string Flag(std::string_view flag, std::string_view name) const {
    return fmt::format("--{}={}", flag, Path(name));
  }
  [[nodiscard]] std::string Text(std::string_view name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  [[nodiscard]] bool Exists(std::string_view name) const { return std::filesystem::exists(Path(name)); }

  /// model/model.json and model/card.md of a linear model, and data.csv, which it was fitted to.
  void Train() {
    tree_.Write("data.csv", Measurements());
    const Ended ended = RunTool({"train", Flag("data", "data.csv"), "--features=cpu_cycles,cpu_instructions",
                                 "--trainer=linear", Flag("output", "model")});
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  /// Exit code 1, nothing on stdout, and one line on stderr with all of `says`.
  static void ExpectFailure(const Ended& ended, const std::vector<std::string>& says) {
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, StartsWith("kepler-model: "));
    for (const std::string& words : says) EXPECT_THAT(ended.err, HasSubstr(words));
  }
  static void ExpectWrongUsage(const Ended& ended, const std::string& says) {
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(StartsWith("kepler-model"), HasSubstr(": error: "), HasSubstr(says)));
  }

  kepler::testing::FakeTree tree_;
};

TEST_F(Commands, Help_ListsThemAll) {
  const Ended help = RunTool({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const std::string command : {"query", "collect", "extract", "isolate", "train", "pipeline", "evaluate",
                                    "validate", "predict", "plot", "machine", "export", "import"}) {
    EXPECT_THAT(help.out + help.err, HasSubstr(command));
    const Ended of_command = RunTool({command, "--help"});
    EXPECT_EQ(of_command.code, 0);
    EXPECT_THAT(of_command.out + of_command.err, HasSubstr("usage: kepler-model " + command));
    ExpectWrongUsage(RunTool({command, "--no-such-flag"}), "--no-such-flag");
  }
}

TEST_F(Commands, TrainHelp_ListsTrainersParametersAndGroups) {
  EXPECT_THAT(RunTool({"train", "--help"}).out,
              AllOf(HasSubstr("\n  svr                         C=1, epsilon=0.2, gamma=0\n"),
                    HasSubstr("; also GradientBoostingRegressorTrainer\n"),
                    HasSubstr("\n  CounterOnly                 cache_miss, cpu_cycles, cpu_instructions\n")));
}

TEST_F(Commands, KindsOfPower_HaveTheNamesOfOldModelServers) {
  tree_.Write("data.csv", Measurements());
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{"--power=DynComponentModelWeight"}, {"--power", "DynModelWeight"}}) {
    std::vector<std::string> arguments = {"train", Flag("data", "data.csv"), "--features=cpu_cycles",
                                          "--trainer=linear", Flag("output", "model")};
    arguments.insert(arguments.end(), kind.begin(), kind.end());
    ASSERT_EQ(RunTool(arguments).code, 0);
    EXPECT_THAT(Text("model/model.json"), HasSubstr("\"output\":\"DynPower\""));
  }
  ExpectWrongUsage(RunTool({"train", "--power=DynWeight", Flag("data", "data.csv"), "--features=cpu_cycles",
                            Flag("output", "model")}),
                   "DynWeight");
}

TEST_F(Commands, Program_RefusesOtherCommandLines) {
  ExpectWrongUsage(RunTool({}), "a command is missing");
  ExpectWrongUsage(RunTool({"trai"}), "did you mean train?");
  ExpectWrongUsage(RunTool({"--json"}), "unknown flag '--json' before a command");
  EXPECT_EQ(RunTool({"--version"}).code, 0);
}

TEST_F(Commands, Train_WritesModelAndCard) {
  Train();
  EXPECT_THAT(Text("model/model.json"), HasSubstr("\"kepler_model\":1"));
  EXPECT_THAT(Text("model/card.md"), AllOf(StartsWith("# model\n"), HasSubstr(Path("data.csv"))));
  const Ended again = RunTool({"train", Flag("data", "data.csv"), "--features=CounterOnly", "--trainer=linear",
                               "--json", Flag("output", "again"), Flag("predictions", "out.csv")});
  ASSERT_EQ(again.code, 0) << again.err;
  const auto report = json::Parse(again.out);
  ASSERT_TRUE(report) << again.out;
  EXPECT_EQ(json::Cursor(*report).Number("rows"), 30);
  EXPECT_LT(*json::Cursor(*report).Number("mae"), 0.001);
  EXPECT_THAT(Text("out.csv"), StartsWith("row,prediction\n0,"));
}

TEST_F(Commands, NewModel_LeavesNoSignatureOfAnEarlierOne) {
  tree_.Write("model/model.json.sig", "of another model");
  Train();
  EXPECT_FALSE(Exists("model/model.json.sig"));
  ASSERT_EQ(RunTool({"export", Flag("model", "model"), Flag("output", "model.zip")}).code, 0);
  tree_.Write("copy/model.json.sig", "of another model");
  const Ended ended = RunTool({"import", Flag("archive", "model.zip"), Flag("output", "copy")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(Exists("copy/model.json.sig"));
  EXPECT_THAT(ended.err, HasSubstr(fmt::format("removed {}", Path("copy/model.json.sig"))));
}

TEST_F(Commands, Pull_WritesAModelWithItsOwnSignature) {
  Train();
  // Version 2 is published after the first request.
  const kepler::testing::ScriptedPeer server(
      [&, requests = 0](const std::string& head, const auto& send, const auto&) mutable {
        const std::string mark = ++requests > 1 ? " " : "";
        const std::string body = head.contains(".sig") ? "signature" + mark : Text("model/model.json") + mark;
        send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", body.size(), body));
      });
  const Ended ended = RunTool(
      {"pull", fmt::format("--server=http://127.0.0.1:{}", server.port()), "--name=m", Flag("output", "pulled")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Text("pulled/model.json").ends_with(' '), Text("pulled/model.json.sig").ends_with(' '));
}

TEST_F(Commands, Train_RefusesWhatIsMissingOrMalformed) {
  const auto train = [this](std::string_view data, const std::string& more = "--trainer=linear") {
    return RunTool({"train", Flag("data", data), "--features=cpu_cycles", Flag("output", "model"), more});
  };
  ExpectWrongUsage(RunTool({"train", "--features=cpu_cycles", Flag("output", "model")}), "data");
  ExpectFailure(train("none.csv"), {Path("none.csv"), "No such file"});
  tree_.Write("cut.csv", "cpu_cycles,package_power\n1,2\n3\n");
  ExpectFailure(train("cut.csv"), {Path("cut.csv"), "line 3"});
  tree_.Write("text.csv", "cpu_cycles,package_power\n1,2\nx,3\n");
  ExpectFailure(train("text.csv"), {Path("text.csv"), "line 3", "'x' is not a finite number"});
  tree_.Write("data.csv", Measurements());
  ExpectWrongUsage(train("data.csv", "--trainer=linaer"), "did you mean linear?");
  EXPECT_FALSE(Exists("model"));
}

TEST_F(Commands, Evaluate_JudgesTheModel) {
  Train();
  const Ended ended = RunTool({"evaluate", Flag("model", "model"), Flag("data", "data.csv")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("COMPONENT"), HasSubstr("0 of 30 rows are outside")));
  const Ended figures = RunTool({"evaluate", Flag("model", "model"), Flag("data", "data.csv"), "--json"});
  const auto report = json::Parse(figures.out);
  ASSERT_TRUE(report) << figures.out;
  EXPECT_EQ(json::Cursor(*report).Number("outside_domain"), 0);
}

TEST_F(Commands, Evaluate_RefusesWhatIsMissingOrMalformed) {
  Train();
  ExpectFailure(RunTool({"evaluate", Flag("model", "none"), Flag("data", "data.csv")}), {Path("none")});
  tree_.Write("bad.json", R"({"kepler_model": 1, "name": 5})");
  ExpectFailure(RunTool({"evaluate", Flag("model", "bad.json"), Flag("data", "data.csv")}), {Path("bad.json"), "name"});
  tree_.Write("other.csv", "cpu_cycles,cpu_instructions\n1,2\n");
  ExpectFailure(RunTool({"evaluate", Flag("model", "model"), Flag("data", "other.csv")}),
                {Path("other.csv"), "no column 'package_power'"});
}

TEST_F(Commands, Predict_WritesARowForEachRow) {
  Train();
  const Ended ended = RunTool({"predict", Flag("model", "model"), Flag("data", "data.csv")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("row,prediction\n"));
  EXPECT_EQ(std::ranges::count(ended.out, '\n'), 31);
  ASSERT_EQ(RunTool({"predict", Flag("model", "model"), Flag("data", "data.csv"), Flag("output", "watts.csv")}).code,
            0);
  EXPECT_EQ(Text("watts.csv"), ended.out);
}

TEST_F(Commands, Predict_RefusesWhatIsMissingOrMalformed) {
  Train();
  ExpectFailure(RunTool({"predict", Flag("model", "model"), Flag("data", "none.csv")}), {Path("none.csv")});
  tree_.Write("model/model.json", "{");
  ExpectFailure(RunTool({"predict", Flag("model", "model"), Flag("data", "data.csv")}),
                {Path("model/model.json"), "parse JSON, near byte 1"});
}

TEST_F(Commands, Plot_DrawsThePage) {
  Train();
  for (const std::string name : {"page.svg", "page.html", "page.png"}) {
    const Ended ended = RunTool(
        {"plot", Flag("model", "model"), Flag("data", "data.csv"), Flag("output", name), "--feature=cpu_cycles"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("30 of 30 rows, MAE 0.000 W"));
    EXPECT_GT(Text(name).size(), 5'000u) << "more than an empty page";
  }
  EXPECT_THAT(Text("page.svg"), EndsWith("</svg>\n"));
  EXPECT_THAT(Text("page.html"), HasSubstr("<caption>Error by load</caption>"));
  EXPECT_THAT(Text("page.png"), StartsWith("\x89PNG"));
}

TEST_F(Commands, Plot_RefusesWhatIsMissingOrMalformed) {
  Train();
  ExpectWrongUsage(RunTool({"plot", Flag("model", "model"), Flag("data", "data.csv"), Flag("output", "page.gif")}),
                   "must be .svg, .png or .html");
  ExpectFailure(RunTool({"plot", Flag("predictions", "none.csv"), Flag("data", "data.csv"), Flag("output", "p.svg")}),
                {Path("none.csv")});
  tree_.Write("twice.csv", "row,prediction\n0,1\n0,2\n");
  ExpectFailure(RunTool({"plot", Flag("predictions", "twice.csv"), Flag("data", "data.csv"), Flag("output", "p.svg")}),
                {Path("twice.csv"), "line 3", "appears twice"});
  EXPECT_FALSE(Exists("p.svg"));
}

TEST_F(Commands, Plot_DoesNotReplaceItsInput) {
  Train();
  tree_.Write("in.svg", Measurements());
  tree_.Write("page.html", R"({"cores": 8})");
  ExpectFailure(RunTool({"plot", Path("in.svg"), Flag("output", "in.svg")}), {Path("in.svg"), "the same file"});
  ExpectFailure(RunTool({"plot", Path("data.csv"), Flag("model", "model"), Flag("machine", "page.html"),
                         Flag("output", "page.html")}),
                {Path("page.html"), "the same file"});
  ExpectFailure(RunTool({"plot", Path("data.csv"), Flag("model", "model"),
                         fmt::format("--compare=a={},b={}", Path("model"), Path("in.svg")), Flag("output", "in.svg")}),
                {Path("in.svg"), "the same file"});
  EXPECT_EQ(Text("in.svg"), Measurements());
}

TEST_F(Commands, Isolate_SubtractsIdlePower) {
  tree_.Write("data.csv", Measurements());
  tree_.Write("idle.json", R"({"package": 10})");
  const Ended ended = RunTool({"isolate", Flag("input", "data.csv"), Flag("output", "load.csv"), "--method=profile",
                               Flag("profile", "idle.json"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(R"("rows":30,"method":"profile","changed_rows":30,"clamped_to_0":0)"));
  EXPECT_THAT(Text("load.csv"), HasSubstr("\n1700000001,n,1000,1000,10,3\n"));
}

TEST_F(Commands, Isolate_RefusesWhatIsMissingOrMalformed) {
  tree_.Write("data.csv", Measurements());
  const auto isolate = [this](std::string_view input, std::string_view profile) {
    return RunTool(
        {"isolate", Flag("input", input), Flag("output", "load.csv"), "--method=profile", Flag("profile", profile)});
  };
  tree_.Write("idle.json", R"({"package": 10})");
  tree_.Write("text.json", R"({"package": "ten"})");
  tree_.Write("dram.json", R"({"dram": 1})");
  ExpectFailure(isolate("none.csv", "idle.json"), {Path("none.csv")});
  ExpectFailure(isolate("data.csv", "none.json"), {Path("none.json")});
  ExpectFailure(isolate("data.csv", "text.json"), {Path("text.json"), "package: expected a number, found a text"});
  ExpectFailure(isolate("data.csv", "dram.json"), {Path("dram.json"), "it has no value for package"});
  EXPECT_FALSE(Exists("load.csv"));
}

constexpr std::string_view kRecording = R"({
    "kepler_node_cpu_joules_total": [{"metric": {"zone": "package", "node_name": "n"},
        "values": [[100, "0"], [105, "100"], [110, "300"]]}],
    "kepler_node_cpu_seconds_total": [{"metric": {"node_name": "n"},
        "values": [[100, "1"], [105, "6"], [110, "16"]]}]})";

TEST_F(Commands, Extract_MakesATable) {
  tree_.Write("raw.json", kRecording);
  const Ended ended = RunTool({"extract", Flag("input", "raw.json"), Flag("output", "table.csv"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr(R"("metrics":"kepler","nodes":["n"],"columns":["bpf_cpu_time_ms","package_power"])"));
  EXPECT_THAT(Text("table.csv"),
              AllOf(StartsWith("timestamp,node,bpf_cpu_time_ms,package_power\n"), HasSubstr("\n110,n,2000,40\n")));
}

TEST_F(Commands, Extract_RefusesWhatIsMissingOrMalformed) {
  const auto extract = [this](std::string_view input) {
    return RunTool({"extract", Flag("input", input), Flag("output", "table.csv")});
  };
  ExpectFailure(extract("none.json"), {Path("none.json")});
  tree_.Write("cut.json", kRecording.substr(0, 100));
  ExpectFailure(extract("cut.json"), {Path("cut.json"), "parse JSON, near byte 100"});
  tree_.Write("empty.json", "{}");
  ExpectFailure(extract("empty.json"), {Path("empty.json")});
  EXPECT_FALSE(Exists("table.csv"));
}

/// A Prometheus that answers each range query with `ranges`, and other requests with `names`.
kepler::testing::ScriptedPeer::Script Answers(const std::string& names, const std::string& ranges) {
  return [names, ranges](const std::string& head, const auto& send, const auto&) {
    const std::string& body = head.contains("/query_range?") ? ranges : names;
    send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
  };
}
constexpr char kNames[] = R"({"status":"success","data":["kepler_node_cpu_joules_total"]})";

TEST_F(Commands, Query_RecordsWhatTheServerHas) {
  const kepler::testing::ScriptedPeer prometheus(Answers(kNames, R"({"status":"success","data":{"result":[
      {"metric":{"__name__":"kepler_node_cpu_joules_total","zone":"package"},"values":[[100,"5"],[105,"7"]]}]}})"));
  const Ended ended = RunTool({"query", fmt::format("--server=http://127.0.0.1:{}", prometheus.port()), "--start=100",
                               "--end=110", Flag("output", "raw.json"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(R"("series":1,"samples":2)"));
  EXPECT_EQ(Text("raw.json"),
            "{\"kepler_node_cpu_joules_total\":[{\"metric\":{\"__name__\":\"kepler_node_cpu_joules_total\","
            "\"zone\":\"package\"},\"values\":[[100,\"5\"],[105,\"7\"]]}]}\n");
}

TEST_F(Commands, Query_RefusesWhatIsMissingOrMalformed) {
  const auto query = [this](uint16_t port, const std::string& more = "--start=100") {
    return RunTool({"query", fmt::format("--server=http://127.0.0.1:{}", port), "--end=110", "--retries=0", more,
                    Flag("output", "raw.json")});
  };
  ExpectWrongUsage(query(9, "--last=0s"), "start: is missing: set --start or --last");
  ExpectFailure(query(1), {"127.0.0.1:1"});
  const kepler::testing::ScriptedPeer malformed(Answers(kNames, "<html>"));
  ExpectFailure(query(malformed.port()), {"HTML, not JSON"});
  const kepler::testing::ScriptedPeer other(Answers(R"({"data":["up"]})", "{}"));
  ExpectFailure(query(other.port()), {"has no metrics of Kepler"});
  tree_.Write("secret", "two\nlines\n");
  ExpectFailure(RunTool({"query", "--server=https://127.0.0.1:1", "--start=100", "--end=110", "--user=u",
                         Flag("password-file", "secret"), Flag("output", "raw.json")}),
                {Path("secret"), "more than one line"});
  EXPECT_FALSE(Exists("raw.json"));
}

TEST_F(Commands, RetrainReadsItsTableTwice_SoItIsNoPipe) {
  ExpectWrongUsage(RunTool({"retrain", Flag("store", "store"), "--name=a", "--data=-", Flag("output", "new"),
                            "--features=cpu_cycles"}),
                   "must be a file, because it is read twice");
}

TEST_F(Commands, Collect_ListsItsPhases) {
  const Ended ended = RunTool({"collect", "--dry-run", "--schedule=idle", "--idle=30s"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "idle for 30 s\n1 phases, 1 minutes with the pauses\n");
}

TEST_F(Commands, Collect_RefusesWhatIsMissingOrMalformed) {
  ExpectWrongUsage(RunTool({"collect"}), "output: is required");
  ExpectWrongUsage(RunTool({"collect", "--dry-run", "--schedule=cpu:0"}), "'cpu:0' is not STRESSOR:NUMBER");
  const std::vector<std::string> idle = {"collect",       "--schedule=idle", "--idle=3s",
                                         "--duration=3s", "--interval=1s",   Flag("output", "table.csv")};
  const auto collect = [&](uint16_t port) {
    std::vector<std::string> arguments = idle;
    arguments.push_back(fmt::format("--server=http://127.0.0.1:{}", port));
    return RunTool(arguments);
  };
  ExpectFailure(collect(1), {"127.0.0.1:1"});
  const kepler::testing::ScriptedPeer other(Answers("up 1\n", ""));
  ExpectFailure(collect(other.port()), {"the page has no metric of Kepler"});
  EXPECT_FALSE(Exists("table.csv"));
}

TEST_F(Commands, Machine_PrintsAndFindsIt) {
  tree_.Write("machine.json", R"({"processor": "intel_xeon", "cores": 8, "chips": 1})");
  const Ended ended = RunTool({"machine", Flag("machine", "machine.json")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "{\"processor\":\"intel_xeon\",\"cores\":8,\"chips\":1}\n");
  tree_.Write("types.json", R"({"3": {"attrs": {"processor": "intel_xeon", "cores": 8, "chips": 1}}})");
  const Ended found = RunTool({"machine", Flag("machine", "machine.json"), Flag("types", "types.json")});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, StartsWith(R"({"type":3,"similarity":1.000000,)"));
}

TEST_F(Commands, Machine_RefusesWhatIsMissingOrMalformed) {
  ExpectFailure(RunTool({"machine", Flag("machine", "none.json")}), {Path("none.json")});
  tree_.Write("machine.json", R"({"processor": "intel_xeon", "cores": "eight"})");
  ExpectFailure(RunTool({"machine", Flag("machine", "machine.json")}), {Path("machine.json"), "cores"});
  ExpectFailure(RunTool({"machine", Flag("procfs", "proc"), Flag("sysfs", "sys")}),
                {"no property of this machine is known"});
}

TEST_F(Commands, ExportAndImport_GiveTheModelBack) {
  Train();
  const Ended exported = RunTool({"export", Flag("model", "model"), Flag("output", "model.zip")});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(exported.out, AllOf(StartsWith(Path("model.zip")), HasSubstr("5 files")));
  const Ended imported = RunTool({"import", Flag("archive", "model.zip"), Flag("output", "copy"), "--json"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr(R"("kind":"an archive of kepler-model")"));
  EXPECT_EQ(Text("copy/model.json"), Text("model/model.json"));
  EXPECT_EQ(Text("copy/card.md"), Text("model/card.md"));
}

TEST_F(Commands, Export_RefusesWhatIsMissingOrMalformed) {
  ExpectFailure(RunTool({"export", Flag("model", "none"), Flag("output", "model.zip")}),
                {Path("none/model.json"), "make a model with train or import"});
  tree_.Write("model/model.json", "{}");
  ExpectFailure(RunTool({"export", Flag("model", "model"), Flag("output", "model.zip")}), {"card.md"});
  tree_.Write("model/card.md", "# card\n");
  ExpectFailure(RunTool({"export", Flag("model", "model"), Flag("output", "model.zip")}),
                {Path("model/model.json"), "\"kepler_model\" is missing"});
  EXPECT_FALSE(Exists("model.zip"));
}

TEST_F(Commands, Import_RefusesWhatIsMissingOrMalformed) {
  const auto import = [this](std::string_view archive) {
    return RunTool({"import", Flag("archive", archive), Flag("output", "copy")});
  };
  ExpectFailure(import("none.zip"), {Path("none.zip")});
  Train();
  ASSERT_EQ(RunTool({"export", Flag("model", "model"), Flag("output", "model.zip")}).code, 0);
  const std::string archive = Text("model.zip");
  tree_.Write("cut.zip", archive.substr(0, archive.size() - 1));
  ExpectFailure(import("cut.zip"), {Path("cut.zip"), "truncated or damaged"});
  tree_.Write("page.html", "<!DOCTYPE html>");
  ExpectFailure(import("page.html"), {Path("page.html"), "HTML, not JSON"});
  ExpectWrongUsage(RunTool({"import", Flag("archive", "model.zip"), Flag("output", "copy"), "--component=gpu"}),
                   "not one of package, core, uncore, dram, platform");
  EXPECT_FALSE(Exists("copy"));
}

}  // namespace
}  // namespace kepler::lab::tool
