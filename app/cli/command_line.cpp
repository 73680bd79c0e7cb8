#include "app/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/field_options.h"
#include "app/cli/options.h"
#include "app/cli/suggest.h"
#include "compute/core/error.h"
#include "compute/experiments/lessons/lesson_experiment.h"

namespace lab::app {
namespace {

// All targets of the parse, in one object that outlives the callbacks.
struct Targets {
  WindowOptions window;
  DevicesOptions devices;
  JobOptions tensor, transfer, matmul, train, scaling;
  RunTensorCode tensor_request;
  StartTransfers transfer_request;
  StartMatmul matmul_request;
  StartTraining train_request;
  TrainText train_text;
  StartScaling scaling_request;
  ScalingText scaling_text;
  DataOptions data;
  TourOptions tour;
  LessonOptions lessons;
  LessonText lesson_text;
};

void declare(CLI::App& app, Targets& t) {
  app.require_subcommand(0, 1);
  app.footer(
      "Without a command the window opens. 'device-lab COMMAND --help' lists its options.\n\n"
      "Environment:\n"
      "  LAB_SIMD=scalar|sse4|avx2|avx512\n"
      "      Highest SIMD level of the lab's own kernels; default: the best of the processor.\n"
      "      oneDNN and OpenBLAS have their own caps: ONEDNN_MAX_CPU_ISA and OPENBLAS_CORETYPE.");
  add_window_options(app, t.window);
  add_devices_options(*app.add_subcommand("devices", "List the devices and their load"), t.devices);
  add_tensor_options(*app.add_subcommand("tensor", "Create, copy and add tensors"), t.tensor,
                     t.tensor_request);
  add_transfer_options(*app.add_subcommand("transfer", "Measure memory transfers"), t.transfer,
                       t.transfer_request);
  add_matmul_options(*app.add_subcommand("matmul", "Measure matrix multiplication kernels"),
                     t.matmul, t.matmul_request);
  add_train_options(*app.add_subcommand("train", "Train a network"), t.train, t.train_request,
                    t.train_text);
  add_scaling_options(*app.add_subcommand("scaling", "Train on 1, 2, ... devices; predict more"),
                      t.scaling, t.scaling_request, t.scaling_text);
  add_lesson_options(*app.add_subcommand("lesson", "The chapters' lessons and exercises"),
                     t.lessons, t.lesson_text);
  CLI::App* data = app.add_subcommand("data", "Download or verify Fashion-MNIST");
  data->require_subcommand(0, 1);
  add_data_commands(*data, t.data);
  add_cpu_devices(*app.add_subcommand("tour", "A short tour of everything in the terminal"),
                  t.tour.cpu_devices);
  app.add_subcommand("version", "Print the version and the build options");
}

void allow_extras_everywhere(CLI::App& app) {
  app.allow_extras();
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    allow_extras_everywhere(*sub);
  }
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// Returns `app` followed by the chosen subcommands, outermost first.
std::vector<const CLI::App*> chosen_path(const CLI::App& app) {
  std::vector<const CLI::App*> path{&app};
  while (!path.back()->get_subcommands().empty()) {
    path.push_back(path.back()->get_subcommands().front());
  }
  return path;
}

[[noreturn]] void refuse_word(const CLI::App& app, const std::string& where,
                              const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (word.size() > 1 && word[0] == '-') {
    const auto near = nearest(name, option_names(app));
    throw Error(Errc::Usage, fmt::format("unknown option {} for {}; {}", name, where,
                                         near ? fmt::format("did you mean {}?", *near)
                                              : fmt::format("'{} --help' lists them", where)));
  }
  const std::vector<std::string> commands = command_names(app);
  if (commands.empty()) {
    throw Error(Errc::Usage,
                fmt::format("{}: unexpected argument '{}'; see '{} --help'", where, word, where));
  }
  throw Error(Errc::Usage, fmt::format("unknown command '{}'{}", word, way_out(word, commands)));
}

void refuse_extras(const CLI::App& app) {
  std::string where;
  for (const CLI::App* level : chosen_path(app)) {
    where += (where.empty() ? "" : " ") + level->get_name();
    const std::vector<std::string> left = level->remaining(false);
    if (!left.empty()) refuse_word(*level, where, left.front());
  }
}

// Window options before a command would otherwise be ignored silently.
void refuse_window_options_with_command(const CLI::App& app) {
  const auto path = chosen_path(app);
  if (path.size() < 2) return;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    throw Error(Errc::Usage,
                fmt::format("{} before '{}' is a window option; omit it or "
                            "put it after '{}'",
                            option->get_name(), path[1]->get_name(), path[1]->get_name()));
  }
}

Invocation choose_invocation(const CLI::App& app, Targets& t) {
  const auto path = chosen_path(app);
  if (path.size() < 2) return t.window;
  const std::string& command = path[1]->get_name();
  if (command == "devices") return t.devices;
  if (command == "tensor") {
    check_statements(t.tensor_request, t.tensor.cpu_devices);
    t.tensor.command = t.tensor_request;
    return t.tensor;
  }
  if (command == "transfer") {
    check_devices(t.transfer_request.from, t.transfer.cpu_devices);
    check_devices(t.transfer_request.to, t.transfer.cpu_devices);
    t.transfer.command = t.transfer_request;
    return t.transfer;
  }
  if (command == "matmul") {
    check_devices(t.matmul_request.devices, t.matmul.cpu_devices);
    check_kernels(t.matmul_request);
    t.matmul.command = t.matmul_request;
    return t.matmul;
  }
  if (command == "train") {
    check_devices(t.train_request.devices, t.train.cpu_devices);
    finish_training(t.train_request, t.train_text);
    t.train.command = t.train_request;
    return t.train;
  }
  if (command == "scaling") {
    finish_scaling(t.scaling, t.scaling_request, t.scaling_text);
    t.scaling.command = t.scaling_request;
    return t.scaling;
  }
  if (command == "lesson") {
    std::vector<std::string> names;
    for (const LessonInfo& lesson : lesson_list()) names.push_back(lesson.name);
    finish_lessons(t.lessons, t.lesson_text, names);
    return t.lessons;
  }
  if (command == "data") {
    if (path.size() < 3) {
      throw Error(Errc::Usage, "device-lab data: missing action; add 'fetch' or 'verify'");
    }
    t.data.action = path[2]->get_name() == "fetch" ? DataAction::Fetch : DataAction::Verify;
    return t.data;
  }
  if (command == "tour") return t.tour;
  return VersionOptions{};
}

}  // namespace

Invocation parse_command_line(std::span<const char* const> args) {
  CLI::App app(
      "Device Lab: measures devices, memory transfers and matrix multiplication, and "
      "trains networks",
      "device-lab");
  Targets targets;
  declare(app, targets);
  allow_extras_everywhere(app);
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return HelpOptions{app.help()};
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what();
    throw Error(Errc::Usage, fmt::format("{} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& e) {
    throw Error(Errc::Usage, fmt::format("{}; see device-lab --help", e.what()));
  }
  refuse_extras(app);
  refuse_window_options_with_command(app);
  return choose_invocation(app, targets);
}

bool asks_for_json(std::span<const char* const> args) {
  return std::any_of(args.begin(), args.end(),
                     [](const char* word) { return std::string_view(word) == "--json"; });
}

}  // namespace lab::app
