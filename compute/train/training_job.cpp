#include "compute/train/training_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/data/sha256.h"
#include "compute/kernels/convolution/remembered_choices.h"
#include "compute/kernels/gemm/onednn_threads.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"
#include "compute/nn/state_dict.h"
#include "compute/train/batch_loader.h"
#include "compute/train/checkpoint.h"
#include "compute/train/convolution_choice.h"
#include "compute/train/event_log.h"
#include "compute/train/ranks/shared_gpus.h"
#include "compute/train/trainer.h"
#include "compute/train/training_request.h"
#include "compute/train/training_run.h"
#include "compute/train/whitening.h"

namespace lab {
namespace {

constexpr int kProbeSteps = 20;  // timed, at most
constexpr double kProbeBudget_s = 3;
constexpr std::int64_t kFashionTrainImages = 60'000, kFashionTestImages = 10'000;

std::vector<DeviceContext*> contexts(const StartTraining& request, Machine& machine) {
  std::vector<DeviceContext*> devices;
  for (const Device device : request.devices) devices.push_back(&machine.at(device));
  return devices;
}

// Bytes of the images, labels and orders of the sets, which a GPU holds.
std::int64_t data_bytes(const StartTraining& request) {
  const bool fashion = request.data == DataSource::FashionMnist;
  const std::int64_t train = fashion ? kFashionTrainImages : request.synthetic_train;
  std::int64_t images = train;
  if (request.evaluate) images += fashion ? kFashionTestImages : request.synthetic_test;
  constexpr std::int64_t kEntryBytes = sizeof(std::uint32_t);
  const ImageSet one;
  std::int64_t bytes = images * (one.height * one.width + 1 + kEntryBytes);
  if (request.order == BatchOrder::Shuffled) bytes += (3 * train + 2) * kEntryBytes;
  return bytes;
}

TrainerOptions trainer_options(const StartTraining& request, ConvolutionChooser& chooser) {
  return {.model = request.model,
          .width = request.width,
          .batch = request.batch,
          .seed = request.seed,
          .sgd = {.momentum = request.momentum, .weight_decay = request.weight_decay},
          .share_policy = request.share_policy,
          .shares = request.shares,
          .bucket_bytes = request.bucket_bytes,
          .kernels = {.products = request.dtype,
                      .chooser = &chooser,
                      .label_smoothing = request.label_smoothing,
                      .library = uses_library(request)},
          .sum = {.way = request.sum},
          .data_bytes = data_bytes(request)};
}

// A trainer and what must last as long as it does.
struct Prepared {
  Prepared(const StartTraining& request, RunContext& ctx)
      : devices(contexts(request, ctx.machine())) {
    if (uses_library(request)) quiet.emplace();
    if (devices.front()->gpu() == nullptr) bound.emplace(devices.front()->threads());
    chooser = make_chooser(request, ctx);
    trainer.emplace(devices, trainer_options(request, *chooser), ctx.stop_token(), ctx.ranks());
  }

  const std::vector<DeviceContext*> devices;
  std::optional<QuietOnednnThreads> quiet;  // library calls alternate with the lab's kernels
  std::optional<ThreadPool::Guard> bound;   // the caller computes
  std::unique_ptr<ConvolutionChooser> chooser;
  std::optional<Trainer> trainer;
};

// The first process reads the files and sends the state to the others.
ResumedTraining load_state(const StartTraining& request, Trainer& trainer, RunContext& ctx) {
  RankGroup& ranks = ctx.ranks();
  ResumedTraining resumed;
  if (ranks.rank() == 0) {
    if (!request.init_file.empty()) nn::load_network(trainer.network(), request.init_file);
    if (!request.resume_dir.empty()) {
      resumed = load_checkpoint(request.resume_dir, request, trainer.network(), trainer.sgd());
    }
  }
  trainer.send_state();
  ranks.broadcast(std::as_writable_bytes(std::span(&resumed.position, 1)), 0,
                  {.stop = ctx.stop_token()});
  return resumed;
}

void report_kernels(const StartTraining& request, Trainer& trainer, RunContext& ctx) {
  if (ctx.ranks().rank() != 0) return;
  if (std::string problem = convolution_choices().problem(); !problem.empty()) {
    ctx.emit(LogLine{Severity::Warning, std::move(problem)});
  }
  if (!std::ranges::all_of(request.devices, is_timed)) {
    ctx.emit(LogLine{Severity::Info, tr(kEmulatedGpu)});
  }
  if (request.share_policy == SharePolicy::Auto && trainer.devices().size() > 1) {
    ctx.emit(LogLine{Severity::Info, tr(kMeasuredShares)});
  }
  if (!trainer.sum_remark().empty()) ctx.emit(LogLine{Severity::Info, trainer.sum_remark()});
  if (const std::string libraries = gpu_libraries(request, ctx.machine()); !libraries.empty()) {
    ctx.emit(LogLine{Severity::Info, trf("layers on GPUs: {}", libraries)});
  }
  if (trainer.network().device().gpu() != nullptr) return;
  const std::string chosen = chosen_convolutions(trainer.network().plan(), request.kernels);
  if (!chosen.empty()) ctx.emit(LogLine{Severity::Info, trf("convolution algorithms: {}", chosen)});
}

// Several processes on one GPU are allowed, but not faster.
void warn_of_shared_gpus(const Prepared& prepared, RunContext& ctx) {
  std::vector<NamedGpu> mine;
  for (const DeviceContext* device : prepared.devices) {
    if (device->gpu() != nullptr)
      mine.push_back({device->device(), device->gpu()->facts().pci_bus_id});
  }
  std::string shared = shared_gpus(mine, ctx.ranks(), {.stop = ctx.stop_token()});
  if (shared.empty() || ctx.ranks().rank() != 0) return;
  ctx.emit(LogLine{Severity::Warning, std::move(shared)});
}

// All processes must have read the same images; otherwise the sums would be meaningless.
void compare_data(const Dataset& data, RunContext& ctx) {
  RankGroup& ranks = ctx.ranks();
  const std::string mine =
      fmt::format("{} training and {} test images ({:.12}, {:.12})", data.train.count,
                  data.test.count, sha256_hex(data.train.pixels) + sha256_hex(data.train.labels),
                  sha256_hex(data.test.pixels) + sha256_hex(data.test.labels));
  const auto all = ranks.all_gather(std::as_bytes(std::span(mine)), {.stop = ctx.stop_token()});
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const auto text = [&](std::size_t r) {
      return std::string_view(reinterpret_cast<const char*>(all[r].data()), all[r].size());
    };
    throw Error(
        Errc::InvalidArgument,
        trf("training: rank 0 ({}) has {}, but rank {} ({}) has {}; give all ranks the same data",
            ranks.hosts()[0], text(0), rank, ranks.hosts()[rank], text(rank)));
  }
}

}  // namespace

// Without steps (`--steps 0 --save FILE` writes the initial weights) only whitening needs data, and
// a checkpoint whose epoch may have to be evaluated.
Dataset load_training_data(const StartTraining& request, RunContext& ctx) {
  const bool idle = request.steps == 0 && request.resume_dir.empty();
  if (idle && !whitens_first_layer(request)) return {};
  if (request.data == DataSource::FashionMnist) return load_fashion_mnist(request.data_dir);
  return make_synthetic_garments(request.synthetic_train, request.synthetic_test, request.seed,
                                 [&](double done) {
                                   ctx.checkpoint();
                                   ctx.progress(done, tr("drawing synthetic garments"));
                                 });
}

// Checks run in order of increasing cost: output files, memory, initial weights, data.
void run_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
                  const TrainingData& data, std::int64_t timeline_warmup) {
  RankGroup& ranks = ctx.ranks();
  if (ranks.rank() == 0) {
    if (!request.save_file.empty()) files::check_writable(request.save_file);
    if (!request.trace_file.empty()) files::check_writable(request.trace_file);
    if (!request.logdir.empty()) check_event_folder(request.logdir);
    if (!request.checkpoint_dir.empty()) check_checkpoint_folder(request.checkpoint_dir);
  }
  Prepared prepared(request, ctx);
  Trainer& trainer = *prepared.trainer;
  report_kernels(request, trainer, ctx);
  warn_of_shared_gpus(prepared, ctx);
  ResumedTraining resumed = load_state(request, trainer, ctx);
  if (ranks.single()) ctx.throw_if_cancelled();
  const Dataset& images = data();
  if (!ranks.single()) compare_data(images, ctx);
  if (request.first_layer == FirstLayer::Whitened) {
    // Files of weights are given to the first process alone.
    if (ranks.rank() == 0 && whitens_first_layer(request)) {
      whiten_first_layer(trainer.network(), images.train);
    }
    trainer.send_state();
  }
  const TrainingSink silence = [](const Payload&) {};
  std::optional<EventLog> events;
  if (ranks.rank() == 0 && !request.logdir.empty()) {
    events.emplace(request, ctx, sink, resumed.position.steps);
  }
  const TrainingSink logged = [&events](Payload payload) { (*events)(std::move(payload)); };
  const TrainingSink& first = events ? logged : sink;
  TrainingRun(request, trainer, images, ctx, ranks.rank() == 0 ? first : silence,
              std::move(resumed), timeline_warmup)
      .run();
}

void probe_training(const StartTraining& request, RunContext& ctx, const TrainingSink& sink) {
  if (!ctx.ranks().single()) {
    throw Error(Errc::Unsupported, tr("training: the speed of several processes is not probed; "
                                      "train a few steps with --steps 20 instead"));
  }
  const Dataset data = make_synthetic_garments(request.batch, request.batch, request.seed,
                                               [&](double) { ctx.checkpoint(); });
  Prepared prepared(request, ctx);
  Trainer& trainer = *prepared.trainer;
  BatchLoader loader(data.train, request.batch, BatchOrder::Sequential, request.seed,
                     request.augment);
  loader.start_epoch(1);
  const nn::PassOptions pass{.kernels = request.kernels};
  // As in the training, steps are queued where they can be.
  const bool ahead = request.steps_ahead > 0 && trainer.can_queue();
  if (ahead) {
    trainer.begin_steps();
    trainer.queue_step(loader, 0, 0, pass);
  }
  const auto step_s = [&] {
    if (ahead) {
      trainer.queue_step(loader, 0, 0, pass);
      return trainer.finish_step().gpu_s;
    }
    const double begin_s = monotonic_s();
    trainer.step(loader, 0, 0, pass);
    return monotonic_s() - begin_s;
  };
  std::vector<double> times_s;
  double end_s = monotonic_s() + kProbeBudget_s;
  for (int step = 0; step <= kProbeSteps; ++step) {
    end_s += ctx.checkpoint();  // a pause is not part of the budget
    ctx.progress(static_cast<double>(step) / (kProbeSteps + 1), tr("measuring the speed"));
    const double seconds = step_s();
    if (step == 0) continue;  // warm-up
    times_s.push_back(seconds);
    if (monotonic_s() > end_s) break;
  }
  while (trainer.queued() > 0) trainer.finish_step();
  trainer.evaluate(data.test, pass);  // warm-up: a GPU's copies and kernels
  const double test_s = monotonic_s();
  trainer.evaluate(data.test, pass);
  const double images = static_cast<double>(request.batch);
  const double test_end_s = monotonic_s();
  std::ranges::sort(times_s);
  sink(TrainingRate{.request = request,
                    .images_per_s = images / quantile(times_s, 0.5),
                    .test_images_per_s = images / (test_end_s - test_s),
                    .slow_images_per_s = images / quantile(times_s, 0.9),
                    .fast_images_per_s = images / quantile(times_s, 0.1)});
}

}  // namespace lab
