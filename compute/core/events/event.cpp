#include "compute/core/events/event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/core/units.h"

namespace lab {

bool takes(const RungInfo& rung, Precision precision) {
  return rung.takes.empty() ||
         std::find(rung.takes.begin(), rung.takes.end(), precision) != rung.takes.end();
}

std::vector<std::string> grid_lines(const ValueGrid& grid) {
  const std::vector<std::int64_t>& columns = grid.shown_columns;
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const double value : grid.values) {
    texts.push_back(value != value  ? "NaN"
                    : grid.integral ? fmt::format("{:.0f}", value)
                                    : fmt::format("{:.4g}", value));
    width = std::max(width, texts.back().size());
  }
  const auto follows = [](const std::vector<std::int64_t>& shown, std::size_t i) {
    return i == 0 || shown[i] == shown[i - 1] + 1;
  };
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < grid.shown_rows.size(); ++r) {
    if (!follows(grid.shown_rows, r)) lines.emplace_back("...");
    std::string& line = lines.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!follows(columns, c)) line += "  ...";
      line += fmt::format("{}{:>{}}", c > 0 ? "  " : "", texts[r * columns.size() + c], width);
    }
  }
  return lines;
}

std::string describe(const TensorResult& result) {
  if (!result.tensor) return {};
  const TensorInfo& x = *result.tensor;
  std::string text = fmt::format("{}  {}  [{}]  {}", to_string(x.device), to_string(x.dtype),
                                 fmt::join(x.shape, ","), format_bytes(x.bytes));
  if (result.copy_s) text += "  copied in " + format_seconds(*result.copy_s);
  if (!result.aliases.empty()) {
    text += fmt::format("  same storage as {}", fmt::join(result.aliases, ", "));
  }
  return text;
}

const char* to_string(TransferMover mover) {
  switch (mover) {
    case TransferMover::Threads: return "threads";
    case TransferMover::CopyEngine: return "copy_engine";
    case TransferMover::Kernel: return "kernel";
  }
  return "?";
}

const char* to_string(PeerMode way) {
  switch (way) {
    case PeerMode::None: return "none";
    case PeerMode::Write: return "write";
    case PeerMode::Read: return "read";
    case PeerMode::WriteThroughHost: return "write_through_host";
    case PeerMode::ReadThroughHost: return "read_through_host";
  }
  return "?";
}

std::string moved_by(TransferMover mover, PeerMode way, int threads) {
  if (mover == TransferMover::Threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  std::string words = mover == TransferMover::Kernel ? "kernel" : "copy engine";
  switch (way) {
    case PeerMode::None: break;
    case PeerMode::Write: words += ", peer write"; break;
    case PeerMode::Read: words += ", peer read"; break;
    case PeerMode::WriteThroughHost: words += ", write without peer access"; break;
    case PeerMode::ReadThroughHost: words += ", read without peer access"; break;
  }
  return words;
}

std::string describe(const TransferPayoff& payoff) {
  const std::string work = fmt::format("Work of {} pass{} over {} data: ", payoff.passes,
                                       payoff.passes == 1 ? "" : "es", to_string(payoff.memory));
  const std::string host = to_string(payoff.host), gpu = to_string(payoff.gpu);
  if (!payoff.from_bytes) {
    return work + fmt::format(
                      "it is quicker to stay on {} than to move to {} at every size "
                      "measured.",
                      host, gpu);
  }
  return work + fmt::format("below {} it is quicker to stay on {} than to move to {}.",
                            format_bytes(*payoff.from_bytes), host, gpu);
}

}  // namespace lab
