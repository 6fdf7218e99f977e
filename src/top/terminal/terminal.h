#pragma once
// Terminal: a screen of ncurses. One object at a time, one thread. Everything that it prints comes from a Frame.
#include <memory>
#include <string>

#include "base/result.h"
#include "top/keys.h"
#include "top/layout.h"
#include "top/look.h"

namespace kepler::top::terminal {

/// Of the locale in the environment, which this sets for the process (LC_CTYPE).
[[nodiscard]] Glyphs LocaleGlyphs();

class Terminal {
 public:
  /// Shows an empty screen. kUnavailable, with the reason, if stdin or stdout is no terminal, or if the terminal (TERM)
  /// is unknown or cannot move its cursor.
  [[nodiscard]] static Result<std::unique_ptr<Terminal>> Open();
  /// Restores what was on the terminal.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] Size size() const;
  void Draw(const Frame& frame);
  /// Returns the next key or click; kNone if there is none yet. Does not wait.
  [[nodiscard]] Input Next();

 private:
  Terminal(void* screen, bool has_colour) : screen_(screen), has_colour_(has_colour) {}

  void* screen_;  // SCREEN of curses.h, whose macros stay out of here
  bool has_colour_;
};

}  // namespace kepler::top::terminal
