#include "app/headless/printer.h"

#include <type_traits>

#include "app/headless/json_lines.h"
#include "app/headless/table.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

std::string log_text(const LogLine& line) {
  switch (line.severity) {
    case Severity::Info: return line.text;
    case Severity::Warning: return trf("warning: {}", line.text);
    case Severity::Error: return trf("error: {}", line.text);
  }
  return line.text;
}

class JsonPrinter final : public Printer {
 public:
  explicit JsonPrinter(Console& console) : console_(console) {}
  void show(const Payload& payload) override {
    summary_.add(payload);
    if (const auto* point = std::get_if<ScalingPoint>(&payload)) {
      scaling_.add(*point);
      return;
    }
    if (ends_measuring(payload)) show_points();
    if (std::holds_alternative<JobFinished>(payload)) show_profile();
    if (const auto* comparison = std::get_if<ScalingComparison>(&payload)) {
      for (const std::string& line : json_comparison(*comparison)) console_.line(line);
    }
    if (const auto text = json_line(payload, summary_.timed())) console_.line(*text);
    if (const auto* line = std::get_if<LogLine>(&payload)) console_.message(log_text(*line));
    if (const auto* end = std::get_if<JobFinished>(&payload);
        end && end->outcome == Outcome::Done) {
      console_.line(json_done(end->seconds, summary_));
    }
  }

 private:
  static bool ends_measuring(const Payload& payload) {
    return std::holds_alternative<ScalingPrediction>(payload) ||
           std::holds_alternative<JobFinished>(payload);
  }

  void show_points() {
    for (const ScalingPoint& point : scaling_.take()) {
      if (const auto text = json_line(point)) console_.line(*text);
    }
  }

  void show_profile() {
    if (!summary_.profile) return;
    for (const std::string& line : json_profile(*summary_.profile)) console_.line(line);
  }

  Console& console_;
  JobSummary summary_;
  ScalingResults scaling_;
};

// For jobs without results to print, such as creating a tensor.
class PlainPrinter final : public Printer {
 public:
  explicit PlainPrinter(Console& console) : console_(console) {}
  void show(const Payload& payload) override { show_common(console_, payload); }

 private:
  Console& console_;
};

}  // namespace

std::string spread_text(const Timing& time) {
  if (time.median_s <= 0) return "N/A";
  return "+-" + percent((time.p90_s - time.p10_s) / 2 / time.median_s);
}

std::string remark_text(bool verified, const Timing& time) {
  const bool unsteady = is_unsteady(time);  // as in the window
  if (!verified) return unsteady ? tr("NOT VERIFIED, unsteady") : tr("NOT VERIFIED");
  return unsteady ? tr("unsteady") : "";
}

bool show_common(Console& console, const Payload& payload) {
  if (const auto* progress = std::get_if<Progress>(&payload)) {
    console.progress(progress->done, progress->what, progress->left_s);
    return true;
  }
  if (const auto* line = std::get_if<LogLine>(&payload)) {
    console.message(log_text(*line));
    return true;
  }
  if (const auto* cores = std::get_if<CoresShared>(&payload)) {
    if (!cores->notable()) return true;
    console.line(
        trf("other programs or the host took {} of the cores' time", percent(cores->others)));
    return true;
  }
  if (const auto* skipped = std::get_if<Skipped>(&payload)) {
    console.line(trf("{}: skipped, {}", skipped->what, tr(skipped->reason)));
    return true;
  }
  return false;
}

std::unique_ptr<Printer> make_json_printer(Console& console) {
  return std::make_unique<JsonPrinter>(console);
}

std::unique_ptr<Printer> make_table_printer(Console& console, const JobCommand& command) {
  if (std::holds_alternative<RunTensorCode>(command)) return make_tensor_text(console);
  if (std::holds_alternative<StartMatmul>(command)) return make_matmul_table(console);
  if (std::holds_alternative<StartTransfers>(command)) return make_transfer_table(console);
  if (std::holds_alternative<StartTraining>(command)) return make_training_table(console);
  if (std::holds_alternative<StartScaling>(command)) return make_scaling_table(console);
  if (const auto* lesson = std::get_if<StartLesson>(&command)) {
    return make_lesson_text(console, lesson->lesson);
  }
  if (const auto* compare = std::get_if<CompareClass>(&command)) {
    return make_lesson_text(console, compare->lesson);
  }
  return std::make_unique<PlainPrinter>(console);
}

std::vector<ScalingPoint> ScalingResults::take() {
  std::vector<ScalingPoint> points;
  for (const auto& [key, point] : points_) points.push_back(point);
  points_.clear();
  return points;
}

}  // namespace lab::app
