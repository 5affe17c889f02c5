// One step of Adam with decoupled weight decay.
__kernel void adam_step(__global float *weights, __global const float *gradients,
                        __global float *first, __global float *second, const float rate,
                        const float beta1, const float beta2, const float epsilon,
                        const float decay, const int step, const int count) {
  const int i = get_global_id(0);
  if (i >= count) {
    return;
  }
  const float gradient = gradients[i];
  const float m = fma(beta1, first[i], (1.0f - beta1) * gradient);
  const float v = fma(beta2, second[i], (1.0f - beta2) * gradient * gradient);
  first[i] = m;
  second[i] = v;
  const float corrected_m = m / (1.0f - pown(beta1, step));
  const float corrected_v = v / (1.0f - pown(beta2, step));
  const float update = corrected_m / (sqrt(corrected_v) + epsilon);
  weights[i] -= rate * (update + decay * weights[i]);
}
