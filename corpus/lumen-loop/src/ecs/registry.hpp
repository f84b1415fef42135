#pragma once

#include <cstdint>
#include <vector>

namespace lumen::ecs {

using Entity = std::uint32_t;

struct Position { float x, y; };
struct Velocity { float dx, dy; };

/// Components of one type, dense, in the order in which they were attached.
template <typename Component>
struct Column {
  std::vector<Entity> owners;
  std::vector<Component> values;

  void attach(Entity entity, Component value) {
    owners.push_back(entity);
    values.push_back(value);
  }
};

class Registry {
 public:
  Entity create();
  /// Moves everything that has a position and a velocity by one tick.
  void integrate(float seconds);

  Column<Position> positions;
  Column<Velocity> velocities;

 private:
  Entity next_ = 1;
};

}  // namespace lumen::ecs
