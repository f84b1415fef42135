interface SparklineProps {
  values: readonly number[];
  width?: number;
  height?: number;
}

/** A line without axes. The newest value is at the right edge; an empty list draws nothing. */
export function Sparkline({ values, width = 120, height = 24 }: SparklineProps) {
  const top = Math.max(1, ...values);
  const step = width / Math.max(1, values.length - 1);
  const path = values
    .map((value, i) => `${(i * step).toFixed(1)},${(height * (1 - value / top)).toFixed(1)}`)
    .join(" ");
  return (
    <svg className="sparkline" width={width} height={height} role="img">
      <polyline points={path} fill="none" />
    </svg>
  );
}
