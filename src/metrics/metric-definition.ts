/** What is said of a metric: its type, when it moves, its labels and what their values may be. */

/** `model`: the engine's own names, capped. `fact`: free text, but one series per model or process. */
export type LabelSet = readonly string[] | 'model' | 'fact';

/** When a metric moves. `settle`: when the reply has ended. `machinery`: whenever the thing happens. */
export type Moment = 'before-forwarding' | 'settle' | 'machinery';

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly moment: Moment;
  /** One sentence; the `# HELP` line and the table in docs/metrics.md. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelSet>>;
  /** Histograms only: upper bounds, ascending. */
  readonly buckets?: readonly number[];
  /** True if the series carry request and trace ids as exemplars. */
  readonly exemplars?: boolean;
}
