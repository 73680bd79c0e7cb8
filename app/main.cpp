#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "app/cli/command_line.h"
#include "app/headless/commands.h"
#include "app/headless/console.h"
#include "app/headless/json_lines.h"
#include "app/headless/ranks/together.h"
#include "app/run_window.h"
#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/machine/simd_level.h"
#include "compute/run/lab_clock.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {
namespace {

struct Run {
  Console& console;
  Interrupt& interrupt;
  RankSession& session;

  int operator()(const WindowOptions& o) const { return run_window(o, interrupt, session); }
  int operator()(const DevicesOptions& o) const { return run_devices(o, console, interrupt); }
  int operator()(const JobOptions& o) const { return run_job(o, console, interrupt, session); }
  int operator()(const DataOptions& o) const { return run_data(o, console, interrupt); }
  int operator()(const TourOptions& o) const { return run_tour(o, console, interrupt); }
  int operator()(const VersionOptions&) const { return run_version(console); }
  int operator()(const HelpOptions& o) const {
    console.line(o.text);
    return kExitDone;
  }
};

int exit_status(Errc code) {
  if (code == Errc::Usage) return kExitUsage;
  return code == Errc::Cancelled ? kExitInterrupted : kExitFailed;
}

bool address_space_is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// OpenBLAS retries forever to allocate its buffers, 128 MiB per thread, and its threads start
// before main. Without enough address space the program would hang, at the latest when it exits.
void require_address_space() {
  if (!address_space_is_limited()) return;
  // Counts a buffer for every thread, because some may be allocating theirs right now.
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t least_bytes = (std::size_t{512} << 20) + threads * (std::size_t{136} << 20);
  void* const probe =
      ::mmap(nullptr, least_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    throw Error(
        Errc::OutOfMemory,
        fmt::format("the address space is limited to {} (ulimit -v), of which less than the {} "
                    "that the libraries need are free; raise the limit",
                    format_bytes(static_cast<std::int64_t>(limit.rlim_cur)),
                    format_bytes(static_cast<std::int64_t>(least_bytes))));
  }
  ::munmap(probe, least_bytes);
}

// Runs one process, from its arguments to its exit status.
class Process {
 public:
  explicit Process(std::span<const char* const> args) : args_(args), json_(asks_for_json(args)) {}

  int run() {
    const int joined = guarded([this] {
      require_address_space();
      session_ = open_rank_session();
      return kExitDone;
    });
    if (!session_) return joined;
    if (session_->ranks().single()) {
      return guarded([this] { return execute(parse_command_line(args_), *session_); });
    }
    together_.emplace(*session_, console_, interrupt_);
    return leave(guarded([this] {
      return together_->run(args_, [this](const Invocation& invocation, RankSession& session) {
        return execute(invocation, session);
      });
    }));
  }

 private:
  int execute(const Invocation& invocation, RankSession& session) {
    if (!std::holds_alternative<HelpOptions>(invocation)) simd_cap();  // rejects unknown levels
    return std::visit(Run{console_, interrupt_, session}, invocation);
  }

  int leave(int status) {
    const auto failure =
        session_->close(status, {.interrupted = [this] { return interrupt_.requested(); }});
    if (!failure || status != kExitDone) return status;
    return together_->leads() ? tell(failure->code(), failure->what())
                              : exit_status(failure->code());
  }

  // Returns the exit status of `work` or, after reporting it, of the failure that ended it.
  template <typename Work>
  int guarded(const Work& work) {
    try {
      return work();
    } catch (const OutputClosed&) {
      return kExitOutputClosed;
    } catch (const Error& e) {
      return report(e.code(), e.what());
    } catch (const std::bad_alloc&) {
      return report(Errc::OutOfMemory, "out of memory: host allocation failed");
    } catch (const std::exception& e) {
      return report(Errc::Internal, fmt::format("internal error: {}", e.what()));
    }
  }

  int report(Errc code, const std::string& message) {
    if (together_ && !together_->announce(code, message)) return exit_status(code);
    return tell(code, message);
  }

  // Prints one line and, if JSON was requested, the closing object.
  int tell(Errc code, const std::string& message) {
    const bool leads = !together_ || together_->leads();
    console_.message((together_ ? together_->prefix() : "") + "device-lab: " + message);
    try {
      if (json_ && leads) console_.line(json_error(to_string(code), message));
    } catch (const OutputClosed&) {
      return kExitOutputClosed;
    } catch (const Error&) {
      return kExitFailed;  // standard output itself has failed
    }
    return exit_status(code);
  }

  const std::span<const char* const> args_;
  const bool json_;
  Interrupt interrupt_;
  Console console_;
  std::unique_ptr<RankSession> session_;
  std::optional<Together> together_;
};

}  // namespace
}  // namespace lab::app

int main(int argc, char** argv) {
  lab::app::reserve_standard_streams();
  lab::lab_time_s();              // starts the time axis
  std::signal(SIGPIPE, SIG_IGN);  // report a closed reader as a failed write
  std::signal(SIGXFSZ, SIG_IGN);  // and so a file that reached its size limit
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const std::vector<const char*> args(words.begin() + (words.empty() ? 0 : 1), words.end());
  const int status = lab::app::Process(args).run();
  if (!lab::app::address_space_is_limited()) return status;
  // At exit OpenBLAS waits for its threads, which may still be trying to allocate their buffers.
  std::fflush(nullptr);
  ::_exit(status);
}
