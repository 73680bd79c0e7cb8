#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/stats.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/lesson.h"

namespace lab::lessons {
namespace {

std::vector<Device> choose_devices(Machine& machine, const StartLesson& request,
                                   const LessonInfo& info) {
  if (!request.devices.empty() && !info.chooses_devices) {
    throw Error(Errc::Usage,
                trf("lesson {}: it takes the devices that it needs; omit --devices", info.name));
  }
  for (const Device device : request.devices) {
    machine.at(device);
    require_timed("lesson", {device});
  }
  std::vector<Device> devices = request.devices;
  if (devices.empty()) {
    devices = machine.devices();
    std::erase_if(devices, [](Device d) { return !is_timed(d); });
    std::stable_partition(devices.begin(), devices.end(),
                          [](Device d) { return d.kind == DeviceKind::Cuda; });
    // A copy or a comparison between a GPU and the CPU shows more than one between two GPUs.
    const auto first_cpu = std::find(devices.begin(), devices.end(), cpu());
    const bool alike = info.alike_devices && first_cpu - devices.begin() >= info.devices;
    if (first_cpu != devices.begin() && first_cpu != devices.end() && info.devices == 2 && !alike) {
      std::rotate(devices.begin(), first_cpu, first_cpu + 1);
    }
  }
  if (std::ssize(devices) >= info.devices) return devices;
  throw Error(Errc::Unsupported,
              trf("lesson {}: needs {} devices, found {}; split the CPU with --cpu-devices {}",
                  info.name, info.devices, devices.size(), info.devices));
}

double choose_setting(const StartLesson& request, const LessonInfo& info) {
  if (!info.vary) {
    if (request.vary) {
      throw Error(Errc::Usage, trf("lesson {}: it has no setting to vary", info.name));
    }
    return 0;
  }
  const double value = request.vary.value_or(info.vary->value);
  if (value < info.vary->low || value > info.vary->high) {
    throw Error(Errc::Usage, trf("lesson {}: {} must be between {} and {}", info.name, value,
                                 info.vary->low, info.vary->high));
  }
  const std::vector<double> nearest = nearest_settings(*info.vary, value);
  if (nearest.size() == 1) return value;
  throw Error(Errc::Usage, trf("lesson {}: {} is not a step of the setting; the nearest are {} "
                               "and {}",
                               info.name, value, nearest[0], nearest[1]));
}

}  // namespace

LessonStage::LessonStage(RunContext& ctx, const StartLesson& request, const LessonInfo& info)
    : ctx_(ctx),
      info_(info),
      devices_(choose_devices(ctx.machine(), request, info)),
      vary_(choose_setting(request, info)),
      save_file_(request.save_file) {
  if (!save_file_.empty() && !info.saves) {
    throw Error(Errc::Usage, trf("lesson {}: it writes no state file; omit --save", info.name));
  }
  if (info.vary) done_.vary = vary_;
  if (!request.guess) return;
  const LessonAnswer guess = parse_answer(info.question, *request.guess);
  emit(LessonGuess{question_text(info, vary_), answer_text(info.question, guess), guess});
}

std::array<DeviceContext*, 2> LessonStage::two_cpus() {
  if (machine().num_cpus() < 2) {
    throw Error(
        Errc::Unsupported,
        trf("lesson {}: needs two CPU devices; split the CPU with --cpu-devices 2", info_.name));
  }
  return {&machine().at(cpu(0)), &machine().at(cpu(1))};
}

bool LessonStage::note_shared_cores(std::span<const Device> devices) {
  const int load = core_load(machine(), devices);
  if (load == 1) return false;
  std::size_t separate = devices.size();
  while (core_load(machine(), devices.first(separate)) > 1) --separate;
  observe(tr("devices share cores"),
          trf("from {} devices on: up to {} on one core take turns and give no further speed-up",
              separate + 1, load));
  return true;
}

void LessonStage::emit(LessonResult result) {
  ctx_.emit(LessonEvent{info_.name, std::move(result)});
}

void LessonStage::step(std::size_t i) {
  ctx_.checkpoint();
  emit(LessonStepBegun{i});
  ctx_.progress(static_cast<double>(i) / static_cast<double>(info_.steps.size()),
                tr(info_.steps.at(i).title));
}

void LessonStage::observe(const std::string& series, const std::string& text) {
  LessonSample sample;
  sample.series = series;
  sample.text = text;
  emit(std::move(sample));
}

void LessonStage::count(const std::string& series, double value, const std::string& unit) {
  LessonSample sample;
  sample.series = series;
  sample.value = value;
  sample.unit = unit;
  emit(std::move(sample));
}

void LessonStage::check(std::string what, bool passed, std::string detail) {
  done_.checks.push_back({std::move(what), passed, std::move(detail)});
}

bool LessonStage::too_busy(const std::string& what, double expected_s, double measured_s,
                           double disturbed) {
  if (measured_s <= disturbed * expected_s) return false;
  done_.why_open =
      trf("The machine was too busy to conclude from the figures ({}: {} instead of {}). Measure "
          "again when other programs are idle.",
          what, quantity_text(measured_s, "s"), quantity_text(expected_s, "s"));
  return true;
}

void LessonStage::warn(const std::string& sentence) {
  done_.warnings.push_back(sentence);
  ctx_.emit(LogLine{Severity::Warning, fmt::format("{}: {}", tr(info_.title), sentence)});
}

LessonGap closed(LessonGap gap, double small) {
  const double whole = gap.measured - gap.predicted;
  double rest = whole;
  for (const GapPart& part : gap.parts) rest -= part.value;
  const double largest = std::max(std::abs(gap.measured), std::abs(gap.predicted));
  const double rounding = 1e-9 * largest;
  gap.parts.push_back({tr("unexplained"), std::abs(rest) > rounding ? rest : 0});
  double raised = 0, lowered = 0;
  for (const GapPart& part : gap.parts) (part.value > 0 ? raised : lowered) += part.value;
  if (std::min(raised, -lowered) <= std::abs(whole) + rounding) return gap;
  if (std::abs(whole) > small * largest) gap.note = tr("The causes could not be separated.");
  gap.parts = {{tr("unexplained"), whole}};
  return gap;
}

bool is_disturbed(const Timing& time) {
  constexpr double kMost = 1.5;  // as LessonStage::too_busy()
  return is_unsteady(time) || has_few_repetitions(time) || time.median_s > kMost * time.min_s;
}

std::string time_text(const Timing& time) {
  std::string text = format_seconds(time.median_s);
  if (!is_unsteady(time)) return text;
  return fmt::format("{} ({})", text, half_range(time.p10_s, time.p90_s, time.median_s, time.n));
}

LessonGap unsteady(LessonGap gap) {
  gap.unsteady = true;
  gap.parts = {{tr("unexplained"), gap.measured - gap.predicted}};
  if (!gap.as_predicted()) {
    gap.note = tr("Too unsteady to name a cause. Measure again when other programs are idle.");
  }
  return gap;
}

void LessonStage::gap(LessonGap gap, double small) {
  const bool unsettled = gap.unsteady || !done_.why_open.empty();
  emit(unsettled ? unsteady(std::move(gap)) : closed(std::move(gap), small));
}

void LessonStage::gap(LessonGap gap, std::initializer_list<Timing> times) {
  if (std::ranges::any_of(times, is_disturbed)) return emit(unsteady(std::move(gap)));
  this->gap(std::move(gap));
}

Timing LessonStage::time(FunctionRef<void()> body, double budget_s) {
  const std::function<void()> once = [&] { body(); };
  return time_together({&once, 1}, budget_s).front();
}

std::vector<Timing> LessonStage::time_together(std::span<const std::function<void()>> bodies,
                                               double budget_s) {
  std::deque<Measurement> measurements;
  for (const std::function<void()>& body : bodies) {
    measurements.emplace_back(
        FunctionRef<void()>(body),
        MeasureOptions{.budget_s = budget_s, .min_time_s = 0.02, .cancelled = [this] {
                         return ctx_.stop_token().stop_requested();
                       }});
    measurements.back().warm_up();
  }
  for (bool open = true; open;) {
    open = false;
    for (Measurement& one : measurements) {
      if (one.done()) continue;
      ctx_.checkpoint();
      if (bodies.size() > 1) one.rewarm();
      one.repeat();
      open = true;
    }
  }
  std::vector<Timing> timings;
  timings.reserve(measurements.size());
  for (const Measurement& one : measurements) timings.push_back(one.timing());
  return timings;
}

void LessonStage::finish() {
  emit(done_);
  std::string broken;
  for (const LessonCheck& check : done_.checks) {
    if (check.passed) continue;
    broken += fmt::format("{}{}{}", broken.empty() ? "" : "; ", check.what,
                          check.detail.empty() ? "" : " (" + check.detail + ")");
  }
  if (broken.empty()) return;
  throw Error(Errc::Internal, trf("lesson {}: does not hold: {}", info_.name, broken));
}

}  // namespace lab::lessons
