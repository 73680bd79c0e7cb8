#include "compute/core/fields/field_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab {

FieldJson json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

FieldJson json_of(const std::string& text) {
  FieldJson value = text;
  try {
    static_cast<void>(value.dump());
    return value;
  } catch (const FieldJson::type_error&) {
    return std::vector<std::uint8_t>(text.begin(), text.end());
  }
}

FieldJson json_of(Device device) {
  return to_string(device);
}

bool read_json(const FieldJson& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
  return json.is_boolean();
}

bool read_json(const FieldJson& json, int& value) {
  std::int64_t wide = 0;
  if (!read_json(json, wide) || wide != static_cast<int>(wide)) return false;
  value = static_cast<int>(wide);
  return true;
}

bool read_json(const FieldJson& json, std::uint64_t& value) {
  if (json.is_number_unsigned()) value = json.get<std::uint64_t>();
  return json.is_number_unsigned();
}

bool read_json(const FieldJson& json, std::int64_t& value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kMax) return false;
  value = json.get<std::int64_t>();
  return true;
}

bool read_json(const FieldJson& json, double& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "inf" || json == "-inf") {
    value = json == "inf" ? kInfinity : -kInfinity;
  } else {
    return false;
  }
  return true;
}

bool read_json(const FieldJson& json, std::string& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
    return true;
  }
  if (!json.is_array()) return false;
  value.clear();
  for (const FieldJson& item : json) {
    std::uint64_t byte = 0;
    if (!read_json(item, byte) || byte > 0xff) return false;
    value += static_cast<char>(byte);
  }
  return true;
}

bool read_json(const FieldJson& json, Device& value) {
  if (!json.is_string()) return false;
  try {
    value = parse_device(json.get<std::string>());
    return true;
  } catch (const Error&) {
    return false;
  }
}

void throw_invalid_field(const char* key, std::string_view request, const FieldJson& value) {
  const std::string text = value.dump(-1, ' ', false, FieldJson::error_handler_t::replace);
  throw Error(Errc::Corrupt,
              trf("the {} of {} is {}, which is not a valid value", key, request, printable(text)));
}

std::string setting_text(const RequestField& field, const FieldJson& value) {
  if (value.is_null()) return trf("no {}", field.option);
  if (value.is_boolean()) {
    const bool negative = std::string_view(field.option).starts_with("--no-");
    return value.get<bool>() == negative ? trf("no {}", field.option) : field.option;
  }
  if (value.is_string()) {
    return fmt::format("{} {}", field.option, printable(value.get<std::string>()));
  }
  if (value.is_number_float() || field.scale != 1) {
    return fmt::format("{} {}", field.option, value.get<double>() / field.scale);
  }
  return fmt::format("{} {}", field.option, value.dump());
}

}  // namespace lab
