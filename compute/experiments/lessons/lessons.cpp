#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/lessons/lesson.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"

namespace lab::lessons {

std::span<const Lesson> all_lessons() {
  static const std::vector<Lesson> kAll = {
      devices_lesson(),
      tensors_lesson(),
      copies_lesson(),
      link_lesson(),
      log_lesson(),
      roofline_lesson(),
      crossover_lesson(),
      together_lesson(),
      network_lesson(),
      // Several devices
      memory_lesson(),
      feed_lesson(),
      allreduce_lesson(),
      equal_lesson(),
      speedup_lesson(),
      accuracy_lesson(),
      sixteen_lesson(),
  };
  return kAll;
}

const Lesson& find_lesson(std::string_view name) {
  std::vector<std::string> names;
  for (const Lesson& lesson : all_lessons()) {
    if (lesson.info.name == name) return lesson;
    names.push_back(lesson.info.name);
  }
  throw Error(Errc::NotFound,
              trf("unknown lesson '{}'; choose one of {}", name, fmt::join(names, ", ")));
}

}  // namespace lab::lessons
