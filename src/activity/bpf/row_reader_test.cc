#include "activity/bpf/row_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace kepler::activity::bpf {
namespace {

struct Row {
  uint64_t number = 0;
  std::array<char, 88> rest = {};
};

class RowReaderTest : public ::testing::Test {
 protected:
  RowReaderTest() {
    if (::pipe2(pipe_, O_CLOEXEC) != 0) std::abort();
  }
  ~RowReaderTest() override { ::close(pipe_[0]); }

  void Write(const void* bytes, size_t size) const {
    ASSERT_EQ(::write(pipe_[1], bytes, size), static_cast<ssize_t>(size));
  }
  Status Read() {
    return reader_.Read<Row>(pipe_[0], [this](const Row& row) { numbers_.push_back(row.number); });
  }

  int pipe_[2] = {-1, -1};
  RowReader reader_;
  std::vector<uint64_t> numbers_;
};

TEST_F(RowReaderTest, NoRow_IsFine) {
  ::close(pipe_[1]);
  EXPECT_TRUE(Read());
  EXPECT_TRUE(numbers_.empty());
}

TEST_F(RowReaderTest, ReadsThatStopAnywhere_GiveWholeRows) {
  constexpr uint64_t kRows = 3000;
  std::thread writer([this] {
    std::vector<Row> rows(kRows);
    for (uint64_t i = 0; i < kRows; ++i) rows[i].number = i;
    const auto* const bytes = reinterpret_cast<const char*>(rows.data());
    const size_t size = kRows * sizeof(Row);
    for (size_t at = 0, step = 1; at < size; at += step, step = step * 7 % 997 + 1) {
      step = std::min(step, size - at);
      Write(bytes + at, step);
    }
    ::close(pipe_[1]);
  });
  EXPECT_TRUE(Read());
  writer.join();
  ASSERT_EQ(numbers_.size(), kRows);
  for (uint64_t i = 0; i < kRows; ++i) EXPECT_EQ(numbers_[i], i);
}

TEST_F(RowReaderTest, SignalsMeanwhile_DoNotEndIt) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);  // without SA_RESTART
  const pthread_t reading = ::pthread_self();
  std::thread writer([&] {
    for (uint64_t i = 0; i < 50; ++i) {
      const Row row = {.number = i};
      Write(&row, 40);
      ::pthread_kill(reading, SIGUSR1);
      Write(reinterpret_cast<const char*>(&row) + 40, sizeof(row) - 40);
      ::pthread_kill(reading, SIGUSR1);
    }
    ::close(pipe_[1]);
  });
  EXPECT_TRUE(Read());
  writer.join();
  ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
  EXPECT_EQ(numbers_.size(), 50U);
}

TEST_F(RowReaderTest, EndWithinARow_IsMalformed) {
  const Row row;
  Write(&row, sizeof(row));
  Write(&row, 10);
  ::close(pipe_[1]);
  const auto status = Read();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(numbers_.size(), 1U);
}

TEST_F(RowReaderTest, FailedRead_SaysWhy) {
  ::close(pipe_[1]);
  const auto status = reader_.Read<Row>(-1, [](const Row&) {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "read BPF iterator: Bad file descriptor");
}

}  // namespace
}  // namespace kepler::activity::bpf
