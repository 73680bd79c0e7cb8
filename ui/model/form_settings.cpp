// What of the forms is remembered between starts, as text under a key.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ui/model/forms.h"

namespace lab::ui {
namespace {

using Settings = std::map<std::string, std::string>;

struct Save {
  Settings& out;
  void text(const char* key, const std::string& value) { out[key] = value; }
  void flag(const char* key, bool value) { out[key] = value ? "1" : "0"; }
  void choice(const char* key, int value, int) { out[key] = std::to_string(value); }
  void count(const char* key, std::int64_t value, std::int64_t) {
    out[key] = std::to_string(value);
  }
  void real(const char* key, double value, double) { out[key] = fmt::format("{}", value); }
  void names(const char* key, const std::set<std::string>& values) {
    out[key] = fmt::format("{}", fmt::join(values, ","));
  }
};

template <typename Number>
bool parse(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

struct Load {
  const Settings& saved;

  const std::string* find(const char* key) const {
    const auto found = saved.find(key);
    return found == saved.end() ? nullptr : &found->second;
  }
  void text(const char* key, std::string& value) const {
    constexpr std::size_t kLongest = 4096;
    if (const auto* s = find(key); s != nullptr && s->size() <= kLongest) value = *s;
  }
  void flag(const char* key, bool& value) const {
    if (const auto* s = find(key); s != nullptr && (*s == "0" || *s == "1")) value = *s == "1";
  }
  void choice(const char* key, int& value, int choices) const {
    int read = 0;
    const auto* s = find(key);
    if (s != nullptr && parse(*s, read) && read >= 0 && read < choices) value = read;
  }
  void count(const char* key, std::int64_t& value, std::int64_t least) const {
    std::int64_t read = 0;
    const auto* s = find(key);
    if (s != nullptr && parse(*s, read) && read >= least) value = read;
  }
  void real(const char* key, double& value, double least) const {
    double read = 0;
    const auto* s = find(key);
    if (s != nullptr && parse(*s, read) && std::isfinite(read) && read >= least) value = read;
  }
  void names(const char* key, std::set<std::string>& values) const {
    const auto* s = find(key);
    if (s == nullptr) return;
    values.clear();
    for (std::size_t begin = 0; begin < s->size();) {
      const std::size_t end = std::min(s->find(',', begin), s->size());
      if (end > begin) values.insert(s->substr(begin, end - begin));
      begin = end + 1;
    }
  }
};

constexpr int kAnyDevice = 4097;  // panels bound positions by the devices that are there

template <typename Visitor>
void visit_devices(Visitor& v, auto& f) {
  v.count("devices.cpu_devices", f.cpu_devices, 1);
}

template <typename Visitor>
void visit_memory(Visitor& v, auto& f) {
  v.choice("memory.device", f.device, kAnyDevice);
  v.text("memory.shape", f.shape);
  v.choice("memory.dtype", f.dtype, 5);
  v.choice("memory.fill", f.fill, 6);
  v.real("memory.value", f.value, -1e300);
  v.count("memory.seed", f.seed, 0);
  v.choice("memory.copy_to", f.copy_to, kAnyDevice);
}

template <typename Visitor>
void visit_transfers(Visitor& v, auto& f) {
  v.choice("transfers.from", f.from, kAnyDevice);
  v.choice("transfers.to", f.to, kAnyDevice);
  v.flag("transfers.read", f.ops[0]);
  v.flag("transfers.write", f.ops[1]);
  v.flag("transfers.copy", f.ops[2]);
  v.flag("transfers.triad", f.ops[3]);
  v.flag("transfers.both", f.ops[4]);
  v.flag("transfers.pieces", f.ops[5]);
  v.flag("transfers.chase", f.ops[6]);
  v.flag("transfers.overlap", f.ops[7]);
  v.text("transfers.sizes", f.sizes);
  v.flag("transfers.one_thread", f.one_thread);
  v.flag("transfers.all_threads", f.all_threads);
  v.choice("transfers.cache", f.cache, 2);
  v.real("transfers.budget_s", f.budget_s, 0);
  v.flag("transfers.show_table", f.show_table);
}

template <typename Visitor>
void visit_matmul(Visitor& v, auto& f) {
  v.choice("matmul.device", f.device, kAnyDevice);
  v.text("matmul.sizes", f.sizes);
  v.choice("matmul.which", f.which, 3);
  v.names("matmul.chosen", f.chosen);
  v.choice("matmul.dtype", f.dtype, 3);
  v.choice("matmul.cache", f.cache, 2);
  v.real("matmul.budget_s", f.budget_s, 0);
  v.count("matmul.seed", f.seed, 0);
}

template <typename Visitor>
void visit_training(Visitor& v, auto& f) {
  v.choice("training.model", f.model, 4);
  v.choice("training.data", f.data, 2);
  v.text("training.data_dir", f.data_dir);
  v.count("training.synthetic_train", f.synthetic_train, 1);
  v.count("training.synthetic_test", f.synthetic_test, 1);
  v.count("training.batch", f.batch, 1);
  v.real("training.lr", f.lr, 0);
  v.real("training.momentum", f.momentum, 0);
  v.real("training.weight_decay", f.weight_decay, 0);
  v.count("training.epochs", f.epochs, 1);
  v.choice("training.order", f.order, 2);
  v.choice("training.kernels", f.kernels, 3);
  v.choice("training.dtype", f.dtype, 2);
  v.flag("training.profile", f.profile);
  v.count("training.seed", f.seed, 0);
  v.choice("training.division", f.division, 3);
  v.text("training.shares", f.shares);
  v.choice("training.lr_scale", f.lr_scale, 2);
  v.real("training.warmup_epochs", f.warmup_epochs, 0);
  v.text("training.checkpoint_dir", f.checkpoint_dir);
  v.count("training.checkpoint_every", f.checkpoint_every, 0);
  v.text("training.resume_dir", f.resume_dir);
  v.flag("training.more", f.more);
  v.flag("training.larger_batch", f.larger_batch);
  v.choice("training.x_axis", f.x_axis, 3);
  v.choice("training.layer_order", f.layer_order, 2);
  v.flag("training.layer_table", f.layer_table);
  v.flag("training.log_loss", f.log_loss);
}

template <typename Visitor>
void visit_scaling(Visitor& v, auto& f) {
  v.choice("scaling.model", f.model, 4);
  v.choice("scaling.data", f.data, 2);
  v.text("scaling.data_dir", f.data_dir);
  v.count("scaling.batch", f.batch, 1);
  v.text("scaling.counts", f.counts);
  v.choice("scaling.modes", f.modes, 3);
  v.count("scaling.steps", f.steps, 1);
  v.count("scaling.warmup", f.warmup, 0);
  v.count("scaling.rounds", f.rounds, 1);
  v.flag("scaling.accuracy", f.accuracy);
  v.count("scaling.accuracy_steps", f.accuracy_steps, 1);
  v.count("scaling.predict_devices", f.predict_devices, 2);
  v.choice("scaling.link", f.link, static_cast<int>(scaling_links().size()));
  v.choice("scaling.compute_time", f.compute_time, 3);
  v.real("scaling.compute_ms", f.compute_ms, 0);
  v.text("scaling.reference_file", f.reference_file);
  v.flag("scaling.more", f.more);
  v.flag("scaling.bars_by_share", f.bars_by_share);
  v.choice("scaling.shown_mode", f.shown_mode, 2);
  v.flag("scaling.show_table", f.show_table);
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

}  // namespace

void save_forms(const Forms& forms, Settings& out) {
  Save save{out};
  visit_all(save, forms);
  out["training.devices"] = ticked(forms.training.devices);
  out["scaling.devices"] = ticked(forms.scaling.devices);
}

void load_forms(Forms& forms, const Settings& saved) {
  Load load{saved};
  visit_all(load, forms);
  load_ticked(load, "training.devices", forms.training.devices);
  load_ticked(load, "scaling.devices", forms.scaling.devices);
}

}  // namespace lab::ui
