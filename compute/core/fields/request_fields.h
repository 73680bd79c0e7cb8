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
    .help = "Longest time for one case",
    .range = {0.001, 3600},
    .label = "Time for one case",
    .hint = "Repeats until the median's spread is under 2 % or this time is over.",
    .unit = "s",
    .step = 0.1};

// Lists every member, since checkpoints store the whole request.
template <>
struct FieldsOf<StartTraining> {
  using R = StartTraining;
  static constexpr double kMostImages = 1 << 24;  // per batch and per synthetic data set
  static constexpr double kMostSteps = 1e9;

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
                       .help =
                           "Devices that train together, each rank's own under mpirun; cpu:0 when "
                           "left out"},
          &R::devices);
    visit(RequestField{.key = "share_policy",
                       .option = "--shares",
                       .own_option = false,
                       .decides = Decides::Course},
          &R::share_policy);
    visit(RequestField{.key = "shares",
                       .option = "--shares",
                       .placeholder = "auto|equal|X,Y,...",
                       .help = "Parts of the batch for the devices: equal when left out; auto: by "
                               "measured speed; a list: in proportion, fractions sum to 1",
                       .range = {0, 1e9}},
          &R::shares);
    visit(RequestField{.key = "bucket_bytes",
                       .option = "--bucket-mib",
                       .placeholder = "X",
                       .help = "Gradients are summed in pieces of X MiB; 25 when left out",
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
                     .help = "Training set; synthetic when left out",
                     .label = "Data",
                     .hint =
                         "Synthetic garments need no download. Fashion-MNIST is the chapters' set: "
                         "`device-lab data fetch` downloads it.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::data);
    visit(RequestField{.key = "data_dir",
                       .option = "--data-dir",
                       .placeholder = "DIR",
                       .help = "Where Fashion-MNIST lies; implies --data fashion-mnist",
                       .label = "Folder of the data",
                       .hint = "Holds the four IDX files. Empty: the usual places.",
                       .empty = "the usual places"},
          &R::data_dir);
    visit(RequestField{.key = "synthetic_train",
                       .option = "--synthetic-train",
                       .placeholder = "N",
                       .help = "Synthetic images to train on",
                       .range = {1, kMostImages},
                       .label = "Training images",
                       .step = 1000,
                       .name = "number of synthetic training images",
                       .decides = Decides::Numbers},
          &R::synthetic_train);
    visit(RequestField{.key = "synthetic_test",
                       .option = "--synthetic-test",
                       .placeholder = "N",
                       .help = "Synthetic images to test on",
                       .range = {1, kMostImages},
                       .label = "Test images",
                       .step = 1000,
                       .name = "number of synthetic test images",
                       .decides = Decides::Numbers},
          &R::synthetic_test);
    visit(RequestField{.key = "order",
                       .option = "--order",
                       .help = "Sequential: file order, the last small batch kept",
                       .label = "Order of images",
                       .hint = "Shuffled anew in each epoch, or as they stand in the file.",
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::order);
  }

  template <typename Visit>
  static void steps(const Visit& visit) {
    visit(RequestField{.key = "batch",
                       .option = "--batch",
                       .placeholder = "N",
                       .help = "Images of one step",
                       .range = {1, kMostImages},
                       .label = "Batch",
                       .hint = "Images in one step, over all devices; the loss is their mean.",
                       .unit = "images",
                       .step = 32,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::batch);
    visit(RequestField{.key = "lr",
                       .option = "--lr",
                       .placeholder = "X",
                       .help = "Learning rate, above 0; the chapters' for the model when left out",
                       .range = {0, kNoMost, Ends::NotMin},
                       .label = "Learning rate",
                       .hint =
                           "Follows the model: 0.9 for lenet, 0.1 for the others, as the chapters.",
                       .step = 0.1,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::lr);
    visit(RequestField{.key = "momentum",
                       .option = "--momentum",
                       .placeholder = "X",
                       .help = "Momentum of SGD, from 0 to below 1; 0 when left out",
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
                       .help = "Weight decay of SGD",
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
                       .help = "End after so many steps",
                       .range = {0, kMostSteps},
                       .name = "number of steps",
                       .decides = Decides::Course},
          &R::steps);
    visit(RequestField{.key = "seed",
                       .option = "--seed",
                       .placeholder = "N",
                       .help = "Seed of weights, order and synthetic images",
                       .label = "Seed",
                       .hint = "The same seed gives the same weights, order and images.",
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::seed);
    visit(
        RequestField{.key = "lr_scale",
                     .option = "--lr-scale",
                     .help = "Linear: the learning rate grows with the batch, lr * batch / 256",
                     .label = "Rate for this batch",
                     .hint = "Linear: the rate above times batch / 256, so that an image moves the "
                             "weights as far as with the chapters' batch.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::lr_scale);
    visit(
        RequestField{.key = "warmup_epochs",
                     .option = "--warmup-epochs",
                     .placeholder = "X",
                     .help = "The learning rate rises to its value over so many epochs",
                     .range = {0, 1e6},
                     .label = "Warm-up",
                     .hint = "The rate rises to its value over so many epochs; 0: it starts there.",
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
                       .help =
                           "Whose kernels compute; both: steps take turns with them, and a profile "
                           "of each layer compares them",
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
                         "Algorithm of our convolutions: the fastest by measurement, by shape, or "
                         "gemm, direct, winograd2, winograd4 wherever it can",
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
                    "device. It costs next to nothing."},
        &R::profile);
    visit(
        RequestField{.key = "dtype",
                     .option = "--dtype",
                     .placeholder = "f32|bf16|tf32",
                     .help = "Element type",
                     .choices = kTrainingPrecisions,
                     .label = "MatmulOperands of products",
                     .hint =
                         "bf16: the factors of convolutions and matrix products are rounded to it; "
                         "sums, weights and gradients stay FP32. Quicker where the processor "
                         "multiplies bf16.",
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::dtype);
  }

  template <typename Visit>
  static void files(const Visit& visit) {
    visit(RequestField{.key = "init_file",
                       .option = "--init",
                       .placeholder = "FILE.safetensors",
                       .help = "Weights to start from"},
          &R::init_file);
    visit(RequestField{.key = "save_file",
                       .option = "--save",
                       .placeholder = "FILE.safetensors",
                       .help = "Where to write the trained weights"},
          &R::save_file);
    visit(
        RequestField{.key = "checkpoint_dir",
                     .option = "--checkpoint",
                     .placeholder = "DIR",
                     .help = "Where to write checkpoints; the newest two are kept",
                     .label = "Folder for checkpoints",
                     .hint =
                         "The model, the optimizer, the random state and the position in the data, "
                         "written whole or not at all. Empty: none.",
                     .empty = "none"},
        &R::checkpoint_dir);
    visit(RequestField{.key = "checkpoint_every",
                       .option = "--every",
                       .placeholder = "N",
                       .help = "Steps between checkpoints; at the end alone when left out",
                       .range = {0, kMostSteps},
                       .label = "Checkpoint every",
                       .hint = "0: at the end alone.",
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
            .help = "Go on from the newest checkpoint there; --epochs and --steps count from "
                    "the beginning",
            .label = "Go on from the checkpoint in",
            .hint = "Goes on where the newest checkpoint of this folder stands. Empty: from "
                    "the start.",
            .empty = "the start"},
        &R::resume_dir);
    visit(RequestField{.key = "evaluate",
                       .option = "--no-eval",
                       .help = "Leave out the test accuracy after each epoch",
                       .decides = Decides::Course},
          &R::evaluate);
  }
};

// The fields of `training` are listed in FieldsOf<StartTraining>; `measure` is derived from the
// other options.
template <>
struct FieldsOf<StartScaling> {
  using R = StartScaling;
  static constexpr double kMost = 1e6;

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
                       .help = "Numbers of devices to measure; 1, 2, 4, ... and all when left out",
                       .range = {1, 65536}},
          &R::counts);
    visit(RequestField{.key = "modes",
                       .option = "--mode",
                       .placeholder = "strong|weak|both",
                       .help = "Strong: one batch for all devices; weak: one for each"},
          &R::modes);
    visit(RequestField{.key = "steps",
                       .option = "--steps",
                       .placeholder = "N",
                       .help = "Timed steps of each run, after three untimed ones",
                       .range = {1, kMost},
                       .label = "Timed steps",
                       .hint = "In each round.",
                       .step = 5,
                       .reported = true},
          &R::steps);
    visit(RequestField{.key = "warmup",
                       .range = {0, kMost},
                       .label = "Steps before them",
                       .hint = "Not timed.",
                       .reported = true},
          &R::warmup);
    visit(
        RequestField{
            .key = "rounds",
            .option = "--rounds",
            .placeholder = "N",
            .help = "Rounds over all device counts; 3 when left out",
            .range = {1, kMost},
            .label = "Rounds",
            .hint = "Device counts are interleaved, so that clock drift affects all equally.",
            .reported = true},
        &R::rounds);
    visit(RequestField{.key = "accuracy_steps",
                       .option = "--accuracy-steps",
                       .placeholder = "N",
                       .help =
                           "Steps before the test accuracy (strong scaling); an epoch of 235 when "
                           "left out, for lenet three: it learns nothing before",
                       .range = {1, kMost},
                       .label = "Steps before the accuracy",
                       .hint = "Follows the model; 235 are an epoch at batch 256.",
                       .step = 50},
          &R::accuracy_steps);
    visit(RequestField{.key = "accuracy",
                       .option = "--no-accuracy",
                       .help = "Leave out the test accuracy",
                       .label = "Test accuracy too",
                       .hint =
                           "Trains each number of devices from the same seed with the same batch: "
                           "the accuracy must not depend on how many devices share the work."},
          &R::accuracy);
  }

  template <typename Visit>
  static void prediction(const Visit& visit) {
    visit(RequestField{.key = "predict_devices",
                       .option = "--predict",
                       .placeholder = "N",
                       .help = "Predict up to N devices; 0 for no prediction",
                       .range = {0, 65536},
                       .reported = true},
          &R::predict_devices);
    visit(RequestField{.key = "link",
                       .option = "--link",
                       .placeholder = "NAME",
                       .help = "Between predicted devices:",
                       .choices = kLinkNames,
                       .label = "Connected by",
                       .hint = "Its latency and rate give the time of an all-reduce.",
                       .reported = true},
          &R::link);
    visit(
        RequestField{
            .key = "compute_s",
            .option = "--compute-ms",
            .placeholder = "X",
            .help = "Predict from this time of one device for --batch images, in milliseconds",
            .range = {1e-6, 1e9},
            .scale = 1e-3,
            .unit = "s",
            .name = "time of one device"},
        &R::compute_s);
    visit(RequestField{.key = "reference_file",
                       .option = "--reference",
                       .placeholder = "FILE.json",
                       .help = "Predict from one device's time in a file"},
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
                       .help = "Devices, such as cpu:0,cuda:0; all when left out"},
          &R::devices);
    visit(RequestField{.key = "kernels",
                       .option = "--kernels",
                       .placeholder = "all|best|NAME,...",
                       .help = "Rungs of the ladder"},
          &R::kernels);
    visit(RequestField{.key = "sizes",
                       .option = "--sizes",
                       .placeholder = "64..4096",
                       .help = "Square sizes: a range of powers of two or a list"},
          &R::sizes);
    visit(
        RequestField{.key = "dtype",
                     .option = "--dtype",
                     .help = "What factors are when they are multiplied",
                     .label = "Element type",
                     .hint =
                         "Of A and B when they are multiplied; sums and C stay f32. A kernel is "
                         "skipped where it does not have the type. tf32 is f32 in memory, rounded "
                         "for a GPU's tensor cores."},
        &R::dtype);
    RequestField cache = kCacheField;
    cache.hint = "Warm: the matrices may still be in the cache. Cold: they were flushed.";
    visit(cache, &R::cache);
    RequestField budget = kBudgetField;
    budget.label = "Time for one kernel and size";
    visit(budget, &R::budget_s);
    visit(RequestField{.key = "seed",
                       .option = "--seed",
                       .placeholder = "N",
                       .help = "Seed of the random inputs",
                       .label = "Seed of the matrices",
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
                       .help = "Source devices; all when left out"},
          &R::from);
    visit(RequestField{.key = "to",
                       .option = "--to",
                       .placeholder = "DEV,...",
                       .help = "Target devices; all when left out"},
          &R::to);
    visit(RequestField{.key = "memory",
                       .option = "--memory",
                       .placeholder = "pageable|pinned|both",
                       .help = "Kind of host memory"},
          &R::memory);
    visit(
        RequestField{.key = "ops",
                     .option = "--ops",
                     .placeholder = "OP,...",
                     .help =
                         "read, write, copy, triad as STREAM defines them; with a GPU copy, both, "
                         "pieces, chase, overlap"},
        &R::ops);
    visit(RequestField{.key = "one_thread",
                       .option = "--threads",
                       .own_option = false,
                       .label = "One thread",
                       .hint = "Measures with a single thread: what one core can move."},
          &R::one_thread);
    visit(
        RequestField{.key = "all_threads",
                     .option = "--threads",
                     .own_option = false,
                     .label = "All threads",
                     .hint = "Measures with all threads of the device: what the memory can move."},
        &R::all_threads);
    visit(RequestField{.key = "sizes",
                       .option = "--sizes",
                       .placeholder = "1KiB..1GiB",
                       .help = "Sizes of one array: a range of powers of two or a list"},
          &R::sizes_bytes);
    RequestField cache = kCacheField;
    cache.hint = "Warm: the data may still be in the cache. Cold: it was flushed.";
    visit(cache, &R::cache);
    visit(kBudgetField, &R::budget_s);
  }
};

}  // namespace lab
