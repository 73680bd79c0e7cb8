#pragma once
// Creates the options that commands share, and options from the declarations of a request's fields.
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/cli/option_text.h"
#include "app/cli/options.h"
#include "compute/core/fields/field.h"
#include "compute/core/language.h"

namespace lab::app {

// Adds an option with one value, which is passed to `take`; an Error thrown by `take` is prefixed
// with the option's name. An empty value is a usage error, because it would look as if the option
// were absent. If the option is given twice, the last value counts.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& what,
                       const std::string& help, std::function<void(const std::string&)> take);

void add_json(CLI::App& app, bool& json);
void add_cpu_devices(CLI::App& app, const std::function<void(int)>& take);
void add_cpu_devices(CLI::App& app, int& cpu_devices);
void add_emulated_gpus(CLI::App& app, int& emulated_gpus);

// Each parses the text of an option as the field declares it; throws Error(Usage).
void read_text(const RequestField& field, const std::string& text, int& value);
void read_text(const RequestField& field, const std::string& text, std::int64_t& value);
void read_text(const RequestField& field, const std::string& text, std::uint64_t& value);
void read_text(const RequestField& field, const std::string& text, double& value);
void read_text(const RequestField& field, const std::string& text, std::string& value);
void read_text(const RequestField& field, const std::string& text, Device& value);

// Returns the position of the text among the choices; throws Error(Usage).
std::size_t read_choice(std::span<const ValueName> choices, const std::string& text);

template <NamedEnum E>
void read_text(const RequestField& field, const std::string& text, E& value) {
  value = static_cast<E>(read_choice(choices_of<E>(field), text));
}

template <typename T>
void read_text(const RequestField& field, const std::string& text, std::optional<T>& value) {
  read_text(field, text, value.emplace());
}

void read_text(const RequestField& field, const std::string& text, std::vector<Device>& values);
// "64..4096" or "64,100".
void read_text(const RequestField& field, const std::string& text,
               std::vector<std::int64_t>& values);

template <typename T>
void read_text(const RequestField& field, const std::string& text, std::vector<T>& values) {
  values.clear();
  for (const std::string& part : comma_list(text)) read_text(field, part, values.emplace_back());
}

std::string placeholder_of(const RequestField& field, std::span<const ValueName> choices);
std::string help_of(const RequestField& field, std::span<const ValueName> choices);

// Readers that override the declared parsing, by field key.
using Readers = std::map<std::string_view, std::function<void(const std::string&)>>;

// Returns the readers for StartTraining; `request` and `text` must outlive the parse.
Readers training_readers(StartTraining& request, TrainText& text);

// Adds options to `app` that write to `request`, which must outlive the parse.
template <typename Request>
class FieldOptions {
 public:
  FieldOptions(CLI::App& app, Request& request, Readers readers = {})
      : app_(app), request_(request), readers_(std::move(readers)) {}

  template <typename Value>
  CLI::Option* add(Value Request::*member) {
    return add(field_of(member), member);
  }

  // The strings of `field` need not outlive the call.
  template <typename Value>
  CLI::Option* add(const RequestField& field, Value Request::*member) {
    if constexpr (std::is_same_v<Value, bool>) {
      const bool given = !std::string_view(field.option).starts_with("--no-");
      const auto set = [&request = request_, member, given] { request.*member = given; };
      return app_.add_flag_callback(field.option, set, tr(field.help));
    } else {
      const auto choices = choices_of<Value>(field);
      const auto reader = readers_.find(field.key);
      std::function<void(const std::string&)> take = [&request = request_, field,
                                                      member](const std::string& text) {
        read_text(field, text, request.*member);
      };
      if (reader != readers_.end()) take = reader->second;
      return add_value(app_, field.option, placeholder_of(field, choices), help_of(field, choices),
                       std::move(take));
    }
  }

  // Adds every option of the request, in declaration order.
  void add_all() {
    for_each_field<Request>([&](const RequestField& field, auto member) {
      if (field.own_option && *field.option != '\0') add(field, member);
    });
  }

 private:
  CLI::App& app_;
  Request& request_;
  const Readers readers_;
};

}  // namespace lab::app
