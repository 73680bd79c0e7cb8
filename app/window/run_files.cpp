#include "app/window/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/fields/changes_json.h"
#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using ui::Column64;

constexpr int kFormat = 1;

// --- writing --------------------------------------------------------------------------------

// The latest values whole, so that the figures that rest on them are the same after a restart, and
// every n-th of those before.
Json thinned(const Column64& column) {
  constexpr std::size_t kWhole = 1024, kBefore = kKeptSteps - kWhole;
  const std::size_t before = column.size() - std::min(column.size(), kWhole);
  const std::size_t every = std::max<std::size_t>(1, (before + kBefore - 1) / kBefore);
  Json list = Json::array();
  for (std::size_t i = 0; i < before; i += every) list.push_back(column[i]);
  for (std::size_t i = before; i < column.size(); ++i) list.push_back(column[i]);
  return list;
}

Json started_json(const TrainingStarted& s) {
  return {{"lr", s.lr},
          {"parameters", s.parameters},
          {"train_images", s.train_images},
          {"test_images", s.test_images},
          {"steps_per_epoch", s.steps_per_epoch},
          {"total_steps", s.total_steps},
          {"synthetic", s.synthetic},
          {"libraries", s.libraries},
          {"class_names", s.class_names}};
}

Json predictions_json(const Predictions& predictions) {
  Json images = Json::array();
  for (const PredictedImage& image : predictions.images) {
    images.push_back({{"pixels", image.pixels},
                      {"label", image.label},
                      {"predicted", image.predicted},
                      {"confidence", image.confidence}});
  }
  return {{"epoch", predictions.epoch}, {"images", images}};
}

Json run_json(const ui::TrainingRun& run, const std::string& name) {
  const ui::StepColumns& s = run.steps();
  const ui::EpochColumns& e = run.epochs();
  Json json{{"format", kFormat}, {"name", name}, {"slot", run.slot()}};
  json["request"] = request_to_json(run.started() ? run.started()->request : run.request());
  if (run.started()) json["started"] = started_json(*run.started());
  json["steps"] = {{"step", thinned(s.step)},          {"t_s", thinned(s.t_s)},
                   {"loss", thinned(s.loss)},          {"accuracy", thinned(s.accuracy)},
                   {"speed", thinned(s.images_per_s)}, {"lr", thinned(s.lr)}};
  json["epochs"] = {{"step", thinned(e.step)},
                    {"epoch", thinned(e.epoch)},
                    {"train_loss", thinned(e.train_loss)},
                    {"train_acc", thinned(e.train_acc)},
                    {"test_acc", thinned(e.test_acc)},
                    {"seconds", thinned(e.seconds)},
                    {"speed", thinned(e.images_per_s)}};
  json["changes"] = changes_to_json(run.changes());
  if (const auto& c = run.confusion()) {
    json["confusion"] = {{"epoch", c->epoch}, {"classes", c->classes}, {"counts", c->counts}};
  }
  if (run.predictions()) json["predictions"] = predictions_json(*run.predictions());
  if (run.done()) {
    json["done"] = {{"images_per_s", run.done()->images_per_s},
                    {"seconds", run.done()->seconds},
                    {"steps", run.done()->steps},
                    {"checkpoint", run.done()->checkpoint}};
    if (run.done()->reached_s) json["done"]["reached_s"] = *run.done()->reached_s;
  }
  if (std::isfinite(run.median_step_s())) json["median_step_s"] = run.median_step_s();
  if (run.others() > 0) json["others_share"] = run.others();
  return json;
}

// --- reading --------------------------------------------------------------------------------

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Errc::Corrupt, what);
}

// A number that is null was not finite.
double number(const Json& value) {
  return value.is_null() ? ui::kNoValue : value.get<double>();
}

Column64 column(const Json& object, const char* name, std::size_t size) {
  Column64 values;
  for (const Json& value : object.at(name)) values.push_back(number(value));
  if (values.size() != size || size > kKeptSteps + 1) {
    corrupt(trf("{} has {} values, not {}", name, values.size(), size));
  }
  return values;
}

// The same for whole numbers, which must be there.
Column64 whole_column(const Json& object, const char* name, std::size_t size) {
  constexpr double kMost = 1e15;
  Column64 values = column(object, name, size);
  const bool whole =
      std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= kMost; });
  if (!whole) corrupt(trf("{} has a value that is not from 0 to {:g}", name, kMost));
  return values;
}

TrainingStarted read_started(const Json& json, const StartTraining& request) {
  TrainingStarted s;
  s.request = request;
  s.lr = json.at("lr").get<double>();
  s.parameters = json.at("parameters").get<std::int64_t>();
  s.train_images = json.at("train_images").get<std::int64_t>();
  s.test_images = json.at("test_images").get<std::int64_t>();
  s.steps_per_epoch = json.at("steps_per_epoch").get<std::int64_t>();
  s.total_steps = json.value("total_steps", std::int64_t{0});  // absent in earlier versions' files
  s.synthetic = json.at("synthetic").get<bool>();
  s.libraries = json.at("libraries").get<std::string>();
  s.class_names = json.at("class_names").get<std::vector<std::string>>();
  return s;
}

std::vector<EpochDone> read_epochs(const Json& json, Column64& ends) {
  const std::size_t n = json.at("step").size();
  ends = whole_column(json, "step", n);
  const Column64 epoch = whole_column(json, "epoch", n), loss = column(json, "train_loss", n);
  const Column64 train = column(json, "train_acc", n), test = column(json, "test_acc", n);
  const Column64 seconds = column(json, "seconds", n), speed = column(json, "speed", n);
  if (!std::is_sorted(ends.begin(), ends.end()) || !std::is_sorted(epoch.begin(), epoch.end())) {
    corrupt(tr("its epochs are out of order"));
  }
  std::vector<EpochDone> epochs;
  for (std::size_t i = 0; i < n; ++i) {
    EpochDone done{.epoch = static_cast<std::int64_t>(epoch[i]),
                   .train_loss = loss[i],
                   .train_acc = train[i],
                   .test_acc = {},
                   .seconds = seconds[i],
                   .images_per_s = speed[i]};
    if (test[i] == test[i]) done.test_acc = test[i];
    epochs.push_back(done);
  }
  return epochs;
}

// Adds the steps and epochs in the order in which they were reported.
void replay(const Json& json, ui::TrainingRun& run) {
  const Json& steps = json.at("steps");
  const std::size_t n = steps.at("step").size();
  const Column64 step = whole_column(steps, "step", n), t_s = column(steps, "t_s", n);
  const Column64 loss = column(steps, "loss", n), accuracy = column(steps, "accuracy", n);
  const Column64 speed = column(steps, "speed", n), lr = column(steps, "lr", n);
  if (n == 0) corrupt(tr("it has no steps"));
  const bool timed = std::all_of(t_s.begin(), t_s.end(), [](double t) { return std::isfinite(t); });
  if (!timed || !std::is_sorted(step.begin(), step.end()) ||
      !std::is_sorted(t_s.begin(), t_s.end())) {
    corrupt(tr("its steps are out of order"));
  }
  Column64 ends;
  const std::vector<EpochDone> epochs = read_epochs(json.at("epochs"), ends);
  std::size_t epoch = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (; epoch < epochs.size() && ends[epoch] < step[i]; ++epoch) run.add(epochs[epoch]);
    run.add(StepDone{.step = static_cast<std::int64_t>(step[i]),
                     .loss = loss[i],
                     .accuracy = accuracy[i],
                     .images_per_s = speed[i],
                     .t_s = t_s[i],
                     .lr = lr[i],
                     .devices = {}});
  }
  for (; epoch < epochs.size(); ++epoch) run.add(epochs[epoch]);
}

Confusion read_confusion(const Json& json) {
  constexpr std::int64_t kMost = 1'000'000'000;
  constexpr int kMostClasses = 100;
  Confusion c{.epoch = json.at("epoch").get<std::int64_t>(),
              .classes = json.at("classes").get<int>(),
              .counts = json.at("counts").get<std::vector<std::int64_t>>()};
  const bool square =
      c.classes > 0 && c.classes <= kMostClasses &&
      c.counts.size() == static_cast<std::size_t>(c.classes) * static_cast<std::size_t>(c.classes);
  const auto counts = [](std::int64_t n) { return n >= 0 && n <= kMost; };
  if (!square || !std::all_of(c.counts.begin(), c.counts.end(), counts)) {
    corrupt(tr("its confusion matrix is not one count per pair of classes"));
  }
  return c;
}

Predictions read_predictions(const Json& json) {
  Predictions predictions{.epoch = json.at("epoch").get<std::int64_t>(), .images = {}};
  for (const Json& image : json.at("images")) {
    const auto confidence = static_cast<float>(number(image.at("confidence")));
    predictions.images.push_back({.pixels = image.at("pixels").get<ImagePixels>(),
                                  .label = image.at("label").get<int>(),
                                  .predicted = image.at("predicted").get<int>(),
                                  .confidence = confidence});
  }
  return predictions;
}

ui::TrainingRun read_training(const Json& json, JobId id) {
  const auto request = request_from_json<StartTraining>(json.at("request"), tr("a training run"));
  if (find_model(request.model) == nullptr) corrupt(trf("unknown model '{}'", request.model));
  ui::TrainingRun run(id, request);
  run.set_slot(json.value("slot", -1));  // absent in files of earlier versions
  if (json.contains("started")) run.add(read_started(json["started"], request));
  replay(json, run);
  for (const TrainingChanged& change : changes_from_json(json.at("changes"))) run.add(change);
  // Absent in runs without evaluation, and in files of earlier versions.
  if (json.contains("confusion")) run.add(read_confusion(json["confusion"]));
  if (json.contains("predictions")) run.add(read_predictions(json["predictions"]));
  if (json.contains("done")) {
    TrainingDone done;
    done.images_per_s = json["done"].at("images_per_s").get<double>();
    done.seconds = json["done"].at("seconds").get<double>();
    done.steps = json["done"].at("steps").get<std::int64_t>();
    done.checkpoint = json["done"].at("checkpoint").get<std::string>();
    if (json["done"].contains("reached_s")) {
      done.reached_s = json["done"]["reached_s"].get<double>();
    }
    run.add(done);
  }
  // Absent in files of earlier versions: follows from the kept steps.
  if (json.contains("median_step_s")) {
    const double median_s = json["median_step_s"].get<double>();
    if (!(median_s > 0)) corrupt(tr("its median step time is not above 0"));
    run.set_median_step_s(median_s);
  }
  if (json.contains("others_share")) {
    const double others = json["others_share"].get<double>();
    if (!(others >= 0 && others <= 1))
      corrupt(tr("its share of other programs is not from 0 to 1"));
    run.add(CoresShared{.others = others});
  }
  return run;
}

// The time with which the name of a file begins, in milliseconds; 0 if it does not.
std::time_t time_in_name(const fs::path& file) {
  const std::string name = file.filename().string();
  std::int64_t ms = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), ms);
  return failed == std::errc() && *end == '-' ? static_cast<std::time_t>(ms / 1000) : 0;
}

StoredRun read_run(const fs::path& file, JobId id) {
  files::require_regular(file);
  std::error_code ignored;
  const std::uintmax_t bytes = fs::file_size(file, ignored);
  if (bytes > kMostRunBytes) corrupt(trf("it has {} bytes, more than {}", bytes, kMostRunBytes));
  const Json json = files::parse_object(files::read_text_file(file), tr("the file"));
  if (json.at("format").get<int>() != kFormat) {
    corrupt(trf("it has format {}, but this version reads format {}", json.at("format").get<int>(),
                kFormat));
  }
  StoredRun stored{file, json.at("name").get<std::string>(), read_training(json, id)};
  stored.run.set_ended_at(time_in_name(file));
  return stored;
}

// The runs of the folder by name, which begins with the time: oldest first.
std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".json") found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

StoredRuns read_runs(const fs::path& folder) {
  StoredRuns kept;
  std::vector<fs::path> files = run_files(folder);
  if (files.size() > kKeptRuns) {
    files.erase(files.begin(), files.end() - static_cast<std::ptrdiff_t>(kKeptRuns));
  }
  JobId id = -static_cast<JobId>(files.size());
  for (const fs::path& file : files) {
    try {
      kept.runs.push_back(read_run(file, id));
    } catch (const std::exception& e) {
      kept.problems.push_back(
          trf("the training run {} is skipped: {}; delete the file", file.string(), e.what()));
    }
    ++id;
  }
  return kept;
}

void write_run(const fs::path& file, const ui::TrainingRun& run, const std::string& name) {
  files::write_file(
      file, run_json(run, name).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

fs::path keep_run(const fs::path& folder, const ui::TrainingRun& run) {
  files::make_folder(folder);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  fs::path file = folder / fmt::format("{:015}-{}.json", ms, run.request().model);
  write_run(file, run, "");
  const std::vector<fs::path> all = run_files(folder);
  std::error_code ignored;
  for (std::size_t i = 0; i + kKeptRuns < all.size(); ++i) fs::remove(all[i], ignored);
  return file;
}

}  // namespace lab::app
