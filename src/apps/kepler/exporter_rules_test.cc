#include "apps/kepler/exporter_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/kepler/config_test_util.h"

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExporterRules : public ::testing::Test {
 protected:
  ExporterRules() {
    draft_.GiveByFile("exporter.otlp.queueDirectory", 3);
    draft_.GiveByFile("exporter.remoteWrite.enabled", 4);
    draft_.GiveByFile("exporter.remoteWrite.url", 5);
    draft_.GiveByFile("exporter.remoteWrite.queueDirectory", 6);
    draft_.GiveByFile("exporter.jsonLines.path", 7);
    tree_.Write("file", "");
    tree_.MakeDir("dir");
    tree_.Chmod("dir", 0700);
    tree_.Symlink("link", tree_.Path("dir"));
  }
  const std::vector<std::string>& Errors(Moment moment = Moment::kStart) {
    CheckExporters(draft_, config_, moment);
    return draft_.errors();
  }

  testing::FakeTree tree_;
  ConfigDraft draft_;
  Config& config_ = draft_.config;
  PushServer& otlp_ = config_.otlp;
  PushServer& remote_write_ = config_.remote_write.server;
};

TEST_F(ExporterRules, Defaults_AreValid) { EXPECT_THAT(Errors(), IsEmpty()); }

TEST_F(ExporterRules, ALargeQueue_NeedsADirectory) {
  otlp_.max_queue_bytes = 1'000'000'000;
  EXPECT_THAT(Errors(), IsEmpty());
  otlp_.max_queue_bytes = 1'000'000'001;
  EXPECT_THAT(Errors(), ElementsAre("exporter.otlp.maxQueue: 1000000001 bytes of memory are too many; set "
                                    "exporter.otlp.queueDirectory, or at most 1000000000"));
}

TEST_F(ExporterRules, TwoQueues_NeedTwoDirectories) {
  otlp_.max_queue_bytes = remote_write_.max_queue_bytes = 100'000'000'000;
  const std::string queue = tree_.Path("dir/queue");
  otlp_.queue_directory = queue;
  size_t refused = 0;
  for (const std::string& same : {queue, queue + "/", tree_.Path("dir/./queue"), tree_.Path("dir/../dir//queue"),
                                  tree_.Path("link/queue"), tree_.Path("link/queue/")}) {
    remote_write_.queue_directory = same;
    const std::vector<std::string>& errors = Errors();
    ASSERT_EQ(errors.size(), ++refused) << same;
    EXPECT_EQ(
        errors.back(),
        "k.yaml:6: exporter.remoteWrite.queueDirectory: is the same as exporter.otlp.queueDirectory; set another path");
  }
  remote_write_.queue_directory = tree_.Path("dir/queue2");
  EXPECT_EQ(Errors().size(), refused);
}

TEST_F(ExporterRules, AQueueWithinAnother_OrAFileWithinAQueue_IsRefused) {
  otlp_.queue_directory = tree_.Path("dir/a");
  for (const Moment moment : {Moment::kStart, Moment::kReload}) {
    ConfigDraft draft;
    draft.config = config_;
    draft.config.remote_write.server.queue_directory = tree_.Path("dir");
    draft.config.json_lines.path = tree_.Path("dir/a/lines");
    CheckExporters(draft, draft.config, moment);
    EXPECT_THAT(
        draft.errors(),
        ElementsAre("exporter.remoteWrite.queueDirectory: contains exporter.otlp.queueDirectory; set another path",
                    "exporter.jsonLines.path: is within exporter.otlp.queueDirectory; set another path",
                    "exporter.jsonLines.path: is within exporter.remoteWrite.queueDirectory; set another path"));
  }
  remote_write_.queue_directory = tree_.Path("link/a/b/c");
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("queueDirectory: is within exporter.otlp.queueDirectory; set another")));
  remote_write_.queue_directory = tree_.Path("dir/ab");
  config_.json_lines.path = tree_.Path("dir/a.jsonl");
  EXPECT_EQ(Errors().size(), 1U) << "names that begin alike are apart";
}

TEST_F(ExporterRules, ATooLongName_IsAnError) {
  config_.json_lines.path = tree_.Path(std::string(300, 'a'));
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("k.yaml:7: exporter.jsonLines.path: ")));
  EXPECT_THAT(draft_.warnings(), IsEmpty());
}

TEST_F(ExporterRules, PlacesThatNoWaitRepairs_AreErrors) {
  otlp_.enabled = remote_write_.enabled = true;
  remote_write_.endpoint = "http://h/api/v1/write";
  otlp_.queue_directory = "queue";
  remote_write_.queue_directory = tree_.Path("file");
  config_.json_lines.path = tree_.Path("dir");
  EXPECT_THAT(
      Errors(),
      ElementsAre(R"(k.yaml:3: exporter.otlp.queueDirectory: "queue" is a relative path; write an absolute path)",
                  "k.yaml:6: exporter.remoteWrite.queueDirectory: " + tree_.Path("file") + " is not a directory",
                  "k.yaml:7: exporter.jsonLines.path: " + tree_.Path("dir") + " is a directory; name a file in it"));
  EXPECT_THAT(draft_.warnings(), IsEmpty());
}

TEST_F(ExporterRules, AnUnsafeMode_IsAnError) {
  otlp_.enabled = true;
  otlp_.queue_directory = tree_.Path("dir");
  EXPECT_THAT(Errors(), IsEmpty());
  tree_.Chmod("dir", 0777);
  EXPECT_THAT(Errors(), ElementsAre(HasSubstr("dir has mode 0777, so other users may write to it; run chmod go-w")));
}

TEST_F(ExporterRules, PlacesThatMayBeRepaired_AreWarnings) {
  otlp_.enabled = true;
  otlp_.queue_directory = tree_.Path("no/queue");
  config_.json_lines.path = tree_.Path("no/lines");
  EXPECT_THAT(Errors(), IsEmpty());
  const std::string missing = "directory " + tree_.Path("no") + " does not exist; run mkdir -p " + tree_.Path("no");
  EXPECT_THAT(draft_.warnings(), ElementsAre("k.yaml:3: exporter.otlp.queueDirectory: " + missing,
                                             "k.yaml:7: exporter.jsonLines.path: " + missing));
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("no")));
}

TEST_F(ExporterRules, PlacesOfDisabledExporters_AndThoseOfAReload_AreNotLookedAt) {
  otlp_.queue_directory = "queue";
  EXPECT_THAT(Errors(), IsEmpty());
  otlp_.enabled = true;
  EXPECT_THAT(Errors(Moment::kReload), IsEmpty());
  remote_write_.queue_directory = "queue/";
  EXPECT_THAT(Errors(Moment::kReload), ElementsAre(HasSubstr("is the same as exporter.otlp"))) << "needs no disk";
}

TEST_F(ExporterRules, RemoteWrite_NeedsAUrl) {
  remote_write_.enabled = true;
  EXPECT_THAT(Errors(), ElementsAre("k.yaml:4: exporter.remoteWrite.enabled: needs the URL of the server; set "
                                    "exporter.remoteWrite.url or --exporter.remote-write.url"));
}

TEST_F(ExporterRules, AUrlWithoutAPath_IsAWarning) {
  for (const char* url : {"http://h:9090/api/v1/write", "http://h/x?y", "no URL"}) {
    remote_write_.endpoint = url;
    remote_write_.enabled = true;
    EXPECT_THAT(Errors(), IsEmpty()) << url;
    EXPECT_THAT(draft_.warnings(), IsEmpty()) << url;
  }
  size_t warnings = 0;
  for (const char* url : {"http://h:9090", "https://h/", "http://h/?tenant=a"}) {
    remote_write_.endpoint = url;
    EXPECT_THAT(Errors(), IsEmpty()) << url;
    ASSERT_EQ(draft_.warnings().size(), ++warnings) << url;
    EXPECT_EQ(draft_.warnings().back(),
              "k.yaml:5: exporter.remoteWrite.url: has no path; most servers need one: /api/v1/write (Prometheus, "
              "VictoriaMetrics), /api/v1/push (Mimir), /api/v1/receive (Thanos)");
  }
}

}  // namespace
}  // namespace kepler::agent
