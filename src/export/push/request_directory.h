#pragma once
// RequestDirectory: a directory of queued requests, one file for each, that outlives the process. A file appears as a
// whole (written under a temporary name, then renamed). Nothing waits for the disk (no fsync): requests survive a crash
// of the process, and a power failure may lose or damage the latest ones. Only this user may write to the directory,
// and only one object at a time has it open (flock() of the file "lock"). Links are not followed. Blocks; one thread.
// Files are not written by ReplaceFile() of base: it waits for the disk at each request, and opens the directory by its
// path each time, so it would write to another directory that was put in its place without the checks of Open().
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "export/push/encoded_request.h"
#include "export/push/queue_file.h"

namespace kepler::push {

struct StoredRequest {
  uint64_t number = 0;  // in the order in which they were written
  uint64_t points = 0;
  uint64_t bytes = 0;  // of the body
};

/// True for a file whose content can never be sent. After other errors (a link, no permission, a failing disk) it may
/// be sent after the next start.
[[nodiscard]] inline bool IsUseless(const Error& error) {
  return error.kind == ErrorKind::kMalformed || error.kind == ErrorKind::kInvalid;
}

struct BrokenFile {
  uint64_t number = 0;
  uint64_t points = 0;  // 0: unknown
  Error error{};        // with the path
};

struct StoredRequests {
  std::vector<StoredRequest> requests;  // sorted by number
  std::vector<BrokenFile> broken;
};

/// Whether RequestDirectory can use the directory `path`. Creates nothing. Errors: kInvalid for a path that no wait
/// will repair: relative, a link, a file, or a directory that other users may write to. Others, such as a missing
/// parent, another owner or a read-only disk, may end while the agent runs.
[[nodiscard]] Status CheckDirectory(const std::string& path);

class RequestDirectory {
 public:
  /// `encoding`: of all bodies; at most kMaxEncodingName bytes. Requests with another encoding cannot be sent.
  RequestDirectory(std::string path, std::string encoding);

  /// Creates the directory with mode 0700 (its parent must exist), locks it, and lists the requests by their headers.
  /// Removes useless files, and what an interrupted Write() left. Files with other names stay. Errors: as FailErrno;
  /// kInvalid if others may write to the directory; kPermission if another user owns it; kUnavailable if it is locked,
  /// or no descriptor or memory is left.
  [[nodiscard]] Result<StoredRequests> Open();
  [[nodiscard]] bool is_open() const { return directory_.valid(); }
  void Close();

  /// Errors of these as FailErrno. Read() fails with kMalformed for a damaged file, with kInvalid for one with another
  /// encoding, with kPermission for a link, and with kUnavailable if no descriptor or memory is left.
  [[nodiscard]] Status Write(uint64_t number, const Request& request);
  [[nodiscard]] Result<Request> Read(uint64_t number) const;
  [[nodiscard]] Status Remove(uint64_t number);

  [[nodiscard]] std::string PathOf(uint64_t number) const { return path_ + "/" + FileName(number); }

 private:
  struct OpenedFile;
  [[nodiscard]] Result<OpenedFile> OpenFile(uint64_t number) const;
  [[nodiscard]] Status WriteFile(const std::string& name, const Request& request);
  [[nodiscard]] Result<std::vector<uint64_t>> Numbers() const;

  const std::string path_;
  const std::string encoding_;
  UniqueFd directory_;
  UniqueFd lock_;
};

}  // namespace kepler::push
