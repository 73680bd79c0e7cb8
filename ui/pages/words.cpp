// Texts that pages share: numbers with units and where a result comes from.
#include <fmt/format.h>

#include <ctime>

#include "compute/core/units.h"
#include "ui/pages/panel.h"

namespace lab::ui {

std::string percent(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

std::string percent(const Maybe<double>& share) {
  return share ? percent(*share) : "N/A";
}

std::string gflops_text(double gflops) {
  return format_si(gflops * 1e9, "FLOP/s");
}

std::string gb_per_s_text(double gb_per_s) {
  return format_si(gb_per_s * 1e9, "B/s");
}

std::string timing_text(const Timing& t) {
  std::string text = fmt::format("median {}, p10 {}, p90 {}\n{} repetitions after {} warm-up",
                                 format_seconds(t.median_s), format_seconds(t.p10_s),
                                 format_seconds(t.p90_s), t.n, t.warmup);
  if (t.unstable) text += "\nunstable: the time ended before the spread fell under 2 %";
  return text;
}

std::string conditions_text(const Conditions& c) {
  std::string text;
  if (c.clock_mhz) text += fmt::format("clock {}", format_si(*c.clock_mhz * 1e6, "Hz"));
  if (c.unix_time_s > 0) {
    const auto when = static_cast<std::time_t>(c.unix_time_s);
    std::tm local{};
    if (::localtime_r(&when, &local) != nullptr) {
      text += fmt::format("{}taken at {:02}:{:02}:{:02}", text.empty() ? "" : ", ", local.tm_hour,
                          local.tm_min, local.tm_sec);
    }
  }
  return text;
}

std::string describe(const MatmulSample& s, CacheState cache) {
  std::string text =
      fmt::format("{} on {}, {} x {} x {} {}\n{}\n{}", s.kernel, lab::to_string(s.device), s.m, s.n,
                  s.k, to_string(s.dtype), gflops_text(s.gflops), timing_text(s.time));
  if (s.share_of_peak) text += fmt::format("\n{} of peak", percent(*s.share_of_peak));
  if (s.share_of_library) text += fmt::format("\n{} of the library", percent(*s.share_of_library));
  text += s.verified ? "\nverified against float64" : "\nnot verified";
  text += fmt::format("\n{} cache", to_string(cache));
  if (const std::string c = conditions_text(s.conditions); !c.empty()) text += "\n" + c;
  return text;
}

std::string describe(const TransferSample& s, CacheState cache) {
  std::string text =
      fmt::format("{} of {}, {}, {} memory\n{}\n{}", to_string(s.op), format_bytes(s.bytes),
                  moved_by(s.mover, s.peer, s.threads), to_string(s.memory),
                  gb_per_s_text(s.gb_per_s), timing_text(s.time));
  text += s.verified ? "\nverified after the measurement" : "\nnot verified";
  text += fmt::format("\n{} cache", to_string(cache));
  if (const std::string c = conditions_text(s.conditions); !c.empty()) text += "\n" + c;
  return text;
}

std::vector<std::string> device_names(const MachineInfo& machine) {
  std::vector<std::string> names;
  for (const DeviceInfo& info : machine.devices) names.push_back(lab::to_string(info.device));
  return names;
}

}  // namespace lab::ui
