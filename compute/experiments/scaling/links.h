#pragma once
// Links between devices, for predictions with the alpha-beta model: time = latency + bytes / rate.
#include <string>
#include <string_view>
#include <vector>

namespace lab {

struct Link {
  std::string name;      // "nvlink"
  std::string sentence;  // description, and source of the numbers; LAB_TEXT
  double latency_s = 0;
  double gb_per_s = 0;  // per device and direction, as reached by programs
};

const std::vector<Link>& links();
std::vector<std::string> link_names();
// Throws Error(NotFound) naming the link and the choices.
const Link& find_link(std::string_view name);

}  // namespace lab
