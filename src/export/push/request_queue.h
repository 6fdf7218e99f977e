#pragma once
// RequestQueue: the encoded requests that wait, oldest first, limited in number and bytes. They wait in memory, or in a
// directory that outlives the process. While the directory cannot be used, new requests wait in memory; their order
// stays. If the queue is full, the oldest request is dropped: the newest one has the energy of cumulative counters,
// too. That of deltas is lost. A request larger than the queue is dropped itself. Blocks if it has a directory; one
// thread.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "export/push/encoded_request.h"
#include "export/push/patience.h"
#include "export/push/request_directory.h"

namespace kepler::push {

struct QueueOptions {
  uint64_t max_bytes = uint64_t{8} << 20;         // of all bodies
  uint64_t max_memory_bytes = uint64_t{8} << 20;  // of bodies that the directory could not take
  size_t max_requests = 200'000;                  // about 20 MB of memory, and a month at 15 seconds
  std::string directory{};                        // "": requests wait in memory
  std::string encoding{};                         // of bodies, for the files: "otlp gzip"
};

/// Counts since the previous call of TakeLosses().
struct QueueLosses {
  uint64_t full_points = 0;  // dropped because the queue was full
  uint64_t file_points = 0;  // in files that could not be read
  uint64_t files = 0;        // failures to read, write or remove a file, or to open the directory
};

class RequestQueue {
 public:
  /// `exporter`: a literal, for the log. `clock` must outlive it.
  RequestQueue(std::string_view exporter, QueueOptions options, const Clock& clock);

  /// Opens the directory, if it has one that is not open, and takes the requests of earlier processes in front of its
  /// own. To be called before requests are added, again and again.
  void Open();
  void Add(Request request);
  /// Returns the oldest request, or null if the queue is empty or the file cannot be read now. The pointer is valid
  /// until another member is called.
  /// Files that are damaged, missing or closed to this user are skipped, and files on a failing disk without Patience.
  [[nodiscard]] const Request* First();
  /// Removes what First() returned.
  void RemoveFirst();

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] uint64_t requests() const { return entries_.size(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] QueueLosses TakeLosses();

 private:
  struct Entry {
    Request request{};    // body is null if it is only in the file
    uint64_t bytes = 0;   // of the body
    uint64_t number = 0;  // of the file
    bool in_file = false;
  };
  using Entries = std::deque<Entry>;

  [[nodiscard]] bool Store(Entry& entry);
  void TakeStored(const StoredRequests& stored);
  void CountOnFrom(uint64_t number);
  [[nodiscard]] bool IsRetried(uint64_t number, const Error& error);
  void DropUntilFits(size_t requests, uint64_t bytes);
  void Drop(const Entries::iterator& entry);
  void Erase(const Entries::iterator& entry);
  void LoseFile(uint64_t points, const Error& error);
  void ForgetFiles();
  void NoteFailure(std::string_view cause, std::string_view message, const Error& error);

  const std::string_view exporter_;
  const QueueOptions options_;
  const Clock& clock_;
  RequestDirectory directory_;
  log::LogLimiter limiter_;
  Entries entries_;
  uint64_t bytes_ = 0;         // of all bodies
  uint64_t memory_bytes_ = 0;  // of bodies without a file
  uint64_t next_number_ = 1;
  uint64_t failing_number_ = 0;  // of the file that patience_ is about
  Patience patience_;
  QueueLosses losses_;
};

}  // namespace kepler::push
