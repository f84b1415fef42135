#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace lumen {

/// First in, first out, at most `Capacity` events. A full queue drops the newest event and counts
/// it: an input that came too late is worth less than a frame that comes too late.
template <typename Event, std::size_t Capacity>
class EventQueue {
  static_assert((Capacity & (Capacity - 1)) == 0, "capacity must be a power of two");

 public:
  bool enqueue(const Event& event) {
    if (size() == Capacity) {
      ++dropped_;
      return false;
    }
    ring_[head_++ & kMask] = event;
    return true;
  }

  std::optional<Event> dequeue() {
    if (head_ == tail_) return std::nullopt;
    return ring_[tail_++ & kMask];
  }

  [[nodiscard]] std::size_t size() const { return head_ - tail_; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  static constexpr std::size_t kMask = Capacity - 1;
  std::array<Event, Capacity> ring_{};
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace lumen
