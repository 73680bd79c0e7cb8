#include "ui/model/job_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::ui {
namespace {

// A value as the command line takes it.
std::string text_of_value(const FieldJson& value, double scale) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && (value.is_number_float() || scale != 1)) {
    return fmt::format("{}", value.get<double>() / scale);
  }
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const FieldJson& part : value) parts.push_back(text_of_value(part, scale));
  return fmt::format("{}", fmt::join(parts, ","));
}

// A value as it is stored, in its unit: "6.00 ms", "4.00 MiB", "128 images".
std::string text_with_unit(const RequestField& field, const FieldJson& value) {
  const std::string_view unit = field.unit;
  if (unit == "s" && value.is_number()) return format_seconds(value.get<double>());
  if (unit == "bytes" && value.is_number()) return format_bytes(value.get<std::int64_t>());
  const std::string text = text_of_value(value, 1);
  return text.empty() || unit.empty() ? text : fmt::format("{} {}", text, tr(field.unit));
}

// A word that a shell reads as it is, or in quotes.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct Setting {
  RequestField field;
  FieldJson value;
};

// The fields of a request that differ from their defaults.
template <typename Request>
std::vector<Setting> changed_settings(const Request& request) {
  std::vector<Setting> changed;
  const Request usual;
  for_each_field<Request>([&](const RequestField& field, auto member) {
    FieldJson value = json_of(request.*member);
    if (value != json_of(usual.*member)) changed.push_back({field, std::move(value)});
  });
  return changed;
}

using Words = std::vector<std::string>;

// Options that take another text than the value's. Returns whether `setting` is one of them.
bool add_special(Words& words, const Setting& setting) {
  const std::string_view key = setting.field.key;
  if (key == "share_policy" && setting.value == "auto") {
    words.insert(words.end(), {"--shares", "auto"});
  } else if (key == "compare_kernels" && setting.value == true) {
    words.insert(words.end(), {"--kernels", "both"});
  } else if ((key == "memory" || key == "modes") && setting.value.size() > 1) {
    words.insert(words.end(), {setting.field.option, "both"});
  } else if (key == "one_thread" || key == "all_threads") {
    words.insert(words.end(), {"--threads", key == "one_thread" ? "all" : "one"});
  } else {
    return false;
  }
  return true;
}

void add_option(Words& words, const Setting& setting) {
  const RequestField& field = setting.field;
  if (add_special(words, setting)) return;
  if (!field.own_option || *field.option == '\0' || setting.value.is_null()) return;
  words.emplace_back(field.option);
  if (!setting.value.is_boolean()) words.push_back(text_of_value(setting.value, field.scale));
}

template <typename Request>
void add_options(Words& words, const Request& request) {
  for (const Setting& setting : changed_settings(request)) add_option(words, setting);
}

std::int64_t count_of(const MachineInfo& machine, DeviceKind kind) {
  return std::ranges::count_if(machine.devices,
                               [kind](const DeviceInfo& info) { return info.device.kind == kind; });
}

struct CommandWords {
  const MachineInfo& machine;

  // `splits`: without a count, the command splits the CPU by itself.
  Words started(const char* command, bool splits = false) const {
    Words words = {"device-lab", command};
    const auto cpus = count_of(machine, DeviceKind::Cpu);
    const auto emulated = count_of(machine, DeviceKind::Emulated);
    if (cpus > 1 || splits) words.insert(words.end(), {"--cpu-devices", std::to_string(cpus)});
    if (emulated > 0) words.insert(words.end(), {"--emulated-gpus", std::to_string(emulated)});
    return words;
  }

  Words operator()(const StartTransfers& c) const {
    if (c.live) return {};
    Words words = started("transfer");
    add_options(words, c);
    return words;
  }
  Words operator()(const StartMatmul& c) const {
    if (c.live) return {};
    Words words = started("matmul");
    add_options(words, c);
    return words;
  }
  Words operator()(const StartTraining& c) const {
    if (c.probe) return {};
    Words words = started("train");
    add_options(words, c);
    return words;
  }
  Words operator()(const StartScaling& c) const {
    // The other options of a training have no effect on its speed-up.
    constexpr std::array<std::string_view, 12> kTraining = {
        "model", "data", "data_dir", "synthetic_train", "synthetic_test", "order",
        "batch", "lr",   "seed",     "kernels",         "devices",        "shares"};
    Words words = started("scaling", /*splits=*/true);
    for (const Setting& setting : changed_settings(c.training)) {
      if (std::ranges::find(kTraining, setting.field.key) != kTraining.end()) {
        add_option(words, setting);
      }
    }
    add_options(words, c);
    if (!c.measure) words.emplace_back("--predict-only");
    return words;
  }
  Words operator()(const RunTensorCode& c) const {
    Words words = started("tensor");
    for (const TensorStatement& statement : c.statements) words.push_back(statement.text);
    return words;
  }
  Words operator()(const StartLesson& c) const {
    Words words = started("lesson", /*splits=*/true);
    words.push_back(c.lesson);
    if (c.guess) words.insert(words.end(), {"--guess", *c.guess});
    if (!c.devices.empty()) {
      words.insert(words.end(), {"--devices", text_of_value(json_of(c.devices), 1)});
    }
    if (c.vary) words.insert(words.end(), {"--vary", fmt::format("{}", *c.vary)});
    return words;
  }
  Words operator()(const StartTour&) const { return started("tour"); }
  template <typename Other>
  Words operator()(const Other&) const {
    return {};
  }
};

// Appends "Sizes 256,512" per changed setting that a form shows.
template <typename Request>
void add_texts(std::vector<std::string>& parts, const Request& request) {
  for (const Setting& setting : changed_settings(request)) {
    const RequestField& field = setting.field;
    const std::string name = *field.label != '\0'  ? std::string(tr(field.label))
                             : *field.name != '\0' ? std::string(tr(field.name))
                                                   : std::string(field.key);
    const bool of_window = *field.label == '\0' && *field.option == '\0';
    if (setting.value.is_null() || of_window) continue;
    if (setting.value.is_boolean()) {
      parts.push_back(setting.value.get<bool>() ? name : trf("no {}", name));
      continue;
    }
    const std::string value = text_with_unit(field, setting.value);
    if (!value.empty()) parts.push_back(fmt::format("{} {}", name, value));
  }
}

struct SettingTexts {
  template <typename Request>
  std::vector<std::string> operator()(const Request& request) const {
    std::vector<std::string> parts;
    if constexpr (std::is_same_v<Request, StartScaling>) add_texts(parts, request.training);
    if constexpr (std::is_same_v<Request, StartScaling> || std::is_same_v<Request, StartTraining> ||
                  std::is_same_v<Request, StartMatmul> || std::is_same_v<Request, StartTransfers>) {
      add_texts(parts, request);
    }
    return parts;
  }
};

}  // namespace

std::string settings_text(const JobCommand& command) {
  return fmt::format("{}", fmt::join(std::visit(SettingTexts{}, command), "; "));
}

bool can_be_repeated(const JobCommand& command) {
  return !std::holds_alternative<CopyTensor>(command) &&
         !std::holds_alternative<AddTensors>(command) &&
         !std::holds_alternative<FreeTensor>(command);
}

std::string command_line_of(const JobCommand& command, const MachineInfo& machine) {
  Words words = std::visit(CommandWords{machine}, command);
  for (std::string& word : words) word = shell_word(word);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace lab::ui
