#include <fmt/format.h>

#include <limits>

#include "app/cli/option_text.h"
#include "app/cli/options.h"

namespace lab::app {
namespace {

constexpr std::int64_t kMany = 1'000'000'000;

void add_data_options(CLI::App& app, StartTraining& request, TrainText& extra) {
  add_value(app, "--data", "synthetic|fashion-mnist", "Training set; synthetic when left out",
            [&](const std::string& text) {
              request.data =
                  choose<DataSource>(text, {{"synthetic", DataSource::Synthetic},
                                            {"fashion-mnist", DataSource::FashionMnist}});
              extra.data_asked = true;
            });
  add_value(app, "--data-dir", "DIR", "Where Fashion-MNIST lies; implies --data fashion-mnist",
            [&](const std::string& text) { request.data_dir = text; });
  add_value(app, "--synthetic-train", "N", "Synthetic images to train on",
            [&](const std::string& text) {
              request.synthetic_train = whole_number(text, 1, 10'000'000);
            });
  add_value(
      app, "--synthetic-test", "N", "Synthetic images to test on",
      [&](const std::string& text) { request.synthetic_test = whole_number(text, 1, 10'000'000); });
  add_value(app, "--order", "shuffled|sequential",
            "Sequential: file order, the last small batch kept", [&](const std::string& text) {
              request.order = choose<BatchOrder>(text, {{"shuffled", BatchOrder::Shuffled},
                                                        {"sequential", BatchOrder::Sequential}});
            });
}

void add_step_options(CLI::App& app, StartTraining& request) {
  add_value(app, "--batch", "N", "Images of one step",
            [&](const std::string& text) { request.batch = whole_number(text, 1, kMany); });
  add_value(app, "--lr", "X", "Learning rate; the chapters' for the model when left out",
            [&](const std::string& text) { request.lr = real_number(text, 0, 1e6); });
  add_value(app, "--momentum", "X", "Momentum of SGD, 0 to 1",
            [&](const std::string& text) { request.momentum = real_number(text, 0, 1); });
  add_value(app, "--weight-decay", "X", "Weight decay of SGD",
            [&](const std::string& text) { request.weight_decay = real_number(text, 0, 1e6); });
  add_value(app, "--epochs", "N", "Passes over the training set",
            [&](const std::string& text) { request.epochs = whole_number(text, 1, kMany); });
  add_value(app, "--steps", "N", "End after so many steps",
            [&](const std::string& text) { request.steps = whole_number(text, 0, kMany); });
  add_value(app, "--seed", "N", "Seed of weights, order and synthetic images",
            [&](const std::string& text) { request.seed = seed_number(text); });
}

void check_share_list(const std::string& text, std::size_t devices) {
  const std::vector<std::string> parts = comma_list(text);
  double sum = 0;
  for (const std::string& part : parts) sum += real_number(part, 0, 1e9);
  if (parts.size() != devices || sum <= 0) {
    throw Error(Errc::Usage, fmt::format("'{}' has {} shares for {} devices; give one positive "
                                         "share for each, or auto, or equal",
                                         text, parts.size(), devices));
  }
}

}  // namespace

void add_train_options(CLI::App& app, JobOptions& out, StartTraining& request, TrainText& extra) {
  add_cpu_devices(app, out.cpu_devices);
  add_json(app, out.json);
  add_value(app, "--model", "NAME", "softmax, mlp, lenet or resnet18",
            [&](const std::string& text) {
              choice_index(text, {"softmax", "mlp", "lenet", "resnet18"});
              request.model = text;
            });
  add_value(app, "--devices", "LIST", "Devices that train; cpu:0 when left out",
            [&](const std::string& text) { request.devices = parse_devices(text); });
  add_value(app, "--shares", "auto|equal|X,Y,...", "Parts of the batch for the devices",
            [&](const std::string& text) { extra.shares = text; });
  add_data_options(app, request, extra);
  add_step_options(app, request);
  add_value(app, "--kernels", "lab|library", "Whose matrix multiplication",
            [&](const std::string& text) {
              request.kernels =
                  choose<Kernels>(text, {{"lab", Kernels::Lab}, {"library", Kernels::Library}});
            });
  add_value(app, "--dtype", "f32|bf16|tf32", "Element type", [&](const std::string& text) {
    if (text == "tf32") throw Error(Errc::Unsupported, "tf32 needs an NVIDIA GPU; use f32");
    request.dtype = choose<DType>(text, {{"f32", DType::F32}, {"bf16", DType::BF16}});
  });
  add_value(app, "--init", "FILE.safetensors", "Weights to start from",
            [&](const std::string& text) { request.init_file = text; });
  add_value(app, "--save", "FILE.safetensors", "Where to write the trained weights",
            [&](const std::string& text) { request.save_file = text; });
  app.add_flag_callback(
      "--no-eval", [&] { request.evaluate = false; },
      "Leave out the test accuracy after each epoch");
}

void finish_training(StartTraining& request, const TrainText& extra) {
  if (!extra.data_asked && !request.data_dir.empty()) request.data = DataSource::FashionMnist;
  if (extra.shares == "auto" || extra.shares == "equal") return;
  try {
    check_share_list(extra.shares, std::max<std::size_t>(1, request.devices.size()));
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("--shares: {}", e.what()));
  }
}

}  // namespace lab::app
