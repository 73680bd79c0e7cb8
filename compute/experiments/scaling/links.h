#pragma once
// Connections between devices, for predictions: the alpha-beta model, time = latency + bytes /
// rate.
#include <string>
#include <string_view>
#include <vector>

namespace lab {

struct Link {
  std::string name;      // "nvlink"
  std::string sentence;  // what it is and where the figures come from
  double latency_s = 0;
  double gb_per_s = 0;  // one direction, one device, what programs reach
};

const std::vector<Link>& links();
std::vector<std::string> link_names();
// Throws Error(NotFound) naming the link and the choices.
const Link& find_link(std::string_view name);

}  // namespace lab
