#pragma once
// The terminal: results on standard output, messages and a progress bar on standard error.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lab::app {

// Thrown when whoever read standard output has gone: the program ends without a word.
struct OutputClosed {};

// Opens /dev/null for each standard stream that was closed by the caller, so that no file opened
// later gets its number and receives messages; reading and writing fail as before. Call it first.
void reserve_standard_streams() noexcept;

// A line on standard error, in one write where the system allows it. A message that cannot be
// written is lost; it never ends the work that it is about.
void write_message(std::string_view text) noexcept;

class Console {
 public:
  Console();
  // Clears the progress bar.
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // A line on standard output, flushed. Throws OutputClosed, or Error(Io) when the disk is full.
  void line(std::string_view text);

  // Clears the progress bar, then write_message().
  void message(std::string_view text);

  // Redraws the bar when standard error is a terminal. `done` is 0..1.
  void progress(double done, std::string_view what, std::optional<double> left_s);

  // Columns of the terminal behind standard output; 100 when there is none.
  int width() const;

 private:
  void clear_bar();
  const bool bar_allowed_;
  bool bar_visible_ = false;
};

// "[######..........]  38 %  cpu_packed at 1024  12.0 s left", at most `width` columns.
std::string progress_text(double done, std::string_view what, std::optional<double> left_s,
                          int width);

}  // namespace lab::app
