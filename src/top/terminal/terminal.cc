#include "top/terminal/terminal.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace kepler::top::terminal {
namespace {

constexpr int kEscapeMilliseconds = 25;  // longer is the Esc key, shorter the begin of an arrow key
constexpr short kDefaultColour = -1;
/// Of each style.
constexpr std::array<short, 6> kColours = {kDefaultColour, COLOR_GREEN,    COLOR_CYAN,
                                           kDefaultColour, kDefaultColour, COLOR_RED};

attr_t AttributesOf(Style style) {
  switch (style) {
    case Style::kPlain:
      return A_NORMAL;
    case Style::kTitle:
    case Style::kHeader:
      return A_BOLD;
    case Style::kSelected:
      return A_REVERSE;
    case Style::kDim:
      return A_DIM;
    case Style::kAlert:
      return A_BOLD | A_REVERSE;
  }
  return A_NORMAL;
}

/// NO_COLOR, if it is set and not empty: https://no-color.org
bool WantsColour() {
  const char* const no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

/// Whether there are colours now.
bool StartColour() {
  if (!WantsColour() || !has_colors() || start_color() != OK) return false;
  use_default_colors();
  for (size_t style = 0; style < kColours.size(); ++style)
    init_pair(static_cast<short>(style + 1), kColours[style], kDefaultColour);
  return true;
}

Status CheckTerminal() {
  for (const auto& [fd, name] : {std::pair(STDIN_FILENO, "stdin"), std::pair(STDOUT_FILENO, "stdout")})
    if (isatty(fd) == 0) return Fail(ErrorKind::kUnavailable, std::string(name) + " is not a terminal");
  return {};
}

std::unexpected<Error> RefuseType(std::string_view why) {
  const char* const type = std::getenv("TERM");
  const std::string named = type == nullptr ? "TERM is not set" : "TERM=" + std::string(type);
  return Fail(ErrorKind::kUnavailable, named + ": " + std::string(why));
}

bool CanMoveTheCursor() {
  char name[] = "cup";
  const char* const moves = tigetstr(name);
  return moves != nullptr && !std::string_view(moves).empty();
}

Input MouseInput() {
  MEVENT event;
  if (getmouse(&event) != OK) return {};
  if ((event.bstate & BUTTON4_PRESSED) != 0) return {.key = Key::kUp};
  if ((event.bstate & BUTTON5_PRESSED) != 0) return {.key = Key::kDown};
  if ((event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) == 0) return {};
  return {.key = Key::kClick,
          .line = static_cast<size_t>(std::max(event.y, 0)),
          .column = static_cast<size_t>(std::max(event.x, 0))};
}

Key KeyOfCode(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key::kUp;
    case KEY_DOWN:
      return Key::kDown;
    case KEY_PPAGE:
      return Key::kPageUp;
    case KEY_NPAGE:
      return Key::kPageDown;
    case KEY_HOME:
      return Key::kHome;
    case KEY_END:
      return Key::kEnd;
    case KEY_ENTER:
    case KEY_RIGHT:
      return Key::kEnter;
    case KEY_LEFT:
      return Key::kEscape;
    case KEY_BACKSPACE:
      return Key::kBackspace;
    default:
      return Key::kResize;  // of the window, or a key without a meaning
  }
}

Input InputOf(wint_t character) {
  switch (character) {
    case '\n':
    case '\r':
      return {.key = Key::kEnter};
    case '\t':
      return {.key = Key::kTab};
    case 0x03:
      return {.key = Key::kInterrupt};  // Ctrl+C
    case '\b':
    case 0x7f:
      return {.key = Key::kBackspace};
    case 0x15:
      return {.key = Key::kClear};  // Ctrl+U
    case 0x1b:
      return {.key = Key::kEscape};
    default:
      break;
  }
  if (character < 0x20) return {.key = Key::kResize};
  return {.key = Key::kText, .text = static_cast<char32_t>(character)};
}

}  // namespace

Glyphs LocaleGlyphs() {
  std::setlocale(LC_CTYPE, "");
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8" ? Glyphs::kUtf8 : Glyphs::kAscii;
}

Result<std::unique_ptr<Terminal>> Terminal::Open() {
  KEPLER_CHECK_OK(CheckTerminal());
  SCREEN* const screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return RefuseType("this terminal is unknown; try TERM=xterm or TERM=vt100");
  if (!CanMoveTheCursor()) {
    delscreen(screen);
    return RefuseType("this terminal cannot move its cursor");
  }
  const bool has_colour = StartColour();
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  set_escdelay(kEscapeMilliseconds);
  keypad(stdscr, true);
  nodelay(stdscr, true);
  mouseinterval(0);
  mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  return std::unique_ptr<Terminal>(new Terminal(screen, has_colour));
}

Terminal::~Terminal() {
  endwin();
  delscreen(static_cast<SCREEN*>(screen_));
}

Size Terminal::size() const {
  return {.columns = static_cast<size_t>(std::max(getmaxx(stdscr), 1)),
          .lines = static_cast<size_t>(std::max(getmaxy(stdscr), 1))};
}

void Terminal::Draw(const Frame& frame) {
  werase(stdscr);
  for (size_t line = 0; line < frame.lines.size(); ++line) {
    const auto& [text, style] = frame.lines[line];
    const attr_t attributes = AttributesOf(style);
    const auto pair = static_cast<short>(has_colour_ ? static_cast<int>(style) + 1 : 0);
    wattr_set(stdscr, attributes, pair, nullptr);
    mvwaddstr(stdscr, static_cast<int>(line), 0, text.c_str());
    mvwchgat(stdscr, static_cast<int>(line), 0, -1, attributes, pair, nullptr);
  }
  wrefresh(stdscr);
}

Input Terminal::Next() {
  wint_t character = 0;
  const int kind = wget_wch(stdscr, &character);
  if (kind == ERR) return {};
  if (kind == OK) return InputOf(character);
  return character == KEY_MOUSE ? MouseInput() : Input{.key = KeyOfCode(character)};
}

}  // namespace kepler::top::terminal
