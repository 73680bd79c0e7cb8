#pragma once
// The parts of the card of the layers. For use inside ui/pages only.
#include <string>

#include "ui/model/training_profile.h"
#include "ui/pages/training/training_parts.h"

namespace lab::ui {

// All numbers, folded; sorted by pressing a column's label.
void draw_layer_table(const Panel& p, const TrainingProfile& profile);

// Everything that is known of one row, in lines.
std::string describe(const TrainingProfile& profile, const ProfileRow& row);

}  // namespace lab::ui
