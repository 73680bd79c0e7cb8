#include "app/window/frame_pacer.h"

#include <gtest/gtest.h>

namespace lab::app {
namespace {

constexpr double kForever = FramePacer::kForever;

// A pacer that has drawn its initial frames and is idle at time 10 s.
FramePacer settled(double frame_cpu_s = 0.001, const PacerLimits& limits = {}) {
  FramePacer pacer(limits);
  for (int i = 0; i < 10; ++i) pacer.frame_drawn(10, frame_cpu_s / 2, frame_cpu_s);
  return pacer;
}

TEST(FramePacer, DrawsImmediatelyAtStartAndOnInput) {
  EXPECT_EQ(FramePacer(PacerLimits{}).wait_s(0, Activity::Idle, false), 0);
  FramePacer pacer = settled();
  EXPECT_EQ(pacer.wait_s(10, Activity::Idle, false), kForever);
  pacer.request_redraw(10.001);
  EXPECT_EQ(pacer.wait_s(10.001, Activity::Idle, false), 0);
}

TEST(FramePacer, SettlesAfterInput) {
  FramePacer pacer = settled();
  pacer.request_redraw(11);
  int frames = 0;
  while (pacer.wait_s(11, Activity::Idle, false) == 0 && frames < 100) {
    pacer.frame_drawn(11, 0.001, 0.001);
    ++frames;
  }
  EXPECT_EQ(frames, 3);
}

TEST(FramePacer, NeverDrawsWhileHidden) {
  FramePacer pacer = settled();
  pacer.request_redraw(11);
  pacer.results_changed();
  EXPECT_EQ(pacer.wait_s(100, Activity::Timing, true), kForever);
}

TEST(FramePacer, LimitsTimingJobsToFiveFramesPerSecond) {
  FramePacer pacer = settled();
  pacer.request_redraw(10);
  pacer.results_changed();
  EXPECT_NEAR(pacer.wait_s(10.05, Activity::Timing, false), 0.15, 1e-9);
  EXPECT_EQ(pacer.wait_s(10.2, Activity::Timing, false), 0);
}

// The share is that of the window's thread, which takes half of a frame's CPU time here.
TEST(FramePacer, TakesASmallShareOfACoreBesideABusyJob) {
  FramePacer cheap = settled(0.0002);
  cheap.results_changed();
  EXPECT_NEAR(cheap.wait_s(10, Activity::Busy, false), 1 / 30.0, 1e-9);
  FramePacer usual = settled(0.004);
  usual.results_changed();
  EXPECT_NEAR(usual.wait_s(10, Activity::Busy, false), 0.2, 1e-9);
  EXPECT_EQ(usual.wait_s(10.2, Activity::Busy, false), 0);
  // The end of the job is shown at once.
  EXPECT_NEAR(usual.wait_s(10, Activity::Idle, false), 1 / 30.0, 1e-9);
  FramePacer expensive = settled(0.1);
  expensive.gauges_changed();
  EXPECT_NEAR(expensive.wait_s(10, Activity::Busy, false), 0.5, 1e-9);
  FramePacer rendered_by_the_cpu = settled(0.0002, {.busy_interval_s = 1});
  rendered_by_the_cpu.animate();
  EXPECT_NEAR(rendered_by_the_cpu.wait_s(10, Activity::Busy, false), 1, 1e-9);
}

TEST(FramePacer, DrawsImmediatelyOnInputBesideABusyJob) {
  FramePacer pacer = settled(0.1);
  pacer.results_changed();
  pacer.request_redraw(10);
  EXPECT_EQ(pacer.wait_s(10, Activity::Busy, false), 0);
}

TEST(FramePacer, GaugeIntervalGrowsWithFrameCost) {
  FramePacer cheap = settled(0.001);
  cheap.gauges_changed();
  EXPECT_NEAR(cheap.wait_s(10, Activity::Idle, false), 1, 1e-9);
  FramePacer expensive = settled(0.018);
  expensive.gauges_changed();
  EXPECT_NEAR(expensive.wait_s(10, Activity::Idle, false), 3, 0.01);
  FramePacer very_expensive = settled(1);
  very_expensive.gauges_changed();
  EXPECT_NEAR(very_expensive.wait_s(10, Activity::Idle, false), 5, 1e-9);
}

TEST(FramePacer, DrawsResultsSoonerThanGauges) {
  FramePacer pacer = settled(0.018);
  pacer.gauges_changed();
  pacer.results_changed();
  EXPECT_LT(pacer.wait_s(10, Activity::Idle, false), 0.1);
}

TEST(FramePacer, AnimatesOnlyAfterInputWhileIdle) {
  FramePacer pacer = settled();
  pacer.animate();
  EXPECT_EQ(pacer.wait_s(10, Activity::Idle, false), kForever);
  pacer.request_redraw(10);
  for (int i = 0; i < 3; ++i) pacer.frame_drawn(10, 0.001, 0.001);
  pacer.animate();
  EXPECT_EQ(pacer.wait_s(10.5, Activity::Idle, false), 0);
  EXPECT_EQ(pacer.wait_s(13, Activity::Idle, false), kForever);
}

}  // namespace
}  // namespace lab::app
