"""Functions in float32 without branches, so that compilers can turn loops of them into vectors.

Choices are made on bits: a compiler that sees a branch computes lanes that do not take it with
whatever is at hand, and where that makes numbers below the normal ones each step costs a hundred
cycles. For the same reason exp gives 0 where its result would be below the normal numbers.

The polynomials were fitted for this file (Chebyshev, in 40 digits). The largest errors over a
dense sample are in tests/xeforge/fusion/emit/c/test_runtime.py: at most 3 units in the last place,
except where a result is near 0 while its parts are not (log1p, erf: absolute error below 2e-7).
"""

from collections.abc import Mapping

MATH: Mapping[str, str] = {
    "xf_scale_f32": """\
/* Times a power of two, in two steps so that no factor overflows before the product does. */
static inline float xf_scale_f32(float value, int32_t power)
{
    int32_t half = power >> 1;
    int32_t low = (half + 127) << 23;
    int32_t high = (power - half + 127) << 23;
    float first, second;
    memcpy(&first, &low, 4);
    memcpy(&second, &high, 4);
    return value * first * second;
}
""",
    "xf_choose_f32": """\
static inline float xf_choose_f32(int32_t holds, float then, float otherwise)
{
    int32_t mask = -holds, one, other;
    memcpy(&one, &then, 4);
    memcpy(&other, &otherwise, 4);
    one = (one & mask) | (other & ~mask);
    memcpy(&then, &one, 4);
    return then;
}
""",
    "xf_exp_f32": """\
static inline float xf_exp_f32(float x)
{
    float kept = xf_choose_f32(x > 89.0f, 89.0f, x);
    kept = xf_choose_f32(kept < -87.33654f, -87.33654f, kept);
    float power = rintf(kept * 1.44269504f);
    float rest = kept - power * 0.693359375f;
    rest = rest + power * 2.12194440e-4f;
    float sum = 1.3929125371e-3f;
    sum = sum * rest + 8.3655341116e-3f;
    sum = sum * rest + 4.1666536254e-2f;
    sum = sum * rest + 1.6666562289e-1f;
    sum = sum * rest + 0.5f;
    float result = xf_scale_f32(1.0f + (rest + rest * rest * sum), (int32_t)power);
    return xf_choose_f32(x < -87.33654f, 0.0f, result);
}
""",
    "xf_expm1_f32": """\
static inline float xf_expm1_f32(float x)
{
    float sum = 1.994907121e-4f;
    sum = sum * x + 1.3985967516e-3f;
    sum = sum * x + 8.3332281072e-3f;
    sum = sum * x + 4.1665718912e-2f;
    sum = sum * x + 1.6666666819e-1f;
    sum = sum * x + 0.5f;
    float near = x + x * x * sum;
    float far = xf_exp_f32(x) - 1.0f;
    return xf_choose_f32(fabsf(x) < 0.5f, near, far);
}
""",
    "xf_log_f32": """\
static inline float xf_log_f32(float x)
{
    /* Numbers too small for a full mantissa are scaled up first. */
    int32_t is_small = x < 1.17549435e-38f;
    float scaled = xf_choose_f32(is_small, x * 8388608.0f, x);
    int32_t bits;
    memcpy(&bits, &scaled, 4);
    int32_t power = ((bits - 0x3F3504F3) >> 23);
    int32_t mantissa = bits - (int32_t)((uint32_t)power << 23);
    float part;
    memcpy(&part, &mantissa, 4);
    float rest = part - 1.0f;
    float whole = (float)(power - 23 * is_small);
    float sum = 6.9807019587e-2f;
    sum = sum * rest - 1.1494546613e-1f;
    sum = sum * rest + 1.1689071137e-1f;
    sum = sum * rest - 1.2424037718e-1f;
    sum = sum * rest + 1.4248551264e-1f;
    sum = sum * rest - 1.6667850973e-1f;
    sum = sum * rest + 2.0000730504e-1f;
    sum = sum * rest - 2.4999996627e-1f;
    sum = sum * rest + 3.3333331122e-1f;
    float square = rest * rest;
    float low = square * rest * sum - whole * 2.12194440e-4f - 0.5f * square;
    float result = whole * 0.693359375f + (rest + low);
    result = xf_choose_f32(x == 0.0f, -INFINITY, result);
    result = xf_choose_f32(x < 0.0f, NAN, result);
    return xf_choose_f32((x == INFINITY) | (x != x), x, result);
}
""",
    "xf_log1p_f32": """\
static inline float xf_log1p_f32(float x)
{
    float above = 1.0f + x;
    float rest = above - 1.0f;
    float result = xf_log_f32(above) * (x / xf_choose_f32(rest == 0.0f, 1.0f, rest));
    result = xf_choose_f32(rest == 0.0f, x, result);
    result = xf_choose_f32(x == -1.0f, -INFINITY, result);
    return xf_choose_f32(x == INFINITY, x, result);
}
""",
    "xf_tanh_f32": """\
static inline float xf_tanh_f32(float x)
{
    float square = x * x;
    float sum = -6.0451650965e-3f;
    sum = sum * square + 2.0961329109e-2f;
    sum = sum * square - 5.3843263175e-2f;
    sum = sum * square + 1.3332718846e-1f;
    sum = sum * square - 3.3333328433e-1f;
    float near = x + x * square * sum;
    float size = fabsf(x);
    float far = copysignf(1.0f - 2.0f / (xf_exp_f32(2.0f * size) + 1.0f), x);
    return xf_choose_f32(size < 0.625f, near, far);
}
""",
    "xf_erf_f32": """\
static inline float xf_erf_f32(float x)
{
    float square = x * x;
    float near = 7.8758750627e-5f;
    near = near * square - 8.0168642872e-4f;
    near = near * square + 5.1890874234e-3f;
    near = near * square - 2.6854212011e-2f;
    near = near * square + 1.1283594715e-1f;
    near = near * square - 3.7612626667e-1f;
    near = near * square + 1.2837916585e-1f;
    near = x + x * near;
    float size = fabsf(x);
    float kept = xf_choose_f32(size > 4.0f, 4.0f, size);
    float far = -1.3933059759e-5f;
    far = far * kept + 3.2889070349e-4f;
    far = far * kept - 3.5225645343e-3f;
    far = far * kept + 2.2971913704e-2f;
    far = far * kept - 1.0414881448e-1f;
    far = far * kept - 6.3795382992e-1f;
    far = far * kept - 1.1267624753f;
    far = far * kept - 5.0429451949e-4f;
    return xf_choose_f32(size < 1.0f, near, copysignf(1.0f - xf_exp_f32(far), x));
}
""",
}
