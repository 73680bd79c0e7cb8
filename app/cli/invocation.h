#pragma once
// The parsed command line, validated as far as possible without files or devices.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/language.h"

namespace lab::app {

struct WindowOptions {
  std::optional<int> cpu_devices;  // empty: as saved
  int emulated_gpus = 0;
  std::optional<float> scale;        // empty: as saved
  std::optional<std::string> theme;  // "dark", "light"; empty: as saved
  std::optional<Language> language;  // empty: as saved, or the locale's
  std::optional<std::string> page;   // "devices", "memory", ...; empty: as saved
  std::filesystem::path reference;   // results to overlay; empty: as saved
  std::optional<int> width, height;  // both or neither
  std::filesystem::path screenshot;  // written after `frames` frames; the program then ends
  std::filesystem::path describe;    // written after `frames` frames; the program then ends
  std::filesystem::path script;      // played from the start; the program then ends
  int frames = 8;
  bool wake_gpus = false;    // use sleeping GPUs too
  bool frame_stats = false;  // JSON line about start and frames on standard error at the end
};

struct DevicesOptions {
  int cpu_devices = 1;
  int emulated_gpus = 0;
  bool json = false;
  std::optional<double> watch_s;
};

// One CPU device per core, at least two, and at least as many as the command names.
inline constexpr int kOneDevicePerCore = 0;

// Options of transfer, matmul, train and scaling.
struct JobOptions {
  int cpu_devices = 1;
  int emulated_gpus = 0;
  bool json = false;
  JobCommand command;
};

enum class DataAction { Fetch, Verify };
struct DataOptions {
  DataAction action = DataAction::Verify;
  std::filesystem::path dir;  // empty: the default location
  std::string url;            // empty: the default URL
};

struct TourOptions {
  int cpu_devices = 1;
  int emulated_gpus = 0;
  bool json = false;
  double seconds = StartTour{}.seconds;
};

// The command lesson. Each lesson runs on a machine with as many CPU devices as it needs.
struct LessonOptions {
  std::optional<int> cpu_devices;  // empty: as many as the lesson needs
  int emulated_gpus = 0;
  bool json = false;
  std::vector<StartLesson> lessons;  // empty: list them
  bool all = false;
  std::optional<CompareClass> compare;  // instead: results of a class
};

struct VersionOptions {};

// --help: print `text` and exit with success.
struct HelpOptions {
  std::string text;
};

using Invocation = std::variant<WindowOptions, DevicesOptions, JobOptions, DataOptions, TourOptions,
                                LessonOptions, VersionOptions, HelpOptions>;

}  // namespace lab::app
