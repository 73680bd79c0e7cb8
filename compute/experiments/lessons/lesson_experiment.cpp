#include "compute/experiments/lessons/lesson_experiment.h"

#include <utility>

#include "compute/experiments/lessons/lesson.h"

namespace lab {
namespace {

class LessonExperiment final : public Experiment {
 public:
  explicit LessonExperiment(StartLesson request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    const lessons::Lesson& lesson = lessons::find_lesson(request_.lesson);
    lessons::LessonStage stage(ctx, request_, lesson.info);
    lesson.run(stage);
    stage.finish();
  }

 private:
  const StartLesson request_;
};

}  // namespace

std::unique_ptr<Experiment> make_lesson_experiment(const StartLesson& request) {
  return std::make_unique<LessonExperiment>(request);
}

std::vector<LessonInfo> lesson_list() {
  std::vector<LessonInfo> list;
  for (const lessons::Lesson& lesson : lessons::all_lessons()) list.push_back(lesson.info);
  return list;
}

}  // namespace lab
