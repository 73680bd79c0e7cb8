#include "compute/nn/state_dict.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/nn/parameter.h"

namespace lab::nn {
namespace {

// One named tensor of a network; `save` and `load` exchange elements in PyTorch's order.
struct NamedState {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::function<void(std::byte*)> save;
  std::function<void(const std::byte*)> load;
};

// `lab_values` holds the parameter's elements in the lab's order.
NamedState parameter_entry(const Parameter& p, float* lab_values) {
  const auto save = [&p, lab_values](std::byte* to) {
    std::vector<float> torch(static_cast<std::size_t>(p.size));
    to_torch(p, lab_values, torch);
    std::memcpy(to, torch.data(), torch.size() * sizeof(float));
  };
  const auto load = [&p, lab_values](const std::byte* from) {
    std::vector<float> torch(static_cast<std::size_t>(p.size));
    std::memcpy(torch.data(), from, torch.size() * sizeof(float));
    from_torch(p, torch, lab_values);
  };
  return {p.name, DType::F32, p.shape, save, load};
}

// Only the entry's load writes to `floats` or `number`.
NamedState floats_entry(std::string name, std::span<float> floats) {
  return {
      std::move(name),
      DType::F32,
      {static_cast<std::int64_t>(floats.size())},
      [floats](std::byte* to) { std::memcpy(to, floats.data(), floats.size_bytes()); },
      [floats](const std::byte* from) { std::memcpy(floats.data(), from, floats.size_bytes()); }};
}

NamedState scalar_entry(std::string name, std::int64_t& number) {
  return {std::move(name),
          DType::I64,
          {},
          [&number](std::byte* to) { std::memcpy(to, &number, sizeof number); },
          [&number](const std::byte* from) { std::memcpy(&number, from, sizeof number); }};
}

std::vector<NamedState> state_entries(Network& network) {
  std::vector<NamedState> all;
  for (std::size_t i = 0; i < network.parameters().size(); ++i) {
    Parameter& parameter = network.parameters()[i];
    all.push_back(parameter_entry(parameter, parameter.value));
    for (RunningStatistics& running : network.running()) {
      if (running.after_parameter != i) continue;
      all.push_back(floats_entry(running.name + ".running_mean", running.mean));
      all.push_back(floats_entry(running.name + ".running_var", running.variance));
      all.push_back(scalar_entry(running.name + ".num_batches_tracked", running.batches));
    }
  }
  return all;
}

std::vector<NamedState> velocity_entries(Network& network, Sgd& sgd) {
  std::vector<NamedState> all;
  if (sgd.velocity().empty()) return all;
  for (const Parameter& parameter : network.parameters()) {
    const auto offset = parameter.value - network.flat_parameters().data();
    all.push_back(parameter_entry(parameter, sgd.velocity().data() + offset));
  }
  return all;
}

// "a, b, c and 4 more".
std::string join_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  }
  return names.size() > kShown ? trf("{} and {} more", text, names.size() - kShown) : text;
}

using TensorsByName = std::map<std::string_view, const TensorView*>;

void check_names(const std::vector<NamedState>& expected, const TensorsByName& given,
                 const std::string& source, const std::string& what) {
  std::map<std::string_view, bool> known;
  std::vector<std::string> missing, unexpected;
  for (const NamedState& entry : expected) {
    known[entry.name] = true;
    if (!given.contains(entry.name)) missing.push_back(entry.name);
  }
  for (const auto& [name, tensor] : given) {
    if (!known.contains(name)) unexpected.emplace_back(name);
  }
  if (missing.empty() && unexpected.empty()) return;
  const std::string lacks = join_names(missing), extra = join_names(unexpected);
  throw Error(Errc::Corrupt,
              unexpected.empty()
                  ? trf("{} does not contain a {}: missing {}; was it saved from another model?",
                        source, what, lacks)
              : missing.empty()
                  ? trf("{} does not contain a {}: unexpected {}; was it saved from another model?",
                        source, what, extra)
                  : trf("{} does not contain a {}: missing {}; unexpected {}; was it saved from "
                        "another model?",
                        source, what, lacks, extra));
}

void check_finite(const TensorView& tensor, const std::string& source) {
  if (tensor.dtype != DType::F32) return;
  const std::size_t n = tensor.data.size() / sizeof(float);
  for (std::size_t i = 0; i < n; ++i) {
    float value = 0;
    std::memcpy(&value, tensor.data.data() + i * sizeof value, sizeof value);
    if (!std::isfinite(value)) {
      throw Error(Errc::Corrupt, trf("{}: element {} of {} is {}; all values must be finite",
                                     source, i, tensor.name, printable(value)));
    }
  }
}

void check_tensor(const NamedState& entry, const TensorView& tensor, const std::string& source) {
  if (tensor.dtype != entry.dtype) {
    throw Error(Errc::Corrupt, trf("{}: {} has dtype {} but the model needs {}", source, entry.name,
                                   to_string(tensor.dtype), to_string(entry.dtype)));
  }
  if (tensor.shape != entry.shape) {
    throw Error(Errc::Corrupt, trf("{}: {} has shape {} but the model needs {}", source, entry.name,
                                   to_string(tensor.shape), to_string(entry.shape)));
  }
  check_finite(tensor, source);
}

TensorsByName by_name(std::span<const TensorView> tensors) {
  TensorsByName given;
  for (const TensorView& tensor : tensors) given[tensor.name] = &tensor;
  return given;
}

void check_all(const std::vector<NamedState>& expected, const TensorsByName& given,
               const std::string& source, const std::string& what) {
  check_names(expected, given, source, what);
  for (const NamedState& entry : expected) check_tensor(entry, *given.at(entry.name), source);
}

std::vector<StateTensor> save_all(const std::vector<NamedState>& entries) {
  std::vector<StateTensor> tensors;
  for (const NamedState& entry : entries) {
    StateTensor tensor{entry.name, entry.dtype, entry.shape, {}};
    tensor.data.resize(static_cast<std::size_t>(count(entry.shape) * size_of(entry.dtype)));
    entry.save(tensor.data.data());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void load_all(const std::vector<NamedState>& expected, const TensorsByName& given) {
  for (const NamedState& entry : expected) entry.load(given.at(entry.name)->data.data());
}

}  // namespace

std::vector<StateTensor> state_dict(Network& network) {
  return save_all(state_entries(network));
}

void load_state_dict(Network& network, std::span<const TensorView> tensors,
                     const std::string& source) {
  const std::vector<NamedState> expected = state_entries(network);
  const TensorsByName given = by_name(tensors);
  check_all(expected, given, source, network.name());
  load_all(expected, given);
}

std::vector<StateTensor> optimizer_state(Network& network, Sgd& sgd) {
  if (!sgd.started()) return {};
  return save_all(velocity_entries(network, sgd));
}

void check_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                           const std::string& source) {
  check_all(velocity_entries(network, sgd), by_name(tensors), source,
            trf("{}'s momentum", network.name()));
}

void load_optimizer_state(Network& network, Sgd& sgd, std::span<const TensorView> tensors,
                          const std::string& source) {
  check_optimizer_state(network, sgd, tensors, source);
  load_all(velocity_entries(network, sgd), by_name(tensors));
  sgd.set_started(true);
}

std::string find_non_finite_state(Network& network, Sgd& sgd) {
  std::string fault;
  const auto check = [&](const std::string& name, std::span<const float> values) {
    if (!fault.empty()) return;
    const auto found =
        std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
    if (found != values.end()) fault = trf("{} contains {}", name, printable(*found));
  };
  for (const Parameter& p : network.parameters()) {
    check(p.name, {p.value, static_cast<std::size_t>(p.size)});
  }
  for (const RunningStatistics& running : network.running()) {
    check(running.name + ".running_mean", running.mean);
    check(running.name + ".running_var", running.variance);
  }
  if (sgd.started()) check(tr("the momentum"), sgd.velocity());
  return fault;
}

std::vector<std::byte> format_state(std::span<const StateTensor> tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const StateTensor& t : tensors) views.push_back({t.name, t.dtype, t.shape, t.data});
  return format_safetensors(views);
}

void save_network(Network& network, const std::filesystem::path& path) {
  files::write_file(path, format_state(state_dict(network)));
}

void load_network(Network& network, const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = files::read_file(path);
  std::vector<TensorView> tensors;
  try {
    tensors = parse_safetensors(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    throw Error(error.code(), path.string() + ": " + error.what());
  }
  load_state_dict(network, tensors, path.string());
}

}  // namespace lab::nn
