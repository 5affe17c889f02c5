// Colours from red, green, blue to hue (degrees), saturation and value.
float hue_of(const float4 colour, const float highest, const float range) {
  if (range == 0.0f) {
    return 0.0f;
  }
  float hue;
  if (highest == colour.x) {
    hue = (colour.y - colour.z) / range;
  } else if (highest == colour.y) {
    hue = 2.0f + (colour.z - colour.x) / range;
  } else {
    hue = 4.0f + (colour.x - colour.y) / range;
  }
  return hue < 0.0f ? 60.0f * (hue + 6.0f) : 60.0f * hue;
}

__kernel void rgb_to_hsv(__global const float4 *input, __global float4 *output, const int count) {
  const int i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const float4 colour = input[i];
  const float highest = fmax(fmax(colour.x, colour.y), colour.z);
  const float range = highest - fmin(fmin(colour.x, colour.y), colour.z);
  const float saturation = highest > 0.0f ? range / highest : 0.0f;
  output[i] = (float4)(hue_of(colour, highest, range), saturation, highest, colour.w);
}
