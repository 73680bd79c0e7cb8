#pragma once
// Lessons of the chapter on GPUs: devices, tensors on them, copies, and four exercises.
#include "compute/experiments/lessons/lesson.h"

namespace lab::lessons {

Lesson devices_lesson();
Lesson tensors_lesson();
Lesson copies_lesson();
Lesson link_lesson();
Lesson log_lesson();
Lesson roofline_lesson();
Lesson crossover_lesson();
Lesson together_lesson();
Lesson network_lesson();

}  // namespace lab::lessons
