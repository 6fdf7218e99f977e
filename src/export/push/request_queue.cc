#include "export/push/request_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace kepler::push {

namespace {

QueueOptions WithMemoryLimit(QueueOptions options) {
  options.max_memory_bytes =
      options.directory.empty() ? options.max_bytes : std::min(options.max_bytes, options.max_memory_bytes);
  return options;
}

}  // namespace

RequestQueue::RequestQueue(std::string_view exporter, QueueOptions options, const Clock& clock)
    : exporter_(exporter),
      options_(WithMemoryLimit(std::move(options))),
      clock_(clock),
      directory_(options_.directory, options_.encoding) {}

void RequestQueue::Open() {
  if (options_.directory.empty() || directory_.is_open()) return;
  if (const auto stored = directory_.Open())
    TakeStored(*stored);
  else
    NoteFailure("open", "the queue directory is unavailable, queueing requests in memory", stored.error());
}

void RequestQueue::TakeStored(const StoredRequests& stored) {
  for (const BrokenFile& file : stored.broken) {
    LoseFile(file.points, file.error);
    CountOnFrom(file.number);
  }
  uint64_t bytes = 0;
  Entries all;
  for (const StoredRequest& request : stored.requests) {
    bytes += request.bytes;
    CountOnFrom(request.number);
    all.push_back(
        {.request = {.points = request.points}, .bytes = request.bytes, .number = request.number, .in_file = true});
  }
  if (!all.empty()) {
    log::Info("sending the queued requests of an earlier run", {{"exporter", std::string(exporter_)},
                                                                {"directory", options_.directory},
                                                                {"requests", fmt::format("{}", all.size())},
                                                                {"bytes", fmt::format("{}", bytes)}});
  }
  std::ranges::move(entries_, std::back_inserter(all));
  entries_ = std::move(all);
  bytes_ += bytes;
  DropUntilFits(0, 0);
}

/// Gives new files higher numbers than file `number`. Ignores a number above kMaxCountedNumber, which no queue reaches:
/// only somebody else can have written that file, and counting on from it would use up all numbers.
void RequestQueue::CountOnFrom(uint64_t number) {
  if (number <= kMaxCountedNumber) next_number_ = std::max(next_number_, number + 1);
}

void RequestQueue::Add(Request request) {
  Entry entry{.request = std::move(request)};
  entry.bytes = entry.request.body->size();
  if (entry.bytes > options_.max_bytes) {
    losses_.full_points += entry.request.points;
    return;
  }
  DropUntilFits(1, entry.bytes);
  const bool is_stored = Store(entry);
  if (!is_stored && entry.bytes > options_.max_memory_bytes) {
    losses_.full_points += entry.request.points;
    return;
  }
  while (!is_stored && memory_bytes_ + entry.bytes > options_.max_memory_bytes)
    Drop(std::ranges::find(entries_, false, &Entry::in_file));
  // Only the first request keeps its body in memory, because it is sent next. Others are read from their files later.
  if (is_stored && !entries_.empty()) entry.request.body.reset();
  if (!is_stored) memory_bytes_ += entry.bytes;
  bytes_ += entry.bytes;
  entries_.push_back(std::move(entry));
}

bool RequestQueue::Store(Entry& entry) {
  if (!directory_.is_open()) return false;
  entry.number = next_number_++;
  const Status written = directory_.Write(entry.number, entry.request);
  entry.in_file = written.has_value();
  if (written) return true;
  NoteFailure("write", "failed to write a request to the queue directory, queueing it in memory", written.error());
  if (written.error().kind == ErrorKind::kNotFound) ForgetFiles();
  return false;
}

/// Handles the removal of the directory. (A directory that was moved stays in use.) Requests whose bodies are in memory
/// stay in memory, and the others are lost. The next Open() makes a new directory.
void RequestQueue::ForgetFiles() {
  for (Entry& entry : entries_) {
    if (!entry.in_file) continue;
    if (entry.request.body) {
      entry.in_file = false;
      memory_bytes_ += entry.bytes;
      continue;
    }
    bytes_ -= entry.bytes;
    losses_.file_points += entry.request.points;
  }
  std::erase_if(entries_, &Entry::in_file);
  directory_.Close();
}

const Request* RequestQueue::First() {
  while (!entries_.empty()) {
    Entry& first = entries_.front();
    if (first.request.body) return &first.request;
    auto read = directory_.Read(first.number);
    if (read) {
      first.request.body = std::move(read->body);
      return &first.request;
    }
    if (IsRetried(first.number, read.error())) {
      NoteFailure("read", "failed to read a queued request, retrying", read.error());
      return nullptr;
    }
    LoseFile(first.request.points, read.error());
    if (IsUseless(read.error())) {
      Erase(entries_.begin());
    } else {  // the file stays
      bytes_ -= first.bytes;
      entries_.pop_front();
    }
  }
  return nullptr;
}

/// Returns true if the read of file `number` is retried: `error` may end by itself.
bool RequestQueue::IsRetried(uint64_t number, const Error& error) {
  if (error.kind == ErrorKind::kUnavailable) return true;  // not the fault of the file
  if (error.kind != ErrorKind::kIo) return false;
  if (std::exchange(failing_number_, number) != number) patience_.Reset();
  return !patience_.EndsAt(clock_.Now());
}

void RequestQueue::RemoveFirst() { Erase(entries_.begin()); }

void RequestQueue::DropUntilFits(size_t requests, uint64_t bytes) {
  while (!entries_.empty() &&
         (bytes_ + bytes > options_.max_bytes || entries_.size() + requests > options_.max_requests))
    Drop(entries_.begin());
}

void RequestQueue::Drop(const Entries::iterator& entry) {
  losses_.full_points += entry->request.points;
  Erase(entry);
}

void RequestQueue::Erase(const Entries::iterator& entry) {
  bytes_ -= entry->bytes;
  if (!entry->in_file) {
    memory_bytes_ -= entry->bytes;
  } else if (const Status removed = directory_.Remove(entry->number); !removed) {
    NoteFailure("remove", "failed to remove a request from the queue directory, the next start sends it again",
                removed.error());
  }
  entries_.erase(entry);
}

void RequestQueue::LoseFile(uint64_t points, const Error& error) {
  ++losses_.files;
  losses_.file_points += points;
  const bool is_useless = IsUseless(error);
  limiter_.Say(log::Level::kWarn, is_useless ? "useless" : "unreadable", clock_.Now(),
               "failed to read a queued request, skipping it",
               {{"exporter", std::string(exporter_)},
                {"err", error.message},
                {"action", is_useless ? "removing the file" : "leaving the file for the next start"}});
}

void RequestQueue::NoteFailure(std::string_view cause, std::string_view message, const Error& error) {
  ++losses_.files;
  limiter_.Say(log::Level::kWarn, cause, clock_.Now(), message,
               {{"exporter", std::string(exporter_)}, {"err", error.message}});
}

QueueLosses RequestQueue::TakeLosses() { return std::exchange(losses_, {}); }

}  // namespace kepler::push
