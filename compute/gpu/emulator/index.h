#pragma once
// Thread and block indices.
#include <string>

namespace lab::simt {

struct Index3 {
  int x = 0, y = 0, z = 0;
};

// Size of a grid or a block: {256}, {16, 16}.
struct Extent {
  int x = 1, y = 1, z = 1;

  long long count() const { return 1LL * x * y * z; }
  // Returns the index at this position in the order x fastest, z slowest.
  Index3 at(long long place) const {
    return {static_cast<int>(place % x), static_cast<int>(place / x % y),
            static_cast<int>(place / x / y)};
  }
};

inline std::string to_string(const Index3& i) {
  return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
}

}  // namespace lab::simt
