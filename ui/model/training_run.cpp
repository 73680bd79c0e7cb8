#include "ui/model/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::ui {
// --- profile --------------------------------------------------------------------------------

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool timed(const ProfileRow* row) {
  return row != nullptr && row->time.n > 0;
}

double seconds_of(const ProfileRow* row) {
  return timed(row) ? row->time.median_s : 0;
}

const ProfileRow** place_of(LayerSide& side, StepPhase phase) {
  if (phase == StepPhase::Forward) return &side.forward;
  return phase == StepPhase::Backward ? &side.backward : &side.once;
}

// Layer of a row, with `sides` kinds of kernels. A backward row belongs to the layer of its forward
// row, which precedes it; every other row starts a layer.
ProfileLayer& layer_for(std::vector<ProfileLayer>& layers, const ProfileRow& row,
                        std::size_t sides) {
  if (row.phase == StepPhase::Backward) {
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const ProfileLayer& l) {
      return l.name->phase == StepPhase::Forward && l.name->layer == row.layer &&
             l.sides.front().backward == nullptr;
    });
    if (found != layers.end()) return *found;
  }
  ProfileLayer& layer = layers.emplace_back();
  layer.name = &row;
  layer.sides.resize(sides);
  return layer;
}

}  // namespace

double LayerSide::seconds() const {
  return seconds_of(forward) + seconds_of(backward) + seconds_of(once);
}

double ProfileLayer::seconds() const {
  for (const LayerSide& side : sides) {
    if (side.seconds() > 0) return side.seconds();
  }
  return 0;
}

std::vector<ProfileLayer> layers_of(const TrainingProfile& profile, LayerOrder order) {
  std::vector<ProfileLayer> layers;
  const std::size_t parts = profile.parts(), sides = profile.totals.size();
  for (std::size_t part = 0; part < parts; ++part) {
    ProfileLayer& layer = layer_for(layers, profile.rows[part], sides);
    for (std::size_t side = 0; side < sides; ++side) {
      const ProfileRow& row = profile.rows[side * parts + part];
      *place_of(layer.sides[side], row.phase) = &row;
    }
  }
  if (order == LayerOrder::Longest) {
    std::stable_sort(
        layers.begin(), layers.end(),
        [](const ProfileLayer& a, const ProfileLayer& b) { return a.seconds() > b.seconds(); });
  }
  return layers;
}

double value_of(const TrainingProfile& profile, const ProfileLine& line, ProfileKey key,
                std::size_t side) {
  const ProfileRow& row = *line[side];
  const bool computes = row.flop > 0 && timed(&row);
  switch (key) {
    case ProfileKey::Time: return timed(&row) ? row.time.median_s : kNone;
    case ProfileKey::P10: return timed(&row) ? row.time.p10_s : kNone;
    case ProfileKey::P90: return timed(&row) ? row.time.p90_s : kNone;
    case ProfileKey::Ratio: {
      const double first = seconds_of(line.front()), last = seconds_of(line.back());
      return first > 0 && last > 0 ? last / first : kNone;
    }
    case ProfileKey::Gflops: return computes ? row.gflops() : kNone;
    case ProfileKey::Share:
      return computes && profile.peak_gflops > 0 ? profile.share_of_peak(row) : kNone;
    case ProfileKey::Bytes: return row.bytes > 0 ? static_cast<double>(row.bytes) : kNone;
    case ProfileKey::Intensity: return row.flop > 0 && row.bytes > 0 ? row.intensity() : kNone;
    case ProfileKey::Pass: return static_cast<double>(row.phase);
    case ProfileKey::Layer:
    case ProfileKey::Method: break;
  }
  return kNone;
}

std::vector<ProfileLine> lines_of(const TrainingProfile& profile, ProfileKey key, std::size_t side,
                                  bool descending) {
  std::vector<ProfileLine> lines = profile.lines();
  if (key == ProfileKey::Layer) {
    if (descending) std::reverse(lines.begin(), lines.end());
    return lines;
  }
  if (key == ProfileKey::Method) {
    std::stable_sort(lines.begin(), lines.end(), [&](const ProfileLine& a, const ProfileLine& b) {
      const std::string &first = a[side]->method, &second = b[side]->method;
      if (first.empty() || second.empty()) return !first.empty() && second.empty();
      return descending ? first > second : first < second;
    });
    return lines;
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const ProfileLine& a, const ProfileLine& b) {
    const double first = value_of(profile, a, key, side), second = value_of(profile, b, key, side);
    if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
    return descending ? first > second : first < second;
  });
  return lines;
}

// --- differences ----------------------------------------------------------------------------

namespace {

bool is_short(std::string_view key) {
  constexpr std::array<std::string_view, 7> kShort = {"lr",    "batch", "epochs", "momentum",
                                                      "width", "seed",  "devices"};
  return std::ranges::find(kShort, key) != kShort.end();
}

// "1,2" as "1, 2".
std::string spaced(const std::string& list) {
  std::string text;
  for (const char c : list) {
    text += c;
    if (c == ',') text += ' ';
  }
  return text;
}

// "lr 0.3": the option and its value, without quotes and brackets; others in words, "Training
// images: 6000".
std::string short_setting(const RequestField& field, const FieldJson& value) {
  if (std::string_view(field.key) == "model") {
    return fmt::format("{} {}", field.key, model_title(value.get<std::string>()));
  }
  std::string text = setting_text(field, value);
  if (value.is_array()) text = spaced(text);
  std::erase_if(text, [](char c) { return c == '"' || c == '[' || c == ']'; });
  if (*field.label != '\0' && !is_short(field.key)) {
    const std::string option = std::string(field.option) + ' ';
    const std::string shown = value.is_boolean() ? (value.get<bool>() ? tr("on") : tr("off"))
                              : text.starts_with(option) ? text.substr(option.size())
                                                         : text;
    return fmt::format("{}: {}", tr(field.label), shown);
  }
  return text.starts_with("--") ? text.substr(2) : text;
}

}  // namespace

// --- run ------------------------------------------------------------------------------------

namespace {

// What a default name states, and the key of the setting; empty for what differs from the setting,
// as of the devices only the number.
struct NamePart {
  std::string_view key;
  std::string text;
};

// `devices` is the total over all `ranks`.
std::vector<NamePart> name_parts(const StartTraining& request, std::optional<double> lr,
                                 std::size_t devices, int ranks, const std::string& libraries) {
  std::vector<NamePart> parts = {{"model", std::string(model_title(request.model))},
                                 {"batch", trf("batch {}", request.batch)}};
  if (request.width != kResNetWidth) parts.push_back({"width", trf("width {}", request.width)});
  if (lr) parts.push_back({lr == request.lr ? "lr" : "", trf("lr {:g}", *lr)});
  if (request.dtype != Precision::F32)
    parts.push_back({"dtype", std::string(to_string(request.dtype))});
  if (request.kernels == Kernels::Library) {
    parts.push_back({"kernels", libraries.empty() ? std::string(tr("library")) : libraries});
  }
  if (request.momentum != 0) {
    parts.push_back({"momentum", trf("momentum {:g}", request.momentum)});
  }
  if (request.seed != 0) parts.push_back({"seed", trf("seed {}", request.seed)});
  if (request.lr_scale == LrScale::Linear) parts.push_back({"lr_scale", tr("lr scaled")});
  if (request.schedule == LrSchedule::Linear) parts.push_back({"schedule", tr("lr falling")});
  if (devices > 1) {
    parts.push_back({"", ranks > 1 ? trf("{} devices of {} ranks", devices, ranks)
                                   : trf("{} devices", devices)});
    if (request.share_policy == SharePolicy::Auto) parts.push_back({"", tr("auto shares")});
  }
  return parts;
}

// Settings of the synthetic data decide nothing for a run on files.
bool is_synthetic(const RequestField& field) {
  return std::string_view(field.key).starts_with("synthetic_");
}
bool uses_files(const TrainingRun* run) {
  return run->request().data != DataSource::Synthetic;
}

}  // namespace

std::vector<DifferingSetting> settings_that_differ(const std::vector<const TrainingRun*>& runs) {
  constexpr std::array<std::string_view, 4> kFirst = {"lr", "batch", "epochs", "momentum"};
  std::vector<DifferingSetting> first, others;
  for_each_field<StartTraining>([&](const RequestField& field, auto member) {
    if (field.decides == Decides::Place && std::string_view(field.key) != "devices") return;
    std::vector<FieldJson> values;
    for (const TrainingRun* run : runs) {
      const auto& started = run->started();
      values.push_back(json_of((started ? started->request : run->request()).*member));
    }
    const bool same = std::all_of(values.begin(), values.end(),
                                  [&](const FieldJson& v) { return v == values.front(); });
    if (same || (is_synthetic(field) && std::ranges::all_of(runs, uses_files))) return;
    DifferingSetting setting{.key = field.key, .label = field.label, .values = {}};
    for (const FieldJson& value : values) setting.values.push_back(short_setting(field, value));
    const bool important = std::find(kFirst.begin(), kFirst.end(), field.key) != kFirst.end();
    (important ? first : others).push_back(std::move(setting));
  });
  std::ranges::move(others, std::back_inserter(first));
  return first;
}

const std::vector<DifferingSetting>& SettingDifferences::of(
    const std::vector<const TrainingRun*>& runs) {
  std::vector<std::pair<JobId, bool>> now;
  now.reserve(runs.size());
  for (const TrainingRun* run : runs) now.emplace_back(run->id(), run->started().has_value());
  if (now != runs_) {
    settings_ = settings_that_differ(runs);
    runs_ = std::move(now);
  }
  return settings_;
}

std::string change_text(const TrainingChanged& change) {
  if (change.setting == "lr") return trf("learning rate {} → {}", change.before, change.after);
  if (change.setting == "epochs") return trf("epochs {} → {}", change.before, change.after);
  return trf("shares {} → {}", change.before, change.after);
}

TrainingRun::TrainingRun(JobId id, StartTraining request)
    : id_(id), request_(std::move(request)), synthetic_(request_.data == DataSource::Synthetic) {
  set_name(request_, request_.lr, request_.devices.size(), 1, {});
}

void TrainingRun::set_name(const StartTraining& request, std::optional<double> lr,
                           std::size_t devices, int ranks, const std::string& libraries) {
  name_.clear();
  named_settings_.clear();
  for (NamePart& part : name_parts(request, lr, devices, ranks, libraries)) {
    name_ += (name_.empty() ? "" : ", ") + part.text;
    named_settings_.push_back(part.key);
  }
}

bool TrainingRun::is_in_name(std::string_view key) const {
  return std::ranges::find(named_settings_, key) != named_settings_.end();
}

const std::vector<std::string>& TrainingRun::class_names() const {
  static const std::vector<std::string> kNoNames;
  return started_ ? started_->class_names : kNoNames;
}

void TrainingRun::add(const TrainingStarted& started) {
  started_ = started;
  synthetic_ = started.synthetic;
  set_name(started.request, started.lr, started.request.devices.size(), 1, started.libraries);
}

void TrainingRun::reserve(std::int64_t steps) {
  const auto expected =
      static_cast<std::size_t>(std::clamp<std::int64_t>(steps, 0, std::int64_t{1} << 20));
  for (Column64* column : {&steps_.step, &steps_.epoch, &steps_.t_s, &steps_.loss, &steps_.accuracy,
                           &steps_.accuracy_smooth, &steps_.images, &steps_.weight,
                           &steps_.images_per_s, &steps_.images_per_s_smooth,
                           &steps_.images_per_s_low, &steps_.images_per_s_high, &steps_.lr}) {
    column->reserve(expected);
  }
}

// A restored step has none, but they follow from its place in the epoch.
double TrainingRun::images_of(const StepDone& step) const {
  if (step.images > 0) return static_cast<double>(step.images);
  const auto batch = static_cast<double>(request_.batch);
  if (!started_ || started_->steps_per_epoch < 1) return batch;
  const double before = batch * static_cast<double>(started_->steps_per_epoch - 1);
  const double last = static_cast<double>(started_->train_images) - before;
  const bool ends_epoch = step.step % started_->steps_per_epoch == 0;
  return ends_epoch && last > 0 ? std::min(last, batch) : batch;
}

double TrainingRun::median_step_s() const {
  if (median_step_s_) return *median_step_s_;
  // The median that the Layers card shows; it leaves out the warm-up.
  if (profile_ && profile_->totals.size() == 1 && profile_->totals.front().step.n > 0) {
    return profile_->totals.front().step.median_s;
  }
  std::vector<double> times_s;
  for (std::size_t i = steps_.size(); i > 0 && times_s.size() < kTypicalSteps; --i) {
    const double speed = steps_.images_per_s[i - 1];
    if (speed > 0) times_s.push_back(steps_.images[i - 1] / speed);
  }
  if (times_s.empty()) return kNoValue;
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::ranges::nth_element(times_s, middle);
  return *middle;
}

double TrainingRun::typical_images_per_s() const {
  return most_images_ / median_step_s();
}

std::optional<double> TrainingRun::lower_mean_images_per_s() const {
  constexpr double kNotable = 0.9;
  if (!done_ || !(done_->images_per_s < kNotable * typical_images_per_s())) return {};
  return done_->images_per_s;
}

bool TrainingRun::is_speed_disturbed() const {
  constexpr double kNotable = 0.2;  // of the cores' time
  return done_ && timed() && others_ >= kNotable;
}

std::string TrainingRun::speed_text() const {
  std::string typical = format_si(typical_images_per_s(), "");
  const std::optional<double> mean = lower_mean_images_per_s();
  return mean ? trf("{}, mean {}", typical, format_si(*mean, "")) : typical;
}

std::string TrainingRun::stopped_text() const {
  if (!done_ || done_->reached_s || !started_ || started_->steps_per_epoch < 1) return {};
  const auto planned =
      static_cast<double>(changes_.empty() ? started_->total_steps : changes_.back().total_steps);
  if (steps_.size() == 0 || steps_.step.back() >= planned) return {};
  const auto per_epoch = static_cast<double>(started_->steps_per_epoch);
  return trf("stopped at epoch {:.1f} of {:.3g}", steps_.step.back() / per_epoch,
             planned / per_epoch);
}

void TrainingRun::add(const StepDone& step) {
  constexpr double kFactor = 10, kLearns = 0.9, kFewestClasses = 10;
  const double classes = std::max(kFewestClasses, static_cast<double>(class_names().size()));
  const double guess = std::log(classes);
  if (!(step.loss <= kFactor * guess)) {
    if (!diverged_at_) diverged_at_ = step.step;
  } else if (step.loss < kLearns * guess) {
    diverged_at_.reset();
  }
  const auto number = static_cast<double>(step.step);
  const double per_epoch =
      started_ ? static_cast<double>(std::max<std::int64_t>(started_->steps_per_epoch, 1)) : 1;
  steps_.step.push_back(number);
  steps_.epoch.push_back(number / per_epoch);
  steps_.t_s.push_back(step.t_s);
  steps_.loss.push_back(step.loss);
  steps_.accuracy.push_back(step.accuracy);
  const double images = images_of(step);
  most_images_ = std::max(most_images_, images);
  steps_.images.push_back(images);
  steps_.weight.push_back(images / most_images_);
  steps_.accuracy_smooth.push_back(accuracy_ema_.add(step.accuracy, steps_.weight.back()));
  steps_.images_per_s.push_back(images < most_images_ ? kNoValue : step.images_per_s);
  steps_.images_per_s_smooth.push_back(speed_ema_.add(steps_.images_per_s.back()));
  add_speed_range();
  highest_images_per_s_ = std::fmax(highest_images_per_s_, steps_.images_per_s_smooth.back());
  steps_.lr.push_back(step.lr);
  devices_.add(step, steps_.epoch.back());
  if (devices_.ranks() > 1 && devices_.step().size() == 1 && started_) {
    set_name(started_->request, started_->lr, devices_.all().size(), devices_.ranks(),
             started_->libraries);
  }
}

void TrainingRun::add_speed_range() {
  std::array<double, kSpeedSteps> speeds{};
  std::size_t n = 0;
  const Column64& all = steps_.images_per_s;
  for (std::size_t i = all.size(); i > 0 && n < speeds.size(); --i) {
    if (std::isfinite(all[i - 1])) speeds[n++] = all[i - 1];
  }
  std::sort(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(n));
  const std::size_t tenth = n / 10;
  steps_.images_per_s_low.push_back(n > 0 ? speeds[tenth] : kNoValue);
  steps_.images_per_s_high.push_back(n > 0 ? speeds[n - 1 - tenth] : kNoValue);
}

void TrainingRun::add(const TrainingChanged& change) {
  changes_.push_back(change);
}

void TrainingRun::add(const EpochDone& epoch) {
  epochs_.step.push_back(steps_.step.empty() ? 0 : steps_.step.back());
  epochs_.epoch.push_back(static_cast<double>(epoch.epoch));
  epochs_.t_s.push_back(steps_.t_s.empty() ? 0 : steps_.t_s.back());
  epochs_.train_loss.push_back(epoch.train_loss);
  epochs_.train_acc.push_back(epoch.train_acc);
  epochs_.test_acc.push_back(epoch.test_acc.value_or(kNoValue));
  epochs_.seconds.push_back(epoch.seconds);
  epochs_.images_per_s.push_back(epoch.images_per_s);
}

}  // namespace lab::ui
