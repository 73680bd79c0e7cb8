// Settings that the user changes while a training runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/core/language.h"
#include "compute/train/training_request.h"
#include "compute/train/training_run.h"

namespace lab {
namespace {

std::string shares_text(const StartTraining& request) {
  if (request.share_policy != SharePolicy::Listed) return to_string(request.share_policy);
  return fmt::format("{}", fmt::join(request.shares, ","));
}

}  // namespace

// The epoch that has begun is completed.
StartTraining TrainingRun::changed_request(const ChangeTraining& change) {
  StartTraining request = request_;
  if (change.lr) request.lr = change.lr;
  if (change.epochs) request.epochs = std::max(*change.epochs, begun_epoch_);
  if (change.share_policy && request.devices.size() > 1) {
    request.share_policy = *change.share_policy;
    request.shares = change.shares;
  }
  request = complete_request(request, ctx_.machine());
  check_length(request);
  return request;
}

// A change that is invalid or needs too much memory leaves the training as it was.
void TrainingRun::take_changes() {
  if (!ctx_.ranks().single()) return;
  const std::optional<ChangeTraining> change = ctx_.take_change();
  if (!change) return;
  finish_queued();
  const StartTraining before = request_;
  try {
    const StartTraining request = changed_request(*change);
    if (shares_text(request) != shares_text(before)) {
      trainer_.set_shares(request.share_policy, request.shares, loader_.batch_size(0));
      if (request.share_policy == SharePolicy::Auto) {
        ctx_.emit(LogLine{Severity::Info, tr(kMeasuredShares)});
      }
    }
    request_ = request;
  } catch (const Error& e) {
    const bool kept = e.code() == Errc::InvalidArgument || e.code() == Errc::OutOfMemory ||
                      e.code() == Errc::Unsupported;
    if (!kept) throw;
    ctx_.emit(LogLine{Severity::Warning, trf("the training goes on unchanged: {}", e.what())});
    return;
  }
  learning_rate_ = LearningRate(request_, loader_.steps_per_epoch());
  total_steps_ = length();
  report_changes(before);
}

void TrainingRun::report_changes(const StartTraining& before) {
  const auto report = [&](const char* setting, std::string was, std::string is) {
    if (was == is) return;
    changes_.push_back({.step = at_.steps,
                        .t_s = clock_.seconds(),
                        .setting = setting,
                        .before = std::move(was),
                        .after = std::move(is),
                        .total_steps = total_steps_});
    sink_(changes_.back());
  };
  report("lr", fmt::format("{}", *before.lr), fmt::format("{}", *request_.lr));
  report("epochs", fmt::format("{}", before.epochs), fmt::format("{}", request_.epochs));
  report("shares", shares_text(before), shares_text(request_));
}

}  // namespace lab
