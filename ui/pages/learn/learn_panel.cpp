// The Learn page: the chapters' lessons.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "compute/core/language.h"
#include "ui/pages/learn/learn_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr float kDotSide = 21;  // units

// The width of the texts, limited in a wide window to a comfortable measure.
float text_width(const Panel& p) {
  constexpr float kLeast = 360, kMost = 480, kShare = 0.33F;  // units
  return std::clamp(kShare * p.width, kLeast, kMost);
}

// The chapter of the book that the lessons of the track follow.
const char* chapter_of(LessonTrack track) {
  switch (track) {
    case LessonTrack::Devices: return tr("GPUs");
    case LessonTrack::SeveralDevices: return tr("Concise Implementation for Multiple GPUs");
  }
  return "";
}

std::vector<const LessonInfo*> lessons_of(const Panel& p, LessonTrack track) {
  std::vector<const LessonInfo*> found;
  for (const LessonInfo& lesson : p.model.lessons()) {
    if (lesson.track == track) found.push_back(&lesson);
  }
  return found;
}

// "4 of 9", in its track.
std::string number_of(const Panel& p, const LessonInfo& lesson) {
  const auto track = lessons_of(p, lesson.track);
  const auto place = std::find(track.begin(), track.end(), &lesson) - track.begin() + 1;
  return trf("{} of {}", place, track.size());
}

// One dot per lesson of the track; filled once it was measured.
void progress_dots(const Panel& p, const LessonInfo& shown) {
  Ui& ui = p.ui;
  const float side = ui.px(kDotSide);
  for (const LessonInfo* lesson : lessons_of(p, shown.track)) {
    const std::string path = "learn/dot/" + lesson->name;
    const Item item = control(path, {side, p.ui.px(kControlHeight)});  // beside "Next"
    const bool done = p.view.forms.learn.done.contains(lesson->name);
    const bool here = lesson == &shown;
    if (item.visible) {
      ImDrawList* list = ImGui::GetWindowDrawList();
      const ImVec2 centre((item.min.x + item.max.x) / 2, (item.min.y + item.max.y) / 2);
      const ImU32 color = here || item.hovered ? ui.theme->accent : ui.theme->muted;
      if (done) {
        list->AddCircleFilled(centre, ui.px(5), styled(color));
      } else {
        list->AddCircle(centre, ui.px(5), styled(color), 0, ui.px(1.5F));
      }
      if (here) list->AddCircle(centre, ui.px(9), styled(color), 0, ui.px(1.5F));
      focus_ring(ui, item, ui.px(6));
      hint(ui, done ? trf("{}, measured", tr(lesson->title)) : tr(lesson->title));
    }
    record(ui, item, path, "dot", lesson->title, here ? "selected" : done ? "done" : "");
    if (item.pressed) show_lesson(p, *lesson);
    ImGui::SameLine(0, 0);
  }
}

void lesson_chooser(const Panel& p, const LessonInfo& shown) {
  std::vector<std::string> tracks;
  for (const LessonTrack track : enum_values<LessonTrack>()) {
    if (!lessons_of(p, track).empty()) tracks.emplace_back(label_of(track));
  }
  int track = static_cast<int>(shown.track);
  // A folded card's title has no room for the number.
  const char* const name = chapter_of(shown.track);
  const std::string chapter = p.folded() ? trf("Chapter: {}, lesson {}", name, number_of(p, shown))
                                         : trf("Chapter: {}", name);
  caption(p.ui, chapter);
  record_item(p.ui, "learn/chapter", "text", chapter);
  hint(p.ui, tr("The lessons follow two chapters of Dive into Deep Learning."));
  if (tracks.size() > 1 && segmented(p.ui, "learn/track", "", tracks, track)) {
    show_lesson(p, *lessons_of(p, static_cast<LessonTrack>(track)).front());
  }
  constexpr float kStep = 66;  // units
  const float dots = kDotSide * static_cast<float>(lessons_of(p, shown.track).size());
  const float spare = std::max(0.0F, width_left(p) - 2 * kStep - dots);
  const LessonInfo *before = neighbour_of(p, shown, -1), *after = neighbour_of(p, shown, 1);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  if (before != nullptr && button(p.ui, "learn/previous", tr("Back"),
                                  {.kind = ButtonKind::Link, .hint = tr("The lesson before")})) {
    show_lesson(p, *before);
  }
  ImGui::SetCursorScreenPos({start.x + p.ui.px(kStep + spare / 2), start.y});
  progress_dots(p, shown);
  const char* const next = tr("Next");
  const float end = std::ceil(text_size(p.ui.fonts.body, next).x);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - end);
  if (button(p.ui, "learn/next", next,
             {.kind = ButtonKind::Link,
              .enabled = after != nullptr,
              .hint = after == nullptr ? tr("This is the last lesson") : tr("The next lesson")})) {
    show_lesson(p, *after);
  }
}

void text_column(const Panel& p) {
  const LessonInfo& lesson = *shown_lesson(p);
  const std::string note = p.folded() ? "" : number_of(p, lesson);
  const float least = place_form(p, "learn/lesson");
  const Card card(p, "learn/lesson", tr(lesson.title), {.least = least, .note = note});
  if (!card) return;
  room_for_actions(p);
  lesson_chooser(p, lesson);
  draw_lesson_text(p, lesson, least);
}

// Scrolls to the results of the lesson just measured, which are below a folded form, until they are
// complete or the user scrolls.
void reveal_results(const Panel& p) {
  int& frames = p.view.forms.learn.reveal;
  if (frames == 0) return;
  // Not SetScrollHereY: the line above is the whole form.
  ImGui::SetScrollFromPosY(ImGui::GetCursorScreenPos().y - ImGui::GetWindowPos().y, 0);
  if (!busy(p)) --frames;
  if (!p.folded() || ImGui::GetIO().MouseWheel != 0) frames = 0;
}

// The failure of a lesson is not shown with another one.
void stage_column(const Panel& p) {
  reveal_results(p);
  const LessonInfo& shown = *shown_lesson(p);
  const auto& command = p.model.state(Page::Learn).command;
  const StartLesson* ran = command ? std::get_if<StartLesson>(&*command) : nullptr;
  if (ran == nullptr || ran->lesson == shown.name) outcome_box(p, Page::Learn);
  draw_lesson_stage(p, shown);
}

// Continues with the lesson for which the program was restarted.
void resume(const Panel& p, const LessonInfo& lesson) {
  bool& wanted = p.view.forms.learn.resume;
  if (!wanted || busy(p) || wanted_split(p, lesson) != 0) return;
  wanted = false;
  if (lesson_problem(p, lesson).empty()) start_lesson(p, lesson);
}

}  // namespace

const LessonInfo* shown_lesson(const Panel& p) {
  const auto& all = p.model.lessons();
  const auto found = std::find_if(all.begin(), all.end(), [&](const LessonInfo& lesson) {
    return lesson.name == p.view.forms.learn.lesson;
  });
  if (found != all.end()) return &*found;
  return all.empty() ? nullptr : &all.front();
}

void show_lesson(const Panel& p, const LessonInfo& lesson) {
  if (p.view.forms.learn.lesson != lesson.name) p.view.to_top = true;
  p.view.forms.learn.lesson = lesson.name;
  p.view.forms.learn.resume = false;
}

const LessonInfo* neighbour_of(const Panel& p, const LessonInfo& lesson, int by) {
  const auto& all = p.model.lessons();
  const std::ptrdiff_t at = &lesson - all.data() + by;
  return at >= 0 && at < std::ssize(all) ? &all[static_cast<std::size_t>(at)] : nullptr;
}

bool shows_timed_lesson(const Panel& p) {
  const LessonInfo* lesson = shown_lesson(p);
  return lesson != nullptr && lesson->timed && wanted_split(p, *lesson) == 0;
}

int wanted_split(const Panel& p, const LessonInfo& lesson) {
  const std::vector<DeviceInfo>& devices = p.model.machine().devices;
  if (std::ssize(devices) < lesson.devices) return lesson.devices;
  if (!lesson.larger_device) return 0;
  const bool larger = std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& d) {
    return d.device.kind == DeviceKind::Cuda || d.threads > 1;
  });
  return larger || devices.size() < 2 ? 0 : 1;
}

std::string lesson_problem(const Panel& p, const LessonInfo& lesson) {
  const int split = wanted_split(p, lesson);
  if (split > 1) return trf("This lesson needs {} devices", split);
  if (split == 1) return tr("This lesson needs a device of several cores");
  const auto guess = p.view.forms.learn.guesses.find(lesson.name);
  if (guess == p.view.forms.learn.guesses.end()) return {};
  return guess_problem(lesson.question, guess->second);
}

// An earlier version may have offered a choice that this one does not.
void forget_unknown_choice(const Panel& p, const LessonInfo& lesson) {
  auto& guesses = p.view.forms.learn.guesses;
  const auto guess = guesses.find(lesson.name);
  if (lesson.question.choices.empty() || guess == guesses.end()) return;
  if (!guess_problem(lesson.question, guess->second).empty()) guesses.erase(guess);
}

void start_lesson(const Panel& p, const LessonInfo& lesson) {
  LearnForm& form = p.view.forms.learn;
  StartLesson request;
  request.lesson = lesson.name;
  const auto guess = form.guesses.find(lesson.name);
  if (guess != form.guesses.end() && !guess->second.empty()) request.guess = guess->second;
  const auto vary = form.vary.find(lesson.name);
  if (vary != form.vary.end()) request.vary = vary->second;
  constexpr int kSettle = 4;  // frames until all heights are known
  form.reveal = p.folded() ? kSettle : 0;
  send(p, request);
}

void draw_learn_page(const Panel& p) {
  const LessonInfo* lesson = shown_lesson(p);
  if (lesson == nullptr) return;
  forget_unknown_choice(p, *lesson);
  resume(p, *lesson);
  const LessonRun* run = p.model.lesson_run(lesson->name);
  if (run && run->done) p.view.forms.learn.done.insert(lesson->name);
  draw_form_and_results(p, text_column, stage_column, text_width(p));
}

}  // namespace lab::ui
