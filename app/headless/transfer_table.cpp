
#include <vector>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

class TransferTable final : public Printer {
 public:
  explicit TransferTable(Console& console) : console_(console) {}

  void show(const Payload& payload) override {
    if (show_common(console_, payload)) return;
    if (const auto* sample = std::get_if<TransferSample>(&payload)) {
      show_sample(*sample);
    } else if (const auto* fit = std::get_if<TransferFit>(&payload)) {
      fits_.push_back(*fit);
    } else if (const auto* timeline = std::get_if<TransferTimeline>(&payload)) {
      timelines_.push_back(*timeline);
    } else if (const auto* payoff = std::get_if<TransferPayoff>(&payload)) {
      payoffs_.push_back(*payoff);
    } else if (std::holds_alternative<JobFinished>(payload)) {
      show_fits();
      for (const TransferTimeline& one : timelines_) show_timeline(one);
      show_payoffs();
    }
  }

 private:
  void show_sample(const TransferSample& s) {
    if (!header_shown_) console_.line(samples_.header());
    header_shown_ = true;
    console_.line(samples_.row({to_string(s.from), to_string(s.to), to_string(s.memory),
                                to_string(s.op), moved_by(s.mover, s.peer, s.threads),
                                format_bytes(s.bytes), format_gb_per_s(s.gb_per_s),
                                format_seconds(s.time.median_s), spread_text(s.time),
                                std::to_string(s.time.n), remark_text(s.verified, s.time)}));
  }

  void show_fits() {
    if (fits_.empty()) return;
    console_.line("");
    console_.line(
        trf("Time = latency + size / bandwidth in each level of memory; lines that miss the "
            "samples by more than {:.0f} % are withheld:",
            kMaxTransferResidual * 100));
    console_.line(fit_layout_.header());
    for (const TransferFit& f : fits_) {
      for (const TransferLevel& level : f.levels) {
        if (level.sizes > 0) show_level(f, level);
      }
    }
    for (const TransferFit& f : fits_) {
      if (f.faster_than_one) console_.line(describe_faster(f));
    }
  }

  void show_level(const TransferFit& f, const TransferLevel& level) {
    const bool holds = level.holds();
    console_.line(fit_layout_.row(
        {to_string(f.from), to_string(f.to), to_string(f.memory), to_string(f.op),
         moved_by(f.mover, f.peer, f.threads), tr(level.name),
         level.to_bytes > 0 ? format_bytes(level.to_bytes) : "",
         holds ? format_seconds(level.latency_s) : "-",
         holds ? format_gb_per_s(level.gb_per_s) : "-",
         level.gb_per_s > 0 ? fmt::format("{:.1f} %", level.residual * 100) : "-"}));
  }

  void show_timeline(const TransferTimeline& timeline) {
    console_.line("");
    console_.line(trf(
        "{}: chunks of {}; three streams take {}, one stream {} (medians of {} runs):",
        to_string(timeline.device), format_bytes(timeline.bytes),
        format_seconds(timeline.overlapped_s), format_seconds(timeline.serial_s), timeline.runs));
    console_.line(span_layout_.header());
    for (const TransferSpan& span : timeline.spans) {
      console_.line(span_layout_.row(
          {tr(span.stream), span.what, format_seconds(span.begin_s), format_seconds(span.end_s)}));
    }
  }

  void show_payoffs() {
    if (!payoffs_.empty()) console_.line("");
    for (const TransferPayoff& payoff : payoffs_) console_.line(describe(payoff));
  }

  Console& console_;
  bool header_shown_ = false;
  std::vector<TransferFit> fits_;
  std::vector<TransferTimeline> timelines_;
  std::vector<TransferPayoff> payoffs_;
  const TableLayout span_layout_{{{LAB_TEXT("stream"), 8},
                                  {LAB_TEXT("what"), 10},
                                  {LAB_TEXT("begin"), 8, true},
                                  {LAB_TEXT("end"), 8, true}}};
  const TableLayout samples_{{{LAB_TEXT("from"), 6},
                              {LAB_TEXT("to"), 6},
                              {LAB_TEXT("memory"), 8},
                              {LAB_TEXT("op"), 6},
                              {LAB_TEXT("moved by"), 11},
                              {LAB_TEXT("size"), 9, true},
                              {LAB_TEXT("bandwidth"), 10, true},
                              {LAB_TEXT("median"), 8, true},
                              {LAB_TEXT("spread"), 8, true},
                              {"n", 5, true},
                              {"", 0}}};
  const TableLayout fit_layout_{{{LAB_TEXT("from"), 6},
                                 {LAB_TEXT("to"), 6},
                                 {LAB_TEXT("memory"), 8},
                                 {LAB_TEXT("op"), 6},
                                 {LAB_TEXT("moved by"), 11},
                                 {LAB_TEXT("level"), 6},
                                 {LAB_TEXT("up to"), 8, true},
                                 {LAB_TEXT("latency"), 8, true},
                                 {LAB_TEXT("bandwidth"), 10, true},
                                 {LAB_TEXT("residual"), 8, true}}};
};

}  // namespace

std::unique_ptr<Printer> make_transfer_table(Console& console) {
  return std::make_unique<TransferTable>(console);
}

}  // namespace lab::app
