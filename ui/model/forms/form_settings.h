#pragma once
// Form values remembered between starts, as text under a key. Save writes values to the settings;
// Load accepts those that are valid and leaves the others unchanged.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "compute/core/fields/field.h"

namespace lab::ui {

using SavedSettings = std::map<std::string, std::string>;

class Save {
 public:
  explicit Save(SavedSettings& out) : out_(out) {}

  void text(const std::string& key, const std::string& value) { out_[key] = value; }
  void flag(const std::string& key, bool value) { out_[key] = value ? "1" : "0"; }
  void choice(const std::string& key, int value, int) { out_[key] = std::to_string(value); }
  void count(const std::string& key, std::int64_t value, std::int64_t) {
    out_[key] = std::to_string(value);
  }
  void real(const std::string& key, double value, double) { out_[key] = fmt::format("{}", value); }
  void names(const std::string& key, const std::set<std::string>& values);

  // A choice is saved as its position.
  template <typename Value>
  void field(const std::string& key, const RequestField& field, const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      flag(key, value);
    } else if constexpr (std::is_enum_v<Value>) {
      out_[key] = std::to_string(static_cast<int>(value));
    } else if constexpr (std::is_arithmetic_v<Value>) {
      out_[key] = fmt::format("{}", value);
    } else {
      const std::string& name = value;
      out_[key] = field.choices.empty() ? name : std::to_string(position_of(field.choices, name));
    }
  }
  template <typename Value>
  void field(const std::string& key, const RequestField& declared,
             const std::optional<Value>& value) {
    if (value) field(key, declared, *value);
  }

  // Saves every field that has a control, under "<page>.<key>".
  template <typename Request>
  void fields(const std::string& page, const Request& request) {
    for_each_field<Request>([&](const RequestField& declared, auto member) {
      using Value = std::remove_cvref_t<decltype(request.*member)>;
      if constexpr (has_control<Value>) {
        if (*declared.label != '\0') field(page + '.' + declared.key, declared, request.*member);
      }
    });
  }

 private:
  SavedSettings& out_;
};

class Load {
 public:
  explicit Load(const SavedSettings& saved) : saved_(saved) {}

  bool text(const std::string& key, std::string& value) const;
  bool flag(const std::string& key, bool& value) const;
  bool choice(const std::string& key, int& value, int choices) const;
  void count(const std::string& key, std::int64_t& value, std::int64_t least) const;
  void real(const std::string& key, double& value, double least) const;
  void names(const std::string& key, std::set<std::string>& values) const;

  // Each returns true if the saved text was accepted: a number in the field's range, or the
  // position of a choice.
  bool field(const std::string& key, const RequestField& field, bool& value) const;
  bool field(const std::string& key, const RequestField& field, int& value) const;
  bool field(const std::string& key, const RequestField& field, std::int64_t& value) const;
  bool field(const std::string& key, const RequestField& field, std::uint64_t& value) const;
  bool field(const std::string& key, const RequestField& field, double& value) const;
  bool field(const std::string& key, const RequestField& field, std::string& value) const;
  template <NamedEnum E>
  bool field(const std::string& key, const RequestField& field, E& value) const {
    int position = 0;
    if (!choice(key, position, static_cast<int>(choices_of<E>(field).size()))) return false;
    value = static_cast<E>(position);
    return true;
  }
  template <typename Value>
  bool field(const std::string& key, const RequestField& declared,
             std::optional<Value>& value) const {
    Value read{};
    if (!field(key, declared, read)) return false;
    value = std::move(read);
    return true;
  }

  template <typename Request>
  void fields(const std::string& page, Request& request) const {
    for_each_field<Request>([&](const RequestField& declared, auto member) {
      using Value = std::remove_cvref_t<decltype(request.*member)>;
      if constexpr (has_control<Value>) {
        if (*declared.label != '\0') field(page + '.' + declared.key, declared, request.*member);
      }
    });
  }

 private:
  const std::string* find(const std::string& key) const;

  const SavedSettings& saved_;
};

}  // namespace lab::ui
