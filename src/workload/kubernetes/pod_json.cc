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
  const std::string why = error == kTooMany ? "it has too many pods" : error.message();
  return Fail(ErrorKind::kMalformed, fmt::format("parse {}: {}, near byte {}", what, why, bytes));
}

}  // namespace internal

class PodListReader::Impl {
 public:
  explicit Impl(AskedTexts asked) : asked_(std::move(asked)) {}

  Status Read(std::string_view piece) {
    if (piece.empty()) return {};
    error_code error;
    const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
    bytes_ += read;
    if (error) return internal::Refuse(kWhat, bytes_, error);
    if (read < piece.size() && piece.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
      return Fail(ErrorKind::kMalformed, fmt::format("parse {}: more text behind byte {}", kWhat, bytes_));
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
    return PodList{std::move(found.pods), std::move(found.resource_version)};
  }

 private:
  static constexpr std::string_view kWhat = "a list of pods";
  const AskedTexts asked_;
  uint64_t bytes_ = 0;
  internal::Parser parser_{json::parse_options{}, internal::kListLayout, asked_};
};

PodListReader::PodListReader(AskedTexts asked) : impl_(std::make_unique<Impl>(std::move(asked))) {}
PodListReader::~PodListReader() = default;
Status PodListReader::Read(std::string_view piece) { return impl_->Read(piece); }
Result<PodList> PodListReader::Finish() { return impl_->Finish(); }

class PodEventReader::Impl {
 public:
  Impl(Take take, AskedTexts asked) : take_(std::move(take)), asked_(std::move(asked)) {}

  Status Read(std::string_view piece) {
    while (!piece.empty()) {
      error_code error;
      const size_t read = parser_.write_some(true, piece.data(), piece.size(), error);
      bytes_ += read;
      if (error) return internal::Refuse("a watch of pods", bytes_, error);
      piece.remove_prefix(read);
      if (!parser_.done()) continue;
      parser_.reset();
      KEPLER_CHECK_OK(End(std::exchange(parser_.handler().document, {})));
    }
    return {};
  }

 private:
  Status End(internal::Document document) {
    PodEvent event{.resource_version = std::move(document.resource_version)};
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
  uint64_t bytes_ = 0;
  internal::Parser parser_{json::parse_options{}, internal::kEventLayout, asked_};
};

PodEventReader::PodEventReader(Take take, AskedTexts asked)
    : impl_(std::make_unique<Impl>(std::move(take), std::move(asked))) {}
PodEventReader::~PodEventReader() = default;
Status PodEventReader::Read(std::string_view piece) { return impl_->Read(piece); }

}  // namespace kepler::workload::kubernetes
