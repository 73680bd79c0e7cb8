#include <fmt/format.h>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/events/roofline.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

std::string share(const std::optional<double>& value) {
  return value ? percent(*value) : "N/A";
}

std::string shape(const MatmulSample& s) {
  if (s.m == s.n && s.n == s.k) return std::to_string(s.n);
  return fmt::format("{}x{}x{}", s.m, s.n, s.k);
}

class MatmulTable final : public Printer {
 public:
  explicit MatmulTable(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    if (show_common(console_, payload)) return;
    if (const auto* failed = std::get_if<RungFailed>(&payload)) {
      console_.line(trf("{} in {} at {} on {}: FAILED, {}", failed->kernel,
                        to_string(failed->dtype), failed->n, to_string(failed->device),
                        failed->reason));
    } else if (const auto* peak = std::get_if<PeakSample>(&payload)) {
      console_.line(trf("{}: measured peak {} ({}{}, {})", to_string(peak->device),
                        format_gflops(peak->gflops), peak->amx ? "AMX " : "",
                        to_string(peak->dtype), workers_text(peak->threads)));
    } else if (const auto* ceilings = std::get_if<CeilingsMeasured>(&payload)) {
      show_bandwidths(*ceilings);
    } else if (const auto* sample = std::get_if<MatmulSample>(&payload)) {
      show_sample(*sample);
    } else if (const auto* one = std::get_if<TogetherSample>(&payload)) {
      show_together(*one);
    } else if (const auto* speedup = std::get_if<TogetherSpeedup>(&payload)) {
      show_speedup(*speedup);
    }
  }

 private:
  void show_together(const TogetherSample& s) {
    console_.line(
        fmt::format("{}  {}",
                    trf("{} at N = {}, {} devices at once: {}, median {}, {}, n {}",
                        to_string(s.device), s.n, s.together.size(), format_gflops(s.gflops),
                        format_seconds(s.time.median_s), spread_text(s.time), s.time.n),
                    remark_text(s.verified, s.time)));
  }

  void show_speedup(const TogetherSpeedup& e) {
    console_.line(
        trf("N = {}: {} products in sequence on {}: {}; at once: {}; {:.2f}x as fast (p10 {:.2f}x, "
            "p90 {:.2f}x, {} rounds)",
            e.n, e.products * static_cast<std::int64_t>(e.devices.size()),
            to_string(e.devices.front()), format_seconds(e.in_sequence_s),
            format_seconds(e.at_once_s), e.speedup, e.p10, e.p90, e.rounds));
    if (e.shares_cores) {
      console_.line(tr("Devices that share cores bring no speed-up beyond the number of cores."));
    }
  }

  // Omits the compute peaks, which are printed when they arrive.
  void show_bandwidths(const CeilingsMeasured& ceilings) {
    for (const BandwidthCeiling& level : ceilings.bandwidth) {
      const std::string n =
          level.time.unstable ? trf("{}, unsteady", level.time.n) : std::to_string(level.time.n);
      std::string text = trf(
          "{}: measured {} {} {} at best, median {} {}, n {} ({}, {})", to_string(ceilings.device),
          level.name, level.copied ? tr("copy") : tr("bandwidth"), format_gb_per_s(level.gb_per_s),
          format_gb_per_s(level.median_gb_per_s), spread_text(level.time), n,
          workers_text(ceilings.threads), format_bytes(level.working_set_bytes));
      if (!ceilings.compute.empty()) {
        text += ", " + trf("ridge at {:.3g} FLOP/B",
                           ridge(ceilings, level, ceilings.compute.back().dtype));
      }
      console_.line(text);
    }
  }

  void show_sample(const MatmulSample& s) {
    if (!header_shown_) console_.line(layout_.header());
    header_shown_ = true;
    console_.line(layout_.row(
        {to_string(s.device), s.kernel, to_string(s.dtype), shape(s), format_gflops(s.gflops),
         share(s.share_of_library), share(s.share_of_peak),
         fmt::format("{:.3g}", arithmetic_intensity(s)), format_seconds(s.time.median_s),
         spread_text(s.time), std::to_string(s.time.n), remark_text(s.verified, s.time)}));
  }

  Console& console_;
  bool header_shown_ = false;
  const TableLayout layout_{{{LAB_TEXT("device"), 7},
                             {LAB_TEXT("kernel"), 16},
                             {LAB_TEXT("type"), 4},
                             {LAB_TEXT("size N"), 6, true},
                             {LAB_TEXT("speed"), 12, true},
                             {LAB_TEXT("of library"), 10, true},
                             {LAB_TEXT("of peak"), 7, true},
                             {"FLOP/B", 6, true},
                             {LAB_TEXT("median"), 8, true},
                             {LAB_TEXT("spread"), 8, true},
                             {"n", 5, true},
                             {"", 0}}};
};

}  // namespace

std::unique_ptr<Printer> make_matmul_table(Console& console) {
  return std::make_unique<MatmulTable>(console);
}

}  // namespace lab::app
