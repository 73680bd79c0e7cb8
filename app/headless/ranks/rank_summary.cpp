#include "app/headless/ranks/rank_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "app/build_info.h"
#include "compute/core/files/whole_file.h"
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
  template <typename TensorCommand>
  std::string operator()(const TensorCommand&) const {
    return "a tensor command";
  }
};

struct CommandName {
  std::string operator()(const WindowOptions&) const { return ""; }
  std::string operator()(const DevicesOptions&) const { return "devices"; }
  std::string operator()(const JobOptions& o) const { return std::visit(JobName{}, o.command); }
  std::string operator()(const DataOptions&) const { return "data"; }
  std::string operator()(const TourOptions&) const { return "tour"; }
  std::string operator()(const VersionOptions&) const { return "version"; }
  std::string operator()(const HelpOptions&) const { return "--help"; }
};

const StartTraining* training_of(const Invocation& invocation) {
  const auto* job = std::get_if<JobOptions>(&invocation);
  return job ? std::get_if<StartTraining>(&job->command) : nullptr;
}

std::string called(const std::string& command) {
  return command.empty() ? "'device-lab'" : fmt::format("'device-lab {}'", command);
}

// Describes how `summary` differs from rank 0 (`zero`), or returns "". `other` and `first` are
// the names of the two ranks.
std::string difference(const RankSummary& gpu, const RankSummary& zero, const std::string& other,
                       const std::string& first) {
  if (gpu.program_sha256 != zero.program_sha256 || gpu.version != zero.version) {
    return fmt::format(
        "{} runs a different program than {}: device-lab {} (SHA-256 {:.12}...) and {} "
        "({:.12}...); copy one of them to all hosts",
        other, first, gpu.version, gpu.program_sha256, zero.version, zero.program_sha256);
  }
  if (gpu.command != zero.command) {
    return fmt::format("{} was started as {}, {} as {}; start all ranks identically", other,
                       called(gpu.command), first, called(zero.command));
  }
  if (gpu.training == zero.training) return {};
  const std::string settings = first_difference_between_ranks(training_from_json(zero.training),
                                                              training_from_json(gpu.training));
  if (settings.empty()) return {};
  const std::size_t slash = settings.find(" / ");
  if (slash == std::string::npos) {
    return fmt::format("{} and {} were started differently: {}; start all ranks identically", other,
                       first, settings);
  }
  return fmt::format("{} was started with {}, {} with {}; start all ranks identically", other,
                     settings.substr(slash + 3), first, settings.substr(0, slash));
}

}  // namespace

RankSummary rank_summary(const std::optional<Invocation>& invocation,
                         const std::optional<Error>& problem) {
  RankSummary gpu;
  gpu.version = kVersion;
  gpu.program_sha256 = program_digest();
  if (problem) gpu.problem = problem->what();
  if (invocation) {
    gpu.command = std::visit(CommandName{}, *invocation);
    if (const StartTraining* request = training_of(*invocation)) gpu.training = to_json(*request);
  }
  return gpu;
}

std::string to_text(const RankSummary& gpu) {
  const nlohmann::json json = {{"version", gpu.version},
                               {"program", gpu.program_sha256},
                               {"command", gpu.command},
                               {"training", gpu.training},
                               {"problem", gpu.problem}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankSummary rank_summary_from(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto field = [&](const char* name) { return json.at(name).get<std::string>(); };
    return {field("version"), field("program"), field("command"), field("training"),
            field("problem")};
  } catch (const nlohmann::json::exception& e) {
    throw Error(Errc::Corrupt, fmt::format("the summary of a rank cannot be parsed ({}); start "
                                           "the same program on all hosts",
                                           e.what()));
  }
}

void require_alike(std::span<const RankSummary> gpus, const std::vector<std::string>& hosts) {
  const auto name = [&](std::size_t rank) {
    return fmt::format("rank {} ({})", rank, hosts[rank]);
  };
  for (std::size_t rank = 1; rank < gpus.size(); ++rank) {
    const std::string text = difference(gpus[rank], gpus[0], name(rank), name(0));
    const bool same_problem = gpus[rank].problem == gpus[0].problem;
    if (same_problem && !text.empty()) throw Error(Errc::InvalidArgument, text);
    if (same_problem) continue;
    const std::size_t wrong = gpus[rank].problem.empty() ? 0 : rank;
    throw Error(Errc::Usage,
                fmt::format("{}: {}; start all ranks identically", name(wrong), gpus[wrong].problem));
  }
}

}  // namespace lab::app
