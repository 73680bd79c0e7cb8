#include "compute/train/run_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/files/json_fields.h"
#include "compute/data/sha256.h"
#include "compute/train/request_json.h"

namespace lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

std::string checksum(std::span<const std::byte> bytes) {
  return sha256_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string checksum(const Json& json) {
  const std::string text = json.dump();
  return checksum(std::as_bytes(std::span(text)));
}

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Errc::Corrupt, what);
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) corrupt(fmt::format("it has no {}", name));
  return *found;
}

std::int64_t whole(const Json& object, const char* name, std::int64_t least) {
  const Json& value = member(object, name);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!fits || value.get<std::int64_t>() < least) {
    corrupt(fmt::format("{} is no whole number from {}", name, least));
  }
  return value.get<std::int64_t>();
}

double real(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number()) corrupt(fmt::format("{} is no number", name));
  return value.get<double>();
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string()) corrupt(fmt::format("{} is no text", name));
  return value.get<std::string>();
}

Json position_json(const TrainingPosition& p) {
  return {{"steps", p.steps},
          {"epoch", p.epoch},
          {"step_in_epoch", p.step_in_epoch},
          {"loss_sum", p.loss_sum},
          {"epoch_seconds", p.epoch_seconds},
          {"images", p.images},
          {"correct", p.correct}};
}

TrainingPosition read_position(const Json& json) {
  TrainingPosition p{.steps = whole(json, "steps", 0),
                     .epoch = whole(json, "epoch", 1),
                     .step_in_epoch = whole(json, "step_in_epoch", 0),
                     .loss_sum = real(json, "loss_sum"),
                     .epoch_seconds = real(json, "epoch_seconds"),
                     .images = whole(json, "images", 0),
                     .correct = whole(json, "correct", 0)};
  if (p.step_in_epoch > p.steps || p.epoch - 1 > p.steps || p.correct > p.images) {
    corrupt(fmt::format("step {} of epoch {} after {} steps, {} of {} images right: this cannot be",
                        p.step_in_epoch, p.epoch, p.steps, p.correct, p.images));
  }
  return p;
}

}  // namespace

StateFile describe_file(std::string name, std::span<const std::byte> bytes) {
  return {std::move(name), static_cast<std::int64_t>(bytes.size()), checksum(bytes)};
}

std::string format_run_file(const RunFile& run) {
  Json body;
  body["position"] = position_json(run.position);
  body["files"] = Json::array();
  for (const StateFile& file : run.files) {
    body["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  body["request"] = Json::parse(to_json(run.request));
  const Json whole_file{{"format", kFormat}, {"sha256", checksum(body)}, {"run", body}};
  return whole_file.dump(2) + "\n";
}

RunFile parse_run_file(std::string_view content) {
  const Json json = files::parse_object(content, "it");
  const std::int64_t format = whole(json, "format", 1);
  if (format != kFormat) {
    throw Error(Errc::Unsupported,
                fmt::format("it has format {} and this version reads format {}", format, kFormat));
  }
  const Json& body = member(json, "run");
  if (text(json, "sha256") != checksum(body)) corrupt("it was altered: its checksum does not fit");
  RunFile run;
  run.position = read_position(member(body, "position"));
  run.request = training_from_json(member(body, "request").dump());
  const Json& files = member(body, "files");
  if (!files.is_array()) corrupt("files is no list");
  for (const Json& file : files) {
    run.files.push_back({text(file, "name"), whole(file, "bytes", 0), text(file, "sha256")});
  }
  return run;
}

}  // namespace lab
