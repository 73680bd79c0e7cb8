#include <csignal>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/command_line.h"
#include "app/headless/commands.h"
#include "app/headless/console.h"
#include "app/headless/json_lines.h"
#include "app/headless/ranks/multi_process_run.h"
#include "app/run_window.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
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
  int operator()(const LessonOptions& o) const {
    return run_lessons(o, console, interrupt, session);
  }
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

// Runs one process, from its arguments to its exit status.
class Process {
 public:
  explicit Process(std::span<const char* const> args) : args_(args), json_(asks_for_json(args)) {
    set_language(asked_language(args));
  }

  int run() {
    const int joined = guarded([this] {
      session_ = open_rank_session();
      return kExitDone;
    });
    if (!session_) return joined;
    if (session_->ranks().single()) {
      return guarded([this] { return execute(parse_command_line(args_), *session_); });
    }
    multi_process_.emplace(*session_, console_, interrupt_);
    return leave(guarded([this] {
      return multi_process_->run(args_, [this](const Invocation& invocation, RankSession& session) {
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
    return multi_process_->leads() ? tell(failure->code(), failure->what())
                                   : exit_status(failure->code());
  }

  // Returns the exit status of `work` or, after reporting it, of the failure that ended it.
  template <typename Work>
  int guarded(const Work& work) {
    try {
      return work();
    } catch (const OutputClosed&) {
      return kExitOutputClosed;
    } catch (...) {
      const Error e = current_error();
      return report(e.code(), e.what());
    }
  }

  int report(Errc code, const std::string& message) {
    if (multi_process_ && !multi_process_->announce(code, message)) return exit_status(code);
    return tell(code, message);
  }

  // Prints one line and, if JSON was requested, the closing object.
  int tell(Errc code, const std::string& message) {
    const bool leads = !multi_process_ || multi_process_->leads();
    console_.message((multi_process_ ? multi_process_->prefix() : "") + "device-lab: " + message);
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
  std::optional<MultiProcessRun> multi_process_;
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
  return lab::app::Process(args).run();
}
