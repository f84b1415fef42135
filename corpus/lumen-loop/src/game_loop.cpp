#include "game_loop.hpp"

#include <algorithm>
#include <utility>

namespace lumen {

GameLoop::GameLoop(GameCallbacks callbacks) : callbacks_(std::move(callbacks)) {}

void GameLoop::run() {
  auto before = Clock::now();
  while (callbacks_.running()) {
    const auto now = Clock::now();
    advance(now - before);
    before = now;
  }
}

int GameLoop::advance(Clock::duration elapsed) {
  behind_ = std::min<Clock::duration>(behind_ + elapsed, kStep * kMaxTicksPerFrame);
  int ticks = 0;
  for (; behind_ >= kStep; behind_ -= kStep, ++ticks) {
    callbacks_.tick();
  }
  ticks_ += ticks;
  callbacks_.render(std::chrono::duration<double>(behind_) / std::chrono::duration<double>(kStep));
  return ticks;
}

}  // namespace lumen
