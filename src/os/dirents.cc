#include "os/dirents.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "os/file.h"

namespace kepler::os {

namespace {

// struct linux_dirent64 (getdents(2)): u64 d_ino; s64 d_off; u16 d_reclen; u8 d_type; char d_name[].
constexpr size_t kRecordLengthAt = 16;
constexpr size_t kTypeAt = 18;
constexpr size_t kNameAt = 19;

}  // namespace

DirReader::DirReader(size_t buffer_bytes)
    : buffer_bytes_(buffer_bytes), buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)) {}

Status DirReader::Rewind(int fd, std::string_view path) {
  if (::lseek(fd, 0, SEEK_SET) < 0) return FailErrno("lseek", path);
  return {};
}

Result<size_t> DirReader::Fill(int fd, std::string_view path) {
  const long got = ::syscall(SYS_getdents64, fd, buffer_.get(), buffer_bytes_);
  if (got < 0) return FailErrno("getdents", path);
  return static_cast<size_t>(got);
}

DirEntry DirReader::Entry(size_t& at) const {
  const char* record = buffer_.get() + at;
  uint16_t length = 0;
  DirEntry entry;
  std::memcpy(&entry.inode, record, sizeof entry.inode);
  std::memcpy(&length, record + kRecordLengthAt, sizeof length);
  entry.is_dir = static_cast<unsigned char>(record[kTypeAt]) == DT_DIR;
  entry.name = std::string_view(record + kNameAt);
  at += length;
  return entry;
}

Result<std::vector<std::string>> ListDir(const std::string& path) {
  const UniqueFd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.valid()) return FailErrno("list", path);
  std::vector<std::string> names;
  KEPLER_CHECK_OK(DirReader().ForEach(dir.get(), path, [&](const DirEntry& entry) { names.emplace_back(entry.name); }));
  std::ranges::sort(names);
  return names;
}

Result<PidLister> PidLister::Open(const std::string& procfs) {
  KEPLER_TRY(UniqueFd dir, OpenDir(procfs));
  return PidLister(std::move(dir), procfs);
}

Status PidLister::List(std::vector<ListedPid>& out) {
  out.clear();
  bool ascending = true;
  KEPLER_CHECK_OK(reader_.ForEach(dir_.get(), path_, [&](const DirEntry& entry) {
    if (entry.name.front() < '1' || entry.name.front() > '9') return;
    const auto pid = ParseNumber<int32_t>(entry.name);
    if (!pid) return;
    if (!out.empty() && out.back().pid >= *pid) ascending = false;
    out.push_back({.pid = *pid, .inode = entry.inode});
  }));
  if (ascending) return {};
  std::ranges::sort(out, {}, &ListedPid::pid);
  const auto twins = std::ranges::unique(out, {}, &ListedPid::pid);
  out.erase(twins.begin(), twins.end());
  return {};
}

}  // namespace kepler::os
