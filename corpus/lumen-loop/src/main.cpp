#include <cstdio>

#include "ecs/registry.hpp"
#include "event_queue.hpp"
#include "game_loop.hpp"

namespace {

enum class Key { Left, Right, Jump };

struct World {
  lumen::ecs::Registry registry;
  lumen::EventQueue<Key, 64> input;
  lumen::ecs::Entity player = 0;
};

void handle_input(World& world) {
  while (const auto key = world.input.dequeue()) {
    auto& velocity = world.registry.velocities.values.front();
    if (*key == Key::Left) velocity.dx = -3;
    if (*key == Key::Right) velocity.dx = 3;
  }
}

}  // namespace

int main() {
  World world;
  world.player = world.registry.create();
  world.registry.positions.attach(world.player, {0, 0});
  world.registry.velocities.attach(world.player, {0, 0});
  world.input.enqueue(Key::Right);

  lumen::GameLoop loop({
      .tick = [&] { handle_input(world); world.registry.integrate(1 / 60.0F); },
      .render = [&](double) { std::printf("x = %.2f\n", world.registry.positions.values[0].x); },
      .running = [&] { return world.registry.positions.values[0].x < 10; },
  });
  loop.run();
  // TODO: draw something
}
