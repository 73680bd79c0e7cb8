#pragma once
// Fields of each request, in the order of the help texts. The default of a field is given by its
// member in command.h.
#include "compute/core/events/command.h"
#include "compute/core/events/models.h"
#include "compute/core/fields/enum_names.h"
#include "compute/core/fields/field.h"

namespace lab {

// Links between devices, in the order of links(), which holds their bandwidths and latencies.
inline constexpr ValueName kLinkNames[] = {{"pcie3", "PCIe 3.0"},
                                           {"pcie4", "PCIe 4.0"},
                                           {"pcie5", "PCIe 5.0"},
                                           {"nvlink", "NVLink 4"},
                                           {"nvlink3", "NVLink 3"},
                                           {"nvlink2", "NVLink 2"},
                                           {"nvlink2-single", LAB_TEXT("NVLink 2, one link")},
                                           {"ethernet10", LAB_TEXT("10 Gbit Ethernet")},
                                           {"ethernet100", LAB_TEXT("100 Gbit Ethernet")},
                                           {"infiniband-ndr", "InfiniBand NDR"}};

// Declarations shared by several requests.
inline constexpr RequestField kCacheField = {
    .key = "cache",
    .option = "--cache",
    .help = LAB_TEXT("State of the caches when timing starts"),
    .label = LAB_TEXT("Cache before each repetition")};
inline constexpr RequestField kBudgetField = {
    .key = "budget_s",
    .option = "--budget",
    .placeholder = "SECONDS",
    .help = LAB_TEXT("Time limit per case in seconds"),
    .range = {0.001, 3600},
    .label = LAB_TEXT("Time per case"),
    .hint = LAB_TEXT("Repeats until the spread is below 2 % or the time limit is reached."),
    .unit = "s",
    .step = 0.1};

// Lists every member, since checkpoints store the whole request.
template <>
struct FieldsOf<StartTraining> {
  using R = StartTraining;
  static constexpr double kMaxImages = 1 << 24;  // per batch and per synthetic data set
  static constexpr double kMaxSteps = 1e9;
  static constexpr double kMaxStepsAhead = 31;

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
    visit(RequestField{.key = "model",
                       .option = "--model",
                       .placeholder = "NAME",
                       .choices = kModelNames,
                       .label = LAB_TEXT("Model"),
                       .hint = LAB_TEXT(
                           "Softmax: one layer. MLP: 256 hidden units. LeNet: two convolutions. "
                           "ResNet-18: eighteen layers, 11 million parameters. ConvNet: three "
                           "convolutions with batch norm, for the fast preset."),
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::model);
    visit(
        RequestField{
            .key = "width",
            .option = "--width",
            .placeholder = "N",
            .help = LAB_TEXT("Channels of resnet18's first block, which double in each further "
                             "one; 64 by default. 16 need about a sixteenth of the arithmetic"),
            .range = {1, 512},
            .label = LAB_TEXT("Width"),
            .hint = LAB_TEXT("Channels of the first block; the chapter's network has 64. "
                             "A narrow network trains in minutes on a CPU."),
            .decides = Decides::Numbers,
            .reported = true},
        &R::width);
    visit(
        RequestField{
            .key = "devices",
            .option = "--devices",
            .placeholder = "LIST",
            .help = LAB_TEXT(
                "Devices that train together (under mpirun, those of each rank); default cpu:0")},
        &R::devices);
    visit(RequestField{.key = "share_policy",
                       .option = "--shares",
                       .own_option = false,
                       .decides = Decides::Course},
          &R::share_policy);
    visit(RequestField{.key = "shares",
                       .option = "--shares",
                       .placeholder = "auto|equal|X,Y,...",
                       .help = LAB_TEXT(
                           "Split of the batch over the devices: equal (default), auto (by "
                           "measured speed; results do not repeat bit for bit) or a list of "
                           "proportions; fractions sum to 1"),
                       .range = {0, 1e9}},
          &R::shares);
    visit(RequestField{.key = "bucket_bytes",
                       .option = "--bucket-mib",
                       .placeholder = "X",
                       .help = LAB_TEXT("Size of gradient buckets in MiB; default 25"),
                       .range = {1.0 / 256, 1024},
                       .scale = 1 << 20,
                       .unit = LAB_TEXT("bytes"),
                       .name = LAB_TEXT("size of gradient buckets"),
                       .decides = Decides::Course},
          &R::bucket_bytes);
    visit(RequestField{.key = "gradient_sum",
                       .option = "--sum",
                       .help = LAB_TEXT("Sum of gradients over GPUs: auto (NCCL where installed; "
                                        "default), nccl (results may not repeat bit for bit), or "
                                        "lab (copies between the GPUs)"),
                       .decides = Decides::Course},
          &R::sum);
  }

  template <typename Visit>
  static void data(const Visit& visit) {
    visit(
        RequestField{.key = "data",
                     .option = "--data",
                     .help = LAB_TEXT("Training set; default synthetic"),
                     .label = LAB_TEXT("Data"),
                     .hint = LAB_TEXT("Synthetic garments need no download. Fashion-MNIST is the "
                                      "set of the chapters: `device-lab data fetch` downloads it."),
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::data);
    visit(RequestField{.key = "data_dir",
                       .option = "--data-dir",
                       .placeholder = "DIR",
                       .help = LAB_TEXT("Folder with Fashion-MNIST; implies --data fashion-mnist"),
                       .label = LAB_TEXT("Data folder"),
                       .hint = LAB_TEXT("Holds the four IDX files. Empty: the default folders."),
                       .empty = LAB_TEXT("default folders")},
          &R::data_dir);
    visit(RequestField{.key = "synthetic_train",
                       .option = "--synthetic-train",
                       .placeholder = "N",
                       .help = LAB_TEXT("Number of synthetic training images"),
                       .range = {1, kMaxImages},
                       .label = LAB_TEXT("Training images"),
                       .step = 1000,
                       .name = LAB_TEXT("number of synthetic training images"),
                       .decides = Decides::Numbers},
          &R::synthetic_train);
    visit(RequestField{.key = "synthetic_test",
                       .option = "--synthetic-test",
                       .placeholder = "N",
                       .help = LAB_TEXT("Number of synthetic test images"),
                       .range = {1, kMaxImages},
                       .label = LAB_TEXT("Test images"),
                       .step = 1000,
                       .name = LAB_TEXT("number of synthetic test images"),
                       .decides = Decides::Numbers},
          &R::synthetic_test);
    visit(RequestField{.key = "order",
                       .option = "--order",
                       .help = LAB_TEXT(
                           "Image order; sequential: file order, including the last partial batch"),
                       .label = LAB_TEXT("Image order"),
                       .hint = LAB_TEXT("Reshuffled in each epoch, or in file order."),
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::order);
  }

  template <typename Visit>
  static void steps(const Visit& visit) {
    visit(
        RequestField{.key = "batch",
                     .option = "--batch",
                     .placeholder = "N",
                     .help = LAB_TEXT("Images per step"),
                     .range = {1, kMaxImages},
                     .label = LAB_TEXT("Batch"),
                     .hint = LAB_TEXT("Images per step, over all devices; the loss is their mean."),
                     .unit = LAB_TEXT("images"),
                     .step = 32,
                     .decides = Decides::Numbers,
                     .reported = true},
        &R::batch);
    visit(
        RequestField{
            .key = "lr",
            .option = "--lr",
            .placeholder = "X",
            .help = LAB_TEXT("Learning rate, above 0; default: the chapters' value for the model"),
            .range = {0, kNoMost, Ends::NotMin},
            .label = LAB_TEXT("Learning rate"),
            .hint = LAB_TEXT(
                "Default by model: 0.9 for LeNet, 0.1 for the others, as in the chapters."),
            .step = 0.1,
            .decides = Decides::Numbers,
            .reported = true},
        &R::lr);
    visit(RequestField{.key = "momentum",
                       .option = "--momentum",
                       .placeholder = "X",
                       .help = LAB_TEXT("SGD momentum, from 0 to below 1; default 0"),
                       .range = {0, 1, Ends::NotMax},
                       .label = LAB_TEXT("Momentum"),
                       .hint = LAB_TEXT("The chapters use none."),
                       .step = 0.1,
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::momentum);
    visit(RequestField{.key = "weight_decay",
                       .option = "--weight-decay",
                       .placeholder = "X",
                       .help = LAB_TEXT("SGD weight decay"),
                       .range = {0, 1e6},
                       .label = LAB_TEXT("Weight decay"),
                       .hint = LAB_TEXT("The chapters use none."),
                       .step = 0.0001,
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::weight_decay);
    visit(RequestField{.key = "epochs",
                       .option = "--epochs",
                       .placeholder = "N",
                       .help = LAB_TEXT("Passes over the training set"),
                       .range = {1, 1e6},
                       .label = LAB_TEXT("Epochs"),
                       .hint = LAB_TEXT("Passes over the training images."),
                       .name = LAB_TEXT("number of epochs"),
                       .decides = Decides::Course,
                       .reported = true},
          &R::epochs);
    visit(RequestField{.key = "steps",
                       .option = "--steps",
                       .placeholder = "N",
                       .help = LAB_TEXT("Stop after N steps"),
                       .range = {0, kMaxSteps},
                       .name = LAB_TEXT("number of steps"),
                       .decides = Decides::Course},
          &R::steps);
    visit(RequestField{.key = "seed",
                       .option = "--seed",
                       .placeholder = "N",
                       .help = LAB_TEXT("Seed for weights, order and synthetic images"),
                       .label = LAB_TEXT("Seed"),
                       .hint = LAB_TEXT("The same seed gives the same weights, order and images."),
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::seed);
    visit(
        RequestField{
            .key = "lr_scale",
            .option = "--lr-scale",
            .help = LAB_TEXT("Linear: scales the learning rate with the batch, lr * batch / 256"),
            .label = LAB_TEXT("Learning-rate scaling"),
            .hint = LAB_TEXT("Linear: the rate above times batch / 256, so that each image changes "
                             "the weights as much as with the chapters' batch."),
            .decides = Decides::Numbers,
            .reported = true},
        &R::lr_scale);
    visit(RequestField{.key = "warmup_epochs",
                       .option = "--warmup-epochs",
                       .placeholder = "X",
                       .help = LAB_TEXT("Epochs over which the learning rate rises to its value"),
                       .range = {0, 1e6},
                       .label = LAB_TEXT("Warm-up"),
                       .hint = LAB_TEXT(
                           "Epochs over which the rate rises to its value; 0: no warm-up."),
                       .unit = LAB_TEXT("epochs"),
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::warmup_epochs);
    recipe(visit);
  }

  // What the chapters' trainings leave out.
  template <typename Visit>
  static void recipe(const Visit& visit) {
    visit(RequestField{.key = "schedule",
                       .option = "--schedule",
                       .help = LAB_TEXT("Learning rate after the warm-up; linear: falls to 0 at "
                                        "the end of the last epoch"),
                       .label = LAB_TEXT("Schedule"),
                       .hint = LAB_TEXT("The learning rate after the warm-up. Linear decay: to 0 "
                                        "at the end of the last epoch."),
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::schedule);
    visit(RequestField{.key = "label_smoothing",
                       .option = "--label-smoothing",
                       .placeholder = "X",
                       .help = LAB_TEXT("Share of each label that is spread over all classes, from "
                                        "0 to below 1; default 0"),
                       .range = {0, 1, Ends::NotMax},
                       .label = LAB_TEXT("Label smoothing"),
                       .hint = LAB_TEXT("Share of each training label that is spread over all "
                                        "classes. The chapters use none."),
                       .step = 0.05,
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::label_smoothing);
    visit(RequestField{.key = "augment",
                       .option = "--augment",
                       .help = LAB_TEXT("Random changes to the training images; flip: mirrors half "
                                        "of them, left to right"),
                       .label = LAB_TEXT("Augmentation"),
                       .hint = LAB_TEXT("Flips: half of the training images, drawn anew in each "
                                        "epoch, are mirrored left to right."),
                       .more = true,
                       .decides = Decides::Numbers,
                       .reported = true},
          &R::augment);
    visit(
        RequestField{.key = "first_layer",
                     .option = "--first-layer",
                     .help = LAB_TEXT("Weights with which the first convolution starts; whitened: "
                                      "filters that whiten the training images"),
                     .label = LAB_TEXT("First layer"),
                     .hint = LAB_TEXT("Whitened: the first convolution starts with filters that "
                                      "whiten the training images, instead of random ones. "
                                      "Weights from a file stay."),
                     .more = true,
                     .decides = Decides::Course,
                     .reported = true},
        &R::first_layer);
    visit(RequestField{.key = "stop_at",
                       .option = "--stop-at",
                       .placeholder = "ACCURACY",
                       .help = LAB_TEXT("Stop after the first epoch with this test accuracy, above "
                                        "0 and up to 1; reports the time"),
                       .range = {0, 1, Ends::NotMin},
                       .name = LAB_TEXT("test accuracy to stop at"),
                       .decides = Decides::Course,
                       .reported = true},
          &R::stop_at);
  }

  template <typename Visit>
  static void kernels(const Visit& visit) {
    visit(RequestField{.key = "kernels",
                       .option = "--kernels",
                       .placeholder = "lab|library|both",
                       .help = LAB_TEXT("Kernels that compute; both: steps alternate between them, "
                                        "and a profile compares each layer"),
                       .decides = Decides::Course,
                       .reported = true},
          &R::kernels);
    visit(RequestField{.key = "compare_kernels",
                       .option = "--kernels both",
                       .own_option = false,
                       .decides = Decides::Course},
          &R::compare_kernels);
    visit(
        RequestField{
            .key = "convolution",
            .option = "--convolution",
            .placeholder = "auto|rule|NAME",
            .help = LAB_TEXT(
                "Algorithm of the lab's convolutions: auto (fastest by measurement, stored "
                "for later runs; measuring anew may change the rounding), rule (by "
                "shape), or gemm, direct, winograd2, winograd4 where supported"),
            .decides = Decides::Course,
            .reported = true},
        &R::convolution);
    visit(
        RequestField{
            .key = "profile",
            .option = "--profile",
            .help = LAB_TEXT(
                "Measure each layer's time, GFLOP/s and share of the peak, on the first device"),
            .label = LAB_TEXT("Profile layers"),
            .hint = LAB_TEXT("Measures each layer's time, GFLOP/s and share of the peak, on the "
                             "first device. The overhead is negligible on CPUs; on a GPU each step "
                             "is slower, because it runs without a CUDA graph.")},
        &R::profile);
    visit(RequestField{.key = "timeline",
                       .label = LAB_TEXT("Record a timeline"),
                       .hint = LAB_TEXT("Records when each layer and each gradient sum of a step "
                                        "ran, on every device, once per second. The overhead is "
                                        "negligible on CPUs; on a GPU a recorded step is slower, "
                                        "because it runs without a CUDA graph.")},
          &R::timeline);
    visit(RequestField{.key = "insight",
                       .label = LAB_TEXT("Show what it learns"),
                       .hint = LAB_TEXT("Shows images of the current batch and the weights of the "
                                        "first layer, once per second; those on a GPU after each "
                                        "epoch. The overhead is negligible.")},
          &R::insight);
    visit(
        RequestField{
            .key = "dtype",
            .option = "--dtype",
            .placeholder = "f32|bf16|tf32",
            .help = LAB_TEXT("Operand type of convolutions and matrix products"),
            .label = LAB_TEXT("Matmul precision"),
            .hint = LAB_TEXT(
                "bf16: operands of convolutions and matrix products are rounded to bf16; sums, "
                "weights and gradients stay FP32. Faster on processors with fast bf16 "
                "instructions."),
            .decides = Decides::Numbers,
            .reported = true},
        &R::dtype);
    visit(RequestField{.key = "steps_ahead",
                       .option = "--steps-ahead",
                       .placeholder = "N",
                       .help = LAB_TEXT("Further steps queued on GPUs before the loss of a step is "
                                        "read; 0: read it at once. Default 16"),
                       .range = {0, kMaxStepsAhead},
                       .label = LAB_TEXT("Steps ahead"),
                       .hint = LAB_TEXT("Further steps queued on the GPU before the loss of a step "
                                        "is read, at most 0.2 s of work. 0: the loss is read at "
                                        "once, and the GPU waits meanwhile."),
                       .unit = LAB_TEXT("steps")},
          &R::steps_ahead);
  }

  template <typename Visit>
  static void files(const Visit& visit) {
    visit(RequestField{.key = "init_file",
                       .option = "--init",
                       .placeholder = "FILE.safetensors",
                       .help = LAB_TEXT("Initial weights"),
                       .label = LAB_TEXT("Initial weights"),
                       .hint = LAB_TEXT("A safetensors file, as \"Save weights to\" or PyTorch "
                                        "writes it. Empty: random weights from the seed."),
                       .empty = LAB_TEXT("from the seed")},
          &R::init_file);
    visit(RequestField{.key = "save_file",
                       .option = "--save",
                       .placeholder = "FILE.safetensors",
                       .help = LAB_TEXT("File for the trained weights"),
                       .label = LAB_TEXT("Save weights to"),
                       .hint = LAB_TEXT("A safetensors file, written whole at the end of the "
                                        "training; PyTorch loads the tensors by name. Empty: not "
                                        "saved."),
                       .empty = LAB_TEXT("not saved")},
          &R::save_file);
    visit(RequestField{.key = "logdir",
                       .option = "--logdir",
                       .placeholder = "DIR",
                       .help = LAB_TEXT("Folder for TensorBoard event files; each run gets a "
                                        "folder of its own in it"),
                       .label = LAB_TEXT("TensorBoard folder"),
                       .hint = LAB_TEXT("Loss, accuracy and images per second of each step, in a "
                                        "folder of the run: show them with tensorboard --logdir. "
                                        "Empty: not written."),
                       .empty = LAB_TEXT("not written")},
          &R::logdir);
    visit(RequestField{.key = "trace_file",
                       .option = "--trace",
                       .placeholder = "FILE.json",
                       .help = LAB_TEXT("File for the timelines of up to 32 steps, spread evenly "
                                        "over the training, and the loss, as a Chrome trace; "
                                        "Perfetto and chrome://tracing open it")},
          &R::trace_file);
    visit(RequestField{.key = "probe"}, &R::probe);
    visit(RequestField{.key = "checkpoint_dir",
                       .option = "--checkpoint",
                       .placeholder = "DIR",
                       .help = LAB_TEXT("Checkpoint folder; the newest two are kept"),
                       .label = LAB_TEXT("Checkpoint folder"),
                       .hint = LAB_TEXT("The model, the optimizer, the random state and the "
                                        "position in the data, written atomically. Empty: none."),
                       .empty = LAB_TEXT("none")},
          &R::checkpoint_dir);
    visit(RequestField{.key = "checkpoint_every",
                       .option = "--every",
                       .placeholder = "N",
                       .help = LAB_TEXT("Steps between checkpoints; default: only at the end"),
                       .range = {0, kMaxSteps},
                       .label = LAB_TEXT("Checkpoint every"),
                       .hint = LAB_TEXT("0: only at the end."),
                       .unit = LAB_TEXT("steps"),
                       .step = 100,
                       .name = LAB_TEXT("interval between checkpoints"),
                       .decides = Decides::Course},
          &R::checkpoint_every);
    visit(RequestField{.key = "resume_dir",
                       .option = "--resume",
                       .placeholder = "DIR",
                       .help = LAB_TEXT("Resume from the newest checkpoint in DIR; --epochs and "
                                        "--steps count from the beginning"),
                       .label = LAB_TEXT("Resume from"),
                       .hint = LAB_TEXT("Resumes from the newest checkpoint in this folder. Empty: "
                                        "starts from the beginning."),
                       .empty = LAB_TEXT("none")},
          &R::resume_dir);
    visit(RequestField{.key = "evaluate",
                       .option = "--no-eval",
                       .help = LAB_TEXT("Skip the test accuracy after each epoch"),
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
                       .help = LAB_TEXT("Device counts to measure; default 1, 2, 4, ... and all"),
                       .range = {1, 65536}},
          &R::counts);
    visit(RequestField{.key = "modes",
                       .option = "--mode",
                       .placeholder = "strong|weak|both",
                       .help = LAB_TEXT("Strong: one batch for all devices; weak: one per device")},
          &R::modes);
    visit(RequestField{.key = "steps",
                       .option = "--steps",
                       .placeholder = "N",
                       .help = LAB_TEXT("Timed steps per run, after three untimed ones"),
                       .range = {1, kMax},
                       .label = LAB_TEXT("Timed steps"),
                       .hint = LAB_TEXT("Per round."),
                       .step = 5,
                       .reported = true},
          &R::steps);
    visit(RequestField{.key = "warmup",
                       .range = {0, kMax},
                       .label = LAB_TEXT("Untimed steps"),
                       .hint = LAB_TEXT("Before the timed ones."),
                       .reported = true},
          &R::warmup);
    visit(
        RequestField{.key = "rounds",
                     .option = "--rounds",
                     .placeholder = "N",
                     .help = LAB_TEXT("Rounds over all device counts; default 3"),
                     .range = {1, kMax},
                     .label = LAB_TEXT("Rounds"),
                     .hint = LAB_TEXT(
                         "Device counts are interleaved, so that clock drift affects all equally."),
                     .reported = true},
        &R::rounds);
    visit(RequestField{.key = "accuracy_steps",
                       .option = "--accuracy-steps",
                       .placeholder = "N",
                       .help = LAB_TEXT("Steps before the test accuracy (strong scaling); default "
                                        "by model: 235 (one epoch), lenet 940, resnet18 60"),
                       .range = {1, kMax},
                       .label = LAB_TEXT("Steps before evaluation"),
                       .hint = LAB_TEXT("Default by model; one epoch at batch 256 has 235 steps."),
                       .step = 50},
          &R::accuracy_steps);
    visit(
        RequestField{.key = "accuracy",
                     .option = "--no-accuracy",
                     .help = LAB_TEXT("Skip the test accuracy"),
                     .label = LAB_TEXT("Test accuracy"),
                     .hint = LAB_TEXT("Trains with each device count from the same seed and batch: "
                                      "the accuracy must not depend on the number of devices.")},
        &R::accuracy);
  }

  template <typename Visit>
  static void prediction(const Visit& visit) {
    visit(RequestField{.key = "predict_devices",
                       .option = "--predict",
                       .placeholder = "N",
                       .help = LAB_TEXT("Largest device count to predict; 0: no prediction"),
                       .range = {0, 65536},
                       .reported = true},
          &R::predict_devices);
    visit(RequestField{.key = "link",
                       .option = "--link",
                       .placeholder = "NAME",
                       .help = LAB_TEXT("Link between predicted devices:"),
                       .choices = kLinkNames,
                       .label = LAB_TEXT("Link"),
                       .hint = LAB_TEXT("Its latency and bandwidth determine the all-reduce time."),
                       .reported = true},
          &R::link);
    visit(
        RequestField{
            .key = "compute_s",
            .option = "--compute-ms",
            .placeholder = "X",
            .help = LAB_TEXT(
                "Step time of one device for --batch images in milliseconds, for the prediction"),
            .range = {1e-6, 1e9},
            .scale = 1e-3,
            .unit = "s",
            .name = LAB_TEXT("step time of one device")},
        &R::compute_s);
    visit(RequestField{.key = "fixed_s",
                       .option = "--fixed-ms",
                       .placeholder = "X",
                       .help = LAB_TEXT("Part of that time that does not depend on the batch, in "
                                        "milliseconds; every device takes it. Default 0"),
                       .range = {0, 1e9},
                       .scale = 1e-3,
                       .unit = "s",
                       .name = LAB_TEXT("fixed time per step"),
                       .reported = true},
          &R::fixed_s);
    process(visit);
    visit(
        RequestField{.key = "reference_file",
                     .option = "--reference",
                     .placeholder = "FILE.json",
                     .help = LAB_TEXT("File with the step time of one device, for the prediction")},
        &R::reference_file);
    visit(RequestField{.key = "check",
                       .option = "--check",
                       .help = LAB_TEXT("Compare the model's predictions with published figures")},
          &R::check);
  }

  // What the process adds to the work of its devices.
  template <typename Visit>
  static void process(const Visit& visit) {
    visit(
        RequestField{
            .key = "style",
            .option = "--style",
            .help = LAB_TEXT("Predicted style: ddp (a process per device, sums during backward) or "
                             "dataparallel (one process, parameters sent each step)"),
            .label = LAB_TEXT("Style"),
            .hint = LAB_TEXT("DDP: a process per device, sums during backward. "
                             "DataParallel: one process for all devices, which sends the "
                             "parameters before and collects the gradients after each "
                             "step."),
            .reported = true},
        &R::style);
    visit(RequestField{.key = "repeated_s",
                       .option = "--repeat-ms",
                       .placeholder = "X",
                       .help = LAB_TEXT(
                           "With dataparallel, time that the process repeats per step for each "
                           "further device, in milliseconds; default: estimated from the model"),
                       .range = {0, 1e9},
                       .scale = 1e-3,
                       .unit = "s",
                       .name = LAB_TEXT("repeated time per device")},
          &R::repeated_s);
    visit(RequestField{.key = "reading_s",
                       .option = "--read-ms",
                       .placeholder = "X",
                       .help = LAB_TEXT(
                           "Time in which a process reads --batch images, in milliseconds; no "
                           "step is shorter than reading its images. Default 0"),
                       .range = {0, 1e9},
                       .scale = 1e-3,
                       .unit = "s",
                       .name = LAB_TEXT("time to read a batch"),
                       .reported = true},
          &R::reading_s);
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
                       .help = LAB_TEXT("Devices, such as cpu:0,cuda:0; default: all")},
          &R::devices);
    visit(RequestField{.key = "kernels",
                       .option = "--kernels",
                       .placeholder = "all|best|NAME,...",
                       .help = LAB_TEXT("Rungs of the ladder")},
          &R::kernels);
    visit(
        RequestField{.key = "sizes",
                     .option = "--sizes",
                     .placeholder = "64..4096",
                     .help = LAB_TEXT("Matrix sizes (square): a range of powers of two or a list")},
        &R::sizes);
    visit(
        RequestField{
            .key = "dtype",
            .option = "--dtype",
            .help = LAB_TEXT("Operand type; accumulation is f32"),
            .label = LAB_TEXT("Matmul precision"),
            .hint = LAB_TEXT(
                "Type of A and B; accumulation and C are f32. Kernels without this type are "
                "skipped. tf32 is stored as f32 and rounded for a GPU's tensor cores.")},
        &R::dtype);
    RequestField cache = kCacheField;
    cache.hint = LAB_TEXT("Warm: the matrices may still be in the cache. Cold: they were flushed.");
    visit(cache, &R::cache);
    RequestField budget = kBudgetField;
    budget.label = LAB_TEXT("Time per kernel and size");
    visit(budget, &R::budget_s);
    visit(
        RequestField{.key = "seed",
                     .option = "--seed",
                     .placeholder = "N",
                     .help = LAB_TEXT("Seed for the random inputs"),
                     .label = LAB_TEXT("Matrix seed"),
                     .hint = LAB_TEXT("Inputs are random: zeros would run faster on some chips.")},
        &R::seed);
    visit(RequestField{.key = "together",
                       .option = "--together",
                       .help =
                           LAB_TEXT("Multiply on all devices at once and in sequence on the first; "
                                    "reports the speed-up"),
                       .label = LAB_TEXT("Devices together"),
                       .hint = LAB_TEXT("Multiplies on all devices of one kind at once, and as "
                                        "often on the first one in sequence.")},
          &R::together);
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
                       .help = LAB_TEXT("Source devices; default: all")},
          &R::from);
    visit(RequestField{.key = "to",
                       .option = "--to",
                       .placeholder = "DEV,...",
                       .help = LAB_TEXT("Destination devices; default: all")},
          &R::to);
    visit(RequestField{.key = "memory",
                       .option = "--memory",
                       .placeholder = "pageable|pinned|both",
                       .help = LAB_TEXT("Host memory type")},
          &R::memory);
    visit(RequestField{.key = "ops",
                       .option = "--ops",
                       .placeholder = "OP,...",
                       .help = LAB_TEXT("Operations: read, write, copy, triad as in STREAM; with a "
                                        "GPU: copy, both, pieces, chase, overlap")},
          &R::ops);
    visit(RequestField{.key = "one_thread",
                       .option = "--threads",
                       .own_option = false,
                       .label = LAB_TEXT("One thread"),
                       .hint = LAB_TEXT("Measures the bandwidth of a single thread.")},
          &R::one_thread);
    visit(RequestField{.key = "all_threads",
                       .option = "--threads",
                       .own_option = false,
                       .label = LAB_TEXT("All threads"),
                       .hint = LAB_TEXT("Measures the bandwidth of all threads of the device.")},
          &R::all_threads);
    visit(RequestField{.key = "sizes",
                       .option = "--sizes",
                       .placeholder = "1KiB..1GiB",
                       .help = LAB_TEXT("Array sizes: a range of powers of two or a list")},
          &R::sizes_bytes);
    RequestField cache = kCacheField;
    cache.hint = LAB_TEXT("Warm: the data may still be in the cache. Cold: it was flushed.");
    visit(cache, &R::cache);
    visit(kBudgetField, &R::budget_s);
    visit(RequestField{.key = "quick",
                       .option = "--quick",
                       .help = LAB_TEXT("Copies only, of 1 KiB to 128 MiB, in up to 30 s; replaces "
                                        "--ops and --sizes"),
                       .label = LAB_TEXT("Quick, < 30 s"),
                       .hint = LAB_TEXT("Measures only copies, of 1 KiB to 128 MiB.")},
          &R::quick);
  }
};

}  // namespace lab
