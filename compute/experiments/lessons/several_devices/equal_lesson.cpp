// Lesson "equal": a data-parallel step computes what one device computes, on every replica.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <span>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/several_devices/replicas.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/nn/models.h"
#include "compute/nn/network.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr int kSteps = 3;
constexpr std::int64_t kImagePixels = 784;
// Images per step. The last batch is smaller and cannot be divided evenly.
constexpr std::array<std::int64_t, kSteps> kBatches = {16, 16, 7};
constexpr double kRate = 0.1;
// Half the distance between two float32 numbers at 1.
constexpr double kFloor = 0x1p-24;
// Sums in another order may differ by some roundings of the largest value of a layer; a fault is
// larger by orders of magnitude.
constexpr double kAgreeFloors = 256;

enum class PlantedFault { None, NotWrittenBack, SumForMean, RaggedMean, StaleBuffer };

struct FaultFacts {
  PlantedFault fault;
  const char* name;
  int shows_at_step;       // first step at which any replica differs
  int shows_on_replica_0;  // first step at which replica 0 differs
};

constexpr FaultFacts kFaults[] = {
    {PlantedFault::NotWrittenBack, LAB_TEXT("sum not written back to device 1"), 1, 2},
    {PlantedFault::SumForMean, LAB_TEXT("sum over devices instead of mean"), 1, 1},
    {PlantedFault::RaggedMean, LAB_TEXT("ragged last batch weighted equally"), 3, 3},
    {PlantedFault::StaleBuffer, LAB_TEXT("gradients of the step before in the buffer"), 2, 2},
};

// One training step on k replicas. A fault can be planted.
class ReplicaTrainer {
 public:
  ReplicaTrainer(nn::NetworkPlan (*plan)(), std::span<DeviceContext* const> devices,
                 PlantedFault fault = PlantedFault::None)
      : fault_(fault), own_gradients_(devices.size()), losses_(devices.size()) {
    for (DeviceContext* device : devices) replicas_.add(plan(), *device, kBatches[0], /*seed=*/1);
  }

  void step(const float* images, const std::uint8_t* labels, std::int64_t batch) {
    if (fault_ != PlantedFault::StaleBuffer) replicas_.clear_sum();
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      const auto [begin, end] = replicas_.slice(batch, i);
      compute_gradient(i, images + begin * kImagePixels, labels + begin, end - begin,
                       divisor(batch, end - begin));
    }
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (i == 0 || fault_ != PlantedFault::NotWrittenBack) replicas_.take_sum(i);
      replicas_.update(i, kRate);
    }
  }

  std::deque<nn::Network>& nets() { return replicas_.nets(); }
  // The replica's own gradient of the last step, before the sum.
  const std::vector<float>& own_gradient(std::size_t replica) const {
    return own_gradients_[replica];
  }
  const std::vector<float>& sum() const { return replicas_.sum(); }
  // The loss of each of the replica's images in the last step.
  const std::vector<float>& losses(std::size_t replica) const { return losses_[replica]; }

 private:
  // The loss is the mean over the whole batch, so every replica divides by the whole batch.
  double divisor(std::int64_t batch, std::int64_t slice) const {
    if (fault_ == PlantedFault::SumForMean) return static_cast<double>(slice);
    if (fault_ == PlantedFault::RaggedMean) {
      return static_cast<double>(slice) * static_cast<double>(replicas_.size());
    }
    return static_cast<double>(batch);
  }

  void compute_gradient(std::size_t replica, const float* images, const std::uint8_t* labels,
                        std::int64_t slice, double divisor) {
    nn::Network& net = replicas_.nets()[replica];
    std::memcpy(net.input(), images, static_cast<std::size_t>(slice * kImagePixels) * 4);
    std::memcpy(net.labels(), labels, static_cast<std::size_t>(slice));
    replicas_.add_gradient(replica, slice, divisor);
    const auto losses = net.losses(slice);
    losses_[replica].assign(losses.begin(), losses.end());
    const auto gradients = net.flat_gradients();
    own_gradients_[replica].assign(gradients.begin(), gradients.end());
  }

  const PlantedFault fault_;
  Replicas replicas_;
  std::vector<std::vector<float>> own_gradients_;
  std::vector<std::vector<float>> losses_;
};

// A convolution with batch norm, which normalises over each replica's own slice.
nn::NetworkPlan plan_with_batch_norm() {
  nn::NetworkPlan plan("batch norm", {1, 28, 28}, nn::WeightInit::FanInUniform);
  const auto weights = plan.declare_convolution("0", 1, 4, 3);
  const auto norm = plan.declare_batch_norm("1", 4);
  const auto output = plan.declare_linear("4", 4, 10);
  const auto x = plan.convolution_norm(plan.input(), weights, {.padding = 1}, norm, true);
  plan.linear(plan.flatten(plan.global_average_pool(x)), output);
  return plan;
}

nn::NetworkPlan plan_mlp() {
  return nn::plan_model("mlp");
}

// The data of all steps, the same for every trainer.
struct StepData {
  explicit StepData(DeviceContext& host)
      : images(rand(host, {kSteps * kBatches[0], kImagePixels}, 7)) {
    for (std::int64_t i = 0; i < kSteps * kBatches[0]; ++i) {
      labels.push_back(static_cast<std::uint8_t>((i * 7) % 10));
    }
  }
  void step(ReplicaTrainer& trainer, int step) const {
    const std::int64_t first = step * kBatches[0];
    trainer.step(images.values<float>().data() + first * kImagePixels, labels.data() + first,
                 kBatches[static_cast<std::size_t>(step)]);
  }

  const Tensor images;
  std::vector<std::uint8_t> labels;
};

// Largest difference of two arrays of equal length, in rounding floors of their largest value.
double floors_apart(std::span<const float> a, std::span<const float> b) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest > 0 ? difference / (largest * kFloor) : 0;
}

double floors_apart(const nn::Parameter& a, const nn::Parameter& b) {
  const auto size = static_cast<std::size_t>(a.size);
  return floors_apart(std::span(a.value, size), std::span(b.value, size));
}

// First step, from 1, at which a replica differs from one device; 0: never.
struct FirstDifference {
  int anywhere = 0, on_replica_0 = 0;
  double most_floors = 0;
};

using Devices = std::vector<DeviceContext*>;

// Trains on one device and on all, and compares every layer of every replica after each step.
FirstDifference compare_steps(LessonStage& stage, const StepData& data, nn::NetworkPlan (*plan)(),
                              const Devices& devices, PlantedFault fault, bool report) {
  ReplicaTrainer one(plan, std::span(devices).first(1));
  ReplicaTrainer all(plan, devices, fault);
  FirstDifference first;
  for (int step = 0; step < kSteps; ++step) {
    stage.context().checkpoint();
    data.step(one, step);
    data.step(all, step);
    for (std::size_t replica = 0; replica < all.nets().size(); ++replica) {
      const auto& mine = one.nets()[0].parameters();
      const auto& theirs = all.nets()[replica].parameters();
      for (std::size_t layer = 0; layer < mine.size(); ++layer) {
        const double floors = floors_apart(mine[layer], theirs[layer]);
        first.most_floors = std::max(first.most_floors, floors);
        if (report) {
          stage.sample({.series = trf("{}, replica {}", mine[layer].name, replica),
                        .x = step + 1,
                        .value = floors});
        }
        if (floors <= kAgreeFloors) continue;
        if (first.anywhere == 0) first.anywhere = step + 1;
        if (replica == 0 && first.on_replica_0 == 0) first.on_replica_0 = step + 1;
      }
    }
  }
  return first;
}

// How far a network with batch norm is from one device's with the whole batch: its parameters,
// which all replicas share, and the running statistics, which are each replica's own.
void show_norm_over_slices(LessonStage& stage, const StepData& data, const Devices& devices) {
  ReplicaTrainer one(plan_with_batch_norm, std::span(devices).first(1));
  ReplicaTrainer all(plan_with_batch_norm, devices);
  for (int step = 0; step < kSteps; ++step) {
    stage.context().checkpoint();
    data.step(one, step);
    data.step(all, step);
    const auto report = [&](const std::string& series, double floors) {
      stage.sample({.series = series,
                    .x = step + 1,
                    .value = floors,
                    .group = tr("Batch norm over slices against the whole batch: no fault, but "
                                "other mathematics")});
    };
    nn::Network& whole = one.nets()[0];
    for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
      const nn::Parameter& mine = whole.parameters()[i];
      report(mine.name, floors_apart(mine, all.nets()[0].parameters()[i]));
    }
    for (std::size_t replica = 0; replica < all.nets().size(); ++replica) {
      for (std::size_t i = 0; i < whole.running().size(); ++i) {
        const nn::RunningStatistics& mine = whole.running()[i];
        const nn::RunningStatistics& theirs = all.nets()[replica].running()[i];
        report(trf("{}, replica {}", mine.name + ".running_mean", replica),
               floors_apart(mine.mean, theirs.mean));
        report(trf("{}, replica {}", mine.name + ".running_var", replica),
               floors_apart(mine.variance, theirs.variance));
      }
    }
  }
}

std::uint64_t hash_of(nn::Network& net) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::byte byte : std::as_bytes(net.flat_parameters())) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  }
  return hash;
}

std::vector<double> first_four(std::span<const float> values) {
  const auto four = values.first(std::min<std::size_t>(4, values.size()));
  return {four.begin(), four.end()};
}

// The stages of one step as real numbers: split, forward, backward, sum, update, compare.
class StepWalk {
 public:
  StepWalk(LessonStage& stage, ReplicaTrainer& trainer) : stage_(stage), trainer_(trainer) {
    const auto values = trainer.nets()[0].flat_parameters();
    before_.assign(values.begin(), values.end());
  }

  // Emits the stages of the step that the trainer has made.
  void emit(const StepData& data) {
    split(data);
    forward(0);
    forward(1);
    add(tr("Backward: each device has the gradient of its own images"), [this](const auto& p) {
      return std::vector<LessonRow>{gradient_row(0, p), gradient_row(1, p)};
    });
    add(tr("Sum: both devices receive g0 + g1"), [this](const auto& p) {
      return std::vector<LessonRow>{gradient_row(0, p), gradient_row(1, p),
                                    row("g0 + g1", trainer_.sum(), p)};
    });
    add(trf("Update: w - {} (g0 + g1) on both devices", kRate), [this](const auto& p) {
      return std::vector<LessonRow>{row(tr("w before"), before_, p),
                                    row("g0 + g1", trainer_.sum(), p), parameter_row(0, p),
                                    parameter_row(1, p)};
    });
    compare();
  }

 private:
  static constexpr std::size_t kReplicas = 2;

  std::string device(std::size_t i) { return to_string(trainer_.nets()[i].device().device()); }

  // Where the parameter is in an array of all parameters or gradients.
  std::size_t position(const nn::Parameter& p) {
    return static_cast<std::size_t>(p.grad - trainer_.nets()[0].flat_gradients().data());
  }

  LessonRow row(std::string name, std::span<const float> values, const nn::Parameter& p) {
    return {.name = std::move(name),
            .values = first_four(values.subspan(position(p), static_cast<std::size_t>(p.size))),
            .group = p.name};
  }
  LessonRow gradient_row(std::size_t i, const nn::Parameter& p) {
    return row(trf("g{} on {}", i, device(i)), trainer_.own_gradient(i), p);
  }
  LessonRow parameter_row(std::size_t i, const nn::Parameter& p) {
    return row(trf("w on {}", device(i)), trainer_.nets()[i].flat_parameters(), p);
  }

  void split(const StepData& data) {
    LessonFrame frame;
    frame.title = tr("Split: each device gets half of the images; their first labels");
    const auto half = static_cast<std::size_t>(kBatches[0] / 2);
    for (std::size_t i = 0; i < kReplicas; ++i) {
      const auto first = data.labels.begin() + static_cast<std::ptrdiff_t>(i * half);
      frame.rows.push_back(
          {.name = trf("images {} to {} on {}", i * half, (i + 1) * half - 1, device(i)),
           .values = {first, first + 4}});
    }
    emit_frame(std::move(frame));
  }

  void forward(std::size_t i) {
    LessonFrame frame;
    frame.title = trf("Forward on {}: the loss of its images", device(i));
    const std::vector<float>& losses = trainer_.losses(i);
    double sum = 0;
    for (const float loss : losses) sum += loss;
    frame.rows = {{.name = tr("loss of the first four images"), .values = first_four(losses)},
                  {.name = trf("sum over {} images", losses.size()), .values = {sum}},
                  {.name = tr("its part of the mean over the batch"),
                   .values = {sum / static_cast<double>(kBatches[0])}}};
    emit_frame(std::move(frame));
  }

  // A stage with the same rows for every parameter.
  template <typename Rows>
  void add(std::string title, const Rows& rows) {
    LessonFrame frame;
    frame.title = std::move(title);
    for (const nn::Parameter& p : trainer_.nets()[0].parameters()) {
      for (LessonRow& one : rows(p)) frame.rows.push_back(std::move(one));
    }
    emit_frame(std::move(frame));
  }

  void compare() {
    LessonFrame frame;
    frame.title = tr("Compare: the replicas are equal, bit for bit");
    for (std::size_t i = 0; i < kReplicas; ++i) {
      frame.rows.push_back({.name = trf("hash of all parameters on {}", device(i)),
                            .text = fmt::format("{:016x}", hash_of(trainer_.nets()[i]))});
    }
    emit_frame(std::move(frame));
  }

  void emit_frame(LessonFrame frame) {
    frame.sequence = LAB_TEXT("One batch");
    frame.step = step_++;
    stage_.frame(std::move(frame));
  }

  LessonStage& stage_;
  ReplicaTrainer& trainer_;
  std::vector<float> before_;  // all parameters
  int step_ = 0;
};

// One batch as real numbers.
void walk_one_batch(LessonStage& stage, const StepData& data, const Devices& devices) {
  ReplicaTrainer trainer(plan_mlp, devices);
  StepWalk walk(stage, trainer);
  data.step(trainer, 0);
  walk.emit(data);
  const std::uint64_t first = hash_of(trainer.nets()[0]), second = hash_of(trainer.nets()[1]);
  stage.check(tr("both replicas are equal bit for bit after the update"), first == second);
}

std::string step_text(int step) {
  return step == 0 ? tr("never") : trf("after step {}", step);
}

// One statement for the faults that are found, and one for each that is not.
void find_planted_faults(LessonStage& stage, const StepData& data, const Devices& devices) {
  std::size_t all = 0, missed = 0;
  for (const FaultFacts& planted : kFaults) {
    const FirstDifference found =
        compare_steps(stage, data, plan_mlp, devices, planted.fault, false);
    const std::string shows = trf("shows: {}; on replica 0: {}", step_text(found.anywhere),
                                  step_text(found.on_replica_0));
    stage.observe(trf("planted: {}", tr(planted.name)), shows);
    ++all;
    if (found.anywhere == planted.shows_at_step &&
        found.on_replica_0 == planted.shows_on_replica_0) {
      continue;
    }
    ++missed;
    stage.check(trf("the planted fault is found: {}", tr(planted.name)), false, shows);
  }
  if (missed < all) {
    stage.check(missed == 0 ? trf("all {} planted faults are found", all)
                            : trf("{} of {} planted faults are found", all - missed, all),
                true);
  }
  stage.observe(tr("sum or mean"),
                tr("The sum is right here because every device divides its gradient by the images "
                   "of the whole batch. If each divides by its own images, the mean over the "
                   "devices is right, and only for equal slices."));
}

void run_equal_lesson(LessonStage& stage) {
  const auto pair = stage.two_cpus();
  const Devices devices(pair.begin(), pair.end());
  const StepData data(*devices[0]);
  stage.step(0);
  walk_one_batch(stage, data, devices);
  stage.step(1);
  LessonPrediction prediction;
  prediction.series = tr("difference after 3 steps, in roundings");
  prediction.formula = tr("none: the same sum in another order");
  stage.predict(prediction);
  const FirstDifference right =
      compare_steps(stage, data, plan_mlp, devices, PlantedFault::None, true);
  stage.count(prediction.series, right.most_floors, "");
  stage.gap(
      {prediction.series, "", 0, right.most_floors, {{tr("order of sums"), right.most_floors}}});
  stage.check(tr("two devices make the same step as one, up to rounding"), right.anywhere == 0,
              trf("{:.1f} roundings apart", right.most_floors));
  stage.step(2);
  find_planted_faults(stage, data, devices);
  stage.answer({1});
  stage.step(3);
  const FirstDifference norm =
      compare_steps(stage, data, plan_with_batch_norm, devices, PlantedFault::None, false);
  stage.observe(tr("batch norm over slices"),
                trf("differs: {}; each device normalises its own slice, which is no fault "
                    "but other mathematics",
                    step_text(norm.anywhere)));
  show_norm_over_slices(stage, data, devices);
  stage.conclude(trf(
      "Two devices made the same three steps as one, up to {:.0f} roundings; the book's fault left "
      "replica 0 correct for one step and showed there only after step 2.",
      std::ceil(right.most_floors)));
}

}  // namespace

Lesson equal_lesson() {
  LessonInfo info;
  info.name = "equal";
  info.timed = false;
  info.title = LAB_TEXT("Is it the same step?");
  info.track = LessonTrack::SeveralDevices;
  info.devices = 2;
  info.text = {
      LAB_TEXT("Data parallel training splits each batch, computes a gradient per device, sums the "
               "gradients, and updates every replica with the sum. It should make the step that "
               "one device "
               "would make with the whole batch."),
      LAB_TEXT(
          "Up to rounding it does, if every replica receives the sum and every image has the same "
          "weight. A fault may hide: until December 2021 the book's own code did not write the sum "
          "back to device 1."),
      LAB_TEXT("Differences are counted in roundings: 2^-24, half the distance from 1 to the next "
               "float32 number, times the largest value of the layer.")};
  info.steps = {{LAB_TEXT("One batch: two gradients, one sum, equal replicas"),
                 {"loss.backward(); allreduce(grads)", "autograd.backward(ls); trainer.step(batch)",
                  "strategy.reduce('SUM', grads)", "grads = jax.lax.psum(grads, 'devices')",
                  "trainer.step(images, labels, batch)"}},
                {LAB_TEXT("Three steps on one and on two devices"),
                 {"torch.allclose(p1, p2)", "np.allclose(p1, p2)", "np.allclose(p1, p2)",
                  "jnp.allclose(p1, p2)", "compare_steps(one, two)"}},
                {LAB_TEXT("Plant four faults"),
                 {"data[i] = data[0].to(data[i].device)  # the book's fault", "", "", "",
                  "ReplicaTrainer(plan, devices, fault)"}},
                {LAB_TEXT("Batch norm over slices"),
                 {"nn.BatchNorm2d(4)", "nn.BatchNorm()", "keras.layers.BatchNormalization()",
                  "flax.linen.BatchNorm()", "plan.convolution_norm(...)"}}};
  info.question = {
      .text = LAB_TEXT(
          "The sum of the gradients is not written back to device 1. What shows it after one "
          "step?"),
      .choices = {LAB_TEXT("the parameters on device 0"), LAB_TEXT("the parameters on device 1"),
                  LAB_TEXT("the loss")},
      .why =
          LAB_TEXT("Device 0 has the sum and updates its replica correctly; device 1 updates its "
                   "own with a part of the gradient. The loss was computed before the update.")};
  info.figure = LessonFigure::Heat;
  info.x_label = LAB_TEXT("step");
  info.y_label = LAB_TEXT("roundings");
  StartTraining free;
  free.model = "mlp";
  info.free = free;
  return {info, run_equal_lesson};
}

}  // namespace lab::lessons
