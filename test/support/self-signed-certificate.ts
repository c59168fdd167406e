// A certificate for 127.0.0.1 that nobody has signed but itself, written as X.509 wants it (RFC 5280), because Node makes
// keys but no certificates, and a machine need not have openssl.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const dayMs = 86_400_000;

const sequenceTag = 0x30;
const setTag = 0x31;
const integerTag = 0x02;
const bitStringTag = 0x03;
const octetStringTag = 0x04;
const utf8Tag = 0x0c;
const utcTimeTag = 0x17;
/** `[0]` and `[3]`, constructed: the version and the extensions. */
const versionTag = 0xa0;
const extensionsTag = 0xa3;
/** `[7]` of GeneralName: an address, four bytes for IPv4. */
const ipAddressTag = 0x87;

// Object identifiers, encoded with their tag and length.
const ecdsaWithSha256 = Buffer.from('06082a8648ce3d040302', 'hex');
const commonName = Buffer.from('0603550403', 'hex');
const subjectAltName = Buffer.from('0603551d11', 'hex');

export interface SelfSigned {
  /** PEM, both. */
  readonly key: string;
  readonly cert: string;
}

export function selfSignedCertificate(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = der(sequenceTag, ecdsaWithSha256);
  const name = der(
    sequenceTag,
    der(setTag, der(sequenceTag, commonName, der(utf8Tag, Buffer.from('127.0.0.1')))),
  );
  const addresses = der(sequenceTag, der(ipAddressTag, Buffer.from([127, 0, 0, 1])));
  const toBeSigned = der(
    sequenceTag,
    der(versionTag, der(integerTag, Buffer.from([2]))),
    der(integerTag, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(sequenceTag, utcTime(Date.now() - dayMs), utcTime(Date.now() + dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(extensionsTag, der(sequenceTag, der(sequenceTag, subjectAltName, der(octetStringTag, addresses)))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = der(sequenceTag, toBeSigned, algorithm, der(bitStringTag, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

/** One value in DER: its tag, its length in the shortest form, its content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const lengthBytes =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), bytes]);
}

/** YYMMDDHHMMSSZ. */
function utcTime(at: number): Buffer {
  return der(utcTimeTag, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
}
