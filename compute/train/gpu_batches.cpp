#include "compute/train/gpu_batches.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "compute/core/language.h"

namespace lab {
namespace {

// Waits for the copy.
void copy_in(DeviceContext& device, Buffer& to, std::span<const std::byte> from) {
  device.staging().to_gpu(to.data(), from.data(), std::ssize(from),
                          [](std::byte* into, const std::byte* piece, std::int64_t bytes) {
                            std::memcpy(into, piece, static_cast<std::size_t>(bytes));
                          });
}

template <typename Values>
Buffer copied(DeviceContext& device, const Values& values, std::string name) {
  const auto bytes = std::as_bytes(std::span(values));
  Buffer buffer = named_buffer(device, std::ssize(bytes), std::move(name), DType::U8);
  copy_in(device, buffer, bytes);
  return buffer;
}

}  // namespace

GpuBatches::GpuBatches(DeviceContext& device) : device_(device), gpu_(*device.gpu()) {}

GpuBatches::~GpuBatches() = default;

void GpuBatches::reserve(std::int64_t bytes) {
  reserved_ = {};
  if (bytes > 0) reserved_ = named_buffer(device_, bytes, tr("images"), DType::U8);
}

GpuBatches::Set& GpuBatches::on_gpu(const BatchLoader& loader) {
  const ImageSet& images = loader.images();
  Set& set = sets_[&images];
  if (set.rule == loader.rule()) return set;
  const std::int64_t before = set.bytes(), reserved = reserved_.bytes();
  reserve(0);
  if (set.labels.data() == nullptr) {
    set.pixels = copied(device_, images.pixels, tr("images"));
    set.labels = copied(device_, images.labels, tr("labels"));
  }
  draw_order(set, images.count, loader.rule());
  reserve(reserved - (set.bytes() - before));
  return set;
}

void GpuBatches::draw_order(Set& set, std::int64_t images, const OrderRule& rule) {
  GpuImageOrder order{.seed = rule.seed,
                      .shuffle_stream = rule.shuffle_stream,
                      .flip_stream = rule.flip_stream,
                      .images = images};
  const auto grown = [&](Buffer& buffer, std::int64_t bytes) {
    if (buffer.bytes() < bytes) {
      buffer = named_buffer(device_, bytes, tr("order of images"), DType::U8);
    }
    return buffer.data();
  };
  constexpr std::int64_t kEntryBytes = sizeof(std::uint32_t);
  order.to = reinterpret_cast<std::uint32_t*>(grown(set.order, images * kEntryBytes));
  order.workspace = grown(set.workspace, gpu_.layers().workspace_bytes(order));
  gpu_.layers().draw_order(order, gpu_.main_stream());
  set.rule = rule;
}

void GpuBatches::load(const BatchLoader& loader, std::int64_t step, BatchSlice slice, float* pixels,
                      std::uint8_t* labels) {
  const Set& set = on_gpu(loader);
  gpu_.layers().gather({.pixels = reinterpret_cast<const std::uint8_t*>(set.pixels.data()),
                        .labels = reinterpret_cast<const std::uint8_t*>(set.labels.data()),
                        .order = reinterpret_cast<const std::uint32_t*>(set.order.data()),
                        .first = loader.first_image(step, slice),
                        .images = slice.end - slice.begin,
                        .image_size = loader.image_size(),
                        .width = loader.images().width,
                        .to_pixels = pixels,
                        .to_labels = labels},
                       gpu_.main_stream());
}

}  // namespace lab
