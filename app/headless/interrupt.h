#pragma once
// Ctrl-C, SIGTERM and, unless nohup has it ignored, SIGHUP as a flag to poll: the first signal is a
// request, the second ends the program.

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

  // Waits for a signal or until `input` can be read; returns requested().
  bool wait_for_input(int input);

  // Returns true if SIGCONT has arrived since the last call. A launcher sends it before SIGTERM.
  bool take_continued();

 private:
  int descriptor_ = -1;
  bool hang_ups_end_it_ = false;
  bool requested_ = false;
};

}  // namespace lab::app
