#include "app/headless/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "compute/types/error.h"
#include "compute/types/units.h"

namespace lab::app {
namespace {

constexpr int kDefaultWidth = 100;

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

}  // namespace

std::string progress_text(double done, std::string_view what, std::optional<double> left_s,
                          int width) {
  constexpr int kCells = 24;
  const double share = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(std::lround(share * kCells));
  std::string text = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", filled, "", kCells - filled,
                                 share * 100, what);
  if (left_s) text += fmt::format("  {} left", format_seconds(*left_s));
  if (static_cast<int>(text.size()) > width) {
    text.resize(static_cast<std::size_t>(std::max(0, width)));
  }
  return text;
}

Console::Console() : bar_allowed_(isatty(STDERR_FILENO) == 1) {}

Console::~Console() {
  clear_bar();
}

void Console::line(std::string_view text) {
  clear_bar();
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                       std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
  if (written) return;
  if (errno == EPIPE) throw OutputClosed{};
  throw Error(Errc::Io, fmt::format("standard output cannot be written: {}; send it elsewhere",
                                    std::generic_category().message(errno)));
}

void Console::message(std::string_view text) {
  clear_bar();
  fmt::print(stderr, "{}\n", text);
}

void Console::progress(double done, std::string_view what, std::optional<double> left_s) {
  if (!bar_allowed_) return;
  const int width = terminal_width(STDERR_FILENO) - 1;
  fmt::print(stderr, "\r\x1b[K{}", progress_text(done, what, left_s, width));
  std::fflush(stderr);
  bar_visible_ = true;
}

int Console::width() const {
  return terminal_width(STDOUT_FILENO);
}

void Console::clear_bar() {
  if (!bar_visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  bar_visible_ = false;
}

}  // namespace lab::app
