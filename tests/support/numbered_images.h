#pragma once
// A data set whose images are identifiable by their pixels.
#include <cstdint>

#include "compute/data/dataset.h"

namespace lab::test {

// Image i has pixel value i and label i.
inline ImageSet numbered_images(std::int64_t n) {
  ImageSet set;
  set.count = n;
  for (std::int64_t i = 0; i < n; ++i) {
    set.pixels.insert(set.pixels.end(), 28 * 28, static_cast<std::uint8_t>(i));
    set.labels.push_back(static_cast<std::uint8_t>(i));
  }
  return set;
}

}  // namespace lab::test
