#pragma once
// Shows the events of one job on the console, as JSON lines or as a table.
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

// Returns the table for the command.
std::unique_ptr<Printer> make_table_printer(Console& console, const JobCommand& command);

// Shows progress, log lines, skips and what others took from the cores, which are the same for all
// tables; returns true if `payload` was one of them.
bool show_common(Console& console, const Payload& payload);

std::unique_ptr<Printer> make_tensor_text(Console& console);
std::unique_ptr<Printer> make_matmul_table(Console& console);
std::unique_ptr<Printer> make_transfer_table(Console& console);
std::unique_ptr<Printer> make_training_table(Console& console);
std::unique_ptr<Printer> make_lesson_text(Console& console, const std::string& lesson);
std::unique_ptr<Printer> make_scaling_table(Console& console);

// "+-1.2 %": half the distance from p10 to p90, relative to the median.
std::string spread_text(const Timing& time);
// Reasons to distrust a row: "NOT VERIFIED", "unsteady"; usually empty.
std::string remark_text(bool verified, const Timing& time);

// The measured points of a scaling job; a point is reported again when its measurement improves.
class ScalingResults {
 public:
  // Replaces the point of the same mode and number of devices.
  void add(const ScalingPoint& point) { points_[{point.mode, point.devices}] = point; }

  // Returns the points, strong before weak and fewer devices first, and clears them.
  std::vector<ScalingPoint> take();

 private:
  std::map<std::pair<ScalingMode, int>, ScalingPoint> points_;
};

}  // namespace lab::app
