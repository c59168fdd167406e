// The GGUF file format, version 3, as far as a model for tests needs it: little-endian, metadata, then tensors.
import { open } from 'node:fs/promises';

/** A metadata value with the type it is stored as; `strings`, `i32s` and `f32s` are arrays. */
export type GgufValue =
  | { type: 'u32' | 'f32'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | { type: 'strings'; value: readonly string[] }
  | { type: 'i32s'; value: Int32Array }
  | { type: 'f32s'; value: Float32Array };

export interface GgufTensor {
  name: string;
  /** Elements per dimension, the one that is contiguous in memory first: `[columns, rows]`. */
  shape: readonly number[];
  type: 'f32' | 'f16';
  /** Little-endian elements; its length must be what shape and type ask for. */
  data: Uint8Array;
}

const valueType = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
const tensorType = { f32: 0, f16: 1 } as const;
const elementBytes = { f32: 4, f16: 2 } as const;
const alignment = 32;

/**
 * Writes a GGUF file.
 * @throws RangeError if a tensor's data does not have the length that its shape and type ask for.
 */
export async function writeGguf(
  path: string,
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Promise<void> {
  const header = headerOf(metadata, tensors);
  const file = await open(path, 'w');
  try {
    for (const part of [header, ...tensors.map((tensor) => tensor.data)]) {
      await file.writev([part, new Uint8Array(padding(part.length))]);
    }
  } finally {
    await file.close();
  }
}

function headerOf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Uint8Array {
  const out = new ByteSink();
  out.ascii('GGUF').u32(3).u64(tensors.length).u64(Object.keys(metadata).length);
  for (const [key, value] of Object.entries(metadata)) writeValue(out.string(key), value);
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    const bytes = shape.reduce((product, length) => product * length, elementBytes[type]);
    if (data.length !== bytes) throw new RangeError(`${name}: ${data.length} bytes instead of ${bytes}`);
    out.string(name).u32(shape.length);
    for (const length of shape) out.u64(length);
    out.u32(tensorType[type]).u64(offset);
    offset += bytes + padding(bytes);
  }
  return out.bytes();
}

function writeValue(out: ByteSink, value: GgufValue): void {
  switch (value.type) {
    case 'u32':
      out.u32(valueType.u32).u32(value.value);
      break;
    case 'f32':
      out.u32(valueType.f32).raw(new Float32Array([value.value]));
      break;
    case 'bool':
      out.u32(valueType.bool).raw(new Uint8Array([value.value ? 1 : 0]));
      break;
    case 'string':
      out.u32(valueType.string).string(value.value);
      break;
    case 'strings':
      out.u32(valueType.array).u32(valueType.string).u64(value.value.length);
      for (const text of value.value) out.string(text);
      break;
    case 'i32s':
      out.u32(valueType.array).u32(valueType.i32).u64(value.value.length).raw(value.value);
      break;
    case 'f32s':
      out.u32(valueType.array).u32(valueType.f32).u64(value.value.length).raw(value.value);
      break;
  }
}

function padding(bytes: number): number {
  return (alignment - (bytes % alignment)) % alignment;
}

/** A buffer that grows; typed arrays are taken as they lie in memory, so this machine must be little-endian. */
class ByteSink {
  #buffer = Buffer.alloc(1 << 16);
  #length = 0;

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#buffer.writeUInt32LE(value, at);
    return this;
  }

  u64(value: number): this {
    const at = this.#grow(8);
    this.#buffer.writeBigUInt64LE(BigInt(value), at);
    return this;
  }

  ascii(text: string): this {
    const at = this.#grow(text.length);
    this.#buffer.write(text, at, 'latin1');
    return this;
  }

  /** A length-prefixed UTF-8 string. */
  string(text: string): this {
    const length = Buffer.byteLength(text);
    this.u64(length);
    const at = this.#grow(length);
    this.#buffer.write(text, at, 'utf8');
    return this;
  }

  raw(array: Uint8Array | Int32Array | Float32Array): this {
    const at = this.#grow(array.byteLength);
    this.#buffer.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    return this;
  }

  /** @returns where the new bytes start */
  #grow(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(this.#length, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }
}
