#pragma once
// One sweep of transfers: samples grouped into cases, each case a curve over size.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"

namespace lab::ui {

struct TransferCase {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  int threads = 1;
  TransferMover mover = TransferMover::Threads;
  PeerWay peer = PeerWay::None;

  std::vector<TransferSample> samples;  // by size, one a size: the last one taken
  Column64 bytes, gb_per_s, gb_low, gb_high;
  Column64 time_s, time_low, time_high;
  std::optional<TransferFit> fit;

  // A live run instead: every sample in the order taken.
  Column64 live_t_s, live_gb_per_s;

  std::string label() const;           // "copy, 2 threads"; with the devices unless cpu:0 alone
  const TransferSample* best() const;  // highest bandwidth, null when empty
};

struct TransferResults {
  StartTransfers request;
  double started_t_s = 0;
  std::vector<TransferCase> cases;  // in the order they came
  std::vector<TransferTimeline> timelines;
  std::vector<TransferPayoff> payoffs;
  std::vector<Skipped> skipped;

  bool empty() const { return cases.empty() && timelines.empty() && skipped.empty(); }
  void add(const TransferSample& sample, double t_s);
  void add(const TransferFit& fit);
  // Highest bandwidth measured for copies from one device to the other; empty: none.
  std::optional<double> best_copy_gb_per_s(Device from, Device to) const;

 private:
  // The case that a sample or a fit belongs to.
  template <typename Result>
  TransferCase& at(const Result& result);
};

// The fit in words: "Below 180 KiB ...".
std::string sentence(const TransferFit& fit);

}  // namespace lab::ui
