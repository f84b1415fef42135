#include "event_queue.hpp"

#include <cassert>

int main() {
  lumen::EventQueue<int, 4> queue;
  for (int i = 0; i < 4; ++i) assert(queue.enqueue(i));
  assert(!queue.enqueue(4));
  assert(queue.dropped() == 1);
  for (int i = 0; i < 4; ++i) assert(queue.dequeue() == i);
  assert(!queue.dequeue().has_value());

  // the ring goes around
  for (int round = 0; round < 10; ++round) {
    assert(queue.enqueue(round));
    assert(queue.dequeue() == round);
  }
}
