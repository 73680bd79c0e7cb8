#include "compute/experiments/scaling/reference_file.h"

#include <nlohmann/json.hpp>

#include "compute/core/files/json_fields.h"
#include "compute/core/files/places.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/nn/models.h"

namespace lab {

using Json = nlohmann::json;

ReferenceTime read_reference(const std::filesystem::path& named) {
  const auto file = files::find_asset(named, files::asset_folders("reference"));
  const Json json = Json::parse(files::read_text_file(file), nullptr, /*allow_exceptions=*/false);
  const files::JsonFields fields(json, file.string());
  if (!json.is_object()) {
    fields.refuse(tr("not a JSON object; see assets/reference for examples"));
  }
  const auto shown = [&](const char* field) {
    return printable(fields.text(field), files::JsonFields::kLongestLine);
  };
  ReferenceTime reference;
  reference.device = shown("device");
  reference.model = fields.word("model", nn::model_names());
  reference.source = shown("source");
  reference.batch = fields.count("batch");
  if (fields.has("step_s") == fields.has("epoch_s")) {
    fields.refuse(tr("give either \"step_s\" or \"epoch_s\" and \"images\""));
  }
  if (fields.has("step_s")) {
    reference.step_s = fields.positive("step_s");
  } else {
    reference.step_s = fields.positive("epoch_s") * static_cast<double>(reference.batch) /
                       static_cast<double>(fields.count("images"));
  }
  return reference;
}

}  // namespace lab
