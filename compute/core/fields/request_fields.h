#pragma once
// Fields of each request, in the order of the help texts. The default of a field is given by its
// member in command.h.
#include "compute/core/events/command.h"
#include "compute/core/events/models.h"
#include "compute/core/fields/field.h"

namespace lab {

// Operand types supported by training.
inline constexpr std::span<const ValueName> kTrainingPrecisions =
    std::span<const ValueName>(EnumNames<Precision>::kAll).first(2);

// Links between devices, in the order of links(), which holds their bandwidths and latencies.
inline constexpr ValueName kLinkNames[] = {{"pcie3", "PCIe 3.0"},
                                           {"pcie4", "PCIe 4.0"},
                                           {"pcie5", "PCIe 5.0"},
                                           {"nvlink", "NVLink 4"},
                                           {"nvlink2", "NVLink 2"},
                                           {"ethernet10", "10 Gbit Ethernet"},
                                           {"ethernet100", "100 Gbit Ethernet"},
                                           {"infiniband-ndr", "InfiniBand NDR"}};

// Declarations shared by several requests.
inline constexpr RequestField kCacheField = {.key = "cache",
                                             .option = "--cache",
                                             .help = "State of the caches when timing starts",
                                             .label = "Cache before each repetition"};
inline constexpr RequestField kBudgetField = {
    .key = "budget_s",
    .option = "--budget",
    .placeholder = "SECONDS",
    .help = "Time limit per case in seconds",
    .range = {0.001, 3600},
    .label = "Time per case",
    .hint = "Repeats until the spread is below 2 % or the time limit is reached.",
    .unit = "s",
    .step = 0.1};

// Lists every member, since checkpoints store the whole request.
template <>
struct FieldsOf<StartTraining> {
  using R = StartTraining;
  static constexpr double kMaxImages = 1 << 24;  // per batch and per synthetic data set
  static constexpr double kMaxSteps = 1e9;

  template <typename Visit>
  static void each(const Visit& visit) {
    work(visit);
    data(visit);
    steps(visit);
    kernels(visit);
    files(visit);
  }

 private:
  template <typename Visit>
  static void work(const Visit& visit) {
    visit(
        RequestField{.key = "model",
                     .option = "--model",
                     .placeholder = "NAME",
                     .choices = kModelNames,
                     .label = "Model",
                     .hint = "softmax: one layer. mlp: 256 hidden units. lenet: two convolutions. "
                             "resnet18: eighteen layers, 11 million parameters.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::model);
    visit(RequestField{.key = "devices",
                       .option = "--devices",
                       .placeholder = "LIST",
                       .help = "Devices that train together (under mpirun, those of each rank); "
                               "default cpu:0"},
          &R::devices);
    visit(RequestField{.key = "share_policy",
                       .option = "--shares",
                       .own_option = false,
                       .decides = Decides::Course},
          &R::share_policy);
    visit(RequestField{.key = "shares",
                       .option = "--shares",
                       .placeholder = "auto|equal|X,Y,...",
                       .help = "Split of the batch over the devices: equal (default), auto (by "
                               "measured speed) or a list of proportions; fractions sum to 1",
                       .range = {0, 1e9}},
          &R::shares);
    visit(RequestField{.key = "bucket_bytes",
                       .option = "--bucket-mib",
                       .placeholder = "X",
                       .help = "Size of gradient buckets in MiB; default 25",
                       .range = {1.0 / 256, 1024},
                       .scale = 1 << 20,
                       .unit = "bytes",
                       .name = "size of gradient buckets",
                       .decides = Decides::Course},
          &R::bucket_bytes);
  }

  template <typename Visit>
  static void data(const Visit& visit) {
    visit(
        RequestField{.key = "data",
                     .option = "--data",
                     .help = "Training set; default synthetic",
                     .label = "Data",
                     .hint = "Synthetic garments need no download. Fashion-MNIST is the set of the "
                             "chapters: `device-lab data fetch` downloads it.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::data);
    visit(RequestField{.key = "data_dir",
                       .option = "--data-dir",
                       .placeholder = "DIR",
                       .help = "Folder with Fashion-MNIST; implies --data fashion-mnist",
                       .label = "Data folder",
                       .hint = "Holds the four IDX files. Empty: the default folders.",
                       .empty = "default folders"},
          &R::data_dir);
    visit(RequestField{.key = "synthetic_train",
                       .option = "--synthetic-train",
                       .placeholder = "N",
                       .help = "Number of synthetic training images",
                       .range = {1, kMaxImages},
                       .label = "Training images",
                       .step = 1000,
                       .name = "number of synthetic training images",
                       .decides = Decides::Numbers},
          &R::synthetic_train);
    visit(RequestField{.key = "synthetic_test",
                       .option = "--synthetic-test",
                       .placeholder = "N",
                       .help = "Number of synthetic test images",
                       .range = {1, kMaxImages},
                       .label = "Test images",
                       .step = 1000,
                       .name = "number of synthetic test images",
                       .decides = Decides::Numbers},
          &R::synthetic_test);
    visit(RequestField{.key = "order",
                       .option = "--order",
                       .help =
                           "Image order; sequential: file order, including the last partial batch",
                       .label = "Image order",
                       .hint = "Reshuffled in each epoch, or in file order.",
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::order);
  }

  template <typename Visit>
  static void steps(const Visit& visit) {
    visit(RequestField{.key = "batch",
                       .option = "--batch",
                       .placeholder = "N",
                       .help = "Images per step",
                       .range = {1, kMaxImages},
                       .label = "Batch",
                       .hint = "Images per step, over all devices; the loss is their mean.",
                       .unit = "images",
                       .step = 32,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::batch);
    visit(RequestField{.key = "lr",
                       .option = "--lr",
                       .placeholder = "X",
                       .help = "Learning rate, above 0; default: the chapters' value for the model",
                       .range = {0, kNoMost, Ends::NotMin},
                       .label = "Learning rate",
                       .hint = "Default by model: 0.9 for lenet, 0.1 for the others, as in the "
                               "chapters.",
                       .step = 0.1,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::lr);
    visit(RequestField{.key = "momentum",
                       .option = "--momentum",
                       .placeholder = "X",
                       .help = "SGD momentum, from 0 to below 1; default 0",
                       .range = {0, 1, Ends::NotMax},
                       .label = "Momentum",
                       .hint = "The chapters use none.",
                       .step = 0.1,
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::momentum);
    visit(RequestField{.key = "weight_decay",
                       .option = "--weight-decay",
                       .placeholder = "X",
                       .help = "SGD weight decay",
                       .range = {0, 1e6},
                       .label = "Weight decay",
                       .hint = "The chapters use none.",
                       .step = 0.0001,
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::weight_decay);
    visit(RequestField{.key = "epochs",
                       .option = "--epochs",
                       .placeholder = "N",
                       .help = "Passes over the training set",
                       .range = {1, 1e6},
                       .label = "Epochs",
                       .hint = "Passes over the training images.",
                       .name = "number of epochs",
                       .decides = Decides::Course,
                       .reported = true},
          &R::epochs);
    visit(RequestField{.key = "steps",
                       .option = "--steps",
                       .placeholder = "N",
                       .help = "Stop after N steps",
                       .range = {0, kMaxSteps},
                       .name = "number of steps",
                       .decides = Decides::Course},
          &R::steps);
    visit(RequestField{.key = "seed",
                       .option = "--seed",
                       .placeholder = "N",
                       .help = "Seed for weights, order and synthetic images",
                       .label = "Seed",
                       .hint = "The same seed gives the same weights, order and images.",
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::seed);
    visit(
        RequestField{.key = "lr_scale",
                     .option = "--lr-scale",
                     .help = "Linear: scales the learning rate with the batch, lr * batch / 256",
                     .label = "Rate scaling",
                     .hint = "Linear: the rate above times batch / 256, so that each image changes "
                             "the weights as much as with the chapters' batch.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::lr_scale);
    visit(RequestField{.key = "warmup_epochs",
                       .option = "--warmup-epochs",
                       .placeholder = "X",
                       .help = "Epochs over which the learning rate rises to its value",
                       .range = {0, 1e6},
                       .label = "Warm-up",
                       .hint = "Epochs over which the rate rises to its value; 0: no warm-up.",
                       .unit = "epochs",
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::warmup_epochs);
  }

  template <typename Visit>
  static void kernels(const Visit& visit) {
    visit(RequestField{.key = "kernels",
                       .option = "--kernels",
                       .placeholder = "lab|library|both",
                       .help = "Kernels that compute; both: steps alternate between them, and a "
                               "profile compares each layer",
                       .decides = Decides::Course,
                       .reported = true},
          &R::kernels);
    visit(RequestField{.key = "compare_kernels",
                       .option = "--kernels both",
                       .own_option = false,
                       .decides = Decides::Course},
          &R::compare_kernels);
    visit(
        RequestField{.key = "convolution",
                     .option = "--convolution",
                     .placeholder = "auto|rule|NAME",
                     .help =
                         "Algorithm of the lab's convolutions: auto (fastest by measurement), rule "
                         "(by shape), or gemm, direct, winograd2, winograd4 where supported",
                     .decides = Decides::Course,
                     .reported = true},
        &R::convolution);
    visit(
        RequestField{
            .key = "profile",
            .option = "--profile",
            .help = "Measure each layer's time, GFLOP/s and share of the peak, on the first "
                    "device",
            .label = "Profile layers",
            .hint = "Measures each layer's time, GFLOP/s and share of the peak, on the first "
                    "device. The overhead is negligible."},
        &R::profile);
    visit(
        RequestField{.key = "dtype",
                     .option = "--dtype",
                     .placeholder = "f32|bf16|tf32",
                     .help = "Operand type of convolutions and matrix products",
                     .choices = kTrainingPrecisions,
                     .label = "Operand type",
                     .hint =
                         "bf16: operands of convolutions and matrix products are rounded to bf16; "
                         "sums, weights and gradients stay FP32. Faster on processors with bf16 "
                         "instructions.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::dtype);
  }

  template <typename Visit>
  static void files(const Visit& visit) {
    visit(RequestField{.key = "init_file",
                       .option = "--init",
                       .placeholder = "FILE.safetensors",
                       .help = "Initial weights"},
          &R::init_file);
    visit(RequestField{.key = "save_file",
                       .option = "--save",
                       .placeholder = "FILE.safetensors",
                       .help = "File for the trained weights"},
          &R::save_file);
    visit(
        RequestField{.key = "checkpoint_dir",
                     .option = "--checkpoint",
                     .placeholder = "DIR",
                     .help = "Checkpoint folder; the newest two are kept",
                     .label = "Checkpoint folder",
                     .hint =
                         "The model, the optimizer, the random state and the position in the data, "
                         "written atomically. Empty: none.",
                     .empty = "none"},
        &R::checkpoint_dir);
    visit(RequestField{.key = "checkpoint_every",
                       .option = "--every",
                       .placeholder = "N",
                       .help = "Steps between checkpoints; default: only at the end",
                       .range = {0, kMaxSteps},
                       .label = "Checkpoint every",
                       .hint = "0: only at the end.",
                       .unit = "steps",
                       .step = 100,
                       .name = "interval between checkpoints",
                       .decides = Decides::Course},
          &R::checkpoint_every);
    visit(
        RequestField{
            .key = "resume_dir",
            .option = "--resume",
            .placeholder = "DIR",
            .help = "Resume from the newest checkpoint in DIR; --epochs and --steps count from the "
                    "beginning",
            .label = "Resume from",
            .hint = "Resumes from the newest checkpoint in this folder. Empty: starts from the "
                    "beginning.",
            .empty = "none"},
        &R::resume_dir);
    visit(RequestField{.key = "evaluate",
                       .option = "--no-eval",
                       .help = "Skip the test accuracy after each epoch",
                       .decides = Decides::Course},
          &R::evaluate);
  }
};

// The fields of `training` are listed in FieldsOf<StartTraining>; `measure` is derived from the
// other options.
template <>
struct FieldsOf<StartScaling> {
  using R = StartScaling;
  static constexpr double kMax = 1e6;

  template <typename Visit>
  static void each(const Visit& visit) {
    measurement(visit);
    prediction(visit);
  }

 private:
  template <typename Visit>
  static void measurement(const Visit& visit) {
    visit(RequestField{.key = "counts",
                       .option = "--counts",
                       .placeholder = "N,N,...",
                       .help = "Device counts to measure; default 1, 2, 4, ... and all",
                       .range = {1, 65536}},
          &R::counts);
    visit(RequestField{.key = "modes",
                       .option = "--mode",
                       .placeholder = "strong|weak|both",
                       .help = "Strong: one batch for all devices; weak: one per device"},
          &R::modes);
    visit(RequestField{.key = "steps",
                       .option = "--steps",
                       .placeholder = "N",
                       .help = "Timed steps per run, after three untimed ones",
                       .range = {1, kMax},
                       .label = "Timed steps",
                       .hint = "Per round.",
                       .step = 5,
                       .reported = true},
          &R::steps);
    visit(RequestField{.key = "warmup",
                       .range = {0, kMax},
                       .label = "Untimed steps",
                       .hint = "Before the timed ones.",
                       .reported = true},
          &R::warmup);
    visit(
        RequestField{
            .key = "rounds",
            .option = "--rounds",
            .placeholder = "N",
            .help = "Rounds over all device counts; default 3",
            .range = {1, kMax},
            .label = "Rounds",
            .hint = "Device counts are interleaved, so that clock drift affects all equally.",
            .reported = true},
        &R::rounds);
    visit(RequestField{.key = "accuracy_steps",
                       .option = "--accuracy-steps",
                       .placeholder = "N",
                       .help = "Steps before the test accuracy (strong scaling); default by model: "
                               "235 (one epoch), lenet 940, resnet18 60",
                       .range = {1, kMax},
                       .label = "Steps before evaluation",
                       .hint = "Default by model; one epoch at batch 256 has 235 steps.",
                       .step = 50},
          &R::accuracy_steps);
    visit(RequestField{.key = "accuracy",
                       .option = "--no-accuracy",
                       .help = "Skip the test accuracy",
                       .label = "Test accuracy",
                       .hint = "Trains with each device count from the same seed and batch: the "
                               "accuracy must not depend on the number of devices."},
          &R::accuracy);
  }

  template <typename Visit>
  static void prediction(const Visit& visit) {
    visit(RequestField{.key = "predict_devices",
                       .option = "--predict",
                       .placeholder = "N",
                       .help = "Largest device count to predict; 0: no prediction",
                       .range = {0, 65536},
                       .reported = true},
          &R::predict_devices);
    visit(RequestField{.key = "link",
                       .option = "--link",
                       .placeholder = "NAME",
                       .help = "Link between predicted devices:",
                       .choices = kLinkNames,
                       .label = "Link",
                       .hint = "Its latency and bandwidth determine the all-reduce time.",
                       .reported = true},
          &R::link);
    visit(
        RequestField{.key = "compute_s",
                     .option = "--compute-ms",
                     .placeholder = "X",
                     .help = "Step time of one device for --batch images in milliseconds, for the "
                             "prediction",
                     .range = {1e-6, 1e9},
                     .scale = 1e-3,
                     .unit = "s",
                     .name = "step time of one device"},
        &R::compute_s);
    visit(RequestField{.key = "reference_file",
                       .option = "--reference",
                       .placeholder = "FILE.json",
                       .help = "File with the step time of one device, for the prediction"},
          &R::reference_file);
  }
};

template <>
struct FieldsOf<StartMatmul> {
  using R = StartMatmul;
  template <typename Visit>
  static void each(const Visit& visit) {
    visit(RequestField{.key = "devices",
                       .option = "--devices",
                       .placeholder = "LIST",
                       .help = "Devices, such as cpu:0,cuda:0; default: all"},
          &R::devices);
    visit(RequestField{.key = "kernels",
                       .option = "--kernels",
                       .placeholder = "all|best|NAME,...",
                       .help = "Rungs of the ladder"},
          &R::kernels);
    visit(RequestField{.key = "sizes",
                       .option = "--sizes",
                       .placeholder = "64..4096",
                       .help = "Matrix sizes (square): a range of powers of two or a list"},
          &R::sizes);
    visit(RequestField{.key = "dtype",
                       .option = "--dtype",
                       .help = "Operand type; accumulation is f32",
                       .label = "Operand type",
                       .hint =
                           "Type of A and B; accumulation and C are f32. Kernels without this type "
                           "are skipped. tf32 is stored as f32 and rounded for a GPU's tensor "
                           "cores."},
          &R::dtype);
    RequestField cache = kCacheField;
    cache.hint = "Warm: the matrices may still be in the cache. Cold: they were flushed.";
    visit(cache, &R::cache);
    RequestField budget = kBudgetField;
    budget.label = "Time per kernel and size";
    visit(budget, &R::budget_s);
    visit(RequestField{.key = "seed",
                       .option = "--seed",
                       .placeholder = "N",
                       .help = "Seed for the random inputs",
                       .label = "Matrix seed",
                       .hint = "Inputs are random: zeros would run faster on some chips."},
          &R::seed);
  }
};

template <>
struct FieldsOf<StartTransfers> {
  using R = StartTransfers;
  template <typename Visit>
  static void each(const Visit& visit) {
    visit(RequestField{.key = "from",
                       .option = "--from",
                       .placeholder = "DEV,...",
                       .help = "Source devices; default: all"},
          &R::from);
    visit(RequestField{.key = "to",
                       .option = "--to",
                       .placeholder = "DEV,...",
                       .help = "Destination devices; default: all"},
          &R::to);
    visit(RequestField{.key = "memory",
                       .option = "--memory",
                       .placeholder = "pageable|pinned|both",
                       .help = "Host memory type"},
          &R::memory);
    visit(
        RequestField{.key = "ops",
                     .option = "--ops",
                     .placeholder = "OP,...",
                     .help = "Operations: read, write, copy, triad as in STREAM; with a GPU: copy, "
                             "both, pieces, chase, overlap"},
        &R::ops);
    visit(RequestField{.key = "one_thread",
                       .option = "--threads",
                       .own_option = false,
                       .label = "One thread",
                       .hint = "Measures the bandwidth of a single thread."},
          &R::one_thread);
    visit(RequestField{.key = "all_threads",
                       .option = "--threads",
                       .own_option = false,
                       .label = "All threads",
                       .hint = "Measures the bandwidth of all threads of the device."},
          &R::all_threads);
    visit(RequestField{.key = "sizes",
                       .option = "--sizes",
                       .placeholder = "1KiB..1GiB",
                       .help = "Array sizes: a range of powers of two or a list"},
          &R::sizes_bytes);
    RequestField cache = kCacheField;
    cache.hint = "Warm: the data may still be in the cache. Cold: it was flushed.";
    visit(cache, &R::cache);
    visit(kBudgetField, &R::budget_s);
  }
};

}  // namespace lab
