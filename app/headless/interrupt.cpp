#include "app/headless/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>

namespace lab::app {
namespace {

// A signal handler can reach the rest of the program only through a global. Blocking the signals
// and reading them from a descriptor would fail: libraries such as Open MPI's UCX start threads
// before main, and those threads do not block them.
std::atomic<int> signal_target = -1;
std::atomic<bool> continued = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "usable in a signal handler");

void on_signal(int) {
  const std::uint64_t one = 1;
  const int target = signal_target;
  if (target >= 0 && write(target, &one, sizeof one) < 0) _exit(130);
}

void on_continue(int) {
  continued = true;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt()
    : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), hang_ups_end_it_(!is_ignored(SIGHUP)) {
  signal_target = descriptor_;
  handle(SIGINT, on_signal, SA_RESETHAND);  // the second signal has its default effect
  handle(SIGTERM, on_signal, SA_RESETHAND);
  if (hang_ups_end_it_) handle(SIGHUP, on_signal, SA_RESETHAND);
  handle(SIGCONT, on_continue, 0);
}

Interrupt::~Interrupt() {
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  if (hang_ups_end_it_) ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGCONT, SIG_DFL);
  signal_target = -1;
  if (descriptor_ >= 0) close(descriptor_);
}

bool Interrupt::requested() {
  return wait(0);
}

bool Interrupt::wait(double seconds) {
  if (requested_ || descriptor_ < 0) return requested_;
  pollfd ready{descriptor_, POLLIN, 0};
  const int milliseconds = static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000));
  requested_ = poll(&ready, 1, milliseconds) > 0;
  return requested_;
}

bool Interrupt::wait_for_input(int input) {
  while (!requested()) {
    std::array<pollfd, 2> ready{{{descriptor_, POLLIN, 0}, {input, POLLIN, 0}}};
    const int found = poll(ready.data(), ready.size(), -1);
    if (found < 0 && errno != EINTR) break;
    if (found > 0 && ready[1].revents != 0) break;
  }
  return requested();
}

bool Interrupt::take_continued() {
  return continued.exchange(false);
}

}  // namespace lab::app
