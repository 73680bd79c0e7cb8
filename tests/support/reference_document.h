#pragma once
// A machine that never was, as its reference file would tell it.
#include <nlohmann/json.hpp>
#include <string>

namespace lab::test {

inline void add_timing(nlohmann::json& json, double median_s) {
  json.update({{"median_s", median_s},
               {"p10_s", 0.95 * median_s},
               {"p90_s", 1.1 * median_s},
               {"samples", 31},
               {"warmup", 3},
               {"unstable", false}});
}

inline nlohmann::json matmul_object(const std::string& kernel, int n, double gflops) {
  nlohmann::json json{{"type", "sample"},
                      {"device", "cpu:0"},
                      {"kernel", kernel},
                      {"dtype", "f32"},
                      {"m", n},
                      {"n", n},
                      {"k", n},
                      {"gflops", gflops},
                      {"verified", true},
                      {"share_of_library", gflops / 480},
                      {"share_of_peak", gflops / 500},
                      {"library", kernel == "onednn"},
                      {"max_error", 0.01},
                      {"intensity", 8.0},
                      {"clock_mhz", 2900.0}};
  add_timing(json, 2.0 * n * n * n / gflops * 1e-9);
  return json;
}

inline nlohmann::json transfer_object(const std::string& op, long bytes, double gb_per_s) {
  nlohmann::json json{{"type", "sample"},     {"from", "cpu:0"},    {"to", "cpu:0"},
                      {"memory", "pageable"}, {"bytes", bytes},     {"n", 31},
                      {"gb_per_s", gb_per_s}, {"verified", true},   {"op", op},
                      {"threads", 1},         {"mover", "threads"}, {"clock_mhz", nullptr}};
  add_timing(json, static_cast<double>(bytes) / gb_per_s * 1e-9);
  return json;
}

inline nlohmann::json ceilings_object() {
  nlohmann::json compute{{"name", "FMA f32"}, {"dtype", "f32"}, {"threads", 2}, {"gflops", 500.0}};
  add_timing(compute, 0.01);
  nlohmann::json level{
      {"name", "L1"},         {"cache_bytes", 98304},     {"working_set_bytes", 49152},
      {"gb_per_s", 1000.0},   {"median_gb_per_s", 900.0}, {"p10_gb_per_s", 800.0},
      {"p90_gb_per_s", 950.0}};
  add_timing(level, 0.001);
  return {{"device", "cpu:0"},
          {"threads", 2},
          {"compute", nlohmann::json::array({compute})},
          {"bandwidth", nlohmann::json::array({level})}};
}

inline nlohmann::json machine_document() {
  nlohmann::json peak{{"device", "cpu:0"}, {"dtype", "f32"}, {"threads", 2}, {"gflops", 500.0}};
  add_timing(peak, 0.1);
  const nlohmann::json fit{{"from", "cpu:0"},
                           {"to", "cpu:0"},
                           {"memory", "pageable"},
                           {"op", "copy"},
                           {"threads", 1},
                           {"latency_s", 2e-7},
                           {"gb_per_s", 21.0},
                           {"r2", 0.99},
                           {"mover", "threads"},
                           {"half_bandwidth_bytes", 4200},
                           {"break_even_bytes", nullptr}};
  return {{"type", "machine"},
          {"format", 1},
          {"name", "Model machine"},
          {"kind", "cpu"},
          {"date", "2026-01-31"},
          {"made_with", {{"device_lab", "0.1.0"}}},
          {"settings",
           {{"cache", "warm"}, {"commands", nlohmann::json::array({"device-lab matmul --json"})}}},
          {"device", {{"name", "Model machine"}}},
          {"matmul", {matmul_object("naive", 64, 20), matmul_object("naive", 128, 25)}},
          {"peaks", nlohmann::json::array({peak})},
          {"ceilings", nlohmann::json::array({ceilings_object()})},
          {"transfers", {transfer_object("copy", 1024, 20), transfer_object("copy", 4096, 21)}},
          {"fits", nlohmann::json::array({fit})}};
}

}  // namespace lab::test
