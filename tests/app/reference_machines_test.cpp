#include "app/window/reference_machines.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "compute/core/files/whole_file.h"
#include "tests/support/errors.h"
#include "tests/support/reference_document.h"
#include "tests/support/source_dir.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"

namespace lab::app {
namespace {

// --- one machine ----------------------------------------------------------------------------

using Json = nlohmann::json;

class MachineFile : public ::testing::Test {
 protected:
  std::optional<ReferenceMachine> read(const std::string& text) {
    files::write_file(file_, text);
    return read_machine(file_);
  }
  // Error message for a file with this text; checks that it is one line that starts with the path.
  std::string problem(const std::string& text) {
    const std::string message = test::message_of([&] { read(text); }, Errc::Corrupt);
    EXPECT_EQ(message.rfind(file_.string() + ": ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  // Error message for the model document with one value changed; `at` is a JSON pointer such as
  // "/matmul/0/n".
  std::string problem_with(const char* at, const Json& value) {
    Json json = test::machine_document();
    json[Json::json_pointer(at)] = value;
    return problem(json.dump());
  }
  std::string problem_without(const char* parent, const char* field) {
    Json json = test::machine_document();
    json[Json::json_pointer(parent)].erase(field);
    return problem(json.dump());
  }

  const test::TempDir dir_;
  const std::filesystem::path file_ = dir_.path() / "model.json";
};

using test::contains;

TEST_F(MachineFile, ReadsEveryField) {
  const auto m = read(test::machine_document().dump());
  ASSERT_TRUE(m);
  EXPECT_EQ(m->key, "model.json");
  EXPECT_EQ(m->name, "Model machine");
  EXPECT_EQ(m->kind, DeviceKind::Cpu);
  EXPECT_EQ(m->date, "2026-01-31");
  EXPECT_EQ(m->lab, "0.1.0");
  EXPECT_EQ(m->driver, "");
  EXPECT_EQ(m->cache, CacheState::Warm);
  EXPECT_EQ(m->commands, std::vector<std::string>{"device-lab matmul --json"});
  ASSERT_EQ(m->matmul.size(), 2U);
  EXPECT_EQ(m->matmul[1].n, 128);
  EXPECT_EQ(m->matmul[1].gflops, 25);
  EXPECT_EQ(m->matmul[1].time.n, 31);
  EXPECT_EQ(m->matmul[1].share_of_peak, 0.05);
  EXPECT_EQ(*m->matmul[1].conditions.clock_mhz, 2900);
  ASSERT_EQ(m->transfers.size(), 2U);
  EXPECT_EQ(m->transfers[0].op, TransferOp::Copy);
  EXPECT_FALSE(m->transfers[0].conditions.clock_mhz);
}

TEST_F(MachineFile, IgnoresInformationalFields) {
  Json json = test::machine_document();
  json["peaks"] = Json::array({{{"device", "cuda:0"}, {"gflops", -1}}});
  json["ceilings"] = 3;
  json["fits"] = Json::array({{{"r2", -0.5}}});
  json["device"] = nullptr;
  EXPECT_EQ(read(json.dump())->transfers.size(), 2U);
}

TEST_F(MachineFile, AcceptsMissingListsAndUnknownFields) {
  Json json = test::machine_document();
  for (const char* field : {"peaks", "transfers", "device"}) json.erase(field);
  json["later"] = {1, 2};
  json["matmul"][0]["later"] = "x";
  EXPECT_EQ(read(json.dump())->matmul.size(), 2U);
}

TEST_F(MachineFile, IgnoresTrainingStepFiles) {
  EXPECT_FALSE(read(R"({"device":"d","model":"lenet","batch":64,"step_s":0.25,"source":"me"})"));
}

TEST_F(MachineFile, RejectsEveryTruncation) {
  const std::string whole = test::machine_document().dump();
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    EXPECT_TRUE(contains(problem(whole.substr(0, length)), "not a JSON object")) << length;
  }
}

TEST_F(MachineFile, RejectsNonObjects) {
  const std::string nul("\0\0\0", 3);
  for (const std::string& text : {std::string("no json"), std::string("[1, 2]"), std::string("3"),
                                  std::string("\xff\xfe{}"), nul, std::string("null")}) {
    EXPECT_TRUE(contains(problem(text), "not a JSON object"));
  }
  EXPECT_TRUE(contains(problem("{}"), "\"type\" is missing"));
  EXPECT_TRUE(contains(problem(R"({"type":"sample"})"), "it must be machine"));
}

TEST_F(MachineFile, RejectsNewerFormats) {
  EXPECT_TRUE(contains(problem_with("/format", 2), "format 2 was written by a newer Device Lab"));
  EXPECT_TRUE(contains(problem_with("/format", 0), "\"format\" is 0"));
  EXPECT_TRUE(contains(problem_with("/format", "1"), "\"format\" is \"1\""));
}

TEST_F(MachineFile, RejectsInvalidNumbers) {
  std::string text = test::machine_document().dump();
  const std::string number = "\"gflops\":25.0";
  ASSERT_NE(text.find(number), std::string::npos);
  for (const char* bad : {"NaN", "Infinity", "1e999", "-1e999", "0x10"}) {
    std::string broken = text;
    broken.replace(text.find(number), number.size(), std::string("\"gflops\":") + bad);
    EXPECT_TRUE(contains(problem(broken), "not a JSON object")) << bad;
  }
  for (const Json& bad :
       {Json(nullptr), Json("25"), Json(0), Json(-3), Json::array({25}), Json(true)}) {
    const std::string message = problem_with("/matmul/1/gflops", bad);
    EXPECT_TRUE(contains(message, "matmul[1]: the field \"gflops\" is ")) << message;
  }
  for (const Json& bad : {Json(1e300), Json(0.5), Json(-64), Json("64"), Json(nullptr)}) {
    EXPECT_TRUE(contains(problem_with("/matmul/0/n", bad), "a whole number from 1"));
  }
  EXPECT_TRUE(contains(problem_with("/transfers/0/threads", 1e11), "\"threads\" is too large"));
}

TEST_F(MachineFile, NamesMissingFields) {
  const Json whole = test::machine_document();
  for (const char* field : {"name", "kind", "date"}) {
    EXPECT_TRUE(contains(problem_without("", field), std::string(field) + "\" is missing"));
  }
  EXPECT_TRUE(contains(problem_without("/made_with", "device_lab"), "made_with: the field"));
  EXPECT_TRUE(contains(problem_without("/settings", "cache"), "settings: the field"));
  for (const char* list : {"matmul", "transfers"}) {
    const std::string parent = std::string("/") + list + "/0";
    for (const auto& [field, value] : whole[list][0].items()) {
      if (field == "type" || field == "intensity") continue;
      if (std::string(list) == "transfers" && field == "n") continue;  // stored as "samples"
      const std::string message = problem_without(parent.c_str(), field.c_str());
      EXPECT_TRUE(contains(message, std::string(list) + "[0]: the field \"" + field)) << message;
    }
  }
}

TEST_F(MachineFile, RejectsValuesOfTheWrongType) {
  EXPECT_TRUE(contains(problem_with("/matmul", 3), "\"matmul\" is 3; it must be a list"));
  EXPECT_TRUE(contains(problem_with("/matmul/0", 3), "matmul[0]: this is not a JSON object"));
  EXPECT_TRUE(contains(problem_with("/settings", Json::array({1})), "it must be an object"));
  EXPECT_TRUE(contains(problem_with("/settings/commands", Json::array({1})), "a list of up to"));
  EXPECT_TRUE(contains(problem_with("/settings/cache", "hot"), "one of warm, cold"));
  EXPECT_TRUE(contains(problem_with("/kind", "tpu"), "one of cpu, cuda"));
  EXPECT_TRUE(contains(problem_with("/name", ""), "\"name\" is \"\""));
  EXPECT_TRUE(contains(problem_with("/matmul/0/dtype", "f64"), "one of f32, bf16, tf32"));
  EXPECT_TRUE(contains(problem_with("/matmul/0/device", "moon"), "moon"));
  EXPECT_TRUE(contains(problem_with("/matmul/0/library", 1), "true or false"));
  EXPECT_TRUE(contains(problem_with("/transfers/0/op", "move"), "one of read, write"));
  EXPECT_TRUE(contains(problem_with("/transfers/0/peer", "none"), "one of write, read"));
}

TEST_F(MachineFile, LimitsTextsAndLists) {
  for (const char* at : {"/name", "/date", "/made_with/device_lab", "/made_with/driver",
                         "/settings/commands/0", "/matmul/0/kernel"}) {
    for (const std::string& bad : {std::string("two\nlines"), std::string("\x1b[2J"),
                                   std::string("\x7f"), std::string(201, 'x')}) {
      EXPECT_TRUE(contains(problem_with(at, bad), "one line of up to 200 bytes")) << at;
    }
  }
  EXPECT_TRUE(
      contains(problem_with("/settings/commands", Json(51, "x")), "a list of up to 50 strings"));
  EXPECT_TRUE(contains(problem_with("/matmul", Json(4097, 1)),
                       "\"matmul\" has 4097 entries; the limit is 4096"));
  Json json = test::machine_document();
  json["name"] = std::string(200, 'x');
  json["settings"]["commands"] = Json(50, "x");
  EXPECT_EQ(read(json.dump())->commands.size(), 50U);
}

TEST_F(MachineFile, RejectsContradictingResults) {
  EXPECT_TRUE(contains(problem_with("/matmul/0/verified", false), "not verified"));
  EXPECT_TRUE(contains(problem_with("/transfers/0/verified", false), "not verified"));
  EXPECT_TRUE(contains(problem_with("/matmul/0/p10_s", 1e6), "must ascend"));
  EXPECT_TRUE(contains(problem_with("/matmul/0/device", "cpu:1"), "describe one device"));
  EXPECT_TRUE(contains(problem_with("/matmul/0/device", "cuda:0"), "\"kind\" is cpu"));
  EXPECT_TRUE(contains(problem_with("/transfers/0/to", "cpu:1"), "describe one device"));
  Json nothing = test::machine_document();
  for (const char* list : {"matmul", "transfers"}) nothing.erase(list);
  EXPECT_TRUE(contains(problem(nothing.dump()), "no samples"));
}

TEST_F(MachineFile, AcceptsTransfersBetweenGpuAndHost) {
  Json json = test::machine_document();
  json["kind"] = "cuda";
  for (Json& one : json["matmul"]) one["device"] = "cuda:0";
  json["made_with"].update({{"driver", "580.82"}, {"cuda", "13.0"}});
  json["transfers"][0]["to"] = "cuda:0";
  json["transfers"][0].update({{"memory", "pinned"}, {"mover", "copy_engine"}});
  const auto m = read(json.dump());
  EXPECT_EQ(m->driver, "580.82");
  EXPECT_EQ(m->cuda, "13.0");
  EXPECT_EQ(m->transfers[0].memory, MemoryKind::Pinned);
  EXPECT_EQ(m->transfers[0].mover, TransferMover::CopyEngine);
  json["transfers"][1]["from"] = "cuda:1";
  EXPECT_TRUE(contains(problem(json.dump()), "results of cuda:0 and cuda:1"));
}

TEST_F(MachineFile, RejectsDeepAndLargeFiles) {
  const std::string deep(200'000, '[');
  const std::string close(200'000, ']');
  EXPECT_TRUE(contains(problem(deep), "not a JSON object"));
  EXPECT_TRUE(contains(problem(R"({"type":"machine","format":)" + deep + close + "}"),
                       "\"format\" is an array"));
  EXPECT_TRUE(contains(problem(std::string(5 << 20, ' ')), "the file has 5.00 MiB"));
}

TEST_F(MachineFile, NamesAMissingFile) {
  const auto none = dir_.path() / "none.json";
  EXPECT_TRUE(contains(test::message_of([&] { read_machine(none); }, Errc::NotFound), "none.json"));
  EXPECT_TRUE(contains(test::message_of([&] { read_machine(dir_.path()); }, Errc::Io),
                       dir_.path().string()));
}

TEST_F(MachineFile, RejectsAPipeWithoutReadingIt) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_TRUE(contains(test::message_of([&] { read_machine(file_); }, Errc::Io),
                       "not a regular file; choose another"));
}

TEST(MachineAssets, AreAllValid) {
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "assets/reference")) {
    SCOPED_TRACE(entry.path());
    const auto machine = read_machine(entry.path());
    if (machine) {
      EXPECT_FALSE(machine->matmul.empty());
    }
  }
}

// --- list of machines -----------------------------------------------------------------------

namespace fs = std::filesystem;

constexpr const char* kStepTime =
    R"({"device":"d","model":"lenet","batch":64,"step_s":0.25,"source":"me"})";

void write_machine(const fs::path& file, const std::string& name) {
  auto json = test::machine_document();
  json["name"] = name;
  files::write_file(file, json.dump());
}

TEST(FindMachines, KeepsTheFirstFileOfEachName) {
  const test::TempDir own, shared;
  write_machine(own.path() / "b.json", "mine");
  write_machine(own.path() / "a.json", "other");
  write_machine(shared.path() / "b.json", "shadowed");
  write_machine(shared.path() / "c.json", "shared");
  files::write_file(shared.path() / "notes.txt", "not a reference");
  files::write_file(shared.path() / "step.json", kStepTime);
  const FoundMachines found = find_machines({}, {own.path(), "/nowhere", shared.path()});
  std::vector<std::string> names;
  for (const ReferenceMachine& m : found.machines) names.push_back(m.name);
  EXPECT_EQ(names, (std::vector<std::string>{"other", "mine", "shared"}));
  EXPECT_TRUE(found.problems.empty());
}

TEST(FindMachines, PutsTheChosenFileFirst) {
  const test::TempDir chosen, folder;
  write_machine(chosen.path() / "x.json", "chosen");
  write_machine(folder.path() / "x.json", "shadowed");
  const FoundMachines found = find_machines(chosen.path() / "x.json", {folder.path()});
  ASSERT_EQ(found.machines.size(), 1U);
  EXPECT_EQ(found.machines[0].name, "chosen");
  EXPECT_EQ(found.machines[0].key, "x.json");
}

TEST(FindMachines, SearchesTheFoldersForABareName) {
  const test::TempDir folder;
  write_machine(folder.path() / "bare-name.json", "found");
  const FoundMachines found = find_machines("bare-name.json", {"/nowhere", folder.path()});
  EXPECT_TRUE(found.problems.empty());
  ASSERT_EQ(found.machines.size(), 1U);
  EXPECT_EQ(found.machines[0].name, "found");
}

TEST(FindMachines, ReportsEachBrokenFileOnce) {
  const test::TempDir folder;
  files::write_file(folder.path() / "broken.json", "{");
  files::write_file(folder.path() / "foreign.json", R"({"name":"package","version":"1.0"})");
  fs::create_directory(folder.path() / "folder.json");
  write_machine(folder.path() / "good.json", "good");
  const FoundMachines found = find_machines(folder.path() / "none.json", {folder.path()});
  ASSERT_EQ(found.machines.size(), 1U);
  ASSERT_EQ(found.problems.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const char* name[] = {"none.json", "broken.json", "folder.json", "foreign.json"};
    EXPECT_EQ(found.problems[i].find("Reference ignored: "), 0U) << found.problems[i];
    EXPECT_NE(found.problems[i].find(name[i]), std::string::npos) << found.problems[i];
  }
}

TEST(FindMachines, RejectsAChosenTrainingStepFile) {
  const test::TempDir folder;
  files::write_file(folder.path() / "step.json", kStepTime);
  const FoundMachines found = find_machines(folder.path() / "step.json", {folder.path()});
  EXPECT_TRUE(found.machines.empty());
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_NE(found.problems[0].find("open it on the Scaling page"), std::string::npos);
}

}  // namespace
}  // namespace lab::app
