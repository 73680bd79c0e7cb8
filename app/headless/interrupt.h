#pragma once
// Ctrl-C and SIGTERM as a flag to poll: the first signal is a request, the second ends the program.

namespace lab::app {

class Interrupt {
 public:
  // At most one instance may exist at a time.
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Returns true once a signal has arrived. From then on the next signal has its default effect.
  bool requested();

  // Waits up to `seconds` for a signal; returns requested().
  bool wait(double seconds);

  // Returns true if SIGCONT has arrived since the last call. A launcher sends it before SIGTERM.
  bool take_continued();

 private:
  int descriptor_ = -1;
  bool requested_ = false;
};

}  // namespace lab::app
