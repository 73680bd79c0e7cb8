#pragma once
// A summary that the ranks exchange before any work, so that mismatched ranks fail with an error
// instead of hanging or training incorrectly.
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
  std::string training;  // the request as JSON if the command is train
  std::string problem;   // why the command line was rejected
};

// Summarises this process; reads the program's own file.
RankSummary rank_summary(const std::optional<Invocation>& invocation,
                         const std::optional<Error>& problem);

std::string to_text(const RankSummary& summary);
// Throws Error(Corrupt).
RankSummary rank_summary_from(std::string_view text);

// Throws Error(InvalidArgument) naming the first rank that differs from rank 0 and the difference,
// or Error(Usage) if only its command line is wrong. Devices and file locations may differ.
void require_same_start(std::span<const RankSummary> summaries,
                        const std::vector<std::string>& hosts);

}  // namespace lab::app
