#include "tests/support/source_dir.h"

namespace lab::test {

// LAB_SOURCE_DIR is defined for this file only, so that a compiler cache serves every clone of the
// repository.
std::filesystem::path source_dir() {
  return LAB_SOURCE_DIR;
}

}  // namespace lab::test
