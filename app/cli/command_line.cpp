#include "app/cli/command_line.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/field_options.h"
#include "app/cli/options.h"
#include "app/cli/suggest.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/lesson_experiment.h"

namespace lab::app {
namespace {

// All targets of the parse, in one object that outlives the callbacks.
struct Targets {
  WindowOptions window;
  std::optional<Language> command_language;
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

// Every command that prints texts takes --language.
void add_language_to_commands(CLI::App& app, std::optional<Language>& out) {
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    if (sub->get_subcommands([](CLI::App*) { return true; }).empty()) {
      add_language(*sub, tr("Language of texts; default: the locale's"), out);
    }
    add_language_to_commands(*sub, out);
  }
}

void declare(CLI::App& app, Targets& t) {
  app.require_subcommand(0, 1);
  app.footer(
      tr("Without a command the window opens. 'device-lab COMMAND --help' lists its options.\n\n"
         "Environment:\n"
         "  LAB_SIMD=scalar|sse4|avx2|avx512|neon\n"
         "      Highest SIMD level of the lab's own kernels; default: the best of the processor.\n"
         "      oneDNN and OpenBLAS have their own caps: ONEDNN_MAX_CPU_ISA and "
         "OPENBLAS_CORETYPE."));
  add_window_options(app, t.window);
  add_devices_options(*app.add_subcommand("devices", tr("List the devices and their load")),
                      t.devices);
  add_tensor_options(*app.add_subcommand("tensor", tr("Create, copy and add tensors")), t.tensor,
                     t.tensor_request);
  add_transfer_options(*app.add_subcommand("transfer", tr("Measure memory transfers")), t.transfer,
                       t.transfer_request);
  add_matmul_options(*app.add_subcommand("matmul", tr("Measure matrix multiplication kernels")),
                     t.matmul, t.matmul_request);
  add_train_options(*app.add_subcommand("train", tr("Train a network")), t.train, t.train_request,
                    t.train_text);
  add_scaling_options(
      *app.add_subcommand("scaling", tr("Train on 1, 2, ... devices; predict more")), t.scaling,
      t.scaling_request, t.scaling_text);
  add_lesson_options(*app.add_subcommand("lesson", tr("The chapters' lessons and exercises")),
                     t.lessons, t.lesson_text);
  CLI::App* data = app.add_subcommand("data", tr("Download or verify Fashion-MNIST"));
  data->require_subcommand(0, 1);
  add_data_commands(*data, t.data);
  add_tour_options(*app.add_subcommand("tour", tr("What this machine can do, with explanations")),
                   t.tour);
  app.add_subcommand("version", tr("Print the version and the build options"));
  add_language(app, tr("Language of texts; default: the locale's (remembered)"), t.window.language);
  add_language_to_commands(app, t.command_language);
}

// Translates the words that CLI11 itself prints; commands inherit them.
void translate_help(CLI::App& app) {
  app.option_defaults()->group(tr("Options"));
  app.group(tr("Subcommands"));
  app.set_help_flag("-h,--help", tr("Print this help message and exit"));
  app.get_formatter()->label("Usage", tr("Usage"));
  app.get_formatter()->label("Positionals", tr("Positionals"));
  app.get_formatter()->label("Excludes", tr("Excludes"));
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
    throw Error(Errc::Usage,
                near ? trf("unknown option {} for {}; did you mean {}?", name, where, *near)
                     : trf("unknown option {} for {}; '{} --help' lists them", name, where, where));
  }
  const std::vector<std::string> commands = command_names(app);
  if (commands.empty()) {
    throw Error(Errc::Usage,
                trf("{}: unexpected argument '{}'; see '{} --help'", where, word, where));
  }
  throw Error(Errc::Usage, trf("unknown command '{}'", word) + way_out(word, commands));
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
    throw Error(Errc::Usage, trf("{} before '{}' is a window option; omit it or put it after '{}'",
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
      throw Error(Errc::Usage, tr("device-lab data: missing action; add 'fetch' or 'verify'"));
    }
    t.data.action = path[2]->get_name() == "fetch" ? DataAction::Fetch : DataAction::Verify;
    return t.data;
  }
  if (command == "tour") return t.tour;
  return VersionOptions{};
}

}  // namespace

Invocation parse_command_line(std::span<const char* const> args) {
  CLI::App app(tr("Device Lab: measures devices, memory transfers and matrix multiplication, and "
                  "trains networks"),
               "device-lab");
  translate_help(app);
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
    throw Error(Errc::Usage, trf("{} needs a value", text.substr(0, text.find(':'))));
  } catch (const CLI::ParseError& e) {
    throw Error(Errc::Usage, trf("{}; see device-lab --help", e.what()));
  }
  refuse_extras(app);
  refuse_window_options_with_command(app);
  return choose_invocation(app, targets);
}

Language asked_language(std::span<const char* const> args) {
  if (asks_for_json(args)) return Language::English;
  constexpr std::string_view kOption = "--language";
  std::string_view asked;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == kOption && i + 1 < args.size()) asked = args[i + 1];
    if (word.starts_with("--language=")) asked = word.substr(kOption.size() + 1);
  }
  const auto i = position_of(enum_names<Language>(), asked);
  return i < enum_names<Language>().size() ? static_cast<Language>(i) : locale_language();
}

bool asks_for_json(std::span<const char* const> args) {
  return std::any_of(args.begin(), args.end(),
                     [](const char* word) { return std::string_view(word) == "--json"; });
}

}  // namespace lab::app
