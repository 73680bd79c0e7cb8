#pragma once
#include <string>
#include <vector>

namespace lab::test {

// Where the lab's declarations differ from <cudnn.h> and <cublas_v2.h>, one line each.
std::vector<std::string> differences_from_headers();

}  // namespace lab::test
