// Starting, pausing and stopping jobs, and how the last one went.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "compute/core/units.h"
#include "ui/pages/panel.h"

namespace lab::ui {
namespace {

// How long a sent job may take to show up before it counts as lost.
constexpr double kSentSeconds = 2;

bool just_sent(const Panel& p) {
  return p.view.sent_after == p.model.jobs_started() &&
         p.ui.time_s - p.view.sent_t_s < kSentSeconds;
}

Command as_command(const JobCommand& job) {
  return std::visit([](const auto& c) { return Command(c); }, job);
}

}  // namespace

bool busy(const Panel& p) {
  return p.model.job().has_value() || just_sent(p);
}

std::string busy_reason(const Panel& p) {
  if (p.model.job()) {
    return p.model.job()->title + " is running: wait until it ends, or stop it below";
  }
  return just_sent(p) ? "The job sent a moment ago is about to start" : "";
}

void send(const Panel& p, Command command) {
  p.out.push_back(std::move(command));
  p.view.sent_after = p.model.jobs_started();
  p.view.sent_t_s = p.ui.time_s;
}

bool runs(const Panel& p, JobKind kind) {
  return p.model.job() && p.model.job()->kind == kind;
}

bool paused(const Panel& p) {
  return p.model.job() && p.view.paused_job == p.model.job()->id;
}

void toggle_pause(const Panel& p) {
  if (!runs(p, JobKind::Training)) return;
  if (paused(p)) {
    p.out.push_back(ResumeJob{});
    p.view.paused_job = 0;
  } else {
    p.out.push_back(PauseJob{});
    p.view.paused_job = p.model.job()->id;
  }
}

void cancel(const Panel& p) {
  if (p.model.job()) p.out.push_back(CancelJob{});
}

bool start_button(const Panel& p, std::string_view path, std::string_view label,
                  std::string_view error, bool main) {
  const std::string why = error.empty() ? busy_reason(p) : std::string(error);
  const bool clicked = button(p.ui, path, label,
                              {.kind = main ? ButtonKind::Primary : ButtonKind::Normal,
                               .enabled = why.empty(),
                               .hint = why.empty() && main ? "Ctrl+Enter" : std::string_view(why),
                               .width = -1});
  return why.empty() && (clicked || (main && p.start_pressed));
}

bool empty_page(const Panel& p, std::string_view path, std::string_view sentence,
                std::string_view label) {
  const std::string why = busy_reason(p);
  if (why.empty()) return empty_state(p.ui, path, sentence, label);
  empty_state(p.ui, path, fmt::format("{} {}.", sentence, why), "");
  return false;
}

void restart_button(const Panel& p, std::string_view path, std::string_view label,
                    std::string_view hint, const RestartLab& wish) {
  if (button(p.ui, path, label, {.kind = ButtonKind::Normal, .hint = hint, .width = 0})) {
    p.view.confirm_restart = wish;
  }
  error_box(p.ui, fmt::format("{}/refused", path), p.model.restart_refusal());
}

void lost_box(const Panel& p, std::string_view path, std::string_view sentence) {
  if (sentence.empty()) return;
  error_box(p.ui, path, sentence);
  restart_button(p, fmt::format("{}/restart", path), "Restart Device Lab",
                 "Ends the program and starts it again with the same arguments",
                 {.wake_gpus = true});
}

void outcome_box(const Panel& p, JobKind kind, std::string_view page) {
  const PageState& state = p.model.state(kind);
  const std::string path = fmt::format("{}/error", page);
  if (state.phase == Phase::Failed && state.code == Errc::DeviceLost) {
    lost_box(p, path, state.error);
  } else if (state.phase == Phase::Failed) {
    error_box(p.ui, path, state.error);
    const std::string why = busy_reason(p);
    if (state.command && button(p.ui, fmt::format("{}/retry", page), "Retry",
                                {.kind = ButtonKind::Normal,
                                 .enabled = why.empty(),
                                 .hint = why.empty() ? "Sends the same request again" : why,
                                 .width = 0})) {
      send(p, as_command(*state.command));
    }
  }
  if (state.phase == Phase::Done && state.cancelled) {
    note_box(p.ui, fmt::format("{}/stopped", page),
             fmt::format("Stopped on request after {}; what was measured until then stays.",
                         format_seconds(state.seconds)));
  }
}

}  // namespace lab::ui
