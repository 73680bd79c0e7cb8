#include "compute/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/fields/changes_json.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/data/sha256.h"
#include "compute/nn/state_dict.h"
#include "compute/train/request_json.h"

namespace lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kBeginning = "step-";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kKept = 2;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kRunFile = "run.json";

std::string folder_name(std::int64_t steps) {
  return fmt::format("{}{:0{}}", kBeginning, steps, kDigits);
}

// Parses a name made by folder_name(); empty for any other name.
std::optional<std::int64_t> steps_of(std::string_view name) {
  if (!name.starts_with(kBeginning)) return {};
  name.remove_prefix(kBeginning.size());
  constexpr std::size_t kMaxDigits = 18;  // fits into 64 bits
  const bool digits =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || name.size() < kDigits || name.size() > kMaxDigits) return {};
  std::int64_t steps = 0;
  for (const char c : name) steps = 10 * steps + (c - '0');
  return steps;
}

bool is_whole(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kRunFile, ignored);
}

struct Found {
  std::int64_t steps = 0;
  fs::path folder;
};

// Complete checkpoints, newest first; empty if the folder cannot be read.
std::vector<Found> find_whole(const fs::path& folder) {
  std::vector<Found> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const auto steps = steps_of(at->path().filename().string());
    if (steps && is_whole(at->path())) found.push_back({*steps, at->path()});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.steps > b.steps; });
  return found;
}

// Removes what a killed run was writing or deleting.
void remove_left_overs(const fs::path& folder) {
  std::vector<fs::path> left;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (steps_of(files::part_target(at->path()))) left.push_back(at->path());
  }
  for (const fs::path& part : left) fs::remove_all(part, failed);
}

// Checkpoints of later steps belong to a longer run and stay.
void remove_older(const fs::path& folder, std::int64_t steps) {
  std::size_t kept = 0;
  for (const Found& checkpoint : find_whole(folder)) {
    if (checkpoint.steps <= steps && ++kept > kKept) files::remove_folder(checkpoint.folder);
  }
}

// ---- run.json

// A file next to run.json, with a checksum that detects damage.
struct StateFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string sha256;
};

// Content of run.json: the request, the position reached, and the files that hold the state.
struct RunFile {
  StartTraining request;
  TrainingPosition position;
  std::vector<StateFile> files;
  std::vector<TrainingChanged> changes;
};

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
  if (found == object.end()) corrupt(trf("{} is missing", name));
  return *found;
}

std::int64_t whole(const Json& object, const char* name, std::int64_t least) {
  const Json& value = member(object, name);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!fits || value.get<std::int64_t>() < least) {
    corrupt(trf("{} is not a whole number from {}", name, least));
  }
  return value.get<std::int64_t>();
}

double real(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number()) corrupt(trf("{} is not a number", name));
  return value.get<double>();
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_string()) corrupt(trf("{} is not a string", name));
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
    corrupt(trf("inconsistent: step {} of epoch {} after {} steps, {} of {} images correct",
                p.step_in_epoch, p.epoch, p.steps, p.correct, p.images));
  }
  return p;
}

StateFile describe_file(std::string name, std::span<const std::byte> bytes) {
  return {std::move(name), static_cast<std::int64_t>(bytes.size()), checksum(bytes)};
}

// The content has its own checksum, so that an altered file is rejected.
std::string format_run_file(const RunFile& run) {
  Json body;
  body["position"] = position_json(run.position);
  body["files"] = Json::array();
  for (const StateFile& file : run.files) {
    body["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  body["request"] = Json::parse(to_json(run.request));
  if (!run.changes.empty()) body["changes"] = changes_to_json(run.changes);
  const Json whole_file{{"format", kFormat}, {"sha256", checksum(body)}, {"run", body}};
  return whole_file.dump(2) + "\n";
}

// Throws Error(Corrupt) describing the fault, or Error(Unsupported) for the format of a later
// version. Neither message names the file.
RunFile parse_run_file(std::string_view content) {
  const Json json = files::parse_object(content, "it");
  const std::int64_t format = whole(json, "format", 1);
  if (format != kFormat) {
    throw Error(Errc::Unsupported,
                trf("it has format {}, but this version reads format {}", format, kFormat));
  }
  const Json& body = member(json, "run");
  if (text(json, "sha256") != checksum(body)) corrupt(tr("it was altered: checksum mismatch"));
  RunFile run;
  run.position = read_position(member(body, "position"));
  run.request = training_from_json(member(body, "request").dump());
  if (body.contains("changes")) run.changes = changes_from_json(body["changes"]);
  const Json& files = member(body, "files");
  if (!files.is_array()) corrupt(tr("'files' is not a list"));
  for (const Json& file : files) {
    run.files.push_back({text(file, "name"), whole(file, "bytes", 0), text(file, "sha256")});
  }
  return run;
}

StateFile write_state(const fs::path& folder, const char* name,
                      const std::vector<nn::StateTensor>& tensors) {
  const std::vector<std::byte> bytes = nn::format_state(tensors);
  files::write_file(folder / name, bytes);
  return describe_file(name, bytes);
}

// ---- Reading

fs::path newest_in(const fs::path& folder) {
  if (is_whole(folder)) return folder;
  const std::vector<Found> found = find_whole(folder);
  if (!found.empty()) return found.front().folder;
  std::error_code ignored;
  throw Error(
      Errc::NotFound,
      fs::is_directory(folder, ignored)
          ? trf("{} contains no complete checkpoint; check the path, or start over without "
                "--resume",
                folder.string())
          : trf("{} is not a folder of checkpoints; check the path, or start over without --resume",
                folder.string()));
}

// Calls `body`; appends a fix to the message of Error(Corrupt).
template <typename Body>
auto with_fix(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() != Errc::Corrupt) throw;
    throw Error(Errc::Corrupt,
                trf("{}; remove its folder to continue from an earlier checkpoint", error.what()));
  }
}

// Calls `body`; prefixes its errors with the file and appends a fix if the file is damaged.
template <typename Body>
auto naming(const fs::path& file, const Body& body) {
  return with_fix([&] {
    try {
      return body();
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", file.string(), error.what()));
    }
  });
}

RunFile read_run(const fs::path& folder) {
  const fs::path file = folder / kRunFile;
  const std::string text = files::read_text_file(file);
  return naming(file, [&] { return parse_run_file(text); });
}

void check_same_training(const fs::path& folder, const StartTraining& saved,
                         const StartTraining& request) {
  const std::string difference = first_difference(saved, request);
  if (difference.empty()) return;
  throw Error(Errc::InvalidArgument,
              trf("{} cannot continue with these settings: {} (checkpoint / request); use the "
                  "checkpoint's, or start over without --resume",
                  folder.string(), difference));
}

// A state file's bytes and the tensors in them.
struct State {
  std::vector<std::uint8_t> bytes;
  std::vector<nn::TensorView> tensors;
};

void check_size(const fs::path& file, std::int64_t wanted) {
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(file, failed);
  if (failed) throw Error(Errc::Corrupt, trf("cannot read it: {}", failed.message()));
  if (bytes != static_cast<std::uintmax_t>(wanted)) {
    throw Error(Errc::Corrupt, trf("it has {} bytes, not {}", bytes, wanted));
  }
}

std::vector<nn::TensorView> parse_state(std::span<const std::byte> bytes, const StateFile& known) {
  if (describe_file(known.name, bytes).sha256 != known.sha256) {
    throw Error(Errc::Corrupt, tr("it was altered: checksum mismatch"));
  }
  return nn::parse_safetensors(bytes);
}

// Returns empty if the checkpoint has no such file.
std::optional<State> read_state(const fs::path& folder, const RunFile& run, std::string_view name) {
  const auto known = std::find_if(run.files.begin(), run.files.end(),
                                  [&](const StateFile& file) { return file.name == name; });
  if (known == run.files.end()) return {};
  const fs::path file = folder / name;
  naming(file, [&] { check_size(file, known->bytes); });
  std::optional<State> state(std::in_place);
  state->bytes = files::read_file(file);
  naming(file,
         [&] { state->tensors = parse_state(std::as_bytes(std::span(state->bytes)), *known); });
  return state;
}

}  // namespace

void check_checkpoint_folder(const fs::path& folder) {
  files::make_folder(folder);
  const files::PartFolder probe(folder / folder_name(0));
}

fs::path save_checkpoint(const fs::path& folder, const StartTraining& request,
                         const TrainingPosition& position, nn::Network& network, nn::Sgd& sgd,
                         const std::vector<TrainingChanged>& changes) {
  files::make_folder(folder);
  remove_left_overs(folder);
  fs::path target = folder / folder_name(position.steps);
  files::PartFolder part(target);
  RunFile run{request, position, {}, changes};
  run.files.push_back(write_state(part.path(), kModelFile, nn::state_dict(network)));
  const std::vector<nn::StateTensor> optimizer = nn::optimizer_state(network, sgd);
  if (!optimizer.empty()) {
    run.files.push_back(write_state(part.path(), kOptimizerFile, optimizer));
  }
  files::write_file(part.path() / kRunFile, format_run_file(run));
  part.take_name();
  remove_older(folder, position.steps);
  return target;
}

ResumedTraining load_checkpoint(const fs::path& folder, const StartTraining& request,
                                nn::Network& network, nn::Sgd& sgd) {
  const fs::path newest = newest_in(folder);
  const RunFile run = read_run(newest);
  check_same_training(newest, run.request, request);
  const std::optional<State> model = read_state(newest, run, kModelFile);
  const std::optional<State> optimizer = read_state(newest, run, kOptimizerFile);
  const std::string model_file = (newest / kModelFile).string();
  const std::string optimizer_file = (newest / kOptimizerFile).string();
  const bool momentum = !sgd.velocity().empty() && run.position.steps > 0;
  if (!model) throw Error(Errc::Corrupt, trf("{} is not part of the checkpoint", model_file));
  if (momentum && !optimizer) {
    throw Error(
        Errc::Corrupt,
        trf("{} is not part of the checkpoint, but the request uses momentum", optimizer_file));
  }
  with_fix([&] {
    if (momentum) nn::check_optimizer_state(network, sgd, optimizer->tensors, optimizer_file);
    nn::load_state_dict(network, model->tensors, model_file);
    if (momentum) nn::load_optimizer_state(network, sgd, optimizer->tensors, optimizer_file);
  });
  sgd.set_started(run.position.steps > 0);
  return {run.position, run.changes};
}

}  // namespace lab
