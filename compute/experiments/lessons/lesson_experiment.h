#pragma once
// Runs a lesson as a job, compares a class's results, and lists the lessons for the window and the
// command line.
#include <memory>
#include <vector>

#include "compute/core/events/lesson.h"
#include "compute/run/experiment.h"

namespace lab {

std::unique_ptr<Experiment> make_lesson_experiment(const StartLesson& request);

std::unique_ptr<Experiment> make_class_experiment(const CompareClass& request);

// Descriptions of all lessons, in the order of the page.
std::vector<LessonInfo> lesson_list();

}  // namespace lab
