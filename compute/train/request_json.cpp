#include "compute/train/request_json.h"

#include <fmt/format.h>

#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/language.h"

namespace lab {
namespace {

std::string difference(const StartTraining& a, const StartTraining& b, Decides most) {
  const bool synthetic = a.data == DataSource::Synthetic && b.data == DataSource::Synthetic;
  // A falling rate depends on the number of epochs.
  const bool falls = a.schedule == LrSchedule::Linear && b.schedule == LrSchedule::Linear;
  std::string found;
  for_each_field<StartTraining>([&](const RequestField& field, auto member) {
    const bool numbers = falls && std::string_view(field.key) == "epochs";
    if (!found.empty() || (field.decides > most && !numbers)) return;
    if (std::string_view(field.key).starts_with("synthetic_") && !synthetic) return;
    const FieldJson mine = json_of(a.*member), other = json_of(b.*member);
    if (mine == other) return;
    found = fmt::format("{} / {}", setting_text(field, mine), setting_text(field, other));
  });
  return found;
}

}  // namespace

std::string to_json(const StartTraining& request) {
  return request_to_json(request).dump();
}

StartTraining training_from_json(std::string_view text) {
  const char* const what = tr("a training request");
  return request_from_json<StartTraining>(files::parse_object(text, what), what);
}

std::string first_difference(const StartTraining& a, const StartTraining& b) {
  return difference(a, b, Decides::Numbers);
}

std::string first_difference_between_ranks(const StartTraining& a, const StartTraining& b) {
  return difference(a, b, Decides::Course);
}

}  // namespace lab
