#pragma once
// Parts of the Learn page. For use inside ui/pages/learn only.
#include <string>
#include <vector>

#include "ui/pages/panel.h"

namespace lab::ui {

// The lesson shown; nullptr if there are none.
const LessonInfo* shown_lesson(const Panel& p);
void show_lesson(const Panel& p, const LessonInfo& lesson);
// The lesson that many places after this one, over all tracks; nullptr beyond the ends.
const LessonInfo* neighbour_of(const Panel& p, const LessonInfo& lesson, int by);

// How the cores of the CPU must be divided for the lesson: into how many devices; 0 if they may
// stay as they are.
int wanted_split(const Panel& p, const LessonInfo& lesson);
// Why the lesson cannot be measured: too few devices, an unreadable guess; empty if it can.
std::string lesson_problem(const Panel& p, const LessonInfo& lesson);
// What is wrong with a typed guess, as what to write instead; empty if it can be read.
std::string guess_problem(const LessonQuestion& asked, const std::string& guess);
// Sends the lesson with the learner's guess and setting.
void start_lesson(const Panel& p, const LessonInfo& lesson);

// Left: texts, and below them the question and the button. Unless the form is folded, everything
// fits into the card's `least` units: the drawing of a guess shrinks first, then the texts are cut
// until the user reads on.
void draw_lesson_text(const Panel& p, const LessonInfo& lesson, float least);
// Right: the sentence, guess, prediction and gap, what was measured, notes; the steps with their
// code and, in a lesson about it, this machine.
void draw_lesson_stage(const Panel& p, const LessonInfo& lesson);
// The lessons of the shown one's track or of all tracks, to be chosen, each with the figure that it
// gave.
void draw_lesson_list(const Panel& p, const LessonInfo& shown, bool all_tracks);
// The list of the shown one's track at the end of a card, if `room` pixels suffice; returns whether
// they do.
bool draw_list_within(const Panel& p, const LessonInfo& shown, float room);
// The code of each step in the chosen language, below its tabs.
void draw_lesson_code(const Panel& p, const LessonInfo& lesson);
// Whether the job of this run is running.
bool is_running(const Panel& p, const LessonRun& run);

// A curve drawn with the mouse or set with the arrow keys: one column per position, values on a
// log axis, `height` units high. Returns true on change; `values` holds one number per position, 0
// for one that is not drawn yet.
bool guess_curve(const Panel& p, std::string_view path, const LessonQuestion& question,
                 std::vector<double>& values, float height);
// Values as colours, one row per series and one column per position; a map for each group, below
// its heading.
void draw_heats(const Panel& p, std::string_view path, const LessonInfo& lesson,
                const std::vector<LessonSeries>& rows);
// True for repeated runs without a text.
bool drawn_as_strip(const LessonSample& sample);
// Samples of repeated runs: one row per series, one mark per run, the mean as a line, and the
// prediction of the same series dashed.
void draw_strips(const Panel& p, std::string_view path, const LessonRun& run);
// Work over time, one row per lane.
void draw_lanes(const Panel& p, std::string_view path, const std::vector<LessonSpan>& spans);
// The run's sequences of stages, to be stepped through; draws nothing without one.
void draw_player(const Panel& p, const LessonInfo& lesson, const LessonRun& run);
// The field that names the files of several people.
void draw_class_form(const Panel& p, const LessonInfo& lesson);
// Their guesses and results, LessonRun::others.
void draw_class(const Panel& p, const LessonInfo& lesson, const LessonRun& run);
// Whether a bar of the gap would show a cause.
bool has_causes(const LessonGap& gap);
// Predicted and measured, and one bar cut into causes if there are any; of times that are too
// unsteady to conclude from, without ratio and causes.
void draw_gap(const Panel& p, std::string_view path, const LessonGap& gap, bool unsteady);

}  // namespace lab::ui
