#pragma once
// How far a command is, where somebody looks: one line on stderr that is written over, if that is a terminal.
#include <string_view>

namespace kepler::lab::tool {

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Leaves an empty line.
  ~Progress();
  void Show(std::string_view text) const;
  /// The line is empty: another one may be written there, which then stays.
  void Clear() const;

 private:
  bool is_shown_;
};

}  // namespace kepler::lab::tool
