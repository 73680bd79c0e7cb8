#pragma once
// What the command line asked for, checked as far as the text alone allows.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "compute/core/events/command.h"

namespace lab::app {

struct WindowOptions {
  std::optional<int> cpu_devices;    // empty: as remembered
  std::optional<float> scale;        // empty: as remembered
  std::optional<std::string> theme;  // "dark", "light"; empty: as remembered
  std::optional<std::string> page;   // "devices", "memory", ...; empty: as remembered
  std::filesystem::path reference;  // results to draw beside the present ones; empty: as remembered
  std::optional<int> width, height;  // both or none
  std::filesystem::path screenshot;  // written after `frames` frames, then the program ends
  std::filesystem::path describe;    // likewise
  std::filesystem::path script;      // played from the start, then the program ends
  int frames = 8;
  bool wake_gpus = false;    // those that sleep are used too
  bool frame_stats = false;  // one JSON line about start and frames on standard error at the end
};

struct DevicesOptions {
  int cpu_devices = 1;
  bool json = false;
  std::optional<double> watch_s;
};

// As many CPU devices as there are cores, two at least, and as many as the command names.
inline constexpr int kOneDeviceACore = 0;

// transfer, matmul, train and scaling.
struct JobOptions {
  int cpu_devices = 1;
  bool json = false;
  JobCommand command;
};

enum class DataAction { Fetch, Verify };
struct DataOptions {
  DataAction action = DataAction::Verify;
  std::filesystem::path dir;  // empty: the default place
  std::string url;            // empty: the default one
};

struct TourOptions {
  int cpu_devices = 1;
};

struct VersionOptions {};

// --help: print this and end well.
struct HelpOptions {
  std::string text;
};

using Invocation = std::variant<WindowOptions, DevicesOptions, JobOptions, DataOptions, TourOptions,
                                VersionOptions, HelpOptions>;

}  // namespace lab::app
