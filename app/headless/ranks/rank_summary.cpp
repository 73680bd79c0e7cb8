#include "app/headless/ranks/rank_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "app/build_info.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/data/sha256.h"
#include "compute/train/request_json.h"

namespace lab::app {
namespace {

// Cached, because the program file may be hundreds of megabytes in size.
const std::string& program_digest() {
  static const std::string digest = sha256_hex(files::read_file("/proc/self/exe"));
  return digest;
}

struct JobName {
  std::string operator()(const StartTransfers&) const { return "transfer"; }
  std::string operator()(const StartMatmul&) const { return "matmul"; }
  std::string operator()(const StartTraining&) const { return "train"; }
  std::string operator()(const StartScaling&) const { return "scaling"; }
  std::string operator()(const RunTensorCode&) const { return "tensor"; }
  std::string operator()(const StartTour&) const { return "tour"; }
  std::string operator()(const FetchData&) const { return "data"; }
  template <typename TensorCommand>
  std::string operator()(const TensorCommand&) const {
    return tr("a tensor command");
  }
};

struct CommandName {
  std::string operator()(const WindowOptions&) const { return ""; }
  std::string operator()(const DevicesOptions&) const { return "devices"; }
  std::string operator()(const JobOptions& o) const { return std::visit(JobName{}, o.command); }
  std::string operator()(const DataOptions&) const { return "data"; }
  std::string operator()(const TourOptions&) const { return "tour"; }
  std::string operator()(const LessonOptions&) const { return "lesson"; }
  std::string operator()(const VersionOptions&) const { return "version"; }
  std::string operator()(const HelpOptions&) const { return "--help"; }
};

const StartTraining* training_of(const Invocation& invocation) {
  const auto* job = std::get_if<JobOptions>(&invocation);
  return job ? std::get_if<StartTraining>(&job->command) : nullptr;
}

std::string quoted_command(const std::string& command) {
  return command.empty() ? "'device-lab'" : fmt::format("'device-lab {}'", command);
}

// Describes how `summary` differs from rank 0 (`zero`), or returns "". `other` and `first` are
// the names of the two ranks.
std::string difference(const RankSummary& summary, const RankSummary& zero,
                       const std::string& other, const std::string& first) {
  if (summary.program_sha256 != zero.program_sha256 || summary.version != zero.version) {
    return trf(
        "{} runs a different program than {}: device-lab {} (SHA-256 {:.12}...) and {} "
        "({:.12}...); copy one of them to all hosts",
        other, first, summary.version, summary.program_sha256, zero.version, zero.program_sha256);
  }
  if (summary.command != zero.command) {
    return trf("{} was started as {}, {} as {}; start all ranks identically", other,
               quoted_command(summary.command), first, quoted_command(zero.command));
  }
  if (summary.training == zero.training) return {};
  const std::string settings = first_difference_between_ranks(training_from_json(zero.training),
                                                              training_from_json(summary.training));
  if (settings.empty()) return {};
  const std::size_t slash = settings.find(" / ");
  if (slash == std::string::npos) {
    return trf("{} and {} were started differently: {}; start all ranks identically", other, first,
               settings);
  }
  return trf("{} was started with {}, {} with {}; start all ranks identically", other,
             settings.substr(slash + 3), first, settings.substr(0, slash));
}

}  // namespace

RankSummary rank_summary(const std::optional<Invocation>& invocation,
                         const std::optional<Error>& problem) {
  RankSummary summary;
  summary.version = kVersion;
  summary.program_sha256 = program_digest();
  if (problem) summary.problem = problem->what();
  if (invocation) {
    summary.command = std::visit(CommandName{}, *invocation);
    if (const StartTraining* request = training_of(*invocation))
      summary.training = to_json(*request);
  }
  return summary;
}

std::string to_text(const RankSummary& summary) {
  const nlohmann::json json = {{"version", summary.version},
                               {"program", summary.program_sha256},
                               {"command", summary.command},
                               {"training", summary.training},
                               {"problem", summary.problem}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankSummary rank_summary_from(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto field = [&](const char* name) { return json.at(name).get<std::string>(); };
    return {field("version"), field("program"), field("command"), field("training"),
            field("problem")};
  } catch (const nlohmann::json::exception& e) {
    throw Error(Errc::Corrupt, trf("the summary of a rank cannot be parsed ({}); start "
                                   "the same program on all hosts",
                                   e.what()));
  }
}

void require_same_start(std::span<const RankSummary> summaries,
                        const std::vector<std::string>& hosts) {
  const auto name = [&](std::size_t rank) { return trf("rank {} ({})", rank, hosts[rank]); };
  for (std::size_t rank = 1; rank < summaries.size(); ++rank) {
    const std::string text = difference(summaries[rank], summaries[0], name(rank), name(0));
    const bool same_problem = summaries[rank].problem == summaries[0].problem;
    if (same_problem && !text.empty()) throw Error(Errc::InvalidArgument, text);
    if (same_problem) continue;
    const std::size_t wrong = summaries[rank].problem.empty() ? 0 : rank;
    throw Error(Errc::Usage,
                trf("{}: {}; start all ranks identically", name(wrong), summaries[wrong].problem));
  }
}

}  // namespace lab::app
