#include "tools/recprobe/terminal/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace recpack::tool {
namespace {

// Control sequences of xterm, which all terminals in use know.
constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l";  // the second screen; no cursor
constexpr char kLeave[] = "\x1b[?25h\x1b[?1049l";
constexpr char kHome[] = "\x1b[H";
constexpr char kEndOfLine[] = "\x1b[K\r\n";
constexpr char kClearBelow[] = "\x1b[J";

// A terminal that went away shows nothing more.
void Write(int terminal, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(terminal, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

}  // namespace

struct Screen::State {
  int terminal = 0;
  termios before = {};
};

Screen::Screen(int terminal) : state_(std::make_unique<State>()) {
  state_->terminal = terminal;
  ::tcgetattr(terminal, &state_->before);
  termios keys = state_->before;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped program would leave the terminal like this
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(terminal, TCSANOW, &keys);
  Write(terminal, kEnter);
}

Screen::~Screen() {
  Write(state_->terminal, kLeave);
  ::tcsetattr(state_->terminal, TCSANOW, &state_->before);
}

Screen::Size Screen::size() const noexcept {
  winsize window = {};
  if (::ioctl(state_->terminal, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 ||
      window.ws_col == 0) {
    return {};
  }
  return {window.ws_row, window.ws_col};
}

void Screen::Draw(const std::string& lines) const {
  std::string text = kHome;
  size_t at = 0;
  for (size_t end = 0; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
    // The last line feed would scroll a full screen.
    if (at > 0) text += kEndOfLine;
    text += lines.substr(at, end - at);
  }
  Write(state_->terminal, text + "\x1b[K" + kClearBelow);
}

std::optional<char> Screen::Key() const {
  pollfd input{.fd = state_->terminal, .events = POLLIN, .revents = 0};
  char key = 0;
  if (::poll(&input, 1, 0) <= 0 || ::read(state_->terminal, &key, 1) != 1) return {};
  return key;
}

}  // namespace recpack::tool
