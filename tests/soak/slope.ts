/** Fits a line through samples by least squares, with the uncertainty of its slope. */

export interface Slope {
  /** Change of the value per unit of time. */
  perUnit: number;
  /** Half the width of the slope's 95 % interval. */
  doubt: number;
}

export interface Point {
  at: number;
  value: number;
}

/** Two standard errors are a 95 % interval. */
const INTERVAL = 2;

/**
 * Neighboring samples of memory resemble each other, so they count as fewer independent ones: by (1 - r) / (1 + r) for
 * a correlation of r between neighboring residuals.
 */
export function slopeOf(points: readonly Point[]): Slope {
  const mean = (values: readonly number[]): number => sum(values) / values.length;
  const at = mean(points.map((point) => point.at));
  const value = mean(points.map((point) => point.value));
  const spread = sum(points.map((point) => (point.at - at) ** 2));
  const perUnit = sum(points.map((point) => (point.at - at) * (point.value - value))) / spread;
  const residuals = points.map((point) => point.value - value - perUnit * (point.at - at));
  const squares = sum(residuals.map((residual) => residual ** 2));
  const neighbors = sum(residuals.slice(1).map((residual, n) => residual * (residuals[n] ?? 0)));
  const r = squares === 0 ? 0 : Math.min(0.99, Math.max(0, neighbors / squares));
  const independent = points.length * (1 - r) / (1 + r);
  if (independent <= 2) return { perUnit, doubt: Infinity };
  return { perUnit, doubt: INTERVAL * Math.sqrt(squares / (independent - 2) / spread) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
