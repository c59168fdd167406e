// The safetensors file format as far as a model for tests needs it: a length, a JSON header, the tensors' bytes.
import { open } from 'node:fs/promises';

export interface SafeTensor {
  readonly name: string;
  /** Elements per dimension, the one that is contiguous in memory last: `[rows, columns]`. */
  readonly shape: readonly number[];
  readonly type: 'F16';
  /** Little-endian elements; its length must be what shape and type ask for. */
  readonly data: Uint8Array;
}

const elementBytes = { F16: 2 } as const;
/** The reference writer pads its header so that the data starts at a multiple of this. */
const alignment = 8;

/**
 * Writes a safetensors file.
 * @throws RangeError if a tensor's data does not have the length that its shape and type ask for.
 */
export async function writeSafetensors(path: string, tensors: readonly SafeTensor[]): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (const part of [headerOf(tensors), ...tensors.map((tensor) => tensor.data)])
      await file.writeFile(part);
  } finally {
    await file.close();
  }
}

function headerOf(tensors: readonly SafeTensor[]): Uint8Array {
  let end = 0;
  const entries = tensors.map(({ name, shape, type, data }) => {
    const bytes = shape.reduce((product, length) => product * length, elementBytes[type]);
    if (data.length !== bytes) throw new RangeError(`${name}: ${data.length} bytes instead of ${bytes}`);
    const start = end;
    end += bytes;
    return [name, { dtype: type, shape, data_offsets: [start, end] }];
  });
  // Loaders ask which framework wrote the file, and refuse one that does not say.
  const header = { __metadata__: { format: 'pt' }, ...(Object.fromEntries(entries) as object) };
  const json = Buffer.from(JSON.stringify(header));
  const padded = Math.ceil(json.length / alignment) * alignment;
  const bytes = Buffer.alloc(8 + padded, ' ');
  bytes.writeBigUInt64LE(BigInt(padded));
  json.copy(bytes, 8);
  return bytes;
}
