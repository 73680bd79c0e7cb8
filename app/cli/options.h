#pragma once
// Shared by the subcommands' parsers: options whose every fault names the option.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/cli/invocation.h"

namespace lab::app {

// An option with one value, handed to `take`; an Error of `take` gets the option's name in front.
// An empty value is wrong usage: it would read as if the option had been left out. Given twice, the
// last one counts.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& what,
                       const std::string& help, std::function<void(const std::string&)> take);

void add_cpu_devices(CLI::App& app, int& cpu_devices);
void add_json(CLI::App& app, bool& json);

// Each adds its options to `app`; `out` must live until the parse is over.
void add_window_options(CLI::App& app, WindowOptions& out);
void add_devices_options(CLI::App& app, DevicesOptions& out);
void add_data_commands(CLI::App& app, DataOptions& out);
void add_transfer_options(CLI::App& app, JobOptions& out, StartTransfers& request);
void add_matmul_options(CLI::App& app, JobOptions& out, StartMatmul& request);

// Read by finish_training once all options are known.
struct TrainText {
  bool data_asked = false;
  std::string shares = "equal";
  bool all_devices = false;  // are meant when none are named, however many there will be
};
void add_train_options(CLI::App& app, JobOptions& out, StartTraining& request, TrainText& text);

// Read by finish_scaling once all options are known.
struct ScalingText {
  TrainText training;
  bool cpu_devices_asked = false;
  bool accuracy_steps_asked = false;
  bool predict_only = false;
};
void add_scaling_options(CLI::App& app, JobOptions& out, StartScaling& request, ScalingText& text);

// Checks that need more than one option; throw Error(Usage).
void check_devices(const std::vector<Device>& devices, int cpu_devices);
void check_kernels(const StartMatmul& request);
void finish_training(StartTraining& request, const TrainText& text);
void finish_scaling(JobOptions& out, StartScaling& request, const ScalingText& text);

}  // namespace lab::app
