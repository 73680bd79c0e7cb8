#include "compute/core/events/event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
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

namespace {

// The time of a copy, and other names of the storage, each after `separator`.
std::string remarks_on(const TensorResult& result, std::string_view separator) {
  std::string text;
  if (result.copy_s) {
    constexpr std::int64_t kRated = 64 << 10;  // bytes; smaller copies only show what a call costs
    const std::int64_t bytes = result.tensor->bytes;
    const std::string seconds = format_seconds(*result.copy_s);
    text.append(separator).append(
        bytes < kRated
            ? trf("copied in {}, including first use of new memory", seconds)
            : trf("copied in {} ({}), including first use of new memory", seconds,
                  format_si(static_cast<double>(bytes) / std::max(*result.copy_s, 1e-9), "B/s")));
  }
  if (!result.aliases.empty()) {
    text.append(separator).append(trf("same storage as {}", fmt::join(result.aliases, ", ")));
  }
  return text;
}

}  // namespace

std::string describe(const TensorResult& result) {
  if (!result.tensor) return {};
  const TensorInfo& x = *result.tensor;
  return fmt::format("{}  {}  [{}]  {}{}", to_string(x.device), to_string(x.dtype),
                     fmt::join(x.shape, ","), format_bytes(x.bytes), remarks_on(result, "  "));
}

std::string summary_of(const TensorResult& result) {
  if (!result.tensor) return {};
  const TensorInfo& x = *result.tensor;
  return trf("{} on {}", format_bytes(x.bytes), to_string(x.device)) + remarks_on(result, ", ");
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
  if (mover == TransferMover::Threads) return workers_text(threads);
  const char* mechanism = mover == TransferMover::Kernel ? tr("kernel") : tr("copy engine");
  switch (way) {
    case PeerMode::None: break;
    case PeerMode::Write: return trf("{}, peer write", mechanism);
    case PeerMode::Read: return trf("{}, peer read", mechanism);
    case PeerMode::WriteThroughHost: return trf("{}, write without peer access", mechanism);
    case PeerMode::ReadThroughHost: return trf("{}, read without peer access", mechanism);
  }
  return mechanism;
}

std::string ModelMiss::text(const std::string& size) const {
  return share < 0 ? trf("{} too slow at {} devices", size, devices)
                   : trf("{} too fast at {} devices", size, devices);
}

std::string ModelMiss::text() const {
  return text(fmt::format("{:.0f} %", std::abs(share) * 100));
}

std::vector<ModelMiss> model_misses(const std::vector<ScalingPrediction>& checked) {
  std::vector<ModelMiss> misses;
  for (const ScalingPrediction& p : checked) {
    if (p.devices < 2 || !p.measured_step_s || *p.measured_step_s <= 0 || p.step_s <= 0) continue;
    misses.push_back({*p.measured_step_s / p.step_s - 1, p.devices});
  }
  return misses;
}

std::optional<ModelMiss> worst_miss(const std::vector<ScalingPrediction>& checked) {
  const std::vector<ModelMiss> misses = model_misses(checked);
  const auto worst = std::max_element(
      misses.begin(), misses.end(),
      [](const auto& a, const auto& b) { return std::abs(a.share) < std::abs(b.share); });
  return worst == misses.end() ? std::nullopt : std::optional(*worst);
}

std::string why_withheld(const std::vector<ScalingPrediction>& checked) {
  const std::optional<ModelMiss> worst = worst_miss(checked);
  if (!worst || std::abs(worst->share) <= kMaxModelMiss) return "";
  const double percent = std::abs(worst->share) * 100, limit = kMaxModelMiss * 100;
  return worst->share < 0
             ? trf("at {} devices the model was {:.0f} % slower than measured (limit {:.0f} %)",
                   worst->devices, percent, limit)
             : trf("at {} devices the model was {:.0f} % faster than measured (limit {:.0f} %)",
                   worst->devices, percent, limit);
}

std::string describe_faster(const TransferFit& fit) {
  const FasterRange& range = *fit.faster_than_one;
  const std::string devices = fit.from == fit.to
                                  ? to_string(fit.from)
                                  : trf("{} to {}", to_string(fit.from), to_string(fit.to));
  const std::string where = fmt::format("{} {}", to_string(fit.op), devices);
  const std::string workers = moved_by(fit.mover, fit.peer, fit.threads);
  const std::string from = format_bytes(range.from_bytes);
  return range.to_bytes
             ? trf("{}: {} are faster than one thread for {} to {}.", where, workers, from,
                   format_bytes(*range.to_bytes))
             : trf("{}: {} are faster than one thread from {} on.", where, workers, from);
}

std::string describe(const TransferPayoff& payoff) {
  const std::string work =
      payoff.passes == 1
          ? trf("Work of 1 pass over {} data", to_string(payoff.memory))
          : trf("Work of {} passes over {} data", payoff.passes, to_string(payoff.memory));
  const std::string host = to_string(payoff.host), gpu = to_string(payoff.gpu);
  if (!payoff.from_bytes) {
    return trf("{}: it is quicker to stay on {} than to move to {} at every size measured.", work,
               host, gpu);
  }
  return trf("{}: below {} it is quicker to stay on {} than to move to {}.", work,
             format_bytes(*payoff.from_bytes), host, gpu);
}

}  // namespace lab
