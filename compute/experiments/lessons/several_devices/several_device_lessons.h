#pragma once
// Lessons of the chapter on several GPUs.
#include "compute/experiments/lessons/lesson.h"

namespace lab::lessons {

Lesson memory_lesson();
Lesson feed_lesson();
Lesson allreduce_lesson();
Lesson equal_lesson();
Lesson speedup_lesson();
Lesson accuracy_lesson();
Lesson sixteen_lesson();

}  // namespace lab::lessons
