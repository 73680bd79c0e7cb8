// `device-lab tour`: the whole lab in about a minute, with explanations.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "app/headless/table.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/gpu/cuda/open_gpus.h"

namespace lab::app {
namespace {

class Tour {
 public:
  Tour(Console& console, Interrupt& interrupt, int cpu_devices)
      : console_(console), lab_({.cpu_devices = cpu_devices, .open_gpus = open_gpus}, interrupt) {}

  void run() {
    devices();
    transfers();
    matmul();
    training();
    goodbye();
  }

 private:
  void heading(std::string_view text) {
    console_.line("");
    console_.line(text);
    console_.line(std::string(static_cast<std::size_t>(display_width(text)), '='));
  }

  void job(const JobCommand& command) {
    const auto printer = make_table_printer(console_, command);
    lab_.run(command, *printer);
  }

  void devices() {
    heading(tr("1 of 4: devices"));
    for (const DeviceInfo& d : lab_.machine().info().devices) {
      const std::string device = to_string(d.device), memory = format_bytes(d.memory_total_bytes);
      console_.line(d.simd.empty() ? trf("{} is {}: {} cores, {} of memory.", device, d.name,
                                         d.cores.size(), memory)
                                   : trf("{} is {}: {} cores with {}, {} of memory.", device,
                                         d.name, d.cores.size(), d.simd, memory));
    }
    for (const AbsentDevice& a : lab_.machine().info().absent) {
      console_.line(trf("No {}: {}.", a.what, tr(a.reason)));
    }
    console_.line(tr("A device stores tensors and runs the operations on them."));
  }

  void transfers() {
    heading(tr("2 of 4: memory transfers"));
    console_.line(
        tr("Small blocks stay in the caches and move fast; large ones come from memory."));
    StartTransfers request;
    request.from = {cpu()};
    request.to = {cpu()};
    request.ops = {TransferOp::Copy};
    request.sizes_bytes = {16 * kKiB, 256 * kKiB, 4 * kMiB, 64 * kMiB};
    request.budget_s = 0.5;
    job(request);
  }

  void matmul() {
    heading(tr("3 of 4: matrix multiplication"));
    console_.line(tr("All kernels compute the same matrix product; each adds one optimisation:"));
    for (const RungInfo& rung : matmul_rungs(lab_.machine().at(cpu()))) {
      console_.line(fmt::format("  {:<12}{}", rung.name, tr(rung.title)));
    }
    StartMatmul request;
    request.devices = {cpu()};
    request.sizes = {512};
    request.budget_s = 1;
    job(request);
  }

  void training() {
    heading(tr("4 of 4: training"));
    console_.line(
        tr("A small network learns to classify ten kinds of drawn garments (synthetic images)."));
    console_.line(tr("The loss falls and the accuracy on unseen images rises."));
    StartTraining request;
    request.model = "mlp";
    request.synthetic_train = 60000;
    request.synthetic_test = 10000;
    request.epochs = 10;
    job(request);
  }

  void goodbye() {
    heading(tr("Next steps"));
    const auto advice = [this](const char* command, const char* what) {
      console_.line(fmt::format("{:<54}{}", command, what));
    };
    advice("device-lab", tr("the window: the same, with live curves"));
    advice("device-lab matmul --sizes 64..2048", tr("the ladder over sizes"));
    advice("device-lab data fetch", tr("the real Fashion-MNIST set"));
    advice("device-lab train --data fashion-mnist --model lenet", tr("train on it"));
    advice("device-lab --help", tr("everything else"));
  }

  Console& console_;
  HeadlessLab lab_;
};

}  // namespace

int run_tour(const TourOptions& options, Console& console, Interrupt& interrupt) {
  Tour(console, interrupt, options.cpu_devices).run();
  return kExitDone;
}

}  // namespace lab::app
