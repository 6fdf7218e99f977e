#include "workload/kubernetes/pod_json.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>

#include "workload/kubernetes/pod_document.h"

namespace kepler::workload::kubernetes {

namespace json = boost::json;
using boost::system::error_code;

namespace internal {

using Parser = json::basic_parser<Handler>;  // 32 levels: a pod has 12

std::unexpected<Error> Refuse(std::string_view what, uint64_t bytes, const error_code& error) {
  return Fail(ErrorKind::kMalformed, fmt::format("parse {}: {}, near byte {}", what, error.message(), bytes));
}

}  // namespace internal

class PodListReader::Impl {
 public:
  Impl(AskedTexts asked, size_t max_bytes) : asked_(std::move(asked)), max_bytes_(max_bytes) {}

  Status Read(std::string_view piece) {
    if (piece.empty()) return {};
    error_code error;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
    bytes_ += read;
    if (error) return internal::Refuse(kWhat, bytes_, error);
    if (read < piece.size() && piece.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
      return Fail(ErrorKind::kMalformed, fmt::format("parse {}: unexpected text after byte {}", kWhat, bytes_));
    return {};
  }
  Result<PodList> Finish() {
    error_code error;
    if (!parser_.done()) static_cast<void>(parser_.write_some(false, nullptr, 0, error));
    if (error) return internal::Refuse(kWhat, bytes_, error);
    internal::Document& found = parser_.handler().document;
    if (found.kind != "PodList")
      return Fail(ErrorKind::kMalformed,
                  fmt::format("parse {}: its kind is \"{}\" instead of PodList", kWhat, found.kind.substr(0, 64)));
    return PodList{std::move(found.pods), std::move(found.resource_version), found.bytes, found.left_out};
  }

 private:
  static constexpr std::string_view kWhat = "a list of pods";
  const AskedTexts asked_;
  const size_t max_bytes_;
  uint64_t bytes_ = 0;
  internal::Parser parser_{json::parse_options{}, internal::kListLayout, asked_, max_bytes_};
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
      error_code error;
      const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
      bytes_ += read;
      event_bytes_ += read;
      if (error) return internal::Refuse("a watch of pods", bytes_, error);
      if (event_bytes_ > kMaxEventBytes)
        return Fail(ErrorKind::kMalformed,
                    fmt::format("parse a watch of pods: an event has more than {} bytes, near byte {}", kMaxEventBytes,
                                bytes_));
      piece.remove_prefix(read);
      if (!parser_.done()) continue;
      parser_.reset();
      event_bytes_ = 0;
      KEPLER_CHECK_OK(End(std::exchange(parser_.handler().document, {})));
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
  internal::Parser parser_{json::parse_options{}, internal::kEventLayout, asked_, max_bytes_};
};

PodEventReader::PodEventReader(Take take, AskedTexts asked, size_t max_bytes)
    : impl_(std::make_unique<Impl>(std::move(take), std::move(asked), max_bytes)) {}
PodEventReader::~PodEventReader() = default;
Status PodEventReader::Read(std::string_view piece) { return impl_->Read(piece); }

}  // namespace kepler::workload::kubernetes
