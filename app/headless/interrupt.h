#pragma once
// Ctrl-C and SIGTERM as a question that can be asked: the first one is a request, the second ends
// the program.

namespace lab::app {

class Interrupt {
 public:
  // At most one of these at a time.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // True once a signal has come. From then on the next signal has its default effect.
  bool requested();

  // Waits up to `seconds` for a signal; returns requested().
  bool wait(double seconds);

  // True once for SIGCONT since the last call. A launcher sends it before SIGTERM.
  bool take_continued();

 private:
  int descriptor_ = -1;
  bool requested_ = false;
};

}  // namespace lab::app
