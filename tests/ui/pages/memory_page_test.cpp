// The Memory page's table of memory held on GPUs.
#include <gtest/gtest.h>

#include "compute/core/events/tensor_code.h"
#include "tests/support/sample_gpus.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const std::string kHoldings = "memory/holdings";

// A machine with one GPU; `nvml` adds NVML's facts and readings.
Model with_holdings(bool nvml) {
  MachineInfo machine = machine_of(1);
  DeviceInfo info;
  info.device = gpu();
  info.name = "NVIDIA H200";
  info.pci_bus_id = kGpuAddress;
  machine.devices.push_back(info);
  Model model(machine);
  Telemetry all = telemetry({cpu(), gpu()}, 1, 0.3);
  DeviceTelemetry& held = all.devices.at(1);
  held.lab_used_bytes = 12 * kMiB;
  held.lab_pool_bytes = 32 * kMiB;
  held.lab_workspace_bytes = 64 * kMiB;
  held.lab_pinned_bytes = 8 * kMiB;
  if (nvml) {
    all.gpu_facts = {gpu_facts()};
    all.gpus = {gpu_reading(1)};
  }
  model.apply(event(0, 1, all));
  return model;
}

// Text of the first row of the holdings table, or "none".
std::string line(Model model) {
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Memory);
  const ui::WidgetRect* first = lab.backend.find(kHoldings + "/table/0");
  return first == nullptr ? "none" : first->value;
}

TEST(MemoryPage, ListsTheMemoryOfAGpu) {
  EXPECT_EQ(line(with_holdings(true)), "cuda:0\t12.0 MiB\t32.0 MiB\t64.0 MiB\t8.00 MiB\t39.0 GiB");
  EXPECT_EQ(line(with_holdings(false)), "cuda:0\t12.0 MiB\t32.0 MiB\t64.0 MiB\t8.00 MiB\tN/A");
}

TEST(MemoryPage, OffersToCopyAnOperandAndAdd) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  TensorList list;
  list.tensors = {tensor(1, cpu(0), kMiB), tensor(2, cpu(1), kMiB)};
  lab.model.apply(event(1, 1, JobStarted{"Add two tensors", AddTensors{1, 2}}));
  lab.model.apply(event(1, 1, list));
  lab.model.apply(
      event(1, 2, JobFinished{Outcome::Failed, 0, "add: copy one first", Errc::DeviceMismatch}));
  lab.open(Page::Memory);
  EXPECT_FALSE(lab.visible("memory/retry")) << "it would fail again";
  EXPECT_TRUE(lab.visible("memory/copy_and_add/cpu:0"));
  EXPECT_GT(lab.backend.find("memory/error")->min.y, lab.backend.find("memory/tensors")->min.y)
      << "beside the tensors, not above the page";
  lab.click("memory/copy_and_add/cpu:1");
  ASSERT_EQ(lab.sent<AddTensors>().size(), 1U);
  EXPECT_EQ(lab.sent<AddTensors>()[0].a, 1);
  EXPECT_EQ(lab.sent<AddTensors>()[0].on, cpu(1));
}

TEST(MemoryPage, AnErrorKeepsTheCaseOfADevice) {
  EXPECT_EQ(ui::field_problem("cuda:0 cannot be used: it is absent"),
            "Device cuda:0 cannot be used: it is absent.");
  EXPECT_EQ(ui::field_problem("add: X is on cuda:0"), "Add: X is on cuda:0.");
}

TEST(MemoryPage, SaysWhatTheCopyCost) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.model.apply(event(1, 1, JobStarted{"Copy", CopyTensor{1, cpu(1)}}));
  lab.model.apply(event(1, 2, LogLine{Severity::Info, "Copied X1 to cpu:1 in 1.00 ms"}));
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.open(Page::Memory);
  EXPECT_EQ(lab.backend.find("memory/tensors")->value, "Copied X1 to cpu:1 in 1.00 ms");
}

TEST(MemoryPage, TheSeedRisesWithEachTensor) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  lab.click("memory/make");
  ASSERT_EQ(lab.sent<MakeTensor>().size(), 1U);
  EXPECT_EQ(lab.sent<MakeTensor>()[0].seed, 0U);
  const auto finish = [&](JobId job, Outcome outcome) {
    lab.model.apply(event(job, 1, JobStarted{"Create tensor", lab.sent<MakeTensor>().back()}));
    lab.model.apply(event(job, 2, JobFinished{outcome, 0, "no room", Errc::OutOfMemory}));
    lab.frames(3);
    return lab.view.forms.memory.seed;
  };
  EXPECT_EQ(finish(1, Outcome::Failed), 0) << "no tensor has that seed yet";
  lab.click("memory/make");
  EXPECT_EQ(finish(2, Outcome::Done), 1);
}

TEST(MemoryPage, NamesThePagesWhoseJobsRan) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  const auto read = [&](double t_s, std::int64_t used_bytes) {
    Telemetry all = telemetry({cpu()}, t_s, 0.3);
    all.devices[0].lab_used_bytes = used_bytes;
    all.devices[0].lab_peak_bytes = 3 * kMiB;
    lab.model.apply(event(0, t_s, all));
  };
  read(0, 0);
  lab.model.apply(event(1, 2, JobStarted{"Tour, all devices", StartTour{}}));
  read(3, 3 * kMiB);
  lab.model.apply(event(1, 4, JobFinished{}));
  read(5, 0);
  lab.model.apply(event(2, 6, JobStarted{"Create a tensor", MakeTensor{}}));
  lab.model.apply(event(2, 7, JobFinished{}));
  read(100, 0);
  lab.open(Page::Memory);
  EXPECT_TRUE(lab.visible("memory/plot/used/band/Tour"));
  EXPECT_FALSE(lab.visible("memory/plot/used/band/Memory"));
  EXPECT_EQ(lab.backend.find("memory/peaks")->label, "Peak: 3.00 MiB on cpu:0, of 6.00 GiB");
  lab.model.apply(event(3, 101, JobStarted{"Transfers by size", StartTransfers{}}));
  read(150, 0);
  lab.frames(3);
  EXPECT_TRUE(lab.visible("memory/plot/used/band/Transfers")) << "still running";
}

TEST(MemoryPage, AnExampleRunsWhenClicked) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Memory);
  lab.click("memory/example/1");
  EXPECT_EQ(lab.view.forms.memory.statement, "X = ones(2, 3); Y = X.copy_to(cpu:1)")
      << "there is no X yet";
  ASSERT_EQ(lab.sent<RunTensorCode>().size(), 1U);
  const auto statements = lab.sent<RunTensorCode>()[0].statements;
  ASSERT_EQ(statements.size(), 2U);
  EXPECT_EQ(statements[1].text, "Y = X.copy_to(cpu:1)");
}

TEST(MemoryPage, OnlyAStatementThatHasRunLeavesItsField) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Memory);
  const std::string& field = lab.view.forms.memory.statement;
  for (const Outcome outcome : {Outcome::Failed, Outcome::Cancelled, Outcome::Done}) {
    lab.view.forms.memory.statement = "Z = X + Y";
    lab.frames(3);
    lab.click("memory/run_statement");
    EXPECT_EQ(field, "Z = X + Y") << "its outcome is not known";
    const JobId job = lab.model.state(Page::Memory).job + 1;
    lab.model.apply(event(job, 1, JobStarted{"Statements", RunTensorCode{}}));
    lab.frames(3);
    lab.model.apply(event(job, 2, JobFinished{outcome, 0, "no tensor is named X", Errc::NotFound}));
    lab.frames(3);
    EXPECT_EQ(field, outcome == Outcome::Done ? "" : "Z = X + Y");
    EXPECT_FALSE(lab.visible("memory/retry")) << "the statement is still in its field";
  }
}

TEST(MemoryPage, AFailedStatementStaysInTheHistoryWithItsError) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  RunTensorCode code;
  for (const char* text : {"X = ones(2, 3)", "Z = X + Y", "del X"}) {
    code.statements.push_back(parse_tensor_statement(text));
  }
  lab.model.apply(event(1, 1, JobStarted{"Tensor statements", code}));
  TensorResult made;
  made.statement = "X = ones(2, 3)";
  made.tensor.emplace().name = "X";
  lab.model.apply(event(1, 2, made));
  lab.model.apply(
      event(1, 3, JobFinished{Outcome::Failed, 0, "no tensor is named Y", Errc::NotFound}));
  lab.open(Page::Memory);
  const ui::WidgetRect* failed = lab.backend.find("memory/result/0");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->label, "Z = X + Y") << "the second, not the last";
  EXPECT_EQ(failed->value, "no tensor is named Y");
  EXPECT_EQ(lab.backend.find("memory/result/1")->label, "X = ones(2, 3)");
  lab.model.apply(event(2, 4, JobStarted{"Tensor statements", code}));
  lab.model.apply(event(2, 5, made));
  lab.model.apply(event(2, 6, JobFinished{}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("memory/result/1/error")->label, "No tensor is named Y.")
      << "still there after the next statement";
}

TEST(MemoryPage, OffersToRetryOnlyWhatMaySucceed) {
  struct Case {
    std::int64_t bytes;
    Errc code;
    bool retry;
  };
  const std::int64_t limit_bytes = machine_of(1).devices.front().memory_limit_bytes;
  for (const Case& c : {Case{kMiB, Errc::OutOfMemory, true}, Case{kMiB, Errc::Internal, true},
                        Case{kMiB, Errc::InvalidArgument, false},
                        Case{limit_bytes + 1, Errc::OutOfMemory, false}}) {
    MakeTensor make;
    make.dtype = DType::U8;
    make.shape = {c.bytes};
    Lab lab(Model(machine_of(1)), 1, {1280, 1000});
    lab.model.apply(event(1, 1, JobStarted{"Create tensor", make}));
    lab.model.apply(event(1, 2, JobFinished{Outcome::Failed, 0, "refused", c.code}));
    lab.open(Page::Memory);
    EXPECT_EQ(lab.visible("memory/retry"), c.retry) << to_string(c.code) << ' ' << c.bytes;
  }
}

TEST(MemoryPage, AnExampleCreatesOnlyWhatIsMissing) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  TensorList tensors;
  TensorInfo& x = tensors.tensors.emplace_back();
  x.name = "X";
  x.owned_by_page = true;
  lab.model.apply(event(1, 1, tensors));
  lab.open(Page::Memory);
  lab.click("memory/example/1");
  EXPECT_EQ(lab.view.forms.memory.statement, "Y = X.copy_to(cpu:1)");
  lab.view.sent_after = -1;
  lab.click("memory/example/5");
  EXPECT_EQ(lab.view.forms.memory.statement, "Y = X.copy_to(cpu:1); Z = Y + Y; del Z");
}

TEST(MemoryPage, ShowsHowTheSizeOfATensorComesAbout) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  EXPECT_EQ(lab.backend.find("memory/size")->label, "1,048,576 elements × 4 B\n= 4.00 MiB");
  lab.view.forms.memory.shape = "1000000,1000000";
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("memory/form_error")->label,
            "The tensor needs 3.64 TiB, but cpu:0 has 6.00 GiB free of its limit of 6.00 GiB. "
            "Choose a smaller shape.");
  EXPECT_FALSE(lab.backend.find("memory/make")->enabled);
}

TEST(MemoryPage, SaysAtTheFieldThatAShapeCannotBeRead) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  lab.view.forms.memory.shape = "12,abc";
  lab.frames(2);
  EXPECT_EQ(lab.backend.find("memory/shape/error")->label,
            "Shape '12,abc' is not a list of sizes; write 1024,1024.");
  EXPECT_FALSE(lab.visible("memory/form_error")) << "once";
  EXPECT_FALSE(lab.backend.find("memory/make")->enabled);
}

TEST(MemoryPage, HoveringThePlotShowsAllDevices) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1400});
  TensorList list;
  list.tensors = {tensor(1, cpu(0), kGiB), tensor(2, cpu(1), kMiB)};
  for (const double t_s : {1.0, 2.0, 3.0}) lab.model.apply(event(0, t_s, list));
  lab.open(Page::Memory);
  const ui::WidgetRect plot = *lab.backend.find("memory/plot/used");
  lab.backend.move_to({(plot.min.x + plot.max.x) / 2, (plot.min.y + plot.max.y) / 2});
  lab.frames(3);
  const std::string said = lab.backend.find("memory/plot/used/tooltip")->value;
  EXPECT_NE(said.find("cpu:0\t1.00 GiB"), std::string::npos) << said;
  EXPECT_NE(said.find("cpu:1\t1.00 MiB"), std::string::npos) << said;
}

TEST(MemoryPage, NamesTheLimitOfTheDevice) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1400});
  TensorList list;
  list.tensors = {tensor(1, cpu(0), kGiB), tensor(2, cpu(0), kMiB), tensor(3, cpu(1), kMiB)};
  lab.model.apply(event(0, 1, list));
  lab.model.apply(event(0, 2, list));
  lab.open(Page::Memory);
  EXPECT_EQ(lab.backend.find("memory/use")->label, "1.00 GiB of 3.00 GiB in use on cpu:0");
  EXPECT_EQ(lab.backend.find("memory/peaks")->label,
            "Peak: 1.00 GiB on cpu:0, 1.00 MiB on cpu:1, of 3.00 GiB each");
  EXPECT_TRUE(lab.visible("memory/plot/used/reference/0")) << "cpu:0 is near its limit";
  EXPECT_FALSE(lab.visible("memory/plot/used/reference/1"));
  const auto row = [&](const char* path) { return lab.backend.find(path)->value; };
  EXPECT_NE(row("memory/table/4").find("Total\tcpu:1\t1 tensor\t1.00 MiB\t< 0.1 %"),
            std::string::npos)
      << row("memory/table/4");
  EXPECT_NE(row("memory/table/3").find("Total\tcpu:0\t2 tensors\t1.00 GiB\t33.4 %"),
            std::string::npos)
      << row("memory/table/3");
  lab.view.forms.memory.shape = "600000000";
  lab.frames(2);
  EXPECT_NE(lab.backend.find("memory/form_error")->label.find("Free tensors, or choose"),
            std::string::npos);
}

TEST(MemoryPage, RecallsEarlierStatements) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Memory);
  const std::string& field = lab.view.forms.memory.statement;
  JobId job = 0;
  for (const char* text : {"X = ones(2, 3)", "del X"}) {
    lab.view.forms.memory.statement = text;
    lab.frames(2);
    lab.click("memory/run_statement");
    lab.model.apply(event(++job, 1, JobStarted{"Statements", RunTensorCode{}}));
    lab.model.apply(event(job, 2, JobFinished{}));
    lab.frames(3);
  }
  lab.click("memory/statement");
  lab.type("abc");
  lab.press(GLFW_KEY_UP);
  EXPECT_EQ(field, "del X");
  lab.press(GLFW_KEY_UP);
  EXPECT_EQ(field, "X = ones(2, 3)");
  lab.press(GLFW_KEY_UP);
  EXPECT_EQ(field, "X = ones(2, 3)") << "there is none before it";
  lab.press(GLFW_KEY_DOWN);
  EXPECT_EQ(field, "del X");
  lab.press(GLFW_KEY_DOWN);
  EXPECT_EQ(field, "abc") << "what was typed";
  lab.press(GLFW_KEY_DOWN);
  lab.type("d");
  EXPECT_EQ(field, "abcd") << "the field keeps the keyboard";
}

TEST(MemoryPage, ExplainsAFailedStatementOnceAndMovesNothing) {
  Lab lab(Model(machine_of(2)), 1, {1280, 720});
  lab.open(Page::Memory);
  RunTensorCode code;
  code.statements.push_back(parse_tensor_statement("Z = X + Y"));
  lab.view.forms.memory.statement = "Z = X + Y";
  lab.frames(3);
  const ui::WidgetRect card = *lab.backend.find("memory/statements");
  const float example = lab.backend.find("memory/example/0")->min.y;
  const auto unmoved = [&] {
    const ui::WidgetRect* now = lab.backend.find("memory/statements");
    return now->min.y == card.min.y && now->max.y == card.max.y &&
           lab.backend.find("memory/example/0")->min.y == example;
  };
  lab.click("memory/run_statement");
  lab.model.apply(event(1, 1, JobStarted{"Z = X + Y", code}));
  lab.model.apply(
      event(1, 2, JobFinished{Outcome::Failed, 0, "no tensor is named X", Errc::NotFound}));
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("memory/result/0/error")->label, "No tensor is named X.");
  EXPECT_FALSE(lab.visible("memory/error"));
  EXPECT_EQ(lab.backend.find("status/job")->label, "Z = X + Y failed");
  EXPECT_TRUE(unmoved());
  lab.view.forms.memory.statement = "Z = X";
  lab.frames(3);
  EXPECT_TRUE(unmoved());
}

TEST(MemoryPage, AnUnreadableStatementIsInTheHistoryAndTheLog) {
  Lab lab(Model(machine_of(1)), 1, {1280, 720});
  lab.open(Page::Memory);
  lab.view.forms.memory.statement = "Q + 1";
  lab.frames(3);
  const float end = lab.backend.find("memory/statements")->max.y;
  lab.click("memory/run_statement");
  EXPECT_TRUE(lab.sent<RunTensorCode>().empty());
  ASSERT_EQ(lab.sent<NoteUnreadable>().size(), 1U);
  const NoteUnreadable note = lab.sent<NoteUnreadable>()[0];
  lab.model.note_unreadable(note.statement, note.error);
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("memory/result/0")->label, "Q + 1");
  const std::string why = lab.backend.find("memory/result/0/error")->label;
  EXPECT_TRUE(why.starts_with("At '1': expected a tensor")) << why;
  EXPECT_EQ(lab.backend.find("memory/statements")->max.y, end) << "nothing moves";
  EXPECT_EQ(lab.model.log().back().severity, Severity::Error);
  EXPECT_TRUE(lab.model.log().back().text.starts_with("Q + 1 failed: at '1'"))
      << lab.model.log().back().text;
  EXPECT_EQ(lab.backend.find("status/job")->label, "Q + 1 failed");
}

TEST(MemoryPage, TheFormRefusesNamesThatStatementsCannotUse) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  for (const char* name : {"a name with spaces", "2X", "X-1", "del"}) {
    SCOPED_TRACE(name);
    lab.view.forms.memory.name = name;
    lab.frames(2);
    ASSERT_TRUE(lab.visible("memory/name/error"));
    EXPECT_FALSE(lab.visible("memory/form_error")) << "once";
    EXPECT_FALSE(lab.backend.find("memory/make")->enabled);
  }
  lab.view.forms.memory.name.clear();
  lab.frames(2);
  lab.click("memory/name");
  lab.type("X 2");
  EXPECT_TRUE(lab.visible("memory/name/error")) << "while it is typed";
  lab.press(GLFW_KEY_ESCAPE);
  lab.view.forms.memory.name = " X_2 ";
  lab.frames(2);
  EXPECT_FALSE(lab.visible("memory/name/error"));
  lab.click("memory/make");
  ASSERT_EQ(lab.sent<MakeTensor>().size(), 1U);
  EXPECT_EQ(lab.sent<MakeTensor>()[0].name, "X_2");
}

TEST(MemoryPage, TheFormSaysThatATensorOfTheNameIsReplaced) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  TensorList tensors;
  TensorInfo& both = tensors.tensors.emplace_back();
  both.name = "X, Y";  // two names of one tensor
  both.owned_by_page = true;
  lab.model.apply(event(1, 1, tensors));
  lab.open(Page::Memory);
  const auto label = [&](const char* name) {
    lab.view.forms.memory.name = name;
    lab.frames(2);
    return lab.backend.find("memory/make")->label;
  };
  EXPECT_EQ(label("Y"), "Replace Y");
  EXPECT_EQ(label("Z"), "Create tensor");
  EXPECT_EQ(label(""), "Create tensor");
}

TEST(MemoryPage, ASeedIsNoLongerBlamedOnceItChanges) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  lab.click("memory/seed");
  lab.type("abc");
  lab.click("memory/size");
  ASSERT_TRUE(lab.visible("memory/seed/error"));
  ++lab.view.forms.memory.seed;  // as each tensor does
  lab.frames(2);
  EXPECT_FALSE(lab.visible("memory/seed/error"));
}

TEST(MemoryPage, ExamplesAreAlignedAndSayWhatAClickRuns) {
  Lab lab(Model(machine_of(2)), 1, {1280, 720});
  lab.open(Page::Memory);
  const float left = lab.backend.find("memory/statement")->min.x;
  float line = 0;
  for (int i = 0; i < 6; ++i) {
    const ui::WidgetRect* chip = lab.backend.find("memory/example/" + std::to_string(i));
    EXPECT_TRUE(chip->min.y == line || chip->min.x == left) << i;
    line = chip->min.y;
  }
  EXPECT_EQ(lab.tooltip_of("memory/example/1"), "Runs X = ones(2, 3); Y = X.copy_to(cpu:1)");
}

TEST(MemoryPage, TheHistoryGrowsWithTheWindow) {
  const auto height = [](float window) {
    Lab lab(Model(machine_of(2)), 1, {1920, window});
    lab.open(Page::Memory);
    const ui::WidgetRect* card = lab.backend.find("memory/statements");
    return card->max.y - card->min.y;
  };
  EXPECT_GE(height(1080), height(720) + 150);
}

// By real keys: the field has the keyboard after a faulty statement, a failed one and one that ran.
TEST(MemoryPage, TheStatementKeepsTheKeyboard) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Memory);
  const std::string& field = lab.view.forms.memory.statement;
  const auto enter = [&] {
    lab.press(GLFW_KEY_ENTER);
    lab.frames(3);
  };
  lab.click("memory/statement");
  lab.type("X = ones(2");
  enter();
  EXPECT_TRUE(lab.sent<RunTensorCode>().empty());
  EXPECT_EQ(lab.sent<NoteUnreadable>().size(), 1U);
  lab.type(", 3)");
  EXPECT_EQ(field, "X = ones(2, 3)") << "the text is there to be edited";
  JobId job = 0;
  for (const Outcome outcome : {Outcome::Done, Outcome::Failed}) {
    if (outcome == Outcome::Failed) lab.type("Y");
    enter();
    lab.model.apply(event(++job, 1, JobStarted{"Statements", lab.sent<RunTensorCode>().back()}));
    lab.frames(3);
    lab.model.apply(event(job, 2, JobFinished{outcome, 0, "Y is not defined", Errc::NotFound}));
    lab.frames(4);
  }
  ASSERT_EQ(lab.sent<RunTensorCode>().size(), 2U);
  EXPECT_EQ(field, "Y");
  lab.type("2");
  EXPECT_EQ(field, "Y2");
  lab.press(GLFW_KEY_UP);
  EXPECT_EQ(field, "Y");
  lab.press(GLFW_KEY_UP);
  EXPECT_EQ(field, "X = ones(2, 3)");
}

TEST(MemoryPage, ShowsWhatAPropertyIs) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  RunTensorCode code;
  code.statements.push_back(parse_tensor_statement("X.shape"));
  lab.model.apply(event(1, 1, JobStarted{"Tensor statements", code}));
  TensorResult shape;
  shape.statement = "X.shape";
  shape.answer = "[2,3]";
  lab.model.apply(event(1, 2, shape));
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.open(Page::Memory);
  EXPECT_EQ(lab.backend.find("memory/result/0")->value, "[2,3]");
  EXPECT_EQ(lab.model.log().back().text, "Tensor statements: [2,3]");
}

TEST(MemoryPage, TheFormBlamesOnlyWhatTheUserChose) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  TensorList full;
  full.tensors = {tensor(1, cpu(0), 6 * kGiB)};
  lab.model.apply(event(0, 1, full));
  lab.frames(3);
  EXPECT_TRUE(lab.visible("memory/form_note"));
  EXPECT_FALSE(lab.visible("memory/form_error"));
  EXPECT_FALSE(lab.backend.find("memory/make")->enabled);
  lab.view.forms.memory.shape = "2048,2048";
  lab.frames(3);
  EXPECT_TRUE(lab.visible("memory/form_error"));
}

TEST(MemoryPage, KeepsThePlotInSightBelowALongHistory) {
  Lab lab(Model(machine_of(2)), 1, {1280, 720});
  RunTensorCode code;
  for (int i = 0; i < 30; ++i) code.statements.push_back(parse_tensor_statement("X = ones(2, 3)"));
  lab.model.apply(event(1, 1, JobStarted{"Statements", code}));
  for (int i = 0; i < 30; ++i) {
    TensorResult made;
    made.statement = "X = ones(2, 3)";
    made.tensor.emplace().name = "X";
    lab.model.apply(event(1, 2, made));
  }
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.open(Page::Memory);
  const ui::WidgetRect* plot = lab.backend.find("memory/history");
  EXPECT_LT(plot->max.y, 720 - 40);
  EXPECT_GT(plot->max.y - plot->min.y, 200);
}

TEST(MemoryPage, LeavesCreatingToTheForm) {
  Lab lab(Model(machine_of(1)), 1, {1280, 1000});
  lab.open(Page::Memory);
  EXPECT_EQ(lab.backend.find("memory/make")->kind, "button");
  EXPECT_EQ(lab.backend.find("memory/empty")->kind, "empty");
}

TEST(MemoryPage, HidesGpuMemoryWithoutAGpu) {
  Lab lab(Model(machine_of(2)));
  lab.open(Page::Memory);
  EXPECT_FALSE(lab.visible(kHoldings));
}

TensorInfo tensor_of_page(TensorId id) {
  TensorInfo info;
  info.id = id;
  info.name = "X" + std::to_string(id);
  info.device = cpu();
  info.shape = {4};
  info.bytes = 16;
  info.owned_by_page = true;
  info.preview = "1, 1, 1, 1";
  return info;
}

TEST(MemoryPage, ItsCardsStayAsHighAsTheyAreWhateverItLists) {
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1920, 1080}}) {
    Lab lab(Model(machine_of(2)), 1, size);
    lab.open(Page::Memory);
    const float end = lab.backend.find("memory/history")->max.y;
    TensorList list;
    for (TensorId id = 1; id <= 30; ++id) list.tensors.push_back(tensor_of_page(id));
    lab.model.apply(event(0, 2, list));
    lab.frames(6);
    EXPECT_EQ(lab.backend.find("memory/history")->max.y, end);
    EXPECT_EQ(lab.backend.find("memory/statements")->max.y, end);
    const ui::WidgetRect* table = lab.backend.find("memory/tensors");
    EXPECT_LT(table->max.y, size.y + 80) << "the list scrolls, not the page";
    EXPECT_FALSE(lab.visible("memory/table/29"));
  }
}

TEST(MemoryPage, SaysWhichJobKeepsItsControls) {
  Lab lab(Model(machine_of(2)), 1, {1280, 1000});
  lab.model.apply(event(0, 1, TensorList{{tensor_of_page(1)}}));
  lab.open(Page::Memory);
  EXPECT_FALSE(lab.visible("memory/busy"));
  lab.model.apply(event(1, 2, JobStarted{"Transfer sweep", StartTransfers{}}));
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("memory/busy")->label, "Busy: Transfer sweep");
  EXPECT_EQ(lab.backend.find("memory/statement")->label, "Busy: Transfer sweep");
  lab.click("memory/free/1");
  EXPECT_TRUE(lab.sent<FreeTensor>().empty());
  lab.model.apply(event(1, 3, JobFinished{}));
  lab.frames(4);
  EXPECT_EQ(lab.backend.find("memory/statement")->label, "Statement");
}

TEST(MemoryPage, TheFormsOfStatementsAreNotATitle) {
  Lab lab{Model(machine_of(2))};
  lab.open(Page::Memory);
  lab.backend.move_to(NullBackend::centre(*lab.backend.find("memory/statement")));
  lab.frames(60);
  const ui::WidgetRect* tooltip = lab.backend.find("tooltip");
  ASSERT_NE(tooltip, nullptr);
  EXPECT_EQ(tooltip->value.find("Forms of a statement\nX = ones(2, 3), "), 0U) << tooltip->value;
}

}  // namespace
}  // namespace lab::test
