#include "compute/experiments/scaling/links.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

// Rates are those that all-reduce programs reach with large sums, not nominal rates. Latencies are
// per message of a ring: the time of a tiny all-reduce divided by its 2(n-1) messages. Those of
// PCIe are derived from the cited measurements; the others are estimates.
const std::vector<Link>& links() {
  static const std::vector<Link> all = {
      {"pcie3",
       LAB_TEXT("PCIe 3.0 x16: 15.8 GB/s on the wire; NCCL's tests on GPUs behind PCIe switches "
                "reach 8 to 11 GB/s (NVIDIA/nccl issue 44)"),
       3e-6, 11},
      {"pcie4",
       LAB_TEXT("PCIe 4.0 x16: 31.5 GB/s on the wire; NCCL's tests on A100s without NVLink between "
                "them reach 20 GB/s (NVIDIA/nccl-tests issue 178), tiny all-reduces over eight "
                "GPUs take 40 us (NVIDIA/nccl issue 1530)"),
       3e-6, 20},
      {"pcie5",
       LAB_TEXT("PCIe 5.0 x16: 63 GB/s on the wire; NCCL's tests on four RTX 5090 reach 35 GB/s, "
                "on eight 28 (NVIDIA/nccl issue 1639)"),
       3e-6, 35},
      {"nvlink",
       LAB_TEXT("NVLink 4 of H100 and H200: 450 GB/s on the wire; NCCL's rings reach 365 to 370 "
                "GB/s on 2 to 8 GPUs (NVIDIA/nccl issue 1455)"),
       2e-6, 365},
      {"nvlink3",
       LAB_TEXT("NVLink 3 of A100: 300 GB/s on the wire; NCCL's tests on eight A100s reach 200 "
                "GB/s (NVIDIA/nccl-tests issue 149), on two 208 (issue 178)"),
       2.5e-6, 200},
      {"nvlink2",
       LAB_TEXT("NVLink 2 of V100: six links of 25 GB/s; estimated at 20 GB/s each, as in NCCL's "
                "topology search (graph/topo.h in its source)"),
       2.5e-6, 120},
      {"nvlink2-single",
       LAB_TEXT("One NVLink 2 link, as between GPU 0 and GPU 1 of a DGX-1 with V100 (NVIDIA/nccl "
                "issue 671): 25 GB/s on the wire, estimated at 20, as in NCCL's topology search"),
       2.5e-6, 20},
      {"ethernet10",
       LAB_TEXT(
           "10 Gbit/s Ethernet with TCP: 1.25 GB/s on the wire minus headers; 10 us is the best "
           "end-to-end latency (Larsen et al. 2007, Architectural Breakdown of End-to-End Latency "
           "in a TCP/IP Network); busy machines need two to three times as long"),
       25e-6, 1.1},
      {"ethernet100",
       LAB_TEXT("100 Gbit/s Ethernet with TCP: 12.5 GB/s on the wire; NCCL's tests over TCP reach "
                "4 to 6 GB/s (NVIDIA/nccl issue 450)"),
       25e-6, 5},
      {"infiniband-ndr",
       LAB_TEXT("InfiniBand NDR, one 400 Gbit/s adapter for each GPU: 50 GB/s on the wire; 46 to "
                "48 GB/s is what NVIDIA expects in NCCL's tests (NVIDIA/nccl-tests issue 290)"),
       5e-6, 47},
  };
  return all;
}

std::vector<std::string> link_names() {
  std::vector<std::string> names;
  for (const Link& link : links()) names.push_back(link.name);
  return names;
}

const Link& find_link(std::string_view name) {
  for (const Link& link : links()) {
    if (link.name == name) return link;
  }
  throw Error(Errc::NotFound,
              trf("unknown link '{}'; choose one of {}", name, fmt::join(link_names(), ", ")));
}

}  // namespace lab
