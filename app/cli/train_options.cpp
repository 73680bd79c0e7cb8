#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "app/cli/option_text.h"
#include "app/cli/options.h"
#include "compute/train/convolution_choice.h"
#include "compute/train/training_request.h"

namespace lab::app {
namespace {

constexpr std::int64_t kMostTrained = 1'000'000'000;

}  // namespace

void add_model_option(CLI::App& app, std::string& model) {
  add_value(app, "--model", "NAME", "softmax, mlp, lenet or resnet18",
            [&model](const std::string& text) {
              choice_index(text, {"softmax", "mlp", "lenet", "resnet18"});
              model = text;
            });
}

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
              request.synthetic_train = whole_number(text, 1, kMostImages);
            });
  add_value(app, "--synthetic-test", "N", "Synthetic images to test on",
            [&](const std::string& text) {
              request.synthetic_test = whole_number(text, 1, kMostImages);
            });
  add_value(app, "--order", "shuffled|sequential",
            "Sequential: file order, the last small batch kept", [&](const std::string& text) {
              request.order = choose<BatchOrder>(text, {{"shuffled", BatchOrder::Shuffled},
                                                        {"sequential", BatchOrder::Sequential}});
            });
}

namespace {

void add_step_options(CLI::App& app, StartTraining& request) {
  add_value(app, "--batch", "N", "Images of one step",
            [&](const std::string& text) { request.batch = whole_number(text, 1, kMostImages); });
  add_value(app, "--lr", "X", "Learning rate, above 0; the chapters' for the model when left out",
            [&](const std::string& text) { request.lr = real_number(text, 0, 1e6, Ends::NotMin); });
  add_value(
      app, "--momentum", "X", "Momentum of SGD, from 0 to below 1; 0 when left out",
      [&](const std::string& text) { request.momentum = real_number(text, 0, 1, Ends::NotMax); });
  add_value(app, "--weight-decay", "X", "Weight decay of SGD",
            [&](const std::string& text) { request.weight_decay = real_number(text, 0, 1e6); });
  add_value(app, "--epochs", "N", "Passes over the training set",
            [&](const std::string& text) { request.epochs = whole_number(text, 1, kMostEpochs); });
  add_value(app, "--steps", "N", "End after so many steps",
            [&](const std::string& text) { request.steps = whole_number(text, 0, kMostTrained); });
  add_value(app, "--seed", "N", "Seed of weights, order and synthetic images",
            [&](const std::string& text) { request.seed = seed_number(text); });
}

void add_kernel_options(CLI::App& app, StartTraining& request) {
  add_value(app, "--kernels", "lab|library|both",
            "Whose kernels compute; both: steps take turns with them, and a profile of each layer "
            "compares them",
            [&](const std::string& text) {
              const std::size_t which = choice_index(text, {"lab", "library", "both"});
              request.kernels = which == 1 ? Kernels::Library : Kernels::Lab;
              request.compare_kernels = which == 2;
            });
  add_value(app, "--convolution", "auto|rule|NAME",
            "Algorithm of our convolutions: the fastest by measurement, by shape, or gemm, direct, "
            "winograd2, winograd4 wherever it can",
            [&](const std::string& text) {
              choice_index(text, convolution_choice_names());
              request.convolution = text;
            });
  app.add_flag_callback(
      "--profile", [&] { request.profile = true; },
      "Measure each layer's time, GFLOP/s and share of the peak, on the first device");
}

void add_rate_options(CLI::App& app, StartTraining& request) {
  add_value(app, "--lr-scale", "none|linear",
            "Linear: the learning rate grows with the batch, lr * batch / 256",
            [&](const std::string& text) {
              request.lr_scale =
                  choose<LrScale>(text, {{"none", LrScale::None}, {"linear", LrScale::Linear}});
            });
  add_value(app, "--warmup-epochs", "X", "The learning rate rises to its value over so many epochs",
            [&](const std::string& text) { request.warmup_epochs = real_number(text, 0, 1e6); });
}

void add_parallel_options(CLI::App& app, StartTraining& request, TrainText& extra) {
  add_value(app, "--devices", "LIST",
            "Devices that train together, each rank's own under mpirun; cpu:0 when left out",
            [&](const std::string& text) { request.devices = parse_devices(text); });
  add_value(app, "--shares", "auto|equal|X,Y,...",
            "Parts of the batch for the devices: equal when left out; auto: by measured speed; a "
            "list: in proportion, fractions sum to 1",
            [&](const std::string& text) { extra.shares = text; });
  add_value(app, "--bucket-mib", "X", "Gradients are summed in pieces of X MiB; 25 when left out",
            [&](const std::string& text) {
              constexpr double kMib = 1 << 20;
              request.bucket_bytes = std::llround(real_number(text, 1.0 / 256, 1024) * kMib);
            });
}

void add_file_options(CLI::App& app, StartTraining& request) {
  add_value(app, "--init", "FILE.safetensors", "Weights to start from",
            [&](const std::string& text) { request.init_file = text; });
  add_value(app, "--save", "FILE.safetensors", "Where to write the trained weights",
            [&](const std::string& text) { request.save_file = text; });
  add_value(app, "--checkpoint", "DIR", "Where to write checkpoints; the newest two are kept",
            [&](const std::string& text) { request.checkpoint_dir = text; });
  add_value(app, "--every", "N", "Steps between checkpoints; at the end alone when left out",
            [&](const std::string& text) {
              request.checkpoint_every = whole_number(text, 0, kMostTrained);
            });
  add_value(app, "--resume", "DIR",
            "Go on from the newest checkpoint there; --epochs and --steps count from the beginning",
            [&](const std::string& text) { request.resume_dir = text; });
}

void read_shares(const TrainText& extra, StartTraining& request) {
  const std::string& text = extra.shares;
  const bool word = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
  if (word) {
    request.share_policy =
        choose<SharePolicy>(text, {{"auto", SharePolicy::Auto}, {"equal", SharePolicy::Equal}});
    return;
  }
  request.share_policy = SharePolicy::Listed;
  request.shares.clear();
  for (const std::string& part : comma_list(text)) {
    request.shares.push_back(real_number(part, 0, 1e9));
  }
  if (request.devices.empty() && extra.all_devices) return;  // the experiment will see
  const std::size_t devices = std::max<std::size_t>(1, request.devices.size());
  const std::string fault = fault_in_shares(request.shares, devices);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
}

}  // namespace

void add_train_options(CLI::App& app, JobOptions& out, StartTraining& request, TrainText& extra) {
  add_cpu_devices(app, out.cpu_devices);
  add_json(app, out.json);
  add_model_option(app, request.model);
  add_parallel_options(app, request, extra);
  add_data_options(app, request, extra);
  add_step_options(app, request);
  add_rate_options(app, request);
  add_kernel_options(app, request);
  add_value(app, "--dtype", "f32|bf16|tf32", "Element type", [&](const std::string& text) {
    if (text == "tf32") throw Error(Errc::Unsupported, "tf32 needs an NVIDIA GPU; use f32");
    request.dtype = choose<Precision>(text, {{"f32", Precision::F32}, {"bf16", Precision::BF16}});
  });
  add_file_options(app, request);
  app.add_flag_callback(
      "--no-eval", [&] { request.evaluate = false; },
      "Leave out the test accuracy after each epoch");
}

void finish_training(StartTraining& request, const TrainText& extra) {
  if (!extra.data_asked && !request.data_dir.empty()) request.data = DataSource::FashionMnist;
  if (request.checkpoint_every > 0 && request.checkpoint_dir.empty()) {
    throw Error(Errc::Usage, fmt::format("--every {} needs a folder to write to; add "
                                         "--checkpoint DIR",
                                         request.checkpoint_every));
  }
  if (!request.resume_dir.empty() && !request.init_file.empty()) {
    throw Error(Errc::Usage,
                "--resume and --init contradict each other: a checkpoint has its own weights; give "
                "one");
  }
  request.profile = request.profile || request.compare_kernels;
  try {
    read_shares(extra, request);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("--shares: {}", e.what()));
  }
}

}  // namespace lab::app
