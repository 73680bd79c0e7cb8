#include "compute/train/event_log.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab {

std::filesystem::path event_folder(const std::filesystem::path& logdir, const std::string& model) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y%m%d-%H%M%S", &local);
  const std::string name = fmt::format("{}-{}", model, time.data());
  std::filesystem::path folder = logdir / name;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(folder, ignored); ++number) {
    folder = logdir / fmt::format("{}-{}", name, number);
  }
  return folder;
}

void check_event_folder(const std::filesystem::path& logdir) {
  files::make_folder(logdir);
  files::check_writable(logdir / "events.out.tfevents");
}

EventLog::EventLog(const StartTraining& request, RunContext& ctx, const TrainingSink& sink,
                   std::int64_t step)
    : ctx_(ctx), sink_(sink), step_(step) {
  file_.emplace(event_folder(request.logdir, request.model));
  file_->flush();
  ctx_.emit(LogLine{Severity::Info,
                    trf("TensorBoard events in {}; show them with tensorboard --logdir {}",
                        file_->path().parent_path().string(), request.logdir)});
}

void EventLog::operator()(Payload payload) {
  try {
    if (const auto* step = std::get_if<StepDone>(&payload); step != nullptr && file_) write(*step);
    if (const auto* epoch = std::get_if<EpochDone>(&payload); epoch != nullptr && file_) {
      write(*epoch);
    }
  } catch (const Error& e) {
    file_.reset();
    ctx_.emit(LogLine{Severity::Warning, trf("the training goes on without events: {}", e.what())});
  }
  sink_(std::move(payload));
}

void EventLog::write(const StepDone& step) {
  step_ = step.step;
  const std::array<Scalar, 4> scalars{{{"loss/train", step.loss},
                                       {"accuracy/train", step.accuracy},
                                       {"speed/images_per_s", step.images_per_s},
                                       {"optimizer/learning_rate", step.lr}}};
  file_->add(step.step, scalars);
}

void EventLog::write(const EpochDone& epoch) {
  std::vector<Scalar> scalars{{"loss/epoch", epoch.train_loss}};
  if (epoch.test_acc) scalars.push_back({"accuracy/test", *epoch.test_acc});
  file_->add(step_, scalars);
  file_->flush();
}

}  // namespace lab
