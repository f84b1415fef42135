#include "ecs/registry.hpp"

#include <algorithm>

namespace lumen::ecs {

Entity Registry::create() { return next_++; }

void Registry::integrate(float seconds) {
  // both columns are sorted by owner because entities are numbered upwards
  std::size_t p = 0;
  for (std::size_t v = 0; v < velocities.owners.size(); ++v) {
    const Entity entity = velocities.owners[v];
    while (p < positions.owners.size() && positions.owners[p] < entity) ++p;
    if (p == positions.owners.size()) return;
    if (positions.owners[p] != entity) continue;
    positions.values[p].x += velocities.values[v].dx * seconds;
    positions.values[p].y += velocities.values[v].dy * seconds;
  }
}

}  // namespace lumen::ecs
