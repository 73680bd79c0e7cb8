// Every page in every state fits its window: widgets stay inside it and do not overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tests/support/catalogs.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

bool holds_others(const WidgetRect& w) {
  return w.kind == "card" || w.kind == "table" || w.kind == "row" || w.kind == "tooltip" ||
         w.kind == "plot" || w.kind == "segmented" || w.kind == "input";
}

bool part_of(const WidgetRect& part, const WidgetRect& whole) {
  return part.path.size() > whole.path.size() && part.path.starts_with(whole.path + "/");
}

bool overlap(const WidgetRect& a, const WidgetRect& b) {
  constexpr float kTouch = 1;  // pixels, tolerance for rounding
  return a.min.x + kTouch < b.max.x && b.min.x + kTouch < a.max.x && a.min.y + kTouch < b.max.y &&
         b.min.y + kTouch < a.max.y;
}

std::string text_of(const WidgetRect& w) {
  return w.path + " [" + std::to_string(w.min.x) + "," + std::to_string(w.min.y) + " " +
         std::to_string(w.max.x) + "," + std::to_string(w.max.y) + "]";
}

// Unless the user asked for more.
void expect_legends_of_one_line(const std::vector<WidgetRect>& all) {
  std::map<std::string, float> lines;  // by the path of the plot
  for (const WidgetRect& w : all) {
    const std::size_t end =
        std::min({w.path.find("/legend/"), w.path.find("/key/"), w.path.find("/whole_legend")});
    if (end == std::string::npos || w.kind == "legend") continue;
    const auto [line, first] = lines.try_emplace(w.path.substr(0, end), w.min.y);
    EXPECT_EQ(line->second, w.min.y) << text_of(w);
  }
}

void expect_sound_layout(const Lab& lab, ImVec2 size) {
  const std::vector<WidgetRect>& all = lab.backend.ui.widgets.all();
  ASSERT_GT(all.size(), 8u);
  expect_legends_of_one_line(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const WidgetRect& a = all[i];
    EXPECT_TRUE(a.min.x >= 0 && a.min.y >= 0 && a.max.x <= size.x + 1 && a.max.y <= size.y + 1)
        << text_of(a);
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const WidgetRect& b = all[j];
      const bool both_cards = a.kind == "card" && b.kind == "card";
      if ((holds_others(a) || holds_others(b)) && !both_cards) continue;
      if (part_of(a, b) || part_of(b, a)) continue;
      EXPECT_FALSE(overlap(a, b)) << text_of(a) << " and " << text_of(b);
    }
  }
}

// Checks the layout at each scroll position, from top to bottom.
void check_whole_page(Lab& lab, ImVec2 size) {
  lab.frames(8);
  expect_sound_layout(lab, size);
  std::string last_seen;
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    lab.scroll(-5);
    expect_sound_layout(lab, size);
    std::string seen;
    for (const WidgetRect& w : lab.backend.ui.widgets.all()) seen += text_of(w);
    if (seen == last_seen) return;
    last_seen = std::move(seen);
  }
}

// Opens the settings of folded forms.
void open_settings(Lab& lab) {
  ui::Forms& forms = lab.view.forms;
  forms.matmul.settings_open = {.open = true, .job = lab.model.state(Page::Matmul).job};
  forms.scaling.settings_open = {.open = true, .job = lab.model.state(Page::Scaling).job};
  forms.training.settings_open = {.open = true, .job = lab.model.state(Page::Training).job};
  forms.transfers.settings_open = {.open = true, .job = lab.model.state(Page::Transfers).job};
}

struct Window {
  ImVec2 size;
  float scale;
  ui::ThemeMode mode;
};

class Layout : public ::testing::TestWithParam<Window> {};

TEST_P(Layout, NothingIsClippedOrOverlaps) {
  const Window& window = GetParam();
  Lab lab(make_scene(Page::Devices, Scene::Empty), window.scale, window.size, window.mode);
  lab.view.forms.training.more = true;
  lab.view.forms.transfers.show_table = true;
  lab.view.forms.matmul.which = 2;
  lab.view.forms.scaling.more = true;
  lab.view.forms.scaling.show_table = true;
  lab.view.forms.scaling.compute_time = 2;
  for (int page = 0; page < ui::kPages; ++page) {
    for (const Scene scene : {Scene::Empty, Scene::Running, Scene::Done, Scene::Failed}) {
      SCOPED_TRACE("page " + std::to_string(page) + ", scene " +
                   std::to_string(static_cast<int>(scene)));
      lab.view.page = static_cast<Page>(page);
      lab.show(make_scene(lab.view.page, scene));
      if (scene == Scene::Empty) open_settings(lab);
      check_whole_page(lab, window.size);
      lab.scroll(1000);
    }
  }
}

TEST_P(Layout, ManyDevicesFit) {
  const Window& window = GetParam();
  Lab lab(make_scene(Page::Devices, Scene::Empty), window.scale, window.size, window.mode);
  lab.view.page = Page::Training;
  ui::TrainingForm& form = lab.view.forms.training;
  form.larger_batch = form.devices_open = true;
  form.request.share_policy = SharePolicy::Listed;
  for (const ManyDevices& many :
       {ManyDevices{2, 1, SharePolicy::Equal}, ManyDevices{16, 1, SharePolicy::Auto},
        ManyDevices{4, 2, SharePolicy::Auto}, ManyDevices{48, 4, SharePolicy::Equal}}) {
    SCOPED_TRACE(std::to_string(many.devices) + " devices, " + std::to_string(many.ranks) +
                 " ranks");
    form.devices.assign(static_cast<std::size_t>(many.devices / many.ranks), true);
    lab.show(make_many_devices(many, Scene::Running));
    open_settings(lab);
    check_whole_page(lab, window.size);
    lab.scroll(1000);
  }
}

TEST_P(Layout, LayersFit) {
  const Window& window = GetParam();
  Lab lab(make_scene(Page::Devices, Scene::Empty), window.scale, window.size, window.mode);
  lab.view.page = Page::Training;
  lab.view.forms.training.layer_table = true;
  for (const Layers& what :
       {Layers{false, 3, true}, Layers{true, 20, true}, Layers{true, 3, false}}) {
    SCOPED_TRACE(std::to_string(what.layers) + " layers" + (what.both ? ", both kernels" : ""));
    for (const bool all : {false, true}) {
      lab.view.forms.training.all_layers = all;
      lab.show(make_layers(what, Scene::Running));
      check_whole_page(lab, window.size);
      lab.scroll(1000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Layout,
                         ::testing::Values(Window{{1280, 720}, 1, ui::ThemeMode::Dark},
                                           Window{{1280, 720}, 1.5F, ui::ThemeMode::Dark},
                                           Window{{1280, 720}, 2, ui::ThemeMode::Light},
                                           Window{{1920, 1080}, 1, ui::ThemeMode::Light},
                                           Window{{1920, 1080}, 1.5F, ui::ThemeMode::Light},
                                           Window{{1920, 1080}, 2, ui::ThemeMode::Dark},
                                           Window{{2560, 1440}, 1, ui::ThemeMode::Dark},
                                           Window{{2560, 1440}, 1.5F, ui::ThemeMode::Light},
                                           Window{{2560, 1440}, 2, ui::ThemeMode::Dark}),
                         [](const auto& window) {
                           return std::to_string(static_cast<int>(window.param.size.x)) + "At" +
                                  std::to_string(std::lround(100 * window.param.scale));
                         });

// --- languages ------------------------------------------------------------------------------

struct Translated {
  Language language;
  float scale;
};

class LanguageLayout : public ::testing::TestWithParam<Translated> {};

// Texts of controls that are cut even in English at this scale.
std::vector<std::string> cut_in_english(Page page, float scale) {
  Lab lab(make_scene(page, Scene::Done), scale);
  open_settings(lab);
  lab.open(page);
  lab.scroll(-1000);
  return lab.backend.fonts.cut_texts();
}

TEST_P(LanguageLayout, ControlsFit) {
  const auto [language, scale] = GetParam();
  if (const ui::FontSet fonts; !fonts.shows(language)) {
    GTEST_SKIP() << "no font of this language is installed";
  }
  for (int at = 0; at < ui::kPages; ++at) {
    const auto page = static_cast<Page>(at);
    SCOPED_TRACE(ui::key_of(page));
    const std::vector<std::string> cut_before = cut_in_english(page, scale);
    const WithLanguage translated(language);
    std::set<std::string> known;
    for (const std::string& text : cut_before) known.insert(tr(text));
    Lab lab(make_scene(page, Scene::Done), scale);
    lab.view.page = page;
    open_settings(lab);
    check_whole_page(lab, ImGui::GetIO().DisplaySize);
    for (const std::string& text : lab.backend.fonts.cut_texts()) {
      EXPECT_TRUE(known.contains(text)) << "cut: " << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Languages, LanguageLayout,
    ::testing::Values(Translated{Language::Chinese, 1}, Translated{Language::Chinese, 2},
                      Translated{Language::Japanese, 1}, Translated{Language::Japanese, 2},
                      Translated{Language::Vietnamese, 1}, Translated{Language::Vietnamese, 2}),
    [](const auto& tested) {
      return std::string(to_string(tested.param.language)) + "Scale" +
             std::to_string(static_cast<int>(tested.param.scale));
    });

TEST(Pages, EveryStateHasItsWidgets) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty));
  lab.open(Page::Matmul);
  EXPECT_TRUE(lab.visible("matmul/empty"));
  lab.show(make_scene(Page::Matmul, Scene::Running));
  EXPECT_TRUE(lab.visible("matmul/plot/gflops"));
  EXPECT_TRUE(lab.visible("matmul/ladder/cpu:0/naive"));
  EXPECT_TRUE(lab.visible("status/cancel"));
  EXPECT_TRUE(lab.visible("status/progress"));
  lab.show(make_scene(Page::Matmul, Scene::Failed));
  EXPECT_TRUE(lab.visible("matmul/error"));
  EXPECT_TRUE(lab.visible("matmul/retry"));
  EXPECT_FALSE(lab.visible("status/cancel"));
}

TEST(Pages, TheStopButtonStaysWhileOthersUseTheCores) {
  Lab lab(make_scene(Page::Matmul, Scene::Running));
  lab.open(Page::Matmul);
  std::set<float> places;
  double now_s = 1000;
  for (const OtherLoad& others : {OtherLoad{.threads = 4}, OtherLoad{.programs = 1.2, .threads = 4},
                                  OtherLoad{.programs = 1.2, .host = 0.4, .threads = 4}}) {
    Telemetry reading = telemetry(lab.model.devices(), now_s, 1);
    reading.others = others;
    lab.model.apply(event(0, now_s++, reading));
    lab.frames(3);
    places.insert(lab.backend.find("status/cancel")->min.x);
  }
  EXPECT_EQ(places.size(), 1U);
}

TEST(Pages, SyntheticResultsAreMarked) {
  Lab lab(make_scene(Page::Training, Scene::Done));
  lab.open(Page::Training);
  EXPECT_TRUE(lab.visible("title/synthetic"));
  const WidgetRect* card = lab.backend.find("training/accuracy");
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->value, "synthetic data");
}

TEST(Pages, SeveralDevicesShowTheirTimeSplit) {
  Lab lab(make_many_devices({2, 1, SharePolicy::Equal}, Scene::Running), 1, {1280, 1600});
  lab.open(Page::Training);
  const WidgetRect* sentence = lab.backend.find("training/devices/sentence");
  ASSERT_NE(sentence, nullptr);
  EXPECT_EQ(sentence->label,
            "Backward hides 95 % of the all-reduce; 100 µs of it per step remain. cpu:1 waits for "
            "30 % of a step; cpu:0 is slower. Auto shares would balance this.");
  const WidgetRect* row = lab.backend.find("training/devices/0/cpu:1");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->value, "128 images, 50 %");
  EXPECT_TRUE(lab.visible("training/plot/speed/legend/cpu:1"));
  EXPECT_FALSE(lab.visible("training/plot/speed/legend/other runs"));
  const std::string chapter = lab.backend.find("training/plot/accuracy/reference/0")->label;
  EXPECT_NE(chapter.find("runs of 10 epochs: 9"), std::string::npos) << chapter;
  lab.show(make_scene(Page::Training, Scene::Running));
  EXPECT_FALSE(lab.visible("training/devices")) << "one device has nothing to share";
}

TEST(Pages, DevicesThatWaitAlikeAreNotCalledSlow) {
  for (const double other_wait_s : {0.012, 0.001}) {
    ui::Model model(machine_of(2));
    model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
    model.apply(event(1, 2, training_started(true)));
    for (std::int64_t step = 1; step <= 10; ++step) {
      StepDone done = step_done(step);
      done.devices = {{.device = cpu(0), .images = 128, .compute_s = 0.08, .wait_s = 0.018},
                      {.device = cpu(1), .images = 128, .compute_s = 0.08, .wait_s = other_wait_s}};
      model.apply(event(1, 3, done));
    }
    Lab lab(std::move(model), 1, {1280, 1600});
    lab.open(Page::Training);
    const std::string said = lab.backend.find("training/devices/sentence")->label;
    const bool alike = other_wait_s > 0.01;
    EXPECT_EQ(said.find("wait for each other in turn") != std::string::npos, alike) << said;
    EXPECT_EQ(said.find("cpu:1 is slower") == std::string::npos, alike) << said;
  }
}

// Two devices and a small window: the loss comes first, the runs are beside it, and the form stays.
TEST(Pages, LossIsLargeAndInSight) {
  constexpr float kHeight = 720;
  for (const int devices : {1, 2}) {
    Lab lab(make_many_devices({devices, 1, SharePolicy::Equal}, Scene::Running), 1,
            {1280, kHeight});
    lab.open(Page::Training);
    const WidgetRect* loss = lab.backend.find("training/plot/loss");
    ASSERT_NE(loss, nullptr);
    EXPECT_GE(loss->max.y - loss->min.y, 0.35F * kHeight);
    const WidgetRect* runs = lab.backend.find("training/runs");
    ASSERT_NE(runs, nullptr);
    EXPECT_GT(runs->min.x, loss->max.x);
    const float top = lab.backend.find("training/form")->min.y;
    lab.scroll(-1000);
    lab.frames(3);
    ASSERT_TRUE(lab.visible("training/form"));
    EXPECT_FALSE(lab.visible("training/plot/loss")) << "the page scrolled";
    EXPECT_GE(lab.backend.find("training/form")->max.y, kHeight - 80);
    lab.scroll(1000);
    lab.frames(3);
    EXPECT_EQ(lab.backend.find("training/form")->min.y, top);
  }
}

// A frame with new sizes is built again before it is shown.
TEST(Pages, SettleWithinTheBuildsOfAFrame) {
  for (int at = 0; at < ui::kPages; ++at) {
    const auto page = static_cast<Page>(at);
    SCOPED_TRACE(ui::key_of(page));
    Lab lab(make_scene(page, Scene::Done));
    lab.view.page = page;
    int builds = 0;
    do {
      lab.frame();
      ++builds;
    } while (lab.backend.ui.wants_layout && builds < 10);
    EXPECT_LE(builds, ui::kFrameBuilds);
  }
}

TEST(Pages, FormsFollowTheScrolling) {
  for (const Page page : {Page::Transfers, Page::Matmul, Page::Scaling}) {
    const std::string form = std::string(ui::key_of(page)) + "/form";
    SCOPED_TRACE(form);
    Lab lab(make_scene(page, Scene::Done));
    lab.open(page);
    const float top = lab.backend.find(form)->min.y;
    lab.scroll(-1000);
    lab.frames(3);
    ASSERT_TRUE(lab.visible(form));
    EXPECT_GE(lab.backend.find(form)->max.y, 720 - 80);
    EXPECT_FALSE(lab.backend.ui.wants_layout) << "the page has settled";
    lab.scroll(1000);
    lab.frames(3);
    EXPECT_EQ(lab.backend.find(form)->min.y, top);
  }
}

TEST(Pages, AutoSharesAreSuggestedOnlyIfTheyHelp) {
  const auto advises = [](ui::Model model, std::int64_t images, double others = 0) {
    model.apply(event(1, 1, JobStarted{"Training", StartTraining{}}));
    model.apply(event(1, 1, training_started(true)));
    StepDone step = step_done(1);
    step.devices = device_steps(2, 1, 1, false);
    for (DeviceStep& device : step.devices) device.images = images;
    model.apply(event(1, 2, step));
    model.apply(event(1, 3, CoresShared{others}));
    Lab lab(std::move(model), 1, {1280, 1600});
    lab.open(Page::Training);
    const WidgetRect* sentence = lab.backend.find("training/devices/sentence");
    return sentence != nullptr && sentence->label.find("Auto shares") != std::string::npos;
  };
  EXPECT_TRUE(advises(ui::Model(machine_of(2)), 128));
  EXPECT_FALSE(advises(ui::Model(machine_of(2)), 1)) << "no image to move";
  EXPECT_FALSE(advises(ui::Model(machine_of(2)), 128, 0.3)) << "other programs slow a device";
  MachineInfo one_core = machine_of(2);
  for (DeviceInfo& info : one_core.devices) info.cores = {0};
  EXPECT_FALSE(advises(ui::Model(one_core), 128)) << "the devices share a core";
}

// What the Devices card says of ten steps with these devices.
std::string said_of(const std::vector<DeviceStep>& devices, ui::Model model,
                    const StartTraining& request, const std::string& shares = {}) {
  model.apply(event(1, 1, JobStarted{"Training", request}));
  TrainingStarted started = training_started(true);
  started.request = request;
  model.apply(event(1, 1, started));
  if (!shares.empty()) {
    TrainingChanged change;
    change.setting = "shares";
    change.after = shares;
    model.apply(event(1, 1, change));
  }
  for (std::int64_t step = 1; step <= 10; ++step) {
    StepDone done = step_done(step);
    done.devices = devices;
    model.apply(event(1, 2, done));
  }
  Lab lab(std::move(model), 1, {1280, 1600});
  lab.open(Page::Training);
  const WidgetRect* sentence = lab.backend.find("training/devices/sentence");
  return sentence == nullptr ? std::string() : sentence->label;
}

TEST(Pages, AutoSharesAreNotSuggestedWhereTheyAreOnOrLeaveADeviceOut) {
  const auto with_slow = [](double slow_s) {
    return std::vector<DeviceStep>{
        {.device = cpu(0), .images = 128, .compute_s = 0.01, .wait_s = slow_s - 0.01},
        {.device = cpu(1), .images = 128, .compute_s = slow_s}};
  };
  StartTraining request;
  request.devices = {cpu(0), cpu(1)};
  std::string said = said_of(with_slow(0.1), ui::Model(machine_of(2)), request);
  EXPECT_NE(said.find("Auto shares would balance this."), std::string::npos) << said;
  said = said_of(with_slow(10), ui::Model(machine_of(2)), request);
  EXPECT_NE(said.find("Auto shares would leave cpu:1 without images."), std::string::npos) << said;
  EXPECT_EQ(said.find("balance"), std::string::npos) << said;
  said = said_of(with_slow(0.1), ui::Model(machine_of(2)), request, "auto");
  EXPECT_EQ(said.find("Auto"), std::string::npos) << "changed while it runs: " << said;
  request.share_policy = SharePolicy::Auto;
  said = said_of(with_slow(0.1), ui::Model(machine_of(2)), request);
  EXPECT_EQ(said.find("Auto"), std::string::npos) << said;
  said = said_of(with_slow(0.1), ui::Model(machine_of(2)), request, "equal");
  EXPECT_NE(said.find("Auto shares would balance this."), std::string::npos) << said;
}

TEST(Pages, DevicesWithoutImagesAreNamed) {
  StartTraining request;
  request.devices = {cpu(0), cpu(1)};
  request.share_policy = SharePolicy::Auto;
  std::vector<DeviceStep> devices = {{.device = cpu(0), .images = 256, .compute_s = 0.01},
                                     {.device = cpu(1)}};
  EXPECT_EQ(said_of(devices, ui::Model(machine_of(2)), request),
            "No images for cpu:1: left out of the steps.");
  devices[1].rank = 1;
  devices[1].wait_s = 0.01;
  const std::string said = said_of(devices, ui::Model(machine_of(2)), request);
  EXPECT_EQ(said, "No images for rank 1 · cpu:1: takes part in the sums only.");
}

TEST(Pages, EmulatedDevicesShowTheirImages) {
  ui::Model model(machine_of(1));
  StartTraining request;
  request.devices = {emulated_gpu(0), cpu(0)};
  model.apply(event(1, 1, JobStarted{"Training", request}));
  TrainingStarted started = training_started(true);
  started.request = request;
  model.apply(event(1, 1, started));
  StepDone done = step_done(1);
  done.devices = {{.device = emulated_gpu(0), .images = 6, .compute_s = 3},
                  {.device = cpu(0), .images = 2, .compute_s = 0.01, .wait_s = 2.99}};
  model.apply(event(1, 2, done));
  for (const float width : {1280.0F, 800.0F}) {
    Lab lab(model, 1, {width, 1800});
    lab.open(Page::Training);
    const WidgetRect* row = lab.backend.find("training/devices/0/emu:0");
    ASSERT_NE(row, nullptr) << width;
    EXPECT_EQ(row->value, "6 images, 75 %");
    EXPECT_EQ(lab.backend.find("training/devices/sentence")->label,
              "emulated: correct results; never timed");
    EXPECT_FALSE(lab.visible("training/devices/legend")) << "no times";
  }
}

TEST(Pages, RanksAreNamedAndManyDevicesUnfold) {
  Lab lab(make_many_devices({48, 4, SharePolicy::Equal}, Scene::Running), 1, {1280, 3200});
  lab.open(Page::Training);
  const WidgetRect* row = lab.backend.find("training/devices/1/cpu:0");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->label, "rank 1 · cpu:0");
  EXPECT_FALSE(lab.visible("training/devices/3/cpu:0"));
  lab.click("training/devices/all");
  EXPECT_TRUE(lab.visible("training/devices/3/cpu:0"));
}

TEST(Pages, OneCpuDeviceCanBeSplitWhereSeveralAreUseful) {
  for (const Page page : {Page::Transfers, Page::Matmul, Page::Training, Page::Scaling}) {
    SCOPED_TRACE(ui::key_of(page));
    Lab lab(ui::Model(machine_of(1)), 1, {1280, 2400});
    lab.open(page);
    lab.click(std::string(ui::key_of(page)) + "/split");
    EXPECT_TRUE(lab.sent<RestartLab>().empty()) << "not before it is confirmed";
    lab.click("restart/yes");
    ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
    EXPECT_EQ(lab.sent<RestartLab>()[0].cpu_devices, 2);
    EXPECT_EQ(lab.view.page, page);
  }
}

TEST(Pages, OnlyAConfirmedSplitIsSaved) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 2400});
  lab.open(Page::Matmul);
  const auto saved = [&] { return save_view(lab.view).at("devices.cpu_devices"); };
  ASSERT_EQ(saved(), "1");
  lab.click("matmul/split");
  lab.click("restart/no");
  EXPECT_EQ(saved(), "1");
  lab.click("matmul/split");
  lab.press(GLFW_KEY_ESCAPE);
  EXPECT_EQ(saved(), "1");
  lab.frames(3);
  lab.click("matmul/split");
  lab.click("restart/yes");
  EXPECT_EQ(saved(), "2");
}

// A command-line option may have made other devices than the saved number.
TEST(Pages, TheNumberOfCpuDevicesStartsAsItIs) {
  Lab lab(ui::Model(machine_of(2)));
  lab.open(Page::Devices);
  const auto shown = [&] { return lab.backend.find("devices/cpu_devices")->value; };
  EXPECT_EQ(shown(), "2");
  EXPECT_FALSE(lab.backend.find("devices/split")->enabled);
  EXPECT_EQ(save_view(lab.view).at("devices.cpu_devices"), "1");
  lab.click("devices/cpu_devices/more");
  EXPECT_EQ(shown(), "3");
  EXPECT_TRUE(lab.backend.find("devices/split")->enabled);
  EXPECT_EQ(save_view(lab.view).at("devices.cpu_devices"), "3");
}

TEST(Pages, DevicesOfferEmulatedGpusWhereThereAreNone) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Devices);
  lab.click("devices/list/absent/0");
  lab.click("devices/emulate");
  EXPECT_TRUE(lab.sent<RestartLab>().empty()) << "not before it is confirmed";
  lab.click("restart/yes");
  ASSERT_EQ(lab.sent<RestartLab>().size(), 1U);
  EXPECT_EQ(lab.sent<RestartLab>()[0].emulated_gpus, 2);
}

TEST(Pages, TheSplitSaysWhatARestartKeeps) {
  Lab lab(ui::Model(machine_of(2)), 1, {1280, 1000});
  lab.open(Page::Devices);
  lab.click("devices/cpu_devices/less");
  EXPECT_NE(lab.backend.find("devices/restart")->label.find("the last results are kept"),
            std::string::npos);
}

TEST(Pages, TheStatusBarShowsTheLabsShareOfTheCores) {
  Lab lab(ui::Model(machine_of(1)));
  const auto said = [&](double cores) {
    Telemetry one = telemetry(lab.model.devices(), 1, 0.5);
    one.lab_cpu = cores;
    lab.model.apply(event(0, 1, one));
    lab.frames(3);
    return lab.backend.find("status/lab_cpu")->label;
  };
  EXPECT_EQ(said(0.014), "lab uses 0.0 cores");
  EXPECT_EQ(said(1.26), "lab uses 1.3 cores");
}

TEST(Pages, TheStatusBarTellsOtherProgramsFromTheLab) {
  Lab lab(ui::Model(machine_of(1)));
  lab.open(Page::Devices);
  double now_s = 0;
  const auto read = [&](const OtherLoad& others) {
    Telemetry one = telemetry(lab.model.devices(), ++now_s, 1);
    one.lab_cpu = 0.04;
    one.others = others;
    lab.model.apply(event(0, now_s, one));
    lab.frames(3);
    return lab.backend.find("status/lab_cpu")->label;
  };
  EXPECT_EQ(read({.programs = 1.94, .host = 0.01, .threads = 2}), "lab 0.0, others 1.9 of 2 cores");
  EXPECT_EQ(read({.programs = 1.5, .host = 0.4, .threads = 2}),
            "lab 0.0, others 1.5, host 0.4 of 2 cores");
  EXPECT_EQ(lab.backend.find("devices/cores_in_use")->value, "2.0 %, 75.0 %, 20.0 %");
  EXPECT_EQ(read({.programs = 1.5, .host = 0, .threads = 4}),
            "lab 0.0, others 1.5 of 4 hardware threads");
}

// The results extend to the bottom of a window that is taller than their content.
TEST(Pages, ResultsFillTheWindowHeight) {
  constexpr float kWidth = 1920, kHeight = 1080;
  Lab lab(make_scene(Page::Devices, Scene::Done), 1, {kWidth, kHeight});
  for (const auto& [page, card] :
       {std::pair{Page::Devices, "devices/cpu:0/specification"},
        std::pair{Page::Memory, "memory/tensors"}, std::pair{Page::Matmul, "matmul/skipped"},
        std::pair{Page::Matmul, "matmul/form"}}) {
    lab.open(page);
    lab.show(make_scene(page, Scene::Done));
    const WidgetRect* lowest = lab.backend.find(card);
    ASSERT_NE(lowest, nullptr) << card;
    EXPECT_NEAR(lowest->max.y, kHeight - 40 - 20, 12) << card;
    EXPECT_FALSE(lab.backend.ui.wants_layout) << card;
  }
}

TEST(Pages, MainButtonIsVisibleInASmallWindow) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty), 2, {1280, 720});
  for (const auto& [page, button] :
       {std::pair{Page::Memory, "memory/make"}, std::pair{Page::Transfers, "transfers/run"},
        std::pair{Page::Matmul, "matmul/run"}, std::pair{Page::Training, "training/start"},
        std::pair{Page::Scaling, "scaling/run"}, std::pair{Page::Learn, "learn/measure"},
        std::pair{Page::Tour, "tour/measure"}}) {
    lab.open(page);
    EXPECT_TRUE(lab.visible(button)) << button;
  }
}

}  // namespace
}  // namespace lab::test
