#include "app/headless/ranks/multi_process_run.h"

#include <utility>
#include <variant>
#include <vector>

#include "app/cli/command_line.h"
#include "app/headless/commands.h"
#include "app/headless/ranks/rank_jobs.h"
#include "app/headless/ranks/rank_summary.h"
#include "compute/core/error.h"
#include "compute/train/ranks/host_cores.h"

namespace lab::app {
namespace {

template <typename Request>
bool asks_for(const Invocation& invocation) {
  const auto* job = std::get_if<JobOptions>(&invocation);
  return job != nullptr && std::holds_alternative<Request>(job->command);
}

}  // namespace

MultiProcessRun::MultiProcessRun(RankSession& session, Console& console, Interrupt& interrupt)
    : session_(session),
      console_(console),
      interrupt_(interrupt),
      leads_(session.ranks().rank() == 0),
      prefix_(rank_prefix(session.ranks())) {}

int MultiProcessRun::run(std::span<const char* const> args, const Execute& execute) {
  std::optional<Invocation> invocation;
  std::optional<Error> problem;
  try {
    invocation = parse_command_line(args);
  } catch (const Error& e) {
    problem = e;
  }
  compare(invocation, problem);
  all_know_ = true;
  if (problem) throw Error(*problem);
  if (asks_for<StartScaling>(*invocation)) throw scaling_of_one_process();
  all_know_ = false;

  const auto* window = std::get_if<WindowOptions>(&*invocation);
  const auto* lessons = std::get_if<LessonOptions>(&*invocation);
  const bool shared = asks_for<StartTraining>(*invocation) || (lessons && runs_on_ranks(*lessons));
  if (!window && !shared) {
    return leads_ ? execute(*invocation, *single_session()) : wait_for_leader();
  }
  take_own_cores(session_, {.interrupted = [this] { return interrupt_.requested(); }});
  if (window && !leads_) return follow_window(*window, console_, interrupt_, session_);
  return execute(*invocation, session_);
}

void MultiProcessRun::compare(const std::optional<Invocation>& invocation,
                              const std::optional<Error>& problem) {
  RankGroup& ranks = session_.ranks();
  const std::string mine = to_text(rank_summary(invocation, problem));
  std::vector<RankSummary> summaries;
  for (const auto& bytes : ranks.all_gather(std::as_bytes(std::span(mine)), {.interrupted = [this] {
                                              return interrupt_.requested();
                                            }})) {
    summaries.push_back(
        rank_summary_from({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  try {
    require_same_start(summaries, ranks.hosts());
  } catch (const Error&) {
    all_know_ = true;
    differ_ = true;
    throw;
  }
}

int MultiProcessRun::wait_for_leader() {
  const RankWait wait{.interrupted = [this] { return interrupt_.requested(); }};
  while (session_.follow(wait)) continue;
  return kExitDone;
}

// An interrupt and a wrong command line affect every rank equally, so rank 0 reports them for all.
// A difference between the ranks is reported by each of them.
bool MultiProcessRun::announce(Errc code, const std::string& message) {
  if (all_know_) return leads_ || differ_;
  session_.ranks().fail(code, message);
  return leads_ || (code != Errc::Cancelled && !session_.failure_elsewhere());
}

}  // namespace lab::app
