#pragma once
// One sweep of transfers: samples grouped into cases, each a curve over size.
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"

namespace lab::ui {

// A sample, and the share of the cores' time that others took while it was measured.
struct MeasuredTransfer : TransferSample {
  double others = 0;  // 0 to 1
  bool dip = false;   // less than half of the speeds at the sizes before and after it
};

// Whether others took too much for its figure to say something about the device.
bool is_disturbed(const MeasuredTransfer& sample);
// The same, or its times vary, or it is a dip: the figure is marked, and nothing is concluded from
// it.
bool is_unsteady(const MeasuredTransfer& sample);

struct TransferCase {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  int threads = 1;
  TransferMover mover = TransferMover::Threads;
  PeerMode peer = PeerMode::None;

  std::vector<MeasuredTransfer> samples;  // ascending in size; the last sample per size
  Column64 bytes, gb_per_s, gb_low, gb_high;
  Column64 time_s, time_low, time_high;
  Column64 unsteady;  // 1 where the sample is_unsteady()
  std::optional<TransferFit> fit;

  // A live run instead: the recent samples in the order taken.
  Column64 live_t_s, live_gb_per_s;

  // "copy, 2 threads", "copy cpu:0 to cpu:1, 1 thread". If both devices are cpu:0, they are omitted
  // unless `with_devices`.
  std::string label(bool with_devices = false) const;
};

struct TransferResults {
  StartTransfers request;
  double started_t_s = 0;
  std::time_t measured_at = 0;      // wall clock, when it ended; 0: it has not
  bool earlier = false;             // in an earlier session
  double others = 0;                // as CoresShared::others; 0 if not notable
  std::vector<TransferCase> cases;  // in order of arrival
  std::vector<TransferTimeline> timelines;
  std::vector<TransferPayoff> payoffs;
  std::vector<Skipped> skipped;

  bool empty() const { return cases.empty() && timelines.empty() && skipped.empty(); }
  // `taken`: MeasuredTransfer::others.
  void add(const TransferSample& sample, double t_s, double taken = 0);
  void add(const TransferFit& fit);
  // The fastest copy of `bytes` from one device to the other; null: none was measured.
  const MeasuredTransfer* best_copy(Device from, Device to, std::int64_t bytes) const;
  // The sizes copied between any pair, ascending.
  const std::vector<std::int64_t>& copy_sizes() const { return copy_sizes_; }
  // Source and destination of the cases, in order of arrival.
  std::vector<std::pair<Device, Device>> pairs() const;

 private:
  // Finds or adds the case of a sample or a fit.
  template <typename Result>
  TransferCase& at(const Result& result);

  std::vector<std::int64_t> copy_sizes_;
};

// The levels whose line describes their samples: "85.0 ns per call, then 95.1 GB/s in L1, up
// to 16.0 KiB; 9.60 GB/s in memory." Empty if there are none. A bandwidth that no sample of its
// level comes near, because the fixed cost rules there, is left out.
std::string sentence(const TransferFit& fit, std::span<const MeasuredTransfer> samples = {});

// Whether the bytes of copies between them count both as read and as written.
bool counts_both_ways(const std::pair<Device, Device>& pair);
// "GB/s, read + write": with how the bytes of copies between the two count, if it is both ways.
std::string counted(std::string text, const std::pair<Device, Device>& pair);

// What the measured copies of a pair show, from its fastest size and its largest one: "Copies
// within cpu:0, read + write: 264 GB/s in L1 with arrays of 16.0 KiB, 20.9 GB/s in memory with
// arrays of 1.00 GiB, 12.6 times slower." The levels are those of the fits. Where the largest size
// is about the fastest, the time of the smallest one instead. Unsteady figures have their range and
// are not compared. Empty without two sizes.
std::string headline(const TransferResults& results, const std::pair<Device, Device>& pair);
// Whether any sample is.
bool has_unsteady_samples(const TransferResults& results);
// Whether more than half of them are, so that marks would distinguish nothing.
bool is_mostly_unsteady(const TransferResults& results);
// Whether a figure in it is.
bool headline_is_unsteady(const TransferResults& results, const std::pair<Device, Device>& pair);

}  // namespace lab::ui
