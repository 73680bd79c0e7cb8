#include "compute/train/request_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/core/error.h"
#include "compute/core/printable.h"
#include "compute/train/json_object.h"

namespace lab {
namespace {

using Json = nlohmann::ordered_json;

enum class Decides {
  Numbers,  // what every step computes
  Course,   // how far it goes and in which pieces: ranks must agree, a resumed run need not
  Place,    // where it runs, what it reads and writes
};

// Every field of a request: its name in JSON, its option, what it decides. The only list there is.
template <typename Visit>
void for_each_field(const Visit& visit) {
  using R = StartTraining;
  visit("model", "--model", Decides::Numbers, &R::model);
  visit("data", "--data", Decides::Numbers, &R::data);
  visit("data_dir", "--data-dir", Decides::Place, &R::data_dir);
  visit("synthetic_train", "--synthetic-train", Decides::Numbers, &R::synthetic_train);
  visit("synthetic_test", "--synthetic-test", Decides::Numbers, &R::synthetic_test);
  visit("devices", "--devices", Decides::Place, &R::devices);
  visit("batch", "--batch", Decides::Numbers, &R::batch);
  visit("lr", "--lr", Decides::Numbers, &R::lr);
  visit("momentum", "--momentum", Decides::Numbers, &R::momentum);
  visit("weight_decay", "--weight-decay", Decides::Numbers, &R::weight_decay);
  visit("epochs", "--epochs", Decides::Course, &R::epochs);
  visit("steps", "--steps", Decides::Course, &R::steps);
  visit("order", "--order", Decides::Numbers, &R::order);
  visit("seed", "--seed", Decides::Numbers, &R::seed);
  visit("kernels", "--kernels", Decides::Course, &R::kernels);
  visit("compare_kernels", "--kernels both", Decides::Course, &R::compare_kernels);
  visit("convolution", "--convolution", Decides::Course, &R::convolution);
  visit("profile", "--profile", Decides::Place, &R::profile);
  visit("dtype", "--dtype", Decides::Numbers, &R::dtype);
  visit("init_file", "--init", Decides::Place, &R::init_file);
  visit("save_file", "--save", Decides::Place, &R::save_file);
  visit("evaluate", "--no-eval", Decides::Course, &R::evaluate);
  visit("share_policy", "--shares", Decides::Course, &R::share_policy);
  visit("shares", "--shares", Decides::Place, &R::shares);
  visit("bucket_bytes", "--bucket-mib", Decides::Course, &R::bucket_bytes);
  visit("lr_scale", "--lr-scale", Decides::Numbers, &R::lr_scale);
  visit("warmup_epochs", "--warmup-epochs", Decides::Numbers, &R::warmup_epochs);
  visit("checkpoint_dir", "--checkpoint", Decides::Place, &R::checkpoint_dir);
  visit("checkpoint_every", "--every", Decides::Course, &R::checkpoint_every);
  visit("resume_dir", "--resume", Decides::Place, &R::resume_dir);
}

// Enums are read by the names that to_string gives them.
template <typename E>
constexpr E kValues[] = {};
template <>
constexpr DataSource kValues<DataSource>[] = {DataSource::Synthetic, DataSource::FashionMnist};
template <>
constexpr BatchOrder kValues<BatchOrder>[] = {BatchOrder::Shuffled, BatchOrder::Sequential};
template <>
constexpr Kernels kValues<Kernels>[] = {Kernels::Lab, Kernels::Library};
template <>
constexpr Precision kValues<Precision>[] = {Precision::F32, Precision::BF16, Precision::TF32};
template <>
constexpr SharePolicy kValues<SharePolicy>[] = {SharePolicy::Equal, SharePolicy::Auto,
                                                SharePolicy::Listed};
template <>
constexpr LrScale kValues<LrScale>[] = {LrScale::None, LrScale::Linear};

// ---- Writing

template <typename T>
Json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else {
    return value;
  }
}

// JSON has no words for what is not finite.
Json json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// JSON text is UTF-8, a path may be anything: then it is a list of its bytes.
Json json_of(const std::string& text) {
  Json value = text;
  try {
    static_cast<void>(value.dump());
    return value;
  } catch (const Json::type_error&) {
    return std::vector<std::uint8_t>(text.begin(), text.end());
  }
}

Json json_of(Device device) {
  return to_string(device);
}

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <typename T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

// ---- Reading. Each returns false when the JSON is of another kind.

bool read(const Json& json, bool& value) {
  if (json.is_boolean()) value = json.get<bool>();
  return json.is_boolean();
}

bool read(const Json& json, std::uint64_t& value) {
  if (json.is_number_unsigned()) value = json.get<std::uint64_t>();
  return json.is_number_unsigned();
}

bool read(const Json& json, std::int64_t& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kMost) return false;
  value = json.get<std::int64_t>();
  return true;
}

bool read(const Json& json, double& value) {
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

bool read(const Json& json, std::string& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
    return true;
  }
  if (!json.is_array()) return false;
  value.clear();
  for (const Json& item : json) {
    std::uint64_t byte = 0;
    if (!read(item, byte) || byte > 0xff) return false;
    value += static_cast<char>(byte);
  }
  return true;
}

bool read(const Json& json, Device& value) {
  if (!json.is_string()) return false;
  try {
    value = parse_device(json.get<std::string>());
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <typename E>
requires std::is_enum_v<E>
bool read(const Json& json, E& value) {
  for (const E candidate : kValues<E>) {
    if (json != to_string(candidate)) continue;
    value = candidate;
    return true;
  }
  return false;
}

template <typename T>
bool read(const Json& json, std::optional<T>& value) {
  value.reset();
  return json.is_null() || read(json, value.emplace());
}

template <typename T>
bool read(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) return false;
  values.clear();
  for (const Json& item : json) {
    if (!read(item, values.emplace_back())) return false;
  }
  return true;
}

// ---- Differences

std::string setting(std::string_view name, const char* option, const Json& value) {
  if (value.is_null()) return fmt::format("no {}", option);
  if (value.is_boolean()) {
    const bool negative = std::string_view(option).starts_with("--no-");
    return value.get<bool>() == negative ? fmt::format("no {}", option) : option;
  }
  if (value.is_string()) return fmt::format("{} {}", option, printable(value.get<std::string>()));
  if (name == "bucket_bytes") return fmt::format("{} {}", option, value.get<double>() / (1 << 20));
  if (value.is_number_float()) return fmt::format("{} {}", option, value.get<double>());
  return fmt::format("{} {}", option, value.dump());
}

std::string difference(const StartTraining& a, const StartTraining& b, Decides most) {
  const bool synthetic = a.data == DataSource::Synthetic && b.data == DataSource::Synthetic;
  std::string found;
  for_each_field([&](std::string_view name, const char* option, Decides decides, auto field) {
    if (!found.empty() || decides > most) return;
    if (name.starts_with("synthetic_") && !synthetic) return;
    const Json mine = json_of(a.*field), other = json_of(b.*field);
    if (mine == other) return;
    found = fmt::format("{} / {}", setting(name, option, mine), setting(name, option, other));
  });
  return found;
}

}  // namespace

std::string to_json(const StartTraining& request) {
  Json json;
  for_each_field([&](const char* name, const char*, Decides, auto field) {
    json[name] = json_of(request.*field);
  });
  return json.dump();
}

StartTraining training_from_json(std::string_view text) {
  const Json json = parse_object(text, "a training request");
  StartTraining request;
  for_each_field([&](const char* name, const char*, Decides, auto field) {
    const auto found = json.find(name);
    if (found == json.end() || read(*found, request.*field)) return;
    throw Error(
        Errc::Corrupt,
        fmt::format("the {} of a training request is {}, which it cannot be", name,
                    printable(found->dump(-1, ' ', false, Json::error_handler_t::replace))));
  });
  return request;
}

std::string first_difference(const StartTraining& a, const StartTraining& b) {
  return difference(a, b, Decides::Numbers);
}

std::string first_difference_between_ranks(const StartTraining& a, const StartTraining& b) {
  return difference(a, b, Decides::Course);
}

}  // namespace lab
