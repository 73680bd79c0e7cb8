#include "ui/model/forms/form_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "compute/core/fields/request_fields.h"
#include "ui/model/forms/forms.h"
#include "ui/model/model.h"

namespace lab::ui {
namespace {

template <typename Number>
bool parse(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

// Accepts a number in the range of its field.
template <typename Number>
bool take(const std::string* saved, const RequestField& field, Number& value) {
  Number read{};
  if (saved == nullptr || !parse(*saved, read)) return false;
  if (!field.range.holds(static_cast<double>(read) / field.scale)) return false;
  value = read;
  return true;
}

}  // namespace

void Save::names(const std::string& key, const std::set<std::string>& values) {
  out_[key] = fmt::format("{}", fmt::join(values, ","));
}

const std::string* Load::find(const std::string& key) const {
  const auto found = saved_.find(key);
  return found == saved_.end() ? nullptr : &found->second;
}

bool Load::text(const std::string& key, std::string& value) const {
  constexpr std::size_t kLongest = 4096;
  const auto* s = find(key);
  if (s == nullptr || s->size() > kLongest) return false;
  value = *s;
  return true;
}

bool Load::flag(const std::string& key, bool& value) const {
  const auto* s = find(key);
  if (s == nullptr || (*s != "0" && *s != "1")) return false;
  value = *s == "1";
  return true;
}

bool Load::choice(const std::string& key, int& value, int choices) const {
  int read = 0;
  const auto* s = find(key);
  if (s == nullptr || !parse(*s, read) || read < 0 || read >= choices) return false;
  value = read;
  return true;
}

void Load::count(const std::string& key, std::int64_t& value, std::int64_t least) const {
  std::int64_t read = 0;
  const auto* s = find(key);
  if (s != nullptr && parse(*s, read) && read >= least) value = read;
}

void Load::real(const std::string& key, double& value, double least) const {
  double read = 0;
  const auto* s = find(key);
  if (s != nullptr && parse(*s, read) && std::isfinite(read) && read >= least) value = read;
}

void Load::names(const std::string& key, std::set<std::string>& values) const {
  const auto* s = find(key);
  if (s == nullptr) return;
  values.clear();
  for (std::size_t begin = 0; begin < s->size();) {
    const std::size_t end = std::min(s->find(',', begin), s->size());
    if (end > begin) values.insert(s->substr(begin, end - begin));
    begin = end + 1;
  }
}

bool Load::field(const std::string& key, const RequestField&, bool& value) const {
  return flag(key, value);
}

bool Load::field(const std::string& key, const RequestField& field, int& value) const {
  return take(find(key), field, value);
}

bool Load::field(const std::string& key, const RequestField& field, std::int64_t& value) const {
  return take(find(key), field, value);
}

// Controls hold signed numbers: larger values are rejected.
bool Load::field(const std::string& key, const RequestField& field, std::uint64_t& value) const {
  std::int64_t read = 0;
  if (!take(find(key), field, read) || read < 0) return false;
  value = static_cast<std::uint64_t>(read);
  return true;
}

bool Load::field(const std::string& key, const RequestField& field, double& value) const {
  double read = 0;
  if (!take(find(key), field, read) || !std::isfinite(read)) return false;
  value = read;
  return true;
}

bool Load::field(const std::string& key, const RequestField& field, std::string& value) const {
  if (field.choices.empty()) return text(key, value);
  int position = 0;
  if (!choice(key, position, static_cast<int>(field.choices.size()))) return false;
  value = field.choices[static_cast<std::size_t>(position)].name;
  return true;
}

namespace {

const std::string kGuess = "learn.guess.";  // followed by the lesson
constexpr int kAnyDevice = 4097;            // panels limit positions to the devices present

template <typename Visitor>
void visit_learn(Visitor& v, auto& f) {
  v.text("learn.lesson", f.lesson);
  v.choice("learn.language", f.language, static_cast<int>(kLessonLanguages.size()));
  v.names("learn.done", f.done);
  v.flag("learn.resume", f.resume);
  v.text("learn.class_folder", f.class_folder);
}

template <typename Visitor>
void visit_devices(Visitor& v, auto& f) {
  v.count("devices.cpu_devices", f.cpu_devices, 1);
}

template <typename Visitor>
void visit_memory(Visitor& v, auto& f) {
  v.choice("memory.device", f.device, kAnyDevice);
  v.text("memory.shape", f.shape);
  v.choice("memory.dtype", f.dtype, 5);
  v.choice("memory.fill", f.fill, static_cast<int>(enum_names<Fill>().size()));
  v.real("memory.value", f.value, -1e300);
  v.text("memory.values", f.values);
  v.count("memory.seed", f.seed, 0);
  v.choice("memory.copy_to", f.copy_to, kAnyDevice);
}

template <typename Visitor>
void visit_transfers(Visitor& v, auto& f) {
  v.choice("transfers.from", f.from, kAnyDevice);
  v.choice("transfers.to", f.to, kAnyDevice);
  v.text("transfers.sizes", f.sizes);
  v.choice("transfers.live_op", f.live_op, static_cast<int>(TransferOp::Chase));
  v.text("transfers.live_size", f.live_size);
  v.flag("transfers.live_all_threads", f.live_all_threads);
  v.fields("transfers", f.request);
  v.flag("transfers.show_table", f.show_table);
}

template <typename Visitor>
void visit_matmul(Visitor& v, auto& f) {
  v.choice("matmul.device", f.device, kAnyDevice);
  v.text("matmul.sizes", f.sizes);
  v.count("matmul.live_size", f.live_size, 1);
  v.choice("matmul.which", f.which, 3);
  v.names("matmul.chosen", f.chosen);
  v.fields("matmul", f.request);
}

template <typename Visitor>
void visit_training(Visitor& v, auto& f) {
  v.fields("training", f.request);
  v.field("training.division", field_of(&StartTraining::share_policy), f.request.share_policy);
  v.text("training.shares", f.shares);
  v.flag("training.more", f.more);
  v.flag("training.larger_batch", f.larger_batch);
  v.choice("training.x_axis", f.x_axis, 3);
  v.choice("training.layer_order", f.layer_order, 2);
  v.flag("training.layer_table", f.layer_table);
  v.flag("training.log_loss", f.log_loss);
  v.real("training.smoothing", f.smoothing, 0);
}

template <typename Visitor>
void visit_scaling(Visitor& v, auto& f) {
  const auto trained = [&](auto member) {
    const RequestField field = field_of(member);
    v.field(std::string("scaling.") + field.key, field, f.request.training.*member);
  };
  trained(&StartTraining::model);
  trained(&StartTraining::data);
  trained(&StartTraining::data_dir);
  trained(&StartTraining::batch);
  v.fields("scaling", f.request);
  const RequestField predicted = predicted_devices_field();
  v.field("scaling.predict_devices", predicted, f.request.predict_devices);
  v.text("scaling.counts", f.counts);
  v.choice("scaling.compute_time", f.compute_time, 3);
  v.real("scaling.compute_ms", f.compute_ms, 0);
  v.real("scaling.fixed_ms", f.fixed_ms, 0);
  v.flag("scaling.estimate_repeat", f.estimate_repeat);
  v.real("scaling.repeat_ms", f.repeat_ms, 0);
  v.real("scaling.read_ms", f.read_ms, 0);
  v.text("scaling.reference_file", f.request.reference_file);
  v.flag("scaling.more", f.more);
  v.flag("scaling.bars_by_share", f.bars_by_share);
  v.choice("scaling.shown_mode", f.shown_mode, 2);
  v.flag("scaling.show_table", f.show_table);
  v.flag("scaling.show_check", f.show_check);
}

template <typename Visitor>
void visit_log(Visitor& v, auto& f) {
  v.flag("log.info", f.info);
  v.flag("log.warning", f.warning);
  v.flag("log.error", f.error);
  v.text("log.filter", f.filter);
}

template <typename Visitor>
void visit_all(Visitor& v, auto& forms) {
  v.text("reference", forms.reference);
  visit_learn(v, forms.learn);
  visit_devices(v, forms.devices);
  visit_memory(v, forms.memory);
  visit_transfers(v, forms.transfers);
  visit_matmul(v, forms.matmul);
  visit_training(v, forms.training);
  visit_scaling(v, forms.scaling);
  visit_log(v, forms.log);
}

std::string ticked(const std::vector<bool>& flags) {
  std::string text;
  for (const bool flag : flags) text += flag ? '1' : '0';
  return text;
}

void load_ticked(const Load& load, const char* key, std::vector<bool>& flags) {
  std::string text;
  load.text(key, text);
  if (text.find_first_not_of("01") != std::string::npos) return;
  flags.clear();
  for (const char c : text) flags.push_back(c == '1');
}

// For example "transfers.copy".
std::string key_of(TransferOp op) {
  return std::string("transfers.") + to_string(op);
}

}  // namespace

void save_forms(const Forms& forms, SavedSettings& out) {
  Save save{out};
  visit_all(save, forms);
  for (const auto& [lesson, guess] : forms.learn.guesses) out[kGuess + lesson] = guess;
  out["training.devices"] = ticked(forms.training.devices);
  out["scaling.devices"] = ticked(forms.scaling.devices);
  for (const TransferOp op : enum_values<TransferOp>()) {
    save.flag(key_of(op), has_op(forms.transfers, op));
  }
  out["training.kernels"] = std::to_string(kernel_choice(forms.training.request));
  out["scaling.modes"] = std::to_string(mode_choice(forms.scaling.request));
}

void load_forms(Forms& forms, const SavedSettings& saved) {
  const Load load{saved};
  visit_all(load, forms);
  for (auto at = saved.lower_bound(kGuess); at != saved.end() && at->first.starts_with(kGuess);
       ++at) {
    load.text(at->first, forms.learn.guesses[at->first.substr(kGuess.size())]);
  }
  if (forms.matmul.request.together) {
    forms.matmul.tabs.kind = static_cast<int>(RunKind::Together);
  }
  load_ticked(load, "training.devices", forms.training.devices);
  load_ticked(load, "scaling.devices", forms.scaling.devices);
  for (const TransferOp op : enum_values<TransferOp>()) {
    bool on = has_op(forms.transfers, op);
    load.flag(key_of(op), on);
    set_op(forms.transfers, op, on);
  }
  int kernels = kernel_choice(forms.training.request);
  load.choice("training.kernels", kernels, kBothKernels + 1);
  set_kernel_choice(forms.training.request, kernels);
  int modes = mode_choice(forms.scaling.request);
  load.choice("scaling.modes", modes, kBothModes + 1);
  set_mode_choice(forms.scaling.request, modes);
}

void forget_devices(Forms& forms) {
  const Forms usual;
  forms.memory.device = usual.memory.device;
  forms.memory.copy_to = usual.memory.copy_to;
  forms.transfers.from = usual.transfers.from;
  forms.transfers.to = usual.transfers.to;
  forms.matmul.device = usual.matmul.device;
  forms.training.devices = usual.training.devices;
  forms.scaling.devices = usual.scaling.devices;
}

}  // namespace lab::ui
