// `device-lab tour`: what this machine can do, with explanations. The figures are those of the
// window's first page.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "app/headless/table.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/gpu/cuda/open_gpus.h"

namespace lab::app {
namespace {

void print_heading(Console& console, std::string_view text) {
  console.line("");
  console.line(text);
  console.line(std::string(static_cast<std::size_t>(display_width(text)), '='));
}

// Prints each figure once it is complete, under the heading of its subject.
class TourText final : public Printer {
 public:
  TourText(Console& console, Machine& machine) : console_(console), machine_(machine) {}

  void show(const Payload& payload) override {
    if (std::holds_alternative<JobStarted>(payload)) begin_products();
    if (const auto* figure = std::get_if<TourFigure>(&payload)) {
      if (figure->complete) add(*figure);
      return;
    }
    // The experiments of the tour report and skip what a single figure does not need.
    const auto* line = std::get_if<LogLine>(&payload);
    const bool aside = std::holds_alternative<Skipped>(payload) ||
                       (line != nullptr && line->severity == Severity::Info);
    if (!aside) show_common(console_, payload);
  }

 private:
  void begin_products() {
    print_heading(console_, tr("2 of 4: matrix multiplication"));
    console_.line(tr("All kernels compute the same matrix product; each adds one optimisation:"));
    for (const RungInfo& rung : matmul_rungs(machine_.at(cpu()))) {
      console_.line(fmt::format("  {:<12}{}", rung.name, tr(rung.title)));
    }
  }

  void begin_memory() {
    if (memory_begun_) return;
    memory_begun_ = true;
    print_heading(console_, tr("3 of 4: memory and transfers"));
    console_.line(
        tr("Small blocks stay in the caches and move fast; large ones come from memory."));
    for (const TourFigure& figure : bandwidths_) print(figure);
  }

  void begin_training() {
    if (training_begun_) return;
    training_begun_ = true;
    print_heading(console_, tr("4 of 4: training"));
    console_.line(
        tr("A small network learns to classify ten kinds of drawn garments (synthetic images)."));
  }

  void add(const TourFigure& figure) {
    switch (figure.question) {
      case TourQuestion::Peak: return print(figure);
      case TourQuestion::Bandwidth: bandwidths_.push_back(figure); return;
      case TourQuestion::SmallCopy: begin_memory(); return print(figure);
      case TourQuestion::Training: break;
    }
    begin_training();
    print(figure);
  }

  void print(const TourFigure& figure) {
    std::string text = fmt::format("{}  {}  {}", padded(to_string(figure.device), 7),
                                   padded(tr(label_of(figure.question)), 18), value_text(figure));
    const std::string spread = spread_text(figure);
    if (!spread.empty()) text += fmt::format("  ({}; {})", spread, percentiles_text(figure));
    console_.line(text);
    console_.line(fmt::format("         {}", sentence_of(figure)));
  }

  Console& console_;
  Machine& machine_;
  std::vector<TourFigure> bandwidths_;
  bool memory_begun_ = false, training_begun_ = false;
};

// Without the results of the experiments that the tour runs.
class TourJson final : public Printer {
 public:
  explicit TourJson(Console& console) : json_(make_json_printer(console)) {}

  void show(const Payload& payload) override {
    const auto* skipped = std::get_if<Skipped>(&payload);
    const bool own =
        (skipped && skipped->reason == tr(kNeverTimed)) ||
        std::holds_alternative<TourFigure>(payload) || std::holds_alternative<Progress>(payload) ||
        std::holds_alternative<LogLine>(payload) || std::holds_alternative<CoresShared>(payload) ||
        std::holds_alternative<JobFinished>(payload);
    if (own) json_->show(payload);
  }

 private:
  const std::unique_ptr<Printer> json_;
};

void print_devices(Console& console, const MachineInfo& machine) {
  print_heading(console, tr("1 of 4: devices"));
  for (const DeviceInfo& d : machine.devices) {
    const std::string device = to_string(d.device), memory = format_bytes(d.memory_total_bytes);
    console.line(d.simd.empty() ? trf("{} is {}: {} cores, {} of memory.", device, d.name,
                                      d.cores.size(), memory)
                                : trf("{} is {}: {} cores with {}, {} of memory.", device, d.name,
                                      d.cores.size(), d.simd, memory));
    if (!is_timed(d.device)) console.line(fmt::format("  {}", tr(kEmulatedGpu)));
  }
  for (const AbsentDevice& a : machine.absent) {
    console.line(trf("No {}: {}.", a.what, tr(a.reason)));
  }
  console.line(tr("A device stores tensors and runs the operations on them."));
}

void print_next_steps(Console& console) {
  print_heading(console, tr("Next steps"));
  const auto advice = [&](const char* command, const char* what) {
    console.line(fmt::format("{:<54}{}", command, what));
  };
  advice("device-lab", tr("the window: the same, with live curves"));
  advice("device-lab matmul --sizes 64..2048", tr("the ladder over sizes"));
  advice("device-lab data fetch", tr("the real Fashion-MNIST set"));
  advice("device-lab train --data fashion-mnist --model lenet", tr("train on it"));
  advice("device-lab --help", tr("everything else"));
}

}  // namespace

int run_tour(const TourOptions& options, Console& console, Interrupt& interrupt) {
  HeadlessLab lab({.cpu_devices = options.cpu_devices,
                   .emulated_gpus = options.emulated_gpus,
                   .check_emulation = false,
                   .open_gpus = open_gpus},
                  interrupt);
  StartTour request;
  request.seconds = options.seconds;
  if (options.json) {
    TourJson printer(console);
    lab.run(request, printer);
    return kExitDone;
  }
  print_devices(console, lab.machine().info());
  TourText printer(console, lab.machine());
  lab.run(request, printer);
  print_next_steps(console);
  return kExitDone;
}

}  // namespace lab::app
