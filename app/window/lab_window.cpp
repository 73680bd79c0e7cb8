#include "app/window/lab_window.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/automation/capture.h"
#include "app/headless/commands.h"
#include "app/headless/console.h"
#include "app/run_window.h"
#include "compute/core/error.h"
#include "compute/core/files/places.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/run/lab_clock.h"
#include "ui/fonts.h"

namespace lab::app {
namespace {

// Upper bound for the interval at which the loop polls for Ctrl-C.
constexpr double kLongestWaitS = 0.5;
// Until a job that the end of the window stops has delivered its results.
constexpr double kLongestStopS = 3;
// Software rendering takes 10 to 20 ms of CPU per frame, so frames are rarer while a job runs.
constexpr double kSoftwareBusyIntervalS = 0.2;
// Telemetry is sampled less often while the user is inactive.
constexpr double kAttentiveS = 10;
constexpr double kActiveTelemetryS = 1;
constexpr double kIdleTelemetryS = 2;

double cpu_s_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

Settings settings_or_defaults(std::string& problem) {
  try {
    return load_settings(settings_file());
  } catch (const Error& e) {
    problem = e.what();
    return {};
  }
}

// The language comes from the command line, the settings or the locale, in this order.
ui::ViewState remembered_view(const Settings& settings, const WindowOptions& options,
                              const ui::FontSet& fonts) {
  ui::ViewState view;
  view.locale = locale_language();
  ui::load_view(view, settings.view);
  if (options.language) view.language = options.language;
  // For the texts made before the first frame.
  const Language wanted = view.wanted_language();
  set_language(fonts.shows(wanted) ? wanted : Language::English);
  return view;
}

int remembered_cpu_devices(const ui::ViewState& view) {
  return static_cast<int>(std::min<std::int64_t>(view.forms.devices.cpu_devices, 4096));
}

// The devices that the choices in the settings are about: "cpu:0 cuda:0".
constexpr const char* kDevices = "devices";

std::string names_of(const MachineInfo& machine) {
  std::string names;
  for (const DeviceInfo& info : machine.devices) {
    names += (names.empty() ? "" : " ") + to_string(info.device);
  }
  return names;
}

// Whether a position means another device in one list than in the other. The CPU's devices come
// first and change together; a GPU that sleeps or is lost comes back to its place.
bool are_others(std::string_view before, std::string_view now) {
  const auto cpus = [](std::string_view names) {
    const std::size_t last = names.rfind("cpu:");
    return last == std::string_view::npos ? names
                                          : names.substr(last, names.find(' ', last) - last);
  };
  return cpus(before) != cpus(now) || !(before.starts_with(now) || now.starts_with(before));
}

std::filesystem::path run_folder() {
  return files::user_data_folder() / "runs";
}

std::filesystem::path log_file() {
  return files::user_data_folder() / "log.json";
}

std::filesystem::path tour_file() {
  return files::user_data_folder() / "tour.json";
}

std::optional<ScriptPlayer> player_for(const WindowOptions& options) {
  if (options.script.empty()) return {};
  const std::string name = options.script.string();
  return ScriptPlayer(parse_script(files::read_text_file(options.script), name), name);
}

WindowSize first_size(const WindowOptions& options, const Settings& settings) {
  if (options.width && options.height) return {*options.width, *options.height};
  return fitted(settings.window, work_area());
}

PacerLimits limits_for(const GlfwWindow& window) {
  PacerLimits limits;
  if (window.software_rendering()) limits.busy_interval_s = kSoftwareBusyIntervalS;
  return limits;
}

}  // namespace

LabWindow::LabWindow(const WindowOptions& options, Interrupt& interrupt, RankSession& session)
    : options_(options),
      interrupt_(interrupt),
      settings_(settings_or_defaults(settings_problem_)),
      view_(remembered_view(settings_, options_, fonts_)),
      machine_future_(
          std::async(std::launch::async,
                     [n = options.cpu_devices.value_or(remembered_cpu_devices(view_)),
                      emulated = options.emulated_gpus,
                      p = static_cast<int>(session.host_ranks().size()), wake = options.wake_gpus] {
                       return std::make_unique<Machine>(MachineOptions{.cpu_devices = n,
                                                                       .emulated_gpus = emulated,
                                                                       .check_emulation = false,
                                                                       .processes = p,
                                                                       .open_gpus = open_gpus,
                                                                       .wake_gpus = wake});
                     })),
      references_future_(std::async(std::launch::async,
                                    [file = options.reference] {
                                      return find_machines(file, files::asset_folders("reference"));
                                    })),
      runs_future_(std::async(std::launch::async, [] { return read_runs(run_folder()); })),
      player_(player_for(options)),
      window_(first_size(options, settings_)),
      interface_(window_, fonts_, options.script.empty()),
      machine_(machine_future_.get()),
      controller_(*machine_, session, player_.has_value()),
      pacer_(limits_for(window_)) {
  apply_options();
  if (!settings_problem_.empty()) controller_.log(Severity::Warning, settings_problem_);
  const std::string no_font = fonts_.why_not_shown(view_.wanted_language());
  if (!no_font.empty()) controller_.log(Severity::Warning, no_font);
  controller_.offer_references(references_future_.get());
  // A window without a person neither shows their runs nor replaces them.
  if (!unattended()) {
    controller_.offer_runs(runs_future_.get(), run_folder(), view_.forms.training);
    controller_.offer_log(read_log(log_file()), log_file());
    controller_.offer_results(files::user_data_folder());
    controller_.offer_tour(read_tour(tour_file(), machine_->info()), tour_file());
  }
}

void LabWindow::apply_options() {
  if (options_.scale) view_.scale = *options_.scale;
  if (options_.theme) {
    view_.mode = *options_.theme == "light" ? ui::ThemeMode::Light : ui::ThemeMode::Dark;
  }
  if (!options_.reference.empty()) {
    view_.forms.reference = options_.reference.filename().string();
  }
  if (!settings_.view.contains("scaling.link")) {
    view_.forms.scaling.request.link = ui::usual_link(machine_->info());
  }
  const auto devices = settings_.view.find(kDevices);  // absent in earlier versions' settings
  if (devices != settings_.view.end() && are_others(devices->second, names_of(machine_->info()))) {
    ui::forget_devices(view_.forms);
  }
  if (options_.page) view_.page = ui::page_named(*options_.page).value_or(view_.page);
}

bool LabWindow::unattended() const {
  return player_ || !options_.screenshot.empty() || !options_.describe.empty();
}

bool LabWindow::finished() const {
  if (player_) return player_->finished();
  return unattended() && frames_ >= options_.frames;
}

std::optional<RestartPlan> LabWindow::run() {
  window_.show();
  bool stop = false;
  while (!stop) {
    wait_for_events();
    const double now_s = lab_time_s();
    if (window_.take_redraw_request()) {
      pacer_.request_redraw(now_s);
      last_attention_s_ = now_s;
    }
    // Enabled before draining, so that events which arrive later wake the loop.
    controller_.wake_on_events(controller_.activity() == Activity::Idle);
    const Controller::News news = controller_.drain();
    if (news.results) pacer_.results_changed();
    if (news.gauges) pacer_.gauges_changed();
    const bool attentive = now_s - last_attention_s_ < kAttentiveS;
    controller_.set_telemetry_interval(attentive || controller_.activity() == Activity::Busy
                                           ? kActiveTelemetryS
                                           : kIdleTelemetryS);
    controller_.watch_programs(!window_.hidden() && ui::shows_programs(controller_.model(), view_));
    const bool forced = player_ ? player_->wants_frame(now_s) : unattended();
    if (forced) pacer_.request_redraw(now_s);
    if (pacer_.wait_s(now_s, controller_.activity(), window_.hidden()) <= 0) draw_frame();
    stop = window_.should_close() || interrupt_.requested() || finished() ||
           controller_.restart_wanted();
  }
  if (!unattended()) {
    controller_.stop_jobs(kLongestStopS);
    store_settings();
    controller_.store_runs(view_.forms.training);
    controller_.store_log();
  }
  if (options_.frame_stats) print_frame_stats();
  std::optional<RestartPlan> plan =
      interrupt_.requested() ? std::nullopt : controller_.restart_wanted();
  if (plan) add_present_view(plan->args);
  return plan;
}

// Options come before the settings, and the last of several counts. The page is named also because
// there may be no settings. --reference stays as it is: its file must be offered again.
void LabWindow::add_present_view(std::vector<std::string>& args) const {
  args.insert(args.end(), {"--page", ui::key_of(view_.page)});
  if (options_.theme) {
    args.insert(args.end(), {"--theme", view_.mode == ui::ThemeMode::Light ? "light" : "dark"});
  }
  if (options_.width) {
    const WindowSize size = window_.size();
    args.insert(args.end(), {"--size", fmt::format("{}x{}", size.width, size.height)});
  }
  if (options_.scale) args.insert(args.end(), {"--scale", fmt::format("{}", view_.scale)});
  if (options_.language) {
    args.insert(args.end(), {"--language", to_string(view_.wanted_language())});
  }
}

void LabWindow::wait_for_events() {
  const Activity activity = controller_.activity();
  const double now_s = lab_time_s();
  double wait_s = std::min(kLongestWaitS, pacer_.wait_s(now_s, activity, window_.hidden()));
  if (activity != Activity::Idle) {
    // Events do not wake the loop now: poll at the highest frame rate allowed.
    const PacerLimits limits = limits_for(window_);
    wait_s = std::min(
        wait_s, activity == Activity::Timing ? limits.timing_interval_s : limits.busy_interval_s);
  }
  if (player_ && player_->wants_frame(now_s)) wait_s = std::min(wait_s, 0.05);
  controller_.wake_on_events(activity == Activity::Idle);
  if (wait_s > 0) {
    glfwWaitEventsTimeout(wait_s);
  } else {
    glfwPollEvents();
  }
}

Commands LabWindow::build_frame() {
  interface_.begin_frame({player_ ? &player_->input() : nullptr, controller_.saving()});
  view_.notice = fonts_.why_not_shown(view_.wanted_language());
  Commands commands;
  ui::draw_lab(interface_.ui(), controller_.model(), view_, commands);
  interface_.end_frame();
  return commands;
}

void LabWindow::draw_frame() {
  const double cpu_before_s = cpu_s_of(CLOCK_PROCESS_CPUTIME_ID);
  const double thread_cpu_before_s = cpu_s_of(CLOCK_THREAD_CPUTIME_ID);
  // A running job's results are matched by their texts, which must stay in one language.
  const Language shown = controller_.idle() ? view_.wanted_language() : language();
  interface_.set_look(view_.mode, view_.scale, shown);
  Commands commands = build_frame();
  // Cards use heights measured in the previous build, so a frame whose sizes changed cuts off
  // content: rebuild it before it is shown. Exceptions: the first frame must appear quickly,
  // commands must run before the next build, and a script acts once per build.
  for (int builds = 1; builds < ui::kFrameBuilds && interface_.ui().wants_layout; ++builds) {
    if (frames_ == 0 || !commands.empty() || player_) break;
    commands = build_frame();
  }
  ++frames_;
  const double building_s = cpu_s_of(CLOCK_THREAD_CPUTIME_ID) - thread_cpu_before_s;
  building_s_ += building_s;
  longest_building_s_ = std::max(longest_building_s_, building_s);
  interface_.render();
  write_captures();
  window_.swap();
  if (frames_ == 1) first_frame_s_ = lab_time_s();
  pacer_.frame_drawn(lab_time_s(), cpu_s_of(CLOCK_THREAD_CPUTIME_ID) - thread_cpu_before_s,
                     cpu_s_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_before_s);
  if (interface_.ui().wants_animation) pacer_.animate();
  if (interface_.ui().wants_layout) pacer_.results_changed();
  if (interface_.input_pending()) pacer_.request_redraw(lab_time_s());
  // The list of runs may be full; those that were deleted make room.
  const auto adds_a_run = [](const Command& command) {
    const auto* training = std::get_if<StartTraining>(&command);
    return training != nullptr && !training->probe;
  };
  if (std::ranges::any_of(commands, adds_a_run)) controller_.remove_runs(view_.forms.training);
  controller_.execute(commands);
  if (controller_.saving()) pacer_.request_redraw(lab_time_s());
}

// Handles everything that reads the frame before it is swapped.
void LabWindow::write_captures() {
  const WindowSize frame = window_.framebuffer_size();
  const float pixels =
      static_cast<float>(frame.width) / static_cast<float>(std::max(1, window_.size().width));
  controller_.save_plots(interface_.ui().widgets, frame.width, frame.height, pixels);
  if (player_) {
    const auto request =
        player_->after_frame({interface_.ui().widgets, lab_time_s(), controller_.idle()});
    if (request && request->act == Act::Screenshot) write_screenshot(request->file);
    if (request && request->act == Act::Describe) write_description(request->file);
  }
  if (!finished()) return;
  if (!options_.screenshot.empty()) write_screenshot(options_.screenshot);
  if (!options_.describe.empty()) write_description(options_.describe);
}

void LabWindow::write_screenshot(const std::filesystem::path& file) {
  const WindowSize frame = window_.framebuffer_size();
  write_png(read_frame(frame.width, frame.height, {0, 0, frame.width, frame.height}), file);
}

void LabWindow::write_description(const std::filesystem::path& file) {
  const WindowSize size = window_.size();
  files::write_file(file, describe_ui(interface_.ui(), size.width, size.height));
}

void LabWindow::store_settings() {
  const auto file = settings_file();
  if (file.empty()) return;
  try {
    Settings settings{window_.size(), ui::save_view(view_)};
    settings.view[kDevices] = names_of(machine_->info());
    save_settings(settings, file);
  } catch (const Error& e) {
    write_message(trf("device-lab: {}; only the settings are lost", e.what()));
  }
}

void LabWindow::print_frame_stats() const {
  write_message(
      fmt::format("{{\"type\":\"frames\",\"first_frame_s\":{:.3f},\"frames\":{},\"seconds\":{:.3f},"
                  "\"cpu_s\":{:.3f},"
                  "\"building_ms\":{{\"mean\":{:.3f},\"max\":{:.3f}}}}}",
                  first_frame_s_, frames_, lab_time_s(), cpu_s_of(CLOCK_PROCESS_CPUTIME_ID),
                  1e3 * building_s_ / static_cast<double>(std::max<std::int64_t>(1, frames_)),
                  1e3 * longest_building_s_));
}

int run_window(const WindowOptions& options, Interrupt& interrupt, RankSession& session) {
  // The window and all its threads are destroyed before the program restarts.
  if (const auto plan = LabWindow(options, interrupt, session).run()) restart(*plan);
  session.forget_failures();
  return interrupt.requested() ? kExitInterrupted : kExitDone;
}

}  // namespace lab::app
