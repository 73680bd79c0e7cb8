// Lesson "network": a network's parameters live on a device; its state file names none. Exercise 2.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/gpu/gpu_backend.h"
#include "compute/nn/network.h"
#include "compute/nn/state_dict.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kInputs = 3, kBatch = 4;

nn::NetworkPlan linear_plan() {
  nn::NetworkPlan plan("linear", {1, 1, kInputs}, nn::WeightInit::FanInUniform);
  plan.linear(plan.input(), plan.declare_linear("0", kInputs, 1));
  return plan;
}

// net(X); X must be on the network's device.
std::vector<float> forward(nn::Network& net, const Tensor& x) {
  if (x.device() != net.device().device()) {
    throw Error(Errc::DeviceMismatch,
                trf("forward: X is on {} and the network on {}; copy X first: X.to({})",
                    to_string(x.device()), to_string(net.device().device()),
                    to_string(net.device().device())));
  }
  std::vector<float> y(kBatch);
  GpuDevice* const gpu = net.device().gpu();
  if (gpu == nullptr) {
    std::memcpy(net.input(), x.data(), static_cast<std::size_t>(x.bytes()));
    net.forward(kBatch, false, {});
    std::copy_n(net.logits().data, kBatch, y.begin());
    return y;
  }
  GpuStream& stream = gpu->main_stream();
  gpu->copy(GpuCopy::DeviceToDevice, net.input(), x.data(), x.bytes(), stream);
  net.forward(kBatch, false, {});
  gpu->copy(GpuCopy::DeviceToHost, y.data(), net.logits().data, kBatch * 4, stream);
  stream.synchronise();
  return y;
}

// The file to save to: the one to keep, or a temporary one that is removed.
class StateFile {
 public:
  explicit StateFile(const std::string& kept)
      : temporary_(kept.empty()),
        path_(kept.empty() ? std::filesystem::temp_directory_path() /
                                 fmt::format("device-lab-network-{}.safetensors", ::getpid())
                           : std::filesystem::path(kept)) {}
  ~StateFile() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove(path_, ignored);
  }
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const bool temporary_;
  const std::filesystem::path path_;
};

// try_gpu(), on which the network is, and another device: a CPU in addition to a GPU.
struct NetworkDevices {
  DeviceContext& home;
  DeviceContext& other;
};

NetworkDevices network_devices(Machine& machine) {
  DeviceContext& home = machine.at(machine.try_gpu());
  return {home, machine.at(home.gpu() != nullptr ? cpu() : cpu(machine.num_cpus() - 1))};
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

// Saves the network, of which net(X) is `y`, and loads it on another device.
void save_and_load(LessonStage& stage, nn::Network& net, const Tensor& x,
                   const std::vector<float>& y, DeviceContext& other) {
  const StateFile file(stage.save_file());
  const double values = 4.0 * static_cast<double>(net.parameter_count());
  LessonPrediction prediction;
  prediction.series = tr("bytes of the state file");
  prediction.value = values;
  prediction.unit = "B";
  prediction.formula = tr("4 B per parameter");
  prediction.constants = {{tr("parameters"), static_cast<double>(net.parameter_count()), ""}};
  stage.predict(prediction);
  net.read_state();
  nn::save_network(net, file.path());
  const std::vector<std::uint8_t> written = files::read_file(file.path());
  const auto bytes = static_cast<double>(written.size());
  stage.count(prediction.series, bytes, "B");
  stage.answer({bytes});
  const auto parsed = nn::parse_safetensors(std::as_bytes(std::span(written)));
  double stored = 0;
  for (const nn::TensorView& tensor : parsed) stored += static_cast<double>(tensor.data.size());
  stage.check(tr("the file holds exactly the parameters"), stored == values);
  stage.gap(
      {prediction.series,
       "B",
       values,
       bytes,
       {{tr("names, shapes and types"), bytes - stored - 8}, {tr("length of the header"), 8}}});
  stage.step(4);
  nn::Network loaded(linear_plan(), other, kBatch, 99);
  nn::load_network(loaded, file.path());
  loaded.write_state();
  const auto mine = net.flat_parameters(), theirs = loaded.flat_parameters();
  const bool equal = mine.size_bytes() == theirs.size_bytes() &&
                     std::memcmp(mine.data(), theirs.data(), mine.size_bytes()) == 0;
  stage.observe(trf("loaded on {}", to_string(other.device())),
                equal ? tr("equal, bit for bit") : tr("different"));
  stage.check(tr("the loaded network is equal bit for bit"), equal);
  stage.check(tr("the loaded network gives the same net(X), up to rounding"),
              largest_difference(forward(loaded, x.to(other)), y) < 1e-5);
}

void run_network_lesson(LessonStage& stage) {
  const auto [home, other] = network_devices(stage.machine());
  stage.step(0);
  nn::Network net(linear_plan(), home, kBatch, 1);
  for (const nn::Parameter& p : net.parameters()) {
    const std::size_t point = p.name.find('.');  // of "0.weight"
    stage.observe(fmt::format("net[{}]{}", p.name.substr(0, point), p.name.substr(point)),
                  trf("values: {}, on {}", p.size, to_string(net.device().device())));
  }
  stage.step(1);
  const Tensor x = rand(home, {kBatch, kInputs}, 5);
  const std::vector<float> y = forward(net, x);
  stage.observe("net(X)", trf("{:.4f}, {:.4f}, {:.4f}, {:.4f} on {}", y[0], y[1], y[2], y[3],
                              to_string(home.device())));
  double expected = net.parameters()[1].value[0];
  const Tensor on_host = x.to(stage.machine().at(cpu()));
  for (std::int64_t i = 0; i < kInputs; ++i) {
    expected += static_cast<double>(net.parameters()[0].value[i]) * on_host.values<float>()[i];
  }
  stage.check(tr("net(X) = X w + b"), std::abs(y[0] - expected) < 1e-5);
  stage.step(2);
  if (other.device() == home.device()) {
    stage.observe(tr("net(X elsewhere)"),
                  tr("this machine has one device; split the CPU to see the error"));
  } else {
    std::optional<std::string> refusal;
    try {
      forward(net, x.to(other));
    } catch (const Error& e) {
      refusal = e.what();
      stage.check(tr("the error of net(X) with X elsewhere is a device mismatch"),
                  e.code() == Errc::DeviceMismatch);
    }
    stage.observe(tr("net(X elsewhere)"), refusal.value_or(tr("a result")));
    stage.check(tr("net(X) with X elsewhere is refused"), refusal.has_value());
  }
  stage.step(3);
  save_and_load(stage, net, x, y, other);
  stage.conclude(trf(
      "The network's {} parameters are on {}; its state file holds names and values but no device, "
      "so it was loaded on {} unchanged.",
      net.parameter_count(), to_string(home.device()), to_string(other.device())));
}

}  // namespace

Lesson network_lesson() {
  LessonInfo info;
  info.name = "network";
  info.timed = false;
  info.saves = true;
  info.title = LAB_TEXT("A network on a device");
  info.devices = 2;
  info.text = {
      LAB_TEXT("Moving a network to a device moves its parameters. From then on its inputs must be "
               "there "
               "too, and its outputs are."),
      LAB_TEXT(
          "The chapter's network is a single linear layer with three inputs and one output: three "
          "weights and one bias."),
      LAB_TEXT("Exercise 2: save the parameters, load them on another device, and compare. The lab "
               "saves in the safetensors format: a header with names, shapes and types, then the "
               "values, and no device. A file of torch.save also says where each tensor was, and "
               "map_location chooses another place. The other frameworks' files differ in size.")};
  info.steps = {
      {LAB_TEXT("Put the network on a device"),
       {"net = net.to(device=try_gpu())", "net.initialize(ctx=try_gpu())",
        "with strategy.scope(): net = keras.Sequential([Dense(1)])",
        "params = jax.device_put(params, try_gpu())", "Network net(plan, device, batch)"}},
      {LAB_TEXT("Forward"),
       {"net(X)", "net(X)", "net(X)", "net.apply(params, X)", "net.forward(batch)"}},
      {LAB_TEXT("Forward with X elsewhere"),
       {"net(X.cpu())", "net(X.as_in_ctx(cpu()))", "net(X)  # copies silently",
        "net.apply(params, X)", "net.forward(batch)"}},
      {LAB_TEXT("Save"),
       {"torch.save(net.state_dict(), 'net')", "net.save_parameters('net')",
        "net.save_weights('net.weights.h5')", "jnp.savez('net.npz', **params)",
        "save_network(net, \"net\")"}},
      {LAB_TEXT("Load on another device"),
       {"net.load_state_dict(torch.load('net', map_location=device))",
        "net.load_parameters('net', ctx=gpu(1))", "net.load_weights('net.weights.h5')",
        "jnp.load('net.npz')", "load_network(other, \"net\")"}}};
  info.question = {
      .text = LAB_TEXT("How many bytes does the lab's state file of Linear(3, 1) have?"),
      .unit = "B",
      .low = 1,
      .high = 1 << 20,
      .why = LAB_TEXT("The four parameters take 16 bytes. The rest holds their names, "
                      "shapes and types, which weigh little in a large network.")};
  StartTraining free;
  free.model = "softmax";
  info.free = free;
  return {info, run_network_lesson};
}

}  // namespace lab::lessons
