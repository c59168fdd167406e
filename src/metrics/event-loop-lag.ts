/** Watches how long the event loop is kept from its timers. Knows no metric: it tells a number once a second. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 10;

export interface LagWatch {
  stop(): void;
}

/**
 * @param tell gets the longest delay since it was last called, in seconds.
 * @param everyMs how often; the timer does not keep the process alive.
 */
export function watchEventLoopLag(tell: (seconds: number) => void, everyMs = 1000): LagWatch {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const timer = setInterval(() => {
    // Node records the time between two ticks; only what exceeds the asked-for interval is lag.
    const nanoseconds = delays.count === 0 ? 0 : delays.max - resolutionMs * 1e6;
    delays.reset();
    tell(Math.max(0, nanoseconds / 1e9));
  }, everyMs);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}
