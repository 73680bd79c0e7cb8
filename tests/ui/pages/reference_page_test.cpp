// Another machine's results on the Matmul and Transfers pages.
#include <gtest/gtest.h>

#include "tests/support/text.h"
#include "tests/ui/pages/scenes.h"
#include "tests/ui/references.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const ImVec2 kLargePage{1920, 1400};  // shows the whole page without scrolling
constexpr const char* kMatmulLegend = "matmul/plot/gflops/legend/Reference: Model machine";
constexpr const char* kTransferLegend = "transfers/plot/bandwidth/legend/Reference: Model machine";

Model with_references(Page page, Scene scene, std::vector<ReferenceMachine> machines) {
  Model model = make_scene(page, scene);
  model.set_references(std::move(machines));
  return model;
}

Lab matmul_lab(ReferenceMachine machine = reference_machine(), ImVec2 size = kLargePage) {
  return Lab(with_references(Page::Matmul, Scene::Done, {std::move(machine)}), 1, size);
}

// All tooltips along the vertical centre line of the plot.
std::string tooltips_of(Lab& lab, const std::string& path) {
  const ui::WidgetRect* plot = lab.backend.find(path);
  if (plot == nullptr) return "";
  const ui::WidgetRect area = *plot;
  std::string all;
  const float first = area.min.y + 40;
  const int places = static_cast<int>((area.max.y - 40 - first) / 5);
  for (int i = 0; i <= places; ++i) {
    lab.backend.move_to({(area.min.x + area.max.x) / 2, first + 5 * static_cast<float>(i)});
    lab.frames(3);
    const ui::WidgetRect* tip = lab.backend.ui.widgets.find(path + "/tooltip");
    if (tip != nullptr) all += tip->value + "\n";
  }
  return all;
}

TEST(ReferencePage, HasNoSelectorWithoutReferences) {
  Lab lab(make_scene(Page::Matmul, Scene::Done), 1, kLargePage);
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible("matmul/reference"));
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/reference"));
}

TEST(ReferencePage, IsNotDrawnUntilChosen) {
  Lab lab = matmul_lab();
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/reference")->value, "none");
  EXPECT_FALSE(lab.visible(kMatmulLegend));
  lab.click("matmul/reference");
  lab.click("matmul/reference/Model machine");
  EXPECT_EQ(lab.view.forms.reference, "model.json");
  EXPECT_TRUE(lab.visible(kMatmulLegend));
  lab.click("matmul/reference");
  lab.click("matmul/reference/none");
  EXPECT_EQ(lab.view.forms.reference, "");
  EXPECT_FALSE(lab.visible(kMatmulLegend));
}

TEST(ReferencePage, SharesOneChoiceBetweenPages) {
  Model model = with_references(Page::Transfers, Scene::Done, {reference_machine()});
  Lab lab(std::move(model), 1, kLargePage);
  lab.open(Page::Transfers);
  lab.click("transfers/reference");
  lab.click("transfers/reference/Model machine");
  EXPECT_TRUE(lab.visible(kTransferLegend));
  EXPECT_TRUE(lab.visible("transfers/plot/latency/legend/Reference: Model machine"));
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/reference")->value, "Model machine");
}

TEST(ReferencePage, CurveNamesItsSource) {
  Lab lab = matmul_lab();
  lab.view.forms.reference = "model.json";
  lab.open(Page::Matmul);
  const std::string said = tooltips_of(lab, "matmul/plot/gflops");
  EXPECT_TRUE(contains(said, "Reference: Model machine, measured 2026-01-31 with Device Lab 0.1.0"))
      << said;
  EXPECT_TRUE(contains(said, "repetitions\t31 after 3 warm-up"));
}

TEST(ReferencePage, RungShowsTheReferenceResult) {
  Lab lab = matmul_lab();
  lab.view.forms.reference = "model.json";
  lab.open(Page::Matmul);
  const auto hint_of = [&](const char* rung) {
    lab.backend.move_to(NullBackend::centre(*lab.backend.find(rung)));
    lab.frames(60);
    const ui::WidgetRect* tip = lab.backend.ui.widgets.find("tooltip");
    return tip == nullptr ? std::string() : tip->value;
  };
  EXPECT_TRUE(contains(hint_of("matmul/ladder/cpu:0/naive"), "Reference: Model machine"));
  EXPECT_TRUE(contains(hint_of("matmul/ladder/cpu:0/naive"), "30.0 GFLOP/s"));
  EXPECT_FALSE(contains(hint_of("matmul/ladder/cpu:0/simd"), "Reference")) << "it has bf16 only";
}

TEST(ReferencePage, ReportsWhenNothingMatches) {
  ReferenceMachine machine = reference_machine();
  machine.cache = CacheState::Cold;
  Lab lab = matmul_lab(machine);
  lab.view.forms.reference = "model.json";
  lab.open(Page::Matmul);
  EXPECT_FALSE(lab.visible(kMatmulLegend));
  EXPECT_TRUE(lab.visible("matmul/reference_note"));
}

TEST(ReferencePage, MuchFasterMachineGetsALogAxis) {
  const auto ends_at_zero = [](Lab& lab) {
    return contains(lab.backend.find("matmul/plot/gflops")->value, " y 0..");
  };
  Lab near = matmul_lab();
  near.view.forms.reference = "model.json";
  near.open(Page::Matmul);
  EXPECT_TRUE(ends_at_zero(near));
  ReferenceMachine machine = reference_machine();
  for (MatmulSample& s : machine.matmul) s.gflops *= 1000;
  near.model.set_references({machine});
  near.frames(6);
  EXPECT_FALSE(ends_at_zero(near));
  EXPECT_TRUE(near.visible(kMatmulLegend));
}

TEST(ReferencePage, MuchFasterTransfersGetALogAxis) {
  ReferenceMachine machine = reference_machine();
  for (TransferSample& s : machine.transfers) s.gb_per_s *= 1000;
  Lab lab(with_references(Page::Transfers, Scene::Done, {machine}), 1, kLargePage);
  lab.view.forms.reference = "model.json";
  lab.open(Page::Transfers);
  EXPECT_TRUE(lab.visible(kTransferLegend));
  EXPECT_FALSE(contains(lab.backend.find("transfers/plot/bandwidth")->value, " y 0.."));
}

TEST(ReferencePage, KeepsAnUnavailableChoice) {
  Lab lab = matmul_lab();
  lab.view.forms.reference = "another.json";
  lab.open(Page::Matmul);
  EXPECT_EQ(lab.backend.find("matmul/reference")->value, "none");
  EXPECT_FALSE(lab.visible(kMatmulLegend));
  EXPECT_EQ(lab.view.forms.reference, "another.json");
  EXPECT_EQ(ui::save_view(lab.view).at("reference"), "another.json");
  ui::ViewState again;
  ui::load_view(again, ui::save_view(lab.view));
  EXPECT_EQ(again.forms.reference, "another.json");
}

TEST(ReferencePage, EqualNamesAreDistinguishedByFile) {
  ReferenceMachine second = reference_machine();
  second.key = "second.json";
  Lab lab(with_references(Page::Matmul, Scene::Done, {reference_machine(), second}), 1, kLargePage);
  lab.open(Page::Matmul);
  lab.click("matmul/reference");
  lab.click("matmul/reference/Model machine, second.json");
  EXPECT_EQ(lab.view.forms.reference, "second.json");
}

TEST(ReferencePage, DrawsEveryStateAtEverySize) {
  for (const ImVec2 size : {ImVec2{700, 500}, ImVec2{1280, 800}, kLargePage}) {
    for (const Scene scene : {Scene::Empty, Scene::Running, Scene::Done, Scene::Failed}) {
      for (const Page page : {Page::Matmul, Page::Transfers}) {
        Lab lab(with_references(page, scene, {reference_machine()}), 1, size);
        lab.view.forms.reference = "model.json";
        lab.open(page);
        EXPECT_TRUE(lab.visible(page == Page::Matmul ? "matmul/form" : "transfers/form"));
      }
    }
  }
}

TEST(ReferenceField, LeavesTheTransfersFormInSight) {
  Model model(machine_of(1));
  model.set_references({reference_machine()});
  Lab lab(std::move(model), 1, {1280, 720});
  lab.open(Page::Transfers);
  lab.frames(6);
  EXPECT_TRUE(lab.visible("transfers/reference"));
  EXPECT_EQ(lab.backend.find("transfers/form")->max.y, lab.backend.find("transfers/nothing")->max.y)
      << "both end where the page does";
}

TEST(ReferenceChoice, OffersNoneWithoutTransfersOfThisMachinesDevices) {
  ReferenceMachine machine = reference_machine();
  for (TransferSample& sample : machine.transfers) sample.from = sample.to = gpu();
  Lab lab(with_references(Page::Transfers, Scene::Done, {machine}), 1, kLargePage);
  lab.view.forms.reference = machine.key;
  lab.open(Page::Transfers);
  EXPECT_FALSE(lab.visible("transfers/reference"));
  EXPECT_FALSE(lab.visible("transfers/reference_note"));
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/reference")) << "its kernels can be drawn";
}

}  // namespace
}  // namespace lab::test
