#pragma once
// Lessons of the chapter on several GPUs.
#include "compute/experiments/lessons/lesson.h"

namespace lab::lessons {

Lesson memory_lesson();
Lesson allreduce_lesson();
Lesson equal_lesson();

}  // namespace lab::lessons
