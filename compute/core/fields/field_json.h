#pragma once
// Converts requests to and from JSON, using the declarations of their fields.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/fields/field.h"

namespace lab {

using FieldJson = nlohmann::ordered_json;

// ---- Writing

// Non-finite numbers become "nan", "inf" and "-inf". Text that is not valid UTF-8, such as a path,
// becomes an array of its bytes.
FieldJson json_of(double value);
FieldJson json_of(const std::string& text);
FieldJson json_of(Device device);
inline FieldJson json_of(bool value) {
  return value;
}
inline FieldJson json_of(int value) {
  return value;
}
inline FieldJson json_of(std::int64_t value) {
  return value;
}
inline FieldJson json_of(std::uint64_t value) {
  return value;
}
template <NamedEnum E>
FieldJson json_of(E value) {
  return to_string(value);
}
template <typename T>
FieldJson json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : FieldJson(nullptr);
}
template <typename T>
FieldJson json_of(const std::vector<T>& values) {
  FieldJson list = FieldJson::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

// ---- Reading: returns false if the JSON value has another type

bool read_json(const FieldJson& json, bool& value);
bool read_json(const FieldJson& json, int& value);
bool read_json(const FieldJson& json, std::int64_t& value);
bool read_json(const FieldJson& json, std::uint64_t& value);
bool read_json(const FieldJson& json, double& value);
bool read_json(const FieldJson& json, std::string& value);
bool read_json(const FieldJson& json, Device& value);
template <NamedEnum E>
bool read_json(const FieldJson& json, E& value) {
  for (const E candidate : enum_values<E>()) {
    if (json != to_string(candidate)) continue;
    value = candidate;
    return true;
  }
  return false;
}
template <typename T>
bool read_json(const FieldJson& json, std::optional<T>& value) {
  value.reset();
  return json.is_null() || read_json(json, value.emplace());
}
template <typename T>
bool read_json(const FieldJson& json, std::vector<T>& values) {
  if (!json.is_array()) return false;
  values.clear();
  for (const FieldJson& item : json) {
    if (!read_json(item, values.emplace_back())) return false;
  }
  return true;
}

// ---- Requests

// Throws Error(Corrupt) "the batch of a training request is "x", which is not a valid value".
[[noreturn]] void throw_invalid_field(const char* key, std::string_view request,
                                      const FieldJson& value);

template <typename Request>
FieldJson request_to_json(const Request& request) {
  FieldJson json;
  for_each_field<Request>(
      [&](const RequestField& field, auto member) { json[field.key] = json_of(request.*member); });
  return json;
}

// Missing fields keep their defaults; unknown fields are ignored. Throws as throw_invalid_field()
// does; `what` names the request in the message.
template <typename Request>
Request request_from_json(const FieldJson& json, std::string_view what) {
  Request request;
  for_each_field<Request>([&](const RequestField& field, auto member) {
    const auto found = json.find(field.key);
    if (found == json.end() || read_json(*found, request.*member)) return;
    throw_invalid_field(field.key, what, *found);
  });
  return request;
}

// Returns "--batch 256", or "no --steps" for a null value or an unset flag.
std::string setting_text(const RequestField& field, const FieldJson& value);

}  // namespace lab
