#include <fmt/format.h>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/events/roofline.h"
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
    if (const auto* peak = std::get_if<PeakSample>(&payload)) {
      console_.line(fmt::format("{}: measured peak {} ({}{}, {})", to_string(peak->device),
                                format_si(peak->gflops * 1e9, "FLOP/s"), peak->amx ? "AMX " : "",
                                to_string(peak->dtype), workers_text(peak->threads)));
    } else if (const auto* ceilings = std::get_if<CeilingsMeasured>(&payload)) {
      show_bandwidths(*ceilings);
    } else if (const auto* sample = std::get_if<MatmulSample>(&payload)) {
      show_sample(*sample);
    }
  }

 private:
  // Omits the compute peaks, which are printed when they arrive.
  void show_bandwidths(const CeilingsMeasured& ceilings) {
    for (const BandwidthCeiling& level : ceilings.bandwidth) {
      std::string text = fmt::format(
          "{}: measured {} {} {} at best, median {} {}, n {}{} ({}, {})",
          to_string(ceilings.device), level.name, level.copied ? "copy" : "bandwidth",
          format_si(level.gb_per_s * 1e9, "B/s"), format_si(level.median_gb_per_s * 1e9, "B/s"),
          spread_text(level.time), level.time.n, level.time.unstable ? ", unstable" : "",
          workers_text(ceilings.threads), format_bytes(level.working_set_bytes));
      if (!ceilings.compute.empty()) {
        text += fmt::format(", ridge at {:.3g} FLOP/B",
                            ridge(ceilings, level, ceilings.compute.back().dtype));
      }
      console_.line(text);
    }
  }

  void show_sample(const MatmulSample& s) {
    if (!header_shown_) console_.line(layout_.header());
    header_shown_ = true;
    console_.line(layout_.row(
        {to_string(s.device), s.kernel, to_string(s.dtype), shape(s),
         format_si(s.gflops * 1e9, "FLOP/s"), share(s.share_of_library), share(s.share_of_peak),
         fmt::format("{:.3g}", arithmetic_intensity(s)), format_seconds(s.time.median_s),
         spread_text(s.time), std::to_string(s.time.n), remark_text(s.verified, s.time)}));
  }

  Console& console_;
  bool header_shown_ = false;
  const TableLayout layout_{{{"device", 7},
                             {"kernel", 16},
                             {"type", 4},
                             {"size N", 6, true},
                             {"speed", 12, true},
                             {"of library", 10, true},
                             {"of peak", 7, true},
                             {"FLOP/B", 6, true},
                             {"median", 8, true},
                             {"spread", 8, true},
                             {"n", 5, true},
                             {"", 0}}};
};

}  // namespace

std::unique_ptr<Printer> make_matmul_table(Console& console) {
  return std::make_unique<MatmulTable>(console);
}

}  // namespace lab::app
