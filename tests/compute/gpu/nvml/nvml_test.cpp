#include <gtest/gtest.h>

#include <algorithm>

#include "compute/core/events/gpu_readings.h"
#include "compute/core/events/gpu_text.h"
#include "compute/core/units.h"
#include "compute/gpu/nvml/nvml_readings.h"
#include "tests/support/fake_nvml/fake_library.h"

namespace lab::nvml {
namespace {

using test::FakeNvml;

Handle first_gpu(const Session& nvml) {
  const std::vector<Handle> all = open_all(nvml);
  EXPECT_FALSE(all.empty());
  return all.empty() ? nullptr : all[0];
}

GpuTelemetry everything(const Session& nvml, Handle gpu) {
  GpuTelemetry reading;
  read_fast(nvml, gpu, reading);
  read_slow(nvml, gpu, reading);
  read_throughput(nvml, gpu, reading);
  return reading;
}

TEST(NvmlSession, ShutsDownOncePerStart) {
  const FakeNvml fake("h200");
  const int before = fake.open();
  {
    const Session session(fake.path());
    EXPECT_EQ(session.failure(), "");
    EXPECT_EQ(fake.open(), before + 1);
  }
  EXPECT_EQ(fake.open(), before);
}

TEST(NvmlSession, ReportsWhyTheLibraryIsUnusable) {
  const Session none("/nowhere/libnvidia-ml.so.1");
  EXPECT_NE(none.failure().find("cannot be loaded"), std::string::npos);
  EXPECT_NE(none.failure().find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
  const FakeNvml fake("mismatch");
  const Session unlike(fake.path());
  EXPECT_EQ(unlike.failure(),
            "NVML does not start: the NVIDIA library and the kernel driver are of different "
            "versions; restart the machine");
  const Session no_nvml("libc.so.6");
  EXPECT_NE(no_nvml.failure().find("its NVML has no nvmlInit_v2"), std::string::npos);
}

TEST(NvmlFacts, OfAHealthyH200) {
  const FakeNvml fake("h200");
  const Session nvml(fake.path());
  const Handle gpu = first_gpu(nvml);
  EXPECT_EQ(read_bus_id(nvml, gpu).value_or(""), "0000:01:00.0");
  const GpuFacts f = read_facts(nvml, gpu);
  EXPECT_EQ(f.name, "NVIDIA H200");
  EXPECT_EQ(f.architecture.value_or(""), "Hopper");
  EXPECT_EQ(f.compute_capability.value_or(""), "9.0");
  EXPECT_EQ(f.cuda_cores.value_or(0), 16896);
  EXPECT_EQ(f.sms.value_or(0), 132) << "from the cores: the attributes describe slices only";
  EXPECT_EQ(f.memory_total_bytes.value_or(0), 141 * kGiB);
  EXPECT_EQ(f.memory_bus_bits.value_or(0), 6144);
  EXPECT_DOUBLE_EQ(f.sm_clock_max_mhz.value_or(0), 1980);
  EXPECT_DOUBLE_EQ(f.graphics_clock_max_mhz.value_or(0), 1965);
  EXPECT_DOUBLE_EQ(f.memory_clock_max_mhz.value_or(0), 3201);
  EXPECT_DOUBLE_EQ(f.video_clock_max_mhz.value_or(0), 1830);
  ASSERT_TRUE(f.power_limits);
  EXPECT_DOUBLE_EQ(f.power_limits->default_w, 700);
  EXPECT_DOUBLE_EQ(f.power_limits->min_w, 200);
  EXPECT_DOUBLE_EQ(f.slowdown_c.value_or(0), 87);
  ASSERT_TRUE(f.pcie_best);
  EXPECT_EQ(f.pcie_best->generation, 5);
  EXPECT_EQ(f.pcie_best->width, 16);
  ASSERT_TRUE(f.nvlinks);
  EXPECT_EQ(f.nvlinks->links, 18);
  EXPECT_EQ(f.nvlinks->active, 17);
  EXPECT_EQ(f.nvlinks->version, "4.0");
  EXPECT_TRUE(f.ecc.value_or(false));
  EXPECT_FALSE(f.mig.value_or(true));
  EXPECT_EQ(f.uuid.value_or(""), "GPU-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
  EXPECT_EQ(f.serial.value_or(""), "1653124000");
  EXPECT_EQ(f.vbios_version.value_or(""), "96.00.99.00.01");
  EXPECT_EQ(f.driver_version.value_or(""), "580.82.07");
  EXPECT_EQ(f.cuda_version.value_or(""), "13.0");
}

TEST(NvmlReadings, OfAHealthyH200) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const GpuTelemetry t = everything(session, first_gpu(session));
  EXPECT_DOUBLE_EQ(t.utilisation.value_or(0), 0.87);
  EXPECT_DOUBLE_EQ(t.memory_utilisation.value_or(0), 0.41);
  EXPECT_DOUBLE_EQ(t.sm_clock_mhz.value_or(0), 1755);
  EXPECT_DOUBLE_EQ(t.graphics_clock_mhz.value_or(0), 1740);
  EXPECT_DOUBLE_EQ(t.memory_clock_mhz.value_or(0), 3201);
  EXPECT_DOUBLE_EQ(t.video_clock_mhz.value_or(0), 1545);
  EXPECT_DOUBLE_EQ(t.encoder_utilisation.value_or(0), 0.07);
  EXPECT_DOUBLE_EQ(t.decoder_utilisation.value_or(0), 0.23);
  EXPECT_EQ(t.memory_used_bytes.value_or(0), 39 * kGiB) << "without memory reserved by the driver";
  EXPECT_EQ(t.memory_free_bytes.value_or(0), 101 * kGiB);
  EXPECT_NEAR(t.power_w.value_or(0), 412.345, 1e-9);
  EXPECT_DOUBLE_EQ(t.power_limit_w.value_or(0), 650);
  EXPECT_DOUBLE_EQ(t.temperature_c.value_or(0), 54);
  EXPECT_EQ(t.fan.reason(), "this GPU or its driver does not report it");
  EXPECT_EQ(t.performance_state.value_or(-1), 0);
  ASSERT_TRUE(t.clock_limits);
  EXPECT_EQ(*t.clock_limits,
            (std::vector<std::string>{"heat, slowed by the driver", "power limit"}));
  ASSERT_TRUE(t.pcie);
  EXPECT_EQ(t.pcie->generation, 5);
  EXPECT_DOUBLE_EQ(t.pcie_received_bytes_per_s.value_or(0), 23e9);
  EXPECT_DOUBLE_EQ(t.pcie_sent_bytes_per_s.value_or(0), 1.5e9);
  EXPECT_TRUE(t.persistence_mode.value_or(false));
  EXPECT_EQ(t.compute_mode.value_or(""), "exclusive process");
  EXPECT_FALSE(t.display_active.value_or(true));
  ASSERT_TRUE(t.ecc_errors);
  EXPECT_EQ(t.ecc_errors->corrected, 3);
  EXPECT_EQ(t.ecc_errors->uncorrected, 0);
}

TEST(NvmlReadings, QueryEveryListedFactAndReading) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  const std::string not_asked = Maybe<int>().reason();
  const std::vector<std::string> from_elsewhere = {"numa_node", "near_cpus", "runtime_version"};
  const GpuFacts facts = read_facts(session, gpu);
  for_each_gpu_fact([&](auto member, const std::string& key, const auto&) {
    const auto& value = facts.*member;
    const bool asked = value || value.reason() != not_asked;
    EXPECT_NE(asked, std::count(from_elsewhere.begin(), from_elsewhere.end(), key) == 1) << key;
  });
  const GpuTelemetry reading = everything(session, gpu);
  for_each_gpu_reading([&](auto member, const std::string& key, const auto&) {
    const auto& value = reading.*member;
    EXPECT_TRUE(value || value.reason() != not_asked) << key;
  });
}

TEST(NvmlReadings, SortsProcessesByMemoryUnknownLast) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const GpuTelemetry t = everything(session, first_gpu(session));
  ASSERT_TRUE(t.processes);
  ASSERT_EQ(t.processes->size(), 3U);
  EXPECT_EQ((*t.processes)[0].pid, 4242);
  EXPECT_EQ((*t.processes)[0].memory_bytes.value_or(0), 20 * kGiB);
  EXPECT_EQ((*t.processes)[1].pid, 77) << "a graphics process";
  EXPECT_EQ((*t.processes)[2].pid, 4243);
  EXPECT_EQ((*t.processes)[2].memory_bytes.reason(),
            "the driver does not report it for this "
            "process");
}

TEST(NvmlReadings, ReportsProcessTypes) {
  for (const auto& [kind, first] : {std::pair{"h200", "C"}, std::pair{"laptop", "C+G"}}) {
    const FakeNvml fake(kind);
    const Session session(fake.path());
    const GpuTelemetry t = everything(session, first_gpu(session));
    ASSERT_TRUE(t.processes);
    ASSERT_EQ(t.processes->size(), 3U) << "each once";
    EXPECT_EQ(process_type((*t.processes)[0]), first);
    EXPECT_EQ(process_type((*t.processes)[1]), "G");
    EXPECT_EQ(process_type((*t.processes)[2]), "C");
    EXPECT_NE((*t.processes)[0].gpu_instance.reason().find("MIG"), std::string::npos);
  }
}

TEST(NvmlReadings, DistinguishesMpsClients) {
  const FakeNvml fake("h200");
  fake.share(true);
  const Session session(fake.path());
  const GpuTelemetry t = everything(session, first_gpu(session));
  ASSERT_TRUE(t.processes);
  ASSERT_EQ(t.processes->size(), 4U);
  EXPECT_EQ((*t.processes)[1].pid, 500);
  EXPECT_EQ(process_type((*t.processes)[1]), "M+C");
  EXPECT_EQ(process_type((*t.processes)[0]), "C");
}

TEST(NvmlReadings, ReportsProcessLoads) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  GpuTelemetry t = everything(session, gpu);
  ASSERT_TRUE(t.processes);
  const GpuProcess &works = t.processes->at(0), &draws = t.processes->at(1),
                   &rests = t.processes->at(2);
  EXPECT_EQ(works.utilisation.value_or(-1), 0.83) << "the newest of its samples";
  EXPECT_EQ(works.encoder_utilisation.value_or(-1), 0.07);
  EXPECT_EQ(works.decoder_utilisation.value_or(-1), 0.09);
  EXPECT_EQ(draws.utilisation.reason(), "the driver reports an impossible value");
  EXPECT_EQ(draws.decoder_utilisation.value_or(-1), 0.02);
  EXPECT_EQ(rests.utilisation.value_or(-1), 0) << "its sample is older than a second";
  fake.rest(true);
  t = everything(session, gpu);
  ASSERT_TRUE(t.processes);
  for (const GpuProcess& one : *t.processes) EXPECT_EQ(one.utilisation.value_or(-1), 0);
}

TEST(NvmlReadings, ReportsMigInstancesOfProcesses) {
  const FakeNvml fake("h200");
  fake.divide(true);
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  EXPECT_TRUE(read_facts(session, gpu).mig.value_or(false));
  const GpuTelemetry t = everything(session, gpu);
  ASSERT_TRUE(t.processes);
  EXPECT_EQ((*t.processes)[0].gpu_instance.value_or(-1), 1);
  EXPECT_EQ((*t.processes)[0].compute_instance.value_or(-1), 0);
  EXPECT_FALSE((*t.processes)[1].gpu_instance) << "a graphics process";
  EXPECT_EQ((*t.processes)[2].gpu_instance.value_or(-1), 2);
  for (const auto& load : {t.utilisation, t.encoder_utilisation, t.decoder_utilisation,
                           t.processes->at(0).utilisation}) {
    EXPECT_EQ(load.reason(), "this GPU or its driver does not report it");
  }
}

TEST(NvmlReadings, RetriesAGrowingProcessList) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  fake.set_processes(10, 9);  // more than the buffer holds, and nine more during each call
  GpuTelemetry t;
  read_slow(session, gpu, t);
  EXPECT_FALSE(t.processes) << "the list keeps growing";
  EXPECT_EQ(t.processes.reason(), "the list of processes grows faster than it can be read");
  fake.set_processes(10, 3);
  read_slow(session, gpu, t);
  ASSERT_TRUE(t.processes);
  EXPECT_EQ(t.processes->size(), 14U) << "thirteen and the graphics process";
}

TEST(NvmlFacts, HandleUnsupportedReadingsOfALaptop) {
  const FakeNvml fake("laptop");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  const GpuFacts f = read_facts(session, gpu);
  const std::string why = "this GPU or its driver does not report it";
  EXPECT_EQ(f.sms.value_or(0), 24);
  EXPECT_EQ(f.power_limits.reason(), why);
  EXPECT_EQ(f.ecc.reason(), why);
  EXPECT_EQ(f.mig.reason(), why);
  EXPECT_EQ(f.nvlinks.reason(), "the GPU has no NVLink");
  EXPECT_EQ(f.serial.reason(), why);
  const GpuTelemetry t = everything(session, gpu);
  EXPECT_EQ(t.power_w.reason(), why);
  EXPECT_EQ(t.ecc_errors.reason(), why);
  EXPECT_EQ(t.video_clock_mhz.reason(), why);
  EXPECT_EQ(t.pcie_received_bytes_per_s.reason(), why);
  EXPECT_EQ(t.pcie_sent_bytes_per_s.reason(), why);
  EXPECT_FALSE(t.persistence_mode.value_or(true));
  EXPECT_EQ(t.compute_mode.value_or(""), "default");
  EXPECT_TRUE(t.display_active.value_or(false));
  ASSERT_TRUE(t.clock_limits);
  EXPECT_EQ(t.clock_limits->at(0), "idle: no work");
}

TEST(NvmlFacts, ReportsFunctionsMissingInOldDrivers) {
  const FakeNvml fake("old");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  const GpuFacts f = read_facts(session, gpu);
  EXPECT_EQ(f.name, "NVIDIA H200");
  EXPECT_EQ(f.driver_version.value_or(""), "390.157");
  EXPECT_EQ(f.architecture.reason(),
            "the driver is too old: its NVML has no nvmlDeviceGetArchitecture");
  EXPECT_EQ(f.sms.reason(), "the driver is too old: its NVML has no nvmlDeviceGetNumGpuCores");
  const GpuTelemetry t = everything(session, gpu);
  EXPECT_EQ(t.memory_used_bytes.value_or(0), 40 * kGiB) << "the first version of the structure";
  ASSERT_TRUE(t.processes) << "the first version of the list";
  EXPECT_EQ(t.processes->size(), 2U);
  EXPECT_EQ(t.processes->at(0).memory_bytes.value_or(0), 20 * kGiB);
  EXPECT_EQ(t.processes->at(0).gpu_instance.reason(),
            "the driver is too old: its process list has no instances");
  for (const std::string& reason :
       {f.uuid.reason(), f.serial.reason(), f.vbios_version.reason(), t.pcie.reason(),
        t.encoder_utilisation.reason(), t.decoder_utilisation.reason(),
        t.processes->at(0).utilisation.reason(), t.processes->at(1).decoder_utilisation.reason(),
        t.pcie_received_bytes_per_s.reason(), t.persistence_mode.reason(), t.compute_mode.reason(),
        t.display_active.reason()}) {
    EXPECT_NE(reason.find("too old: its NVML has no nvmlDeviceGet"), std::string::npos) << reason;
  }
}

TEST(NvmlReadings, LostGpuReportsHowToRecover) {
  const FakeNvml fake("h200");
  const Session session(fake.path());
  const Handle gpu = first_gpu(session);
  fake.fail(0, kGpuIsLost);
  const GpuTelemetry t = everything(session, gpu);
  for (const auto& value : {t.utilisation, t.sm_clock_mhz, t.power_w, t.temperature_c,
                            t.encoder_utilisation, t.graphics_clock_mhz, t.pcie_sent_bytes_per_s}) {
    EXPECT_NE(value.reason().find("restart the machine"), std::string::npos);
  }
  EXPECT_FALSE(t.processes);
  fake.fail(0, 0);
}

TEST(NvmlFacts, ReportsPeersOfTwoGpus) {
  const FakeNvml fake("pair");
  const Session nvml(fake.path());
  const std::vector<Handle> gpus = open_all(nvml);
  ASSERT_EQ(gpus.size(), 2U);
  const Handle a = gpus[0], b = gpus[1];
  const GpuPeer there = read_peer(nvml, a, b, "0000:41:00.0");
  EXPECT_EQ(there.pci_bus_id, "0000:41:00.0");
  ASSERT_TRUE(there.read && there.write && there.nvlink);
  EXPECT_TRUE(there.read->possible && there.write->possible && there.nvlink->possible);
  const GpuPeer back = read_peer(nvml, b, a, "0000:01:00.0");
  EXPECT_TRUE(back.read->possible);
  EXPECT_FALSE(back.write->possible);
  EXPECT_EQ(back.write->why_not, "the machine's chipset does not support it");
}

}  // namespace
}  // namespace lab::nvml
