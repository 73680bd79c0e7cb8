#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/command_line.h"
#include "app/headless/commands.h"
#include "app/headless/json_lines.h"
#include "app/run_window.h"
#include "compute/run/lab_clock.h"
#include "compute/types/error.h"

namespace lab::app {
namespace {

struct Run {
  Console& console;
  Interrupt& interrupt;

  int operator()(const WindowOptions& o) const { return run_window(o, interrupt); }
  int operator()(const DevicesOptions& o) const { return run_devices(o, console, interrupt); }
  int operator()(const JobOptions& o) const { return run_job(o, console, interrupt); }
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

// One line for people and, when JSON was asked for, the closing object.
int report(Console& console, bool json, Errc code, const std::string& message) {
  console.message("device-lab: " + message);
  try {
    if (json) console.line(json_error(to_string(code), message));
  } catch (const OutputClosed&) {
    return kExitOutputClosed;
  } catch (const Error&) {
    return kExitFailed;  // standard output is the very thing that failed
  }
  return exit_status(code);
}

int run(std::span<const char* const> args) {
  Interrupt interrupt;
  Console console;
  const bool json = asks_for_json(args);
  try {
    return std::visit(Run{console, interrupt}, parse_command_line(args));
  } catch (const OutputClosed&) {
    return kExitOutputClosed;
  } catch (const Error& e) {
    return report(console, json, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return report(console, json, Errc::OutOfMemory, "out of memory: the machine refused it");
  } catch (const std::exception& e) {
    return report(console, json, Errc::Internal, fmt::format("internal error: {}", e.what()));
  }
}

}  // namespace
}  // namespace lab::app

int main(int argc, char** argv) {
  lab::lab_time_s();              // the time axis begins here
  std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves shows as a failed write
  std::signal(SIGXFSZ, SIG_IGN);  // and so does a file that may grow no further
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const std::vector<const char*> args(words.begin() + (words.empty() ? 0 : 1), words.end());
  return lab::app::run(args);
}
