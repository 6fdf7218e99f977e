#include "export/prometheus/number_text.h"

#include <cmath>

namespace kepler::prometheus {

char* WriteDouble(char* out, double value) {
  if (!std::isfinite(value) || value == 0.0) {
    *out = '0';
    return out + 1;
  }
  return std::to_chars(out, out + kNumberRoom, value).ptr;
}

NumberText NumberText::Of(Energy energy) {
  NumberText text;
  text.SetEnd(WriteJoules(text.text_.data(), energy));
  return text;
}

NumberText NumberText::Of(Nanoseconds time) {
  NumberText text;
  text.SetEnd(WriteSeconds(text.text_.data(), time));
  return text;
}

NumberText NumberText::Of(uint64_t count) {
  NumberText text;
  text.SetEnd(std::to_chars(text.text_.data(), text.text_.data() + kNumberRoom, count).ptr);
  return text;
}

NumberText NumberText::Of(double value) {
  NumberText text;
  text.SetEnd(WriteDouble(text.text_.data(), value));
  return text;
}

}  // namespace kepler::prometheus
