#include "app/cli/field_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

std::vector<std::string> names_of(std::span<const ValueName> choices) {
  std::vector<std::string> names;
  for (const ValueName& choice : choices) names.emplace_back(choice.name);
  return names;
}

// Clamps the infinite limits of a field without a range.
std::int64_t whole(double end) {
  constexpr double kMax = 9e18;
  return static_cast<std::int64_t>(std::clamp(end, -kMax, kMax));
}

}  // namespace

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& what,
                       const std::string& help, std::function<void(const std::string&)> take) {
  const auto named = [name, what, take = std::move(take)](const std::string& text) {
    try {
      if (text.empty()) {
        throw Error(Errc::Usage, trf("the value is empty; give {} or leave out the option", what));
      }
      take(text);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{}: {}", name, e.what()));
    }
  };
  return app.add_option_function<std::string>(name, named, help)
      ->type_name(what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, tr("One JSON object per line on standard output"));
}

void add_cpu_devices(CLI::App& app, const std::function<void(int)>& take) {
  add_value(
      app, "--cpu-devices", "N", tr("Split the cores into N devices cpu:0 ... cpu:N-1"),
      [take](const std::string& text) { take(static_cast<int>(whole_number(text, 1, 4096))); });
}

void add_cpu_devices(CLI::App& app, int& cpu_devices) {
  add_cpu_devices(app, [&cpu_devices](int n) { cpu_devices = n; });
}

void add_emulated_gpus(CLI::App& app, int& emulated_gpus) {
  add_value(app, "--emulated-gpus", "N",
            tr("Emulate N GPUs on the CPU, emu:0 ... emu:N-1: correct results; never timed"),
            [&emulated_gpus](const std::string& text) {
              emulated_gpus = static_cast<int>(whole_number(text, 1, kMaxEmulatedGpus));
            });
}

std::size_t read_choice(std::span<const ValueName> choices, const std::string& text) {
  return choice_index(text, names_of(choices));
}

void read_text(const RequestField& field, const std::string& text, int& value) {
  std::int64_t wide = 0;
  read_text(field, text, wide);
  value = static_cast<int>(wide);
}

void read_text(const RequestField& field, const std::string& text, std::int64_t& value) {
  if (field.scale != 1) {
    value = std::llround(real_number(text, field.range) * field.scale);
  } else {
    value = whole_number(text, whole(field.range.least), whole(field.range.most));
  }
}

void read_text(const RequestField&, const std::string& text, std::uint64_t& value) {
  value = seed_number(text);
}

void read_text(const RequestField& field, const std::string& text, double& value) {
  value = real_number(text, field.range) * field.scale;
}

void read_text(const RequestField& field, const std::string& text, std::string& value) {
  if (!field.choices.empty()) read_choice(field.choices, text);
  value = text;
}

void read_text(const RequestField&, const std::string& text, Device& value) {
  value = parse_device(text);
}

void read_text(const RequestField&, const std::string& text, std::vector<Device>& values) {
  values = parse_devices(text);
}

void read_text(const RequestField&, const std::string& text, std::vector<std::int64_t>& values) {
  values = parse_counts(text);
}

std::string placeholder_of(const RequestField& field, std::span<const ValueName> choices) {
  if (*field.placeholder != '\0') return field.placeholder;
  return fmt::format("{}", fmt::join(names_of(choices), "|"));
}

std::string help_of(const RequestField& field, std::span<const ValueName> choices) {
  std::string help = tr(field.help);
  std::vector<std::string> names = names_of(choices);
  if (std::string_view(field.help).ends_with(':'))
    return fmt::format("{} {}", help, fmt::join(names, ", "));
  if (!help.empty() || names.empty()) return help;
  const std::string last = names.back();
  names.pop_back();
  return trf("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace lab::app
