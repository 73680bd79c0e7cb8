#include "tests/bench/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <sstream>
#include <system_error>
#include <utility>

#include "compute/core/error.h"

namespace lab::bench {
namespace {

// The ends of a pipe, closed on exec except as standard input and output of the command.
std::pair<int, int> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {ends[0], ends[1]};
}

}  // namespace

PeerProcess::PeerProcess(std::string command) : command_(std::move(command)) {
  const auto [input, to] = make_pipe();
  const auto [from, output] = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  std::string shell = "sh", option = "-c", line = "exec " + command_;
  char* const words[] = {shell.data(), option.data(), line.data(), nullptr};
  const int fault = ::posix_spawn(&pid_, "/bin/sh", &actions, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input);
  ::close(output);
  to_ = ::fdopen(to, "w");
  from_ = ::fdopen(from, "r");
  if (fault != 0) throw std::system_error(fault, std::generic_category(), "/bin/sh");
  std::signal(SIGPIPE, SIG_IGN);  // a write to a command that has ended fails instead
  std::istringstream names(read_line());
  for (std::string name; names >> name;) contenders_.push_back(name);
}

PeerProcess::~PeerProcess() {
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(pid_, nullptr, 0);
}

double PeerProcess::seconds_per_call(const std::string& contender, const test::ProductShape& shape,
                                     double slice_s, Statistic statistic) {
  fmt::print(to_, "{} {} {} {} {} {}\n", contender, shape.m, shape.n, shape.k, slice_s,
             name_of(statistic));
  std::fflush(to_);
  const std::string answer = read_line();
  double seconds = 0;
  const auto [end, fault] = std::from_chars(answer.data(), answer.data() + answer.size(), seconds);
  if (fault != std::errc() || end != answer.data() + answer.size() || !(seconds > 0)) {
    throw Error(Errc::Unsupported, answer);
  }
  return seconds;
}

std::string PeerProcess::read_line() {
  std::string line;
  for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
    if (c == EOF) {
      throw Error(Errc::Unsupported, fmt::format("`{}` ended before it answered", command_));
    }
    line += static_cast<char>(c);
  }
  return line;
}

}  // namespace lab::bench
