// Lesson "accuracy": one run is a draw from a distribution; several seeds and their spread decide.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <future>
#include <span>

#include "compute/core/book/book_runs.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/several_devices/seed_runs.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"

namespace lab::lessons {
namespace {

constexpr std::size_t kSeeds = 8;
constexpr std::int64_t kTrainImages = 1536, kTestImages = 600;
constexpr std::uint64_t kDataSeed = 5;
constexpr std::size_t kGroup = 8;  // recorded runs whose mean is formed

struct Suspect {
  const char* name;
  SeedSetting setting;
};

// The first has one GPU's settings, the last all changes of the chapter's second call, the others
// one thing each. With twice the batch in two slices, batch norm sees as many images as before, as
// in the chapter; kHalvedNorm shows what fewer of them would cost.
constexpr std::array<Suspect, 6> kSuspects = {{
    {LAB_TEXT("one GPU's settings"), {}},
    {LAB_TEXT("fewer updates"), {.batch = 32, .slices = 2}},
    {LAB_TEXT("larger rate"), {.rate = 0.2}},
    {LAB_TEXT("batch norm over slices"), {.slices = 2}},
    {LAB_TEXT("network not fresh"), {.fresh = false}},
    {LAB_TEXT("all at once, as on two GPUs"),
     {.batch = 32, .rate = 0.2, .slices = 2, .fresh = false}},
}};
constexpr std::size_t kAlone = 0, kHalvedNorm = 3, kTogether = kSuspects.size() - 1;

// Test accuracy after each epoch, one row per seed.
using Histories = std::vector<std::vector<double>>;

nn::NetworkPlan plan_with_norm() {
  return plan_small_network(true);
}
nn::NetworkPlan plan_without_norm() {
  return plan_small_network(false);
}

std::vector<double> after_last_epoch(const Histories& runs) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(run.back());
  return values;
}

std::vector<double> in_best_epoch(const Histories& runs) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(*std::max_element(run.begin(), run.end()));
  return values;
}

// What a run loses by ending with its last epoch instead of its best.
std::vector<double> lost_in_last_epoch(const Histories& runs) {
  std::vector<double> values = in_best_epoch(runs);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= runs[i].back();
  return values;
}

// Runs that the book recorded. The final accuracies are those that the notebooks print.
struct RecordedRuns {
  std::vector<double> final_acc;
  Histories curves;  // of the runs whose notebook keeps a figure
};

RecordedRuns recorded_runs(int gpus) {
  RecordedRuns runs;
  for (const BookRun* run : chapter_book_runs("resnet18", gpus)) {
    runs.final_acc.push_back(run->test_acc);
    if (!run->acc_by_epoch.empty()) runs.curves.push_back(run->acc_by_epoch);
  }
  return runs;
}

// Trains with every seed on the CPU devices, one device per thread. A seed always trains on the
// same device, so that a run repeats bit for bit.
class SeedRuns {
 public:
  SeedRuns(LessonStage& stage, const Dataset& data, int epochs)
      : stage_(stage), data_(data), epochs_(epochs), first_calls_(kSeeds) {}

  Histories run(const SeedSetting& setting) {
    Histories histories(kSeeds);
    const auto devices = std::min<std::size_t>(
        static_cast<std::size_t>(std::max(1, stage_.machine().num_cpus())), kSeeds);
    std::vector<std::future<void>> threads;
    for (std::size_t d = 0; d < devices; ++d) {
      threads.push_back(std::async(std::launch::async, [&, d] {
        DeviceContext& device = stage_.machine().at(cpu(static_cast<int>(d)));
        const auto bound = device.threads().bind_caller();
        for (std::size_t seed = d; seed < kSeeds; seed += devices) {
          histories[seed] = train(device, setting, seed);
        }
      }));
    }
    for (auto& thread : threads) thread.get();
    stage_.context().checkpoint();
    return histories;
  }

  // Whether the first seed's first call gives the same bits again.
  bool repeats() {
    const TrainedState before = first_calls_.front();
    train(stage_.machine().at(cpu()), {}, 0);
    const TrainedState& after = first_calls_.front();
    return before.parameters.size() == after.parameters.size() &&
           std::memcmp(before.parameters.data(), after.parameters.data(),
                       before.parameters.size() * sizeof(float)) == 0;
  }

 private:
  std::vector<double> train(DeviceContext& device, const SeedSetting& setting, std::size_t seed) {
    // The second call of the notebook draws other weights and another order.
    const std::uint64_t own = setting.fresh ? seed : seed + kSeeds;
    SeedTraining training(plan_with_norm, device, data_.train, setting, own);
    if (!setting.fresh) training.keep_all_but_weights(first_calls_[seed]);
    std::vector<double> accuracies;
    for (int epoch = 0; epoch < epochs_; ++epoch) {
      training.train_epoch(stage_.context().stop_token());
      accuracies.push_back(training.accuracy(data_.test));
    }
    if (setting == SeedSetting{}) first_calls_[seed] = training.state();
    return accuracies;
  }

  LessonStage& stage_;
  const Dataset& data_;
  const int epochs_;
  std::vector<TrainedState> first_calls_;  // with one GPU's settings, by seed
};

void report_draws(LessonStage& stage, const std::string& series, std::vector<double> draws,
                  std::optional<double> epoch = {}) {
  LessonSample sample;
  sample.series = series;
  sample.x = epoch;
  sample.value = spread_of(draws).mean;
  sample.draws = std::move(draws);
  stage.sample(std::move(sample));
}

// The last epoch as a strip, the best one as a line of text.
void report_runs(LessonStage& stage, const std::string& series, std::vector<double> final_acc,
                 const Histories& runs) {
  report_draws(stage, series, std::move(final_acc));
  LessonSample best;
  best.series = trf("{}, best epoch", series);
  best.draws = in_best_epoch(runs);
  const Spread spread = spread_of(best.draws);
  best.value = spread.mean;
  best.text =
      trf("{}, n {}, {:.2f} to {:.2f}", mean_text(spread), spread.n, spread.least, spread.most);
  stage.sample(std::move(best));
}

void report_fan(LessonStage& stage, const std::string& series, const Histories& runs) {
  for (std::size_t epoch = 0; epoch < runs.front().size(); ++epoch) {
    std::vector<double> draws;
    for (const auto& run : runs) draws.push_back(run.at(epoch));
    report_draws(stage, series, std::move(draws), static_cast<double>(epoch + 1));
  }
}

// --- the recorded runs ----------------------------------------------------------------------

// Share of the pairs of one run on one GPU and one on two in which two GPUs end higher.
double wrongly_ranked(const std::vector<double>& one, const std::vector<double>& two) {
  std::int64_t wrong = 0;
  for (const double a : one) {
    for (const double b : two) wrong += b > a ? 1 : 0;
  }
  return static_cast<double>(wrong) / static_cast<double>(one.size() * two.size());
}

std::vector<double> means_of_groups(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t i = 0; i + kGroup <= values.size(); i += kGroup) {
    means.push_back(spread_of(std::span(values).subspan(i, kGroup)).mean);
  }
  return means;
}

// The mean of several runs is a draw too, from a narrower distribution.
void predict_spread_of_means(LessonStage& stage, const std::vector<double>& two) {
  const Spread single = spread_of(two);
  LessonPrediction prediction;
  prediction.series = trf("spread of the mean of {} recorded runs", kGroup);
  prediction.value = single.deviation / std::sqrt(static_cast<double>(kGroup));
  prediction.formula = tr("spread of one run / sqrt(n)");
  prediction.constants = {{tr("spread of one run"), single.deviation, ""},
                          {"n", static_cast<double>(kGroup), ""}};
  stage.predict(prediction);
  const double measured = spread_of(means_of_groups(two)).deviation;
  stage.count(prediction.series, measured, "");
  stage.gap({prediction.series, "", prediction.value, measured, {}});
}

void report_recorded(LessonStage& stage, const RecordedRuns& one, const RecordedRuns& two) {
  report_runs(stage, tr("recorded, one GPU"), one.final_acc, one.curves);
  report_runs(stage, tr("recorded, two GPUs"), two.final_acc, two.curves);
  report_fan(stage, tr("recorded, one GPU"), one.curves);
  report_fan(stage, tr("recorded, two GPUs"), two.curves);
  predict_spread_of_means(stage, two.final_acc);
  stage.count(tr("recorded pairs of single runs that rank the settings wrongly"),
              100 * wrongly_ranked(one.final_acc, two.final_acc), "%");
  const Spread first = spread_of(one.final_acc), second = spread_of(two.final_acc);
  stage.check(tr("the book recorded 103 runs on one GPU, with a mean of 0.905"),
              first.n == 103 && std::abs(first.mean - 0.905) < 5e-4, mean_text(first));
  stage.check(tr("the book recorded 104 runs on two GPUs, with a mean of 0.804"),
              second.n == 104 && std::abs(second.mean - 0.804) < 5e-4, mean_text(second));
}

// --- this run -------------------------------------------------------------------------------

// Largest difference between the gradients of a whole batch and of its slices, over the largest
// gradient.
double slices_differ(nn::NetworkPlan (*plan)(), DeviceContext& device, const ImageSet& images) {
  SeedTraining whole(plan, device, images, {.slices = 1}, 0);
  SeedTraining sliced(plan, device, images, {.slices = 2}, 0);
  whole.step(0);
  sliced.step(0);
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < whole.gradients().size(); ++i) {
    const double a = whole.gradients()[i], b = sliced.gradients()[i];
    difference = std::max(difference, std::abs(a - b));
    largest = std::max(largest, std::abs(a));
  }
  return difference / largest;
}

void check_slices(LessonStage& stage, const ImageSet& images) {
  DeviceContext& device = stage.machine().at(cpu());
  const double with = slices_differ(plan_with_norm, device, images);
  const double without = slices_differ(plan_without_norm, device, images);
  stage.check(tr("batch norm over slices makes another step than over the whole batch"),
              with > 1e-3, fmt::format("{:.3g}", with));
  stage.check(tr("without batch norm, slices make the same step up to rounding"), without < 1e-4,
              fmt::format("{:.3g}", without));
}

struct Cost {
  static constexpr double kErrors = 3;  // several suspects are compared
  double mean = 0, error = 0;
  bool above_noise() const { return mean > kErrors * error; }
};

Cost cost_between(const std::vector<double>& lower, const std::vector<double>& higher) {
  const Spread a = spread_of(lower), b = spread_of(higher);
  return {b.mean - a.mean, std::sqrt(a.error() * a.error() + b.error() * b.error())};
}

// What each suspect of the question costs, in the order of its choices.
std::vector<Cost> costs_of(const std::vector<Histories>& runs) {
  std::vector<Cost> costs;
  const std::vector<double> alone = after_last_epoch(runs[kAlone]);
  for (std::size_t i = 1; i < kTogether; ++i) {
    costs.push_back(cost_between(after_last_epoch(runs[i]), alone));
  }
  return costs;
}

// The position of the choice: the largest cost above the noise, or the choice after all of them.
std::size_t culprit(const std::vector<Cost>& costs) {
  std::size_t found = costs.size();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i].above_noise()) continue;
    if (found == costs.size() || costs[i].mean > costs[found].mean) found = i;
  }
  return found;
}

// Whether another suspect ends as low as that of cost `found`, within their errors.
bool has_rival(const std::vector<Histories>& runs, std::size_t found) {
  const std::vector<double> lowest = after_last_epoch(runs[found + 1]);
  for (std::size_t i = 1; i < kTogether; ++i) {
    const Cost behind = cost_between(lowest, after_last_epoch(runs[i]));
    if (i != found + 1 && behind.mean < 2 * behind.error) return true;
  }
  return false;
}

void explain_drop(LessonStage& stage, const std::vector<Histories>& runs,
                  const std::vector<Cost>& costs) {
  const double alone = spread_of(after_last_epoch(runs[kAlone])).mean;
  LessonGap gap{tr("mean accuracy, from one GPU's settings to all changes at once"),
                "",
                alone,
                spread_of(after_last_epoch(runs[kTogether])).mean,
                {}};
  for (std::size_t i = 1; i < kTogether; ++i) {
    if (i == kHalvedNorm) continue;  // no part of all changes
    gap.parts.push_back({tr(kSuspects[i].name), -costs[i - 1].mean});
  }
  stage.gap(std::move(gap));
}

LessonQuestion accuracy_question() {
  return {.text = LAB_TEXT("Which suspect costs this small network the most accuracy?"),
          .choices = {LAB_TEXT("fewer updates"), LAB_TEXT("larger rate"),
                      LAB_TEXT("batch norm over slices"), LAB_TEXT("network not fresh"),
                      LAB_TEXT("none more than the noise")},
          .why = LAB_TEXT("Another seed alone moves the accuracy. A suspect counts only if the "
                          "means over several seeds differ by more than their errors.")};
}

void conclude_accuracy(LessonStage& stage, const std::vector<Histories>& runs,
                       const std::vector<Cost>& costs, double wrong) {
  const Spread alone = spread_of(after_last_epoch(runs[kAlone]));
  const Spread together = spread_of(after_last_epoch(runs[kTogether]));
  const std::size_t found = culprit(costs);
  stage.conclude(trf("With {} seeds, one GPU's settings ended at {}, all changes at once at {}.",
                     alone.n, mean_text(alone), mean_text(together)));
  const std::string suspect =
      found == costs.size()
          ? std::string(tr("No suspect alone costs more than the noise."))
          : trf("The costliest suspect alone took {:.3f} \u00b1 {:.3f} ({}).", costs[found].mean,
                costs[found].error, tr(accuracy_question().choices[found]));
  const std::string recorded =
      trf("Of the recorded pairs of single runs, {:.0f} % rank the settings wrongly. The cause for "
          "ResNet-18 is not proven.",
          100 * wrong);
  const auto luck = [&](std::size_t i) { return spread_of(lost_in_last_epoch(runs[i])).mean; };
  const std::string last_epoch =
      trf("The last epoch was {:.3f} below the best one with all changes, {:.3f} with one GPU's "
          "settings.",
          luck(kTogether), luck(kAlone));
  stage.explain(fmt::format("{} {} {}", suspect, last_epoch, recorded));
}

void run_accuracy_lesson(LessonStage& stage) {
  const RecordedRuns one = recorded_runs(1), two = recorded_runs(2);
  const Dataset data = make_synthetic_garments(kTrainImages, kTestImages, kDataSeed);
  SeedRuns trainings(stage, data, static_cast<int>(stage.vary()));
  std::vector<Histories> runs;
  for (std::size_t i = 0; i < kSuspects.size(); ++i) {
    stage.step(i);
    runs.push_back(trainings.run(kSuspects[i].setting));
    report_runs(stage, tr(kSuspects[i].name), after_last_epoch(runs.back()), runs.back());
  }
  report_fan(stage, tr(kSuspects[kAlone].name), runs[kAlone]);
  report_fan(stage, tr(kSuspects[kTogether].name), runs[kTogether]);
  stage.check(tr("the same seed repeats bit for bit"), trainings.repeats());
  check_slices(stage, data.train);
  stage.step(kSuspects.size());
  report_recorded(stage, one, two);

  const std::vector<Cost> costs = costs_of(runs);
  explain_drop(stage, runs, costs);
  const std::size_t found = culprit(costs);
  if (found < costs.size() && has_rival(runs, found)) {
    stage.leave_open(
        tr("Two suspects cost the same within their errors: these seeds do not "
           "decide."));
  } else {
    stage.answer({static_cast<double>(found)});
  }
  conclude_accuracy(stage, runs, costs, wrongly_ranked(one.final_acc, two.final_acc));
}

std::vector<LessonStep> accuracy_steps() {
  return {
      {LAB_TEXT("One GPU's settings, several seeds"),
       {"train(net, num_gpus=1, batch_size=256, lr=0.1)",
        "train(num_gpus=1, batch_size=256, lr=0.1)", "train(net, batch_size=256, lr=0.1)",
        "train(net, batch_size=256, lr=0.1)", "trainings.run({.batch = 16, .rate = 0.1})"}},
      {LAB_TEXT("Fewer updates: twice the batch"),
       {"DataLoader(data, 2 * batch_size)", "gluon.data.DataLoader(data, 2 * batch_size)",
        "data.batch(2 * batch_size)", "data.batch(2 * batch_size)",
        "trainings.run({.batch = 32, .slices = 2})"}},
      {LAB_TEXT("Twice the rate"),
       {"torch.optim.SGD(net.parameters(), lr=2 * lr)",
        "gluon.Trainer(params, 'sgd', {'learning_rate': 2 * lr})", "keras.optimizers.SGD(2 * lr)",
        "optax.sgd(2 * lr)", "trainings.run({.rate = 0.2})"}},
      {LAB_TEXT("Batch norm over two slices of the batch"),
       {"nn.DataParallel(net)(X)", "[net(x) for x in split_and_load(X, devices)]",
        "strategy.run(step, (X,))", "jax.pmap(step)(params, X)", "trainings.run({.slices = 2})"}},
      {LAB_TEXT("The network of the first call, not a fresh one"),
       {"net.apply(init_weights)  # keeps biases and batch norm",
        "net.initialize(init, force_reinit=True)  # fresh", "net = resnet18()  # fresh",
        "params = net.init(key, X)  # fresh", "training.keep_all_but_weights(state)"}},
      {LAB_TEXT("All at once"),
       {"train(net, num_gpus=2, batch_size=512, lr=0.2)",
        "train(num_gpus=2, batch_size=512, lr=0.2)", "train(net, batch_size=512, lr=0.2)",
        "train(net, batch_size=512, lr=0.2)",
        "trainings.run({32, 0.2, .slices = 2, .fresh = false})"}},
      {LAB_TEXT("The runs that the book recorded"),
       {"", "", "", "", "chapter_book_runs(model, gpus)"}},
  };
}

}  // namespace

Lesson accuracy_lesson() {
  LessonInfo info;
  info.name = "accuracy";
  info.timed = false;
  info.title = LAB_TEXT("Was 0.73 bad luck?");
  info.track = LessonTrack::SeveralDevices;
  info.text = {
      LAB_TEXT("On one GPU (batch 256, rate 0.1) the chapter ends at a test accuracy of 0.91; on "
               "two, with batch 512 and rate 0.2, at 0.73. Each is one run; the book recorded 103 "
               "such runs on one GPU and 104 on two."),
      LAB_TEXT(
          "The second call makes half the updates at twice the rate, and redraws only the weights "
          "of the network. Each GPU still normalises 256 images; one suspect here halves that "
          "number, from 16 to 8, to show its cost. Or the last epoch was a bad one."),
      LAB_TEXT("Here a small network trains on 1536 synthetic garments, 8 seeds per suspect. It is "
               "not ResNet-18 and cannot prove the chapter's cause.")};
  info.steps = accuracy_steps();
  info.question = accuracy_question();
  info.vary = LessonVary{LAB_TEXT("Epochs"), "", 1, 20, 10, false, true};
  info.figure = LessonFigure::Lines;
  info.x_label = LAB_TEXT("epoch");
  info.y_label = LAB_TEXT("test accuracy");
  StartTraining free;
  free.model = "resnet18";
  free.data = DataSource::FashionMnist;
  free.batch = 512;
  free.lr = 0.2;
  info.free = free;
  info.set_free = [](JobCommand& command, double epochs) {
    std::get<StartTraining>(command).epochs = static_cast<std::int64_t>(epochs);
  };
  return {info, run_accuracy_lesson};
}

}  // namespace lab::lessons
