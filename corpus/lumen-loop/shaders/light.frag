#version 330 core
// Soft light around lanterns: falls off with the square of the distance.
in vec2 world;
out vec4 color;

uniform vec3 lanterns[16]; // x, y, radius
uniform int lantern_count;
uniform sampler2D scene;

void main() {
  float light = 0.12;
  for (int i = 0; i < lantern_count; ++i) {
    vec2 offset = (world - lanterns[i].xy) / lanterns[i].z;
    light += 1.0 / (1.0 + dot(offset, offset) * 4.0);
  }
  color = vec4(texture(scene, world).rgb * min(light, 1.4), 1.0);
}
