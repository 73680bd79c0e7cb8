#include "app/headless/console.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

#include "app/headless/table.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

constexpr int kDefaultWidth = 100;

int terminal_width(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

// Standard error is unbuffered, and this function neither allocates nor throws.
void write_to_stderr(std::string_view first, std::string_view second) noexcept {
  while (!first.empty() || !second.empty()) {
    const std::array<iovec, 2> parts = {{{const_cast<char*>(first.data()), first.size()},
                                         {const_cast<char*>(second.data()), second.size()}}};
    const ssize_t written = ::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    const auto done = static_cast<std::size_t>(written);
    const std::size_t of_first = std::min(done, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(done - of_first);
  }
}

}  // namespace

void reserve_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, which is this one.
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void write_message(std::string_view text) noexcept {
  write_to_stderr(text, "\n");
}

std::string progress_text(double done, std::string_view what, std::optional<double> left_s,
                          int width) {
  constexpr int kCells = 24;
  const double share = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(std::lround(share * kCells));
  std::string text = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {}", "", filled, "", kCells - filled,
                                 share * 100, what);
  if (left_s) text += "  " + trf("{} left", format_seconds(*left_s));
  return cut_off(std::move(text), width);
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
  throw Error(Errc::Io, trf("cannot write to standard output: {}; redirect it",
                            std::generic_category().message(errno)));
}

void Console::message(std::string_view text) {
  clear_bar();
  write_message(text);
}

void Console::progress(double done, std::string_view what, std::optional<double> left_s) {
  if (!bar_allowed_) return;
  const int width = terminal_width(STDERR_FILENO) - 1;
  write_to_stderr("\r\x1b[K", progress_text(done, what, left_s, width));
  bar_visible_ = true;
}

int Console::width() const {
  return terminal_width(STDOUT_FILENO);
}

void Console::clear_bar() {
  if (!bar_visible_) return;
  write_to_stderr("\r\x1b[K", {});
  bar_visible_ = false;
}

}  // namespace lab::app
