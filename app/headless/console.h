#pragma once
// The terminal: results on standard output; messages and a progress bar on standard error.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lab::app {

// Thrown when the reader of standard output has closed it; the program then ends silently.
struct OutputClosed {};

// Opens /dev/null for each standard stream that is closed at start, so that no file opened later
// gets its descriptor and receives messages; reading and writing still fail. Call this first.
void reserve_standard_streams() noexcept;

// Writes a line to standard error, in one write where the system allows it. Write failures are
// ignored, so they never end the work that is being reported.
void write_message(std::string_view text) noexcept;

class Console {
 public:
  Console();
  // Clears the progress bar.
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Writes a line to standard output and flushes it. Throws OutputClosed, or Error(Io) if the disk
  // is full.
  void line(std::string_view text);

  // Clears the progress bar, then calls write_message().
  void message(std::string_view text);

  // Redraws the bar if standard error is a terminal. `done` is 0..1.
  void progress(double done, std::string_view what, std::optional<double> left_s);

  // Returns the width of the terminal on standard output in columns; 100 if it is not a terminal.
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
