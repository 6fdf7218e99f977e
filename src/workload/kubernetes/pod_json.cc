#include "workload/kubernetes/pod_json.h"

#include <fmt/format.h>

#include "workload/kubernetes/pod_document.h"

namespace kepler::workload::kubernetes {

namespace {

std::unexpected<Error> Refuse(std::string_view what, const Error& error) {
  return Fail(error.kind, fmt::format("parse {}: {}", what, error.message));
}

}  // namespace

class PodListReader::Impl {
 public:
  Impl(AskedTexts asked, size_t max_bytes) : asked_(std::move(asked)), max_bytes_(max_bytes) {}

  Status Read(std::string_view piece) { return InList(stream_.Read(piece)); }
  Result<PodList> Finish() {
    KEPLER_CHECK_OK(InList(stream_.Finish()));
    internal::Document& found = visitor_.document;
    if (found.kind != "PodList")
      return Fail(ErrorKind::kMalformed,
                  fmt::format("parse {}: its kind is \"{}\" instead of PodList", kWhat, found.kind.substr(0, 64)));
    return PodList{std::move(found.pods), std::move(found.resource_version), found.bytes, found.left_out};
  }

 private:
  static constexpr std::string_view kWhat = "a list of pods";
  static Status InList(const Status& read) { return read ? Status() : Refuse(kWhat, read.error()); }

  const AskedTexts asked_;
  const size_t max_bytes_;
  internal::DocumentVisitor visitor_{internal::kListLayout, asked_, max_bytes_};
  json::Stream stream_{visitor_, kMaxText, json::Stream::LongKeys::kCut};
};

PodListReader::PodListReader(AskedTexts asked, size_t max_bytes)
    : impl_(std::make_unique<Impl>(std::move(asked), max_bytes)) {}
PodListReader::~PodListReader() = default;
Status PodListReader::Read(std::string_view piece) { return impl_->Read(piece); }
Result<PodList> PodListReader::Finish() { return impl_->Finish(); }

class PodEventReader::Impl {
 public:
  Impl(Take take, AskedTexts asked, size_t max_bytes)
      : take_(std::move(take)), asked_(std::move(asked)), max_bytes_(max_bytes) {}

  Status Read(std::string_view piece) {
    while (!piece.empty()) {
      const auto read = stream_.ReadOne(piece);
      if (!read) return Refuse("a watch of pods", read.error());
      bytes_ += *read;
      event_bytes_ += *read;
      if (event_bytes_ > kMaxEventBytes)
        return Fail(ErrorKind::kMalformed,
                    fmt::format("parse a watch of pods: an event has more than {} bytes, near byte {}", kMaxEventBytes,
                                bytes_));
      piece.remove_prefix(*read);
      if (!stream_.AtEnd()) continue;
      event_bytes_ = 0;
      KEPLER_CHECK_OK(End(std::exchange(visitor_.document, {})));
    }
    return {};
  }

 private:
  Status End(internal::Document document) {
    PodEvent event{.resource_version = std::move(document.resource_version), .left_out = document.left_out};
    if (document.type == "ERROR") {
      event.kind = PodEvent::Kind::kError;
      event.code = document.code;
      event.message = std::move(document.message);
    } else if (document.type == "ADDED" || document.type == "MODIFIED" || document.type == "DELETED") {
      if (document.pods.empty()) return {};
      event.kind = document.type == "DELETED" ? PodEvent::Kind::kGone : PodEvent::Kind::kSet;
      event.pod = std::move(document.pods.front());
    } else if (document.type != "BOOKMARK") {
      return {};
    }
    return take_(std::move(event));
  }

  const Take take_;
  const AskedTexts asked_;
  const size_t max_bytes_;
  uint64_t bytes_ = 0;
  uint64_t event_bytes_ = 0;
  internal::DocumentVisitor visitor_{internal::kEventLayout, asked_, max_bytes_};
  json::Stream stream_{visitor_, kMaxText, json::Stream::LongKeys::kCut};
};

PodEventReader::PodEventReader(Take take, AskedTexts asked, size_t max_bytes)
    : impl_(std::make_unique<Impl>(std::move(take), std::move(asked), max_bytes)) {}
PodEventReader::~PodEventReader() = default;
Status PodEventReader::Read(std::string_view piece) { return impl_->Read(piece); }

}  // namespace kepler::workload::kubernetes
