#include "app/headless/ranks/rank_card.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "app/build_info.h"
#include "compute/core/files/whole_file.h"
#include "compute/data/sha256.h"
#include "compute/train/request_json.h"

namespace lab::app {
namespace {

std::string program_digest() {
  const std::string program = files::read_text_file("/proc/self/exe");
  return sha256_hex({reinterpret_cast<const std::uint8_t*>(program.data()), program.size()});
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

// How `card` differs from that of rank 0; empty where it does not. `other` and `first` name them.
std::string difference(const RankCard& card, const RankCard& zero, const std::string& other,
                       const std::string& first) {
  if (card.program_sha256 != zero.program_sha256 || card.version != zero.version) {
    return fmt::format(
        "{} runs another program than {}: device-lab {} (SHA-256 {:.12}...) and {} ({:.12}...); "
        "copy one of them to all hosts",
        other, first, card.version, card.program_sha256, zero.version, zero.program_sha256);
  }
  if (card.command != zero.command) {
    return fmt::format("{} was started as {}, {} as {}; start all ranks alike", other,
                       called(card.command), first, called(zero.command));
  }
  if (card.training == zero.training) return {};
  const std::string settings = first_difference_between_ranks(training_from_json(zero.training),
                                                              training_from_json(card.training));
  if (settings.empty()) return {};
  const std::size_t slash = settings.find(" / ");
  if (slash == std::string::npos) {
    return fmt::format("{} and {} were started differently: {}; start all ranks alike", other,
                       first, settings);
  }
  return fmt::format("{} was started with {}, {} with {}; start all ranks alike", other,
                     settings.substr(slash + 3), first, settings.substr(0, slash));
}

}  // namespace

RankCard rank_card(const std::optional<Invocation>& invocation,
                   const std::optional<Error>& problem) {
  RankCard card;
  card.version = kVersion;
  card.program_sha256 = program_digest();
  if (problem) card.problem = problem->what();
  if (invocation) {
    card.command = std::visit(CommandName{}, *invocation);
    if (const StartTraining* request = training_of(*invocation)) card.training = to_json(*request);
  }
  return card;
}

std::string to_text(const RankCard& card) {
  const nlohmann::json json = {{"version", card.version},
                               {"program", card.program_sha256},
                               {"command", card.command},
                               {"training", card.training},
                               {"problem", card.problem}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankCard rank_card_from(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto field = [&](const char* name) { return json.at(name).get<std::string>(); };
    return {field("version"), field("program"), field("command"), field("training"),
            field("problem")};
  } catch (const nlohmann::json::exception& e) {
    throw Error(Errc::Corrupt, fmt::format("what a rank says about itself cannot be read ({}); "
                                           "start the same program on all hosts",
                                           e.what()));
  }
}

void require_alike(std::span<const RankCard> cards, const std::vector<std::string>& hosts) {
  const auto name = [&](std::size_t rank) {
    return fmt::format("rank {} ({})", rank, hosts[rank]);
  };
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    const std::string text = difference(cards[rank], cards[0], name(rank), name(0));
    const bool same_problem = cards[rank].problem == cards[0].problem;
    if (same_problem && !text.empty()) throw Error(Errc::InvalidArgument, text);
    if (same_problem) continue;
    const std::size_t wrong = cards[rank].problem.empty() ? 0 : rank;
    throw Error(Errc::Usage,
                fmt::format("{}: {}; start all ranks alike", name(wrong), cards[wrong].problem));
  }
}

}  // namespace lab::app
