#pragma once
// The options of the window and of each subcommand. Every error names the option.
#include <CLI/CLI.hpp>
#include <string>

#include "app/cli/invocation.h"

namespace lab::app {

// Each adds its options to `app`; `out` must outlive the parse.
void add_window_options(CLI::App& app, WindowOptions& out);
// --language of the window or of a command; asked_language() has applied a command's before the
// parse.
void add_language(CLI::App& app, const char* help, std::optional<Language>& out);
void add_devices_options(CLI::App& app, DevicesOptions& out);
void add_data_commands(CLI::App& app, DataOptions& out);
void add_tour_options(CLI::App& app, TourOptions& out);
void add_transfer_options(CLI::App& app, JobOptions& out, StartTransfers& request);
void add_matmul_options(CLI::App& app, JobOptions& out, StartMatmul& request);
void add_tensor_options(CLI::App& app, JobOptions& out, RunTensorCode& request);

// Input of finish_training, which runs once all options are parsed.
struct TrainText {
  bool data_asked = false;
  std::string shares = "equal";
  bool all_devices = false;  // use all devices if none are named
};
void add_train_options(CLI::App& app, JobOptions& out, StartTraining& request, TrainText& text);

// Input of finish_scaling, which runs once all options are parsed.
struct ScalingText {
  TrainText training;
  bool cpu_devices_asked = false;
  bool accuracy_steps_asked = false;
  bool predict_only = false;
};
void add_scaling_options(CLI::App& app, JobOptions& out, StartScaling& request, ScalingText& text);

// Input of finish_lessons, which runs once all options are parsed.
struct LessonText {
  std::string name;
  StartLesson request;
  std::vector<std::string> class_files;
};
void add_lesson_options(CLI::App& app, LessonOptions& out, LessonText& text);

// Checks that involve several options; each throws Error(Usage).
void check_devices(const std::vector<Device>& devices, int cpu_devices);
void check_kernels(const StartMatmul& request);
void check_statements(const RunTensorCode& request, int cpu_devices);
void finish_training(StartTraining& request, const TrainText& text);
// `names`: those of all lessons.
void finish_lessons(LessonOptions& out, const LessonText& text,
                    const std::vector<std::string>& names);
void finish_scaling(JobOptions& out, StartScaling& request, const ScalingText& text);

}  // namespace lab::app
