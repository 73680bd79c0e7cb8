#include "compute/scaling/reference_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/files/whole_file.h"
#include "compute/nn/models.h"
#include "compute/types/error.h"

namespace lab {
namespace {

using Json = nlohmann::json;

constexpr double kLargestCount = 1e12;

class Reader {
 public:
  Reader(const Json& json, std::string file) : json_(json), file_(std::move(file)) {}

  std::string text(const char* field) const {
    const auto found = json_.find(field);
    if (found == json_.end() || !found->is_string() || found->get<std::string>().empty()) {
      refuse(field, found, "a text");
    }
    return found->get<std::string>();
  }

  double seconds(const char* field) const {
    const auto found = json_.find(field);
    const double value = found != json_.end() && found->is_number() ? found->get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value)) refuse(field, found, "a number above 0");
    return value;
  }

  std::int64_t count(const char* field) const {
    const auto found = json_.find(field);
    const double value = found != json_.end() && found->is_number() ? found->get<double>() : 0;
    if (!(value >= 1 && value <= kLargestCount) || value != std::floor(value)) {
      refuse(field, found, "a whole number from 1");
    }
    return static_cast<std::int64_t>(value);
  }

  bool has(const char* field) const { return json_.contains(field); }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(Errc::Corrupt, fmt::format("{}: {}", file_, reason));
  }

 private:
  [[noreturn]] void refuse(const char* field, Json::const_iterator found,
                           const char* expected) const {
    if (found == json_.end()) {
      refuse(fmt::format("the field \"{}\" is missing; it must be {}", field, expected));
    }
    const std::string is = found->dump(-1, ' ', false, Json::error_handler_t::replace);
    refuse(fmt::format("the field \"{}\" is {}; it must be {}", field, is.substr(0, 60), expected));
  }

  const Json& json_;
  const std::string file_;
};

}  // namespace

ReferenceTime read_reference(const std::filesystem::path& file) {
  const Json json = Json::parse(files::read_text_file(file), nullptr, /*allow_exceptions=*/false);
  const Reader reader(json, file.string());
  if (!json.is_object()) {
    reader.refuse("this is not a JSON object; see assets/reference for how a reference looks");
  }
  ReferenceTime reference;
  reference.device = reader.text("device");
  reference.model = reader.text("model");
  const auto& models = nn::model_names();
  if (std::find(models.begin(), models.end(), reference.model) == models.end()) {
    reader.refuse(fmt::format("the field \"model\" is \"{}\"; it must be one of {}",
                              reference.model, fmt::join(models, ", ")));
  }
  reference.source = reader.text("source");
  reference.batch = reader.count("batch");
  if (reader.has("step_s") == reader.has("epoch_s")) {
    reader.refuse("give either \"step_s\" or \"epoch_s\" and \"images\"");
  }
  if (reader.has("step_s")) {
    reference.step_s = reader.seconds("step_s");
  } else {
    reference.step_s = reader.seconds("epoch_s") * static_cast<double>(reference.batch) /
                       static_cast<double>(reader.count("images"));
  }
  return reference;
}

}  // namespace lab
