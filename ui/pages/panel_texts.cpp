// Quantities, times and measurements in words, as all pages write them.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/panel.h"

namespace lab::ui {

bool is_guessing(double accuracy, std::size_t classes) {
  constexpr double kClearly = 2;
  return accuracy * static_cast<double>(classes) < kClearly;
}

std::string about(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour, kYear = 365 * kDay;
  constexpr double kManySeconds = 90;
  if (seconds < 1) return tr("less than 1 s");
  if (seconds < kManySeconds) return trf("about {:.0f} s", seconds);
  if (seconds < 2 * kHour) return trf("about {:.0f} min", seconds / kMinute);
  if (seconds < 2 * kDay) return trf("about {:.1f} h", seconds / kHour);
  if (seconds < kYear) return trf("about {:.0f} days", seconds / kDay);
  return tr("more than a year");
}

void add_percentiles(std::string& text, const Timing& t) {
  add_row(text, tr("median"), format_seconds(t.median_s));
  if (t.n == 1) return;  // one repetition has no spread
  add_row(text, tr("p10 to p90"),
          trf("{} to {}", format_seconds(t.p10_s), format_seconds(t.p90_s)));
}

namespace {

std::string timing_rows(const Timing& t) {
  std::string text;
  add_percentiles(text, t);
  add_row(text, tr("repetitions"), trf("{} after {} warm-up", t.n, t.warmup));
  return text;
}

void add_unsteady(std::string& text, const Timing& t) {
  if (!t.unstable) return;
  text += std::string("\n") +
          (has_few_repetitions(t)
               ? tr("Too few repetitions fit the time limit to know how much the times vary.")
               : tr("Unsteady: the time limit was reached before the spread fell below 2 %."));
}

}  // namespace

std::string timing_text(const Timing& t) {
  std::string text = timing_rows(t);
  add_unsteady(text, t);
  return text;
}

std::string span_text(std::string_view what, double begin_s, double end_s) {
  std::string text(what);
  add_row(text, tr("start"), format_seconds(begin_s));
  add_row(text, tr("end"), format_seconds(end_s));
  add_row(text, tr("duration"), format_seconds(end_s - begin_s));
  return text;
}

namespace {

// "cuda:0 cannot be used", whose first word is a name that keeps its case.
bool begins_with_device(std::string_view message) {
  const std::size_t colon = message.find(':');
  return colon < message.find(' ') && colon + 1 < message.size() && message[colon + 1] >= '0' &&
         message[colon + 1] <= '9';
}

}  // namespace

std::string field_problem(std::string message, std::string_view accepts) {
  if (message.empty()) return message;
  if (begins_with_device(message)) message = trf("Device {}", message);
  if (message.front() >= 'a' && message.front() <= 'z') message.front() -= 'a' - 'A';
  return accepts.empty() ? message + "." : trf("{}. {}", message, accepts);
}

std::string time_of_day(std::time_t when) {
  std::tm local{};
  if (::localtime_r(&when, &local) == nullptr) return "";
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

std::string times_text(double times) {
  return fmt::format("{:.{}f}", times, times < 9.995 ? 2 : times < 99.95 ? 1 : 0);
}

std::string date_of(std::time_t when) {
  std::tm local{};
  if (::localtime_r(&when, &local) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

std::string when_measured(std::time_t when) {
  return trf("Measured {}, {}", date_of(when), time_of_day(when).substr(0, 5));
}

std::string conditions_text(const Conditions& c) {
  std::string text;
  if (c.clock_mhz) {
    const std::string clock = format_si(*c.clock_mhz * 1e6, "Hz");
    add_row(text, c.clock_nominal ? tr("nominal clock") : tr("clock"), clock);
  }
  if (c.unix_time_s > 0) {
    const std::string time = time_of_day(static_cast<std::time_t>(c.unix_time_s));
    if (!time.empty()) add_row(text, tr("taken at"), time);
  }
  return text;
}

namespace {

// How a speed was measured, and whether the result is right.
void add_provenance(std::string& text, const Timing& time, const char* verified, CacheState cache,
                    const Conditions& conditions) {
  text += "\n" + timing_rows(time);
  add_row(text, tr("result"), verified);
  add_row(text, tr("caches"), cache == CacheState::Warm ? tr("warm") : tr("cold"));
  const std::string c = conditions_text(conditions);
  if (!c.empty()) text += "\n" + c;
  add_unsteady(text, time);
}

}  // namespace

std::string measured_text(const MatmulSample& s, CacheState cache) {
  std::string text;
  add_row(text, tr("size"), fmt::format("{} x {} x {} {}", s.m, s.n, s.k, to_string(s.dtype)));
  add_row(text, tr("speed"), format_gflops(s.gflops));
  if (s.share_of_peak) add_row(text, tr("share of peak"), percent(*s.share_of_peak));
  if (s.share_of_library) {
    add_row(text, tr("share of the library"), percent(*s.share_of_library));
  }
  add_provenance(text, s.time, s.verified ? tr("verified against float64") : tr("not verified"),
                 cache, s.conditions);
  return text;
}

std::string describe(const MatmulSample& s, CacheState cache) {
  return trf("{} on {}", s.kernel, lab::to_string(s.device)) + "\n" + measured_text(s, cache);
}

std::string describe(const TransferSample& s, CacheState cache) {
  std::string text = trf("{} of {}, {}", to_string(s.op), format_bytes(s.bytes),
                         moved_by(s.mover, s.peer, s.threads));
  if (is_gpu(s.from) || is_gpu(s.to)) text += ", " + trf("{} memory", to_string(s.memory));
  add_row(text, tr("speed"), format_gb_per_s(s.gb_per_s));
  // Only transfers by threads empty the caches; a GPU's repeat within its L2.
  const CacheState state = s.mover == TransferMover::Threads ? cache : CacheState::Warm;
  add_provenance(text, s.time,
                 s.verified ? tr("verified after the measurement") : tr("not verified"), state,
                 s.conditions);
  return text;
}

std::vector<std::string> device_names(const MachineInfo& machine) {
  std::vector<std::string> names;
  for (const DeviceInfo& info : machine.devices) names.push_back(lab::to_string(info.device));
  return names;
}

}  // namespace lab::ui
