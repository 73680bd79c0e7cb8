#pragma once
// Published and recorded training rates, and the model's predictions of them. Only the rate of one
// device, the link and facts of the network and the program go into a prediction; no constant is
// fitted to these figures.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/scaling/scaling_model.h"

namespace lab {

struct PublishedRate {
  int devices = 0;
  double images_per_s = 0;
};

// Rates of one system with the same work.
struct PublishedSystem {
  std::string name;
  std::string source;
  ParallelStyle style = ParallelStyle::Ddp;
  std::string link;
  ScalingMode mode = ScalingMode::Weak;
  std::int64_t batch = 0;            // per device (weak) or in total (strong)
  Workload work;                     // without the compute time
  std::vector<PublishedRate> rates;  // the first is that of one device
  bool counted = true;
};

std::vector<PublishedSystem> published_systems();

// Predicts every rate but the first of each system.
ScalingComparison compare_with_published(std::span<const PublishedSystem> systems);
ScalingComparison compare_with_published();

}  // namespace lab
