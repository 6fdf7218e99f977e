#include "modelserver/jobs/job_queue.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/small_file.h"
#include "lab/files/archive.h"
#include "modelserver/jobs/job_routes.h"
#include "modelserver/jobs/trained_models.h"
#include "testing/fake_clock.h"
#include "testing/fake_tree.h"

namespace kepler::modelserver::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Jobs are scripts of a shell.
class JobQueueTest : public ::testing::Test {
 protected:
  void Start(JobOptions options) {
    options.directory = tree_.Path("jobs");
    options.program = "/bin/sh";
    queue_ = std::make_unique<JobQueue>(std::move(options), clock_);
    const Status started = queue_->Start();
    ASSERT_TRUE(started) << started.error().message;
  }
  void Start() { Start(JobOptions()); }
  /// Its result is what the script leaves in the file "out".
  [[nodiscard]] Job Script(const std::string& text) {
    Job job;
    job.name = "m";
    job.input_name = "in";
    job.input = "input";
    job.steps = {{"-c", text}};
    job.collect = [](const std::string& directory) { return ReadSmallFile(directory + "/out"); };
    job.done = [this](const JobView& view, std::string result) {
      const std::scoped_lock lock(mutex_);
      ended_.emplace_back(view, std::move(result));
      changed_.notify_all();
    };
    return job;
  }
  [[nodiscard]] std::string Add(Job job) {
    const auto id = queue_->Add(std::move(job));
    EXPECT_TRUE(id) << id.error().message;
    return id.value_or("");
  }
  /// The job that ends as number `count`.
  [[nodiscard]] std::pair<JobView, std::string> Ended(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return ended_.size() >= count; }));
    return ended_.at(count - 1);
  }
  /// Waits until the script has made the file.
  void AwaitFile(const std::string& id, const std::string& name) const {
    const std::string path = tree_.Path(fmt::format("jobs/job-{}/{}", id, name));
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!std::filesystem::exists(path) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  kepler::testing::FakeTree tree_;
  kepler::testing::FakeClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<JobView, std::string>> ended_;
  std::unique_ptr<JobQueue> queue_;
};

TEST_F(JobQueueTest, RunsItsStepsAndKeepsLogAndResult) {
  Start();
  Job job = Script("echo first; cat in >out; nice >priority");
  job.steps.push_back({"-c", "echo second >&2; cat priority >>out"});
  const std::string id = Add(std::move(job));
  const auto [view, result] = Ended(1);
  EXPECT_EQ(view.state, JobState::kDone) << view.reason;
  EXPECT_EQ(result, "input19\n");
  EXPECT_EQ(queue_->Log(id, 1000).value(), "first\nsecond\n");
  EXPECT_EQ(queue_->Log(id, 4).value(), "(9 bytes are left out; these are the last 4)\nond\n");
  EXPECT_EQ(queue_->Log(id, 13).value(), "first\nsecond\n");
  EXPECT_EQ(queue_->ReadResult(id).value(), "input19\n");
  EXPECT_THAT(WriteJobs(queue_->All()),
              HasSubstr(R"("name":"m","user":"","status":"done","reason":"","server_fault":false,)"));
  EXPECT_THAT(WriteJobMetrics(*queue_), HasSubstr("kepler_model_server_ended_jobs_total{state=\"done\"} 1\n"));
}

TEST_F(JobQueueTest, AFailureIsStated) {
  Start();
  const std::string id = Add(Script("echo why >&2; exit 3"));
  EXPECT_EQ(Ended(1).first.state, JobState::kFailed);
  EXPECT_EQ(Ended(1).first.reason, "-c: exit code 3: why");
  EXPECT_EQ(queue_->Log(id, 1000).value(), "why\n");
  EXPECT_THAT(queue_->ReadResult(id).error().message, HasSubstr("the job has no result: it is failed"));
  Job missing = Script("true");
  (void)Add(std::move(missing));
  EXPECT_THAT(Ended(2).first.reason, HasSubstr("/out"));
  EXPECT_THAT(queue_->Log("other", 10).error().message, HasSubstr("no such job"));
}

TEST_F(JobQueueTest, AFailureWithoutOutput_HasNoLineOfAnEarlierStep) {
  Start();
  Job job = Script("echo fine");
  job.steps.push_back({"-c", "exit 4"});
  (void)Add(std::move(job));
  EXPECT_EQ(Ended(1).first.reason, "-c: exit code 4");
  (void)Add(Script("echo first; echo why; exit 5"));
  EXPECT_EQ(Ended(2).first.reason, "-c: exit code 5: why");
}

TEST_F(JobQueueTest, AFaultOfTheServerIsNotOneOfTheInput) {
  Start();
  size_t jobs = 0;
  const auto is_server_fault = [&](const std::string& script) {
    (void)Add(Script(script));
    const JobView view = Ended(++jobs).first;
    EXPECT_EQ(view.state, JobState::kFailed) << script;
    return view.is_server_fault;
  };
  EXPECT_FALSE(is_server_fault("echo 'row 3: no number'; exit 1"));
  EXPECT_FALSE(is_server_fault("echo 'column x: No space left on device'; exit 1")) << "a text of the client";
  EXPECT_FALSE(is_server_fault("exit 2"));
  EXPECT_THAT(WriteJobs(queue_->All()), HasSubstr(R"("reason":"-c: exit code 2","server_fault":false,)"));
  EXPECT_TRUE(is_server_fault("echo 'write abs/model.json: No space left on device'; exit 3"));
  EXPECT_THAT(WriteJob(queue_->All().back()), HasSubstr(R"("server_fault":true,)"));
  EXPECT_TRUE(is_server_fault("exit 127")) << "the program could not be started";
  EXPECT_TRUE(is_server_fault("kill -9 $$"));
  EXPECT_TRUE(is_server_fault("true")) << "no result";
}

TEST_F(JobQueueTest, ALogThatCannotBeRead_IsAnErrorAndNotEmpty) {
  Start();
  const std::string id = Add(Script("echo why; exit 3"));
  (void)Ended(1);
  const std::string log = fmt::format("jobs/job-{}/log", id);
  tree_.Chmod("", 0755);
  tree_.Chmod(log, 0);
  const auto before = static_cast<uid_t>(setfsuid(geteuid() == 0 ? 65534 : geteuid()));  // root reads all
  const auto read = queue_->Log(id, 1000);
  setfsuid(before);
  ASSERT_FALSE(read) << *read;
  EXPECT_EQ(read.error().kind, ErrorKind::kPermission);
}

TEST_F(JobQueueTest, TimeIsLimited) {
  JobOptions options;
  options.child.time = std::chrono::milliseconds(200);
  Start(options);
  (void)Add(Script("sleep 600"));
  EXPECT_EQ(Ended(1).first.state, JobState::kTimedOut);
  EXPECT_THAT(Ended(1).first.reason, HasSubstr("longer than"));
}

TEST_F(JobQueueTest, FilesAndMemoryAreLimited) {
  JobOptions options;
  options.child.file_bytes = 1000;
  options.child.memory_bytes = size_t{64} << 20;
  Start(options);
  (void)Add(Script("head -c 5000 /dev/zero >out; exit $?"));
  EXPECT_EQ(Ended(1).first.state, JobState::kFailed);
  (void)Add(Script("ulimit -d >out"));
  EXPECT_EQ(Ended(2).second, "65536\n") << "KiB";
}

TEST_F(JobQueueTest, ARunningJobIsKilledWithItsChildren) {
  Start();
  const std::string id = Add(Script("sleep 600 & touch started; wait"));
  AwaitFile(id, "started");
  const std::string waiting = Add(Script("true"));
  EXPECT_TRUE(queue_->Cancel(waiting));
  EXPECT_EQ(Ended(1).first.reason, "cancelled before it ran");
  EXPECT_TRUE(queue_->Cancel(id));
  EXPECT_EQ(Ended(2).first.state, JobState::kCancelled);
  EXPECT_FALSE(Ended(2).first.is_server_fault) << "it has not failed";
  EXPECT_FALSE(queue_->Cancel(id)) << "it has ended";
  EXPECT_FALSE(queue_->Cancel("other"));
}

TEST_F(JobQueueTest, AFewWaitAndAFewAreKept) {
  JobOptions options;
  options.max_queued = 1;
  options.max_ended = 2;
  Start(options);
  const std::string running = Add(Script("touch started; sleep 600"));
  AwaitFile(running, "started");
  const std::string waiting = Add(Script("echo b >out"));
  const auto refused = queue_->Add(Script("true"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(queue_->Cancel(running));
  EXPECT_EQ(Ended(2).second, "b\n");
  const std::string third = Add(Script("echo c >out"));
  EXPECT_EQ(Ended(3).second, "c\n");
  std::vector<std::string> ids;
  for (const JobView& job : queue_->All()) ids.push_back(job.id);
  EXPECT_THAT(ids, ElementsAre(waiting, third));
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("jobs/job-" + running)));
}

TEST_F(JobQueueTest, JobsEndWithTheirProcess) {
  Start();
  const std::string id = Add(Script("touch started; sleep 600"));
  AwaitFile(id, "started");
  (void)Add(Script("true"));
  queue_.reset();
  EXPECT_EQ(Ended(2).first.state, JobState::kCancelled);
  tree_.Write("jobs/another/file", "stays");
  Start();
  EXPECT_FALSE(std::filesystem::exists(tree_.Path("jobs/job-" + id)));
  EXPECT_TRUE(std::filesystem::exists(tree_.Path("jobs/another/file")));
}

TEST_F(JobQueueTest, WhatWasTrainedIsOneArchive) {
  EXPECT_EQ(ArchiveOfTrained(tree_.root()).error().kind, ErrorKind::kNotFound);
  tree_.Write("abs/BPFOnly/model.json", "{}");
  tree_.Write("abs/report.html", "<p>");
  tree_.Symlink("abs/secret", "/etc/passwd");
  tree_.Write("dyn/report.html", "<b>");
  tree_.Write("table.csv", "1");
  const auto zip = ArchiveOfTrained(tree_.root());
  ASSERT_TRUE(zip) << zip.error().message;
  std::vector<std::string> names;
  const auto members = lab::files::ReadArchive(*zip);
  ASSERT_TRUE(members);
  for (const auto& member : *members) names.push_back(member.name);
  EXPECT_THAT(names, ElementsAre("abs-BPFOnly-model.json", "abs-report.html", "dyn-report.html"));
}

TEST_F(JobQueueTest, ADirectoryThatCannotBeRead_IsNotLeftOut) {
  tree_.Write("abs/BPFOnly/model.json", "{}");
  tree_.Write("dyn/report.html", "<b>");
  tree_.Chmod("", 0755);
  tree_.Chmod("abs/BPFOnly", 0);
  const auto before = static_cast<uid_t>(setfsuid(geteuid() == 0 ? 65534 : geteuid()));  // root reads all
  const auto zip = ArchiveOfTrained(tree_.root());
  setfsuid(before);
  tree_.Chmod("abs/BPFOnly", 0700);
  ASSERT_FALSE(zip) << "an archive without its models";
  EXPECT_EQ(zip.error().kind, ErrorKind::kPermission);
}

}  // namespace
}  // namespace kepler::modelserver::jobs
