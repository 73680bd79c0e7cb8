#pragma once
// What each rank says about itself before anything is done, so that ranks which would not compute
// the same say so instead of hanging or training something wrong.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/invocation.h"
#include "compute/core/error.h"

namespace lab::app {

struct RankSummary {
  std::string version;
  std::string program_sha256;
  std::string command;   // "train"; "" for the window
  std::string training;  // the request as JSON, where the command is train
  std::string problem;   // why the command line is not understood
};

// Of this process: reads the program's own file.
RankSummary rank_summary(const std::optional<Invocation>& invocation,
                         const std::optional<Error>& problem);

std::string to_text(const RankSummary& gpu);
// Throws Error(Corrupt).
RankSummary rank_summary_from(std::string_view text);

// Throws Error(InvalidArgument) naming the first rank that differs from rank 0 and in what, or
// Error(Usage) where its command line alone is wrong. Devices, and where files lie, may differ.
void require_alike(std::span<const RankSummary> gpus, const std::vector<std::string>& hosts);

}  // namespace lab::app
