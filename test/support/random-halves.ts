// Random weights for the models that tests write: the same numbers each time, whatever file format they go into.

/**
 * @returns a function that gives the next `count` half-precision numbers, each of either sign and with a magnitude in
 * [1/16, 1/8): a random sign and mantissa under a fixed exponent need no conversion.
 */
export function randomHalves(start: number): (count: number) => Uint8Array {
  let state = start;
  return (count) => {
    const halves = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      halves[i] = ((state >>> 8) & 0x83ff) | 0x2c00;
    }
    return new Uint8Array(halves.buffer);
  };
}
