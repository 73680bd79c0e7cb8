#pragma once
// A reference file of a fictitious machine.
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

inline nlohmann::json machine_document() {
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
          {"peaks", nlohmann::json::array({{{"device", "cpu:0"}, {"gflops", 500.0}}})},
          {"transfers", {transfer_object("copy", 1024, 20), transfer_object("copy", 4096, 21)}}};
}

}  // namespace lab::test
