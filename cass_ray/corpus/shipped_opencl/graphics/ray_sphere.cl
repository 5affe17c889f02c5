// Nearest hit of a ray with a list of spheres, and its Lambert shading.
typedef struct {
  float4 centre_radius;
  float4 colour;
} Sphere;

__kernel void trace(__global const Sphere *spheres, const int sphere_count, __global uchar4 *image,
                    const int width, const int height, const float4 light) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) {
    return;
  }
  const float3 direction =
      normalize((float3)((x - 0.5f * width) / width, (0.5f * height - y) / width, 1.0f));
  float nearest = MAXFLOAT;
  int hit = -1;
  for (int i = 0; i < sphere_count; ++i) {
    const float4 sphere = spheres[i].centre_radius;
    const float along = dot(sphere.xyz, direction);
    const float discriminant = along * along - dot(sphere.xyz, sphere.xyz) + sphere.w * sphere.w;
    if (discriminant > 0.0f) {
      const float distance = along - sqrt(discriminant);
      if (distance > 1e-3f && distance < nearest) {
        nearest = distance;
        hit = i;
      }
    }
  }
  float4 colour = (float4)(0.1f, 0.1f, 0.2f, 1.0f);
  if (hit >= 0) {
    const float3 normal = normalize(nearest * direction - spheres[hit].centre_radius.xyz);
    colour = spheres[hit].colour * fmax(dot(normal, light.xyz), 0.05f);
  }
  image[y * width + x] = convert_uchar4_sat(colour * 255.0f);
}
