#pragma once

#include <chrono>
#include <functional>

namespace lumen {

using Clock = std::chrono::steady_clock;

/// What a game hands to the loop. `tick` advances the world by one fixed step; `render` draws it,
/// `blend` of the way (0 to 1) between the last two ticks.
struct GameCallbacks {
  std::function<void()> tick;
  std::function<void(double blend)> render;
  std::function<bool()> running;
};

/// Runs a world in steps of equal length, so that a replay gives the same result on any machine.
class GameLoop {
 public:
  static constexpr std::chrono::microseconds kStep{16'667};
  /// After a long pause (a debugger, a closed lid) the world skips time instead of racing.
  static constexpr int kMaxTicksPerFrame = 8;

  explicit GameLoop(GameCallbacks callbacks);

  void run();
  /// One frame: as many ticks as are due, then one rendering. Returns the number of ticks.
  int advance(Clock::duration elapsed);

  [[nodiscard]] long tick_count() const { return ticks_; }

 private:
  GameCallbacks callbacks_;
  Clock::duration behind_{};
  long ticks_ = 0;
};

}  // namespace lumen
