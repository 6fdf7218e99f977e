#include "model_store/incoming_text.h"

#include "base/small_file.h"

namespace kepler::model_store {

Status IncomingText::Append(std::string_view piece) {
  KEPLER_CHECK_OK(budget_.Claim(piece.size()));
  claimed_ += piece.size();
  text_ += piece;
  return {};
}

Result<IncomingText> ReadIncomingText(const std::string& path, size_t most, TextBudget& budget) {
  IncomingText text(budget);
  const auto take = [&](std::string_view piece) -> Status {
    const Status appended = text.Append(piece);
    return appended ? appended : Fail(appended.error().kind, path + ": " + appended.error().message);
  };
  KEPLER_CHECK_OK(ReadSmallFile(path, most, take));
  return text;
}

}  // namespace kepler::model_store
