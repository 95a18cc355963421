// How far a share can be trusted.

const Z = 1.96; // 95 in 100

/** Wilson's interval of a share: where the true one lies, 95 times in 100. */
export function interval(right, tested) {
  if (!tested) return { low: 0, high: 1 };
  const share = right / tested;
  const centre = (share + (Z * Z) / (2 * tested)) / (1 + (Z * Z) / tested);
  const half = (Z / (1 + (Z * Z) / tested)) * Math.sqrt((share * (1 - share)) / tested + (Z * Z) / (4 * tested * tested));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
