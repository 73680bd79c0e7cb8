#pragma once
// Shows the events of one job on the console: as JSON lines, or as a table for people.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/headless/console.h"
#include "compute/core/events/command.h"
#include "compute/core/events/event.h"

namespace lab::app {

class Printer {
 public:
  virtual ~Printer() = default;
  // Throws what Console::line throws.
  virtual void show(const Payload& payload) = 0;
};

std::unique_ptr<Printer> make_json_printer(Console& console);

// The table that suits the command.
std::unique_ptr<Printer> make_table_printer(Console& console, const JobCommand& command);

// Progress, log lines and skips, which all tables show alike; true when `payload` was one of them.
bool show_common(Console& console, const Payload& payload);

std::unique_ptr<Printer> make_matmul_table(Console& console);
std::unique_ptr<Printer> make_transfer_table(Console& console);
std::unique_ptr<Printer> make_training_table(Console& console);
std::unique_ptr<Printer> make_scaling_table(Console& console);

// "12.3 ms  +-1.2 %" belongs together: median, and half the distance from p10 to p90 over it.
std::string spread_text(const Timing& time);
// What to know before believing a row: "NOT VERIFIED", "unstable"; mostly empty.
std::string remark_text(bool verified, const Timing& time);

// The measured points of a scaling job: each is reported again when it is known better.
class ScalingResults {
 public:
  // Replaces what was known of the same mode and number of devices.
  void add(const ScalingPoint& point) { points_[{point.mode, point.devices}] = point; }

  // Strong before weak, fewer devices first; they are forgotten here.
  std::vector<ScalingPoint> take();

 private:
  std::map<std::pair<ScalingMode, int>, ScalingPoint> points_;
};

}  // namespace lab::app
