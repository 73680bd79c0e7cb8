#pragma once
// The cards of results on the Transfers page. For use inside ui/pages only.
#include "ui/pages/panel.h"

namespace lab::ui {

void draw_transfer_curves(const Panel& p, const Kept<TransferResults>& kept);
void draw_live_transfers(const Panel& p, const Kept<TransferResults>& kept);
// Device pairs coloured by the best copy bandwidth; nothing where there is one device only.
void draw_transfer_matrix(const Panel& p, const Kept<TransferResults>& kept);
// What ran when on the streams of each card; nothing without one.
void draw_transfer_timelines(const Panel& p, const Kept<TransferResults>& kept);
void draw_transfer_sentences(const Panel& p, const Kept<TransferResults>& kept);
void draw_transfer_table(const Panel& p, const Kept<TransferResults>& kept);

}  // namespace lab::ui
