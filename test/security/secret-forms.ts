/** Every form in which bytes on a disk or in a log could reveal a secret. */

const ALIGNMENTS = [0, 1, 2]; // of bytes in base64: three become four characters

/** Returns forms of the 64 hex digits after the prefix, long enough that none occurs by chance. */
export function formsOf(secret: string): Buffer[] {
  const digits = secret.slice(secret.lastIndexOf("_") + 1);
  const random = Buffer.from(digits, "hex");
  const texts = [digits, digits.toUpperCase(), digits.slice(0, 32), digits.slice(32)];
  const encoded = [random, Buffer.from(digits)].flatMap((bytes) => [
    ...ALIGNMENTS.flatMap((before) => inBase64(bytes, before)),
    bytes.toString("hex"),
  ]);
  return [
    random,
    Buffer.from(digits, "utf16le"),
    ...[...texts, ...encoded].map((text) => Buffer.from(text)),
  ];
}

/** Returns the base64 characters that depend on `bytes` alone if other bytes precede them, in both alphabets. */
function inBase64(bytes: Buffer, before: number): string[] {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  const from = Math.ceil((before * 8) / 6);
  const end = Math.floor((all.length * 8) / 6);
  return [all.toString("base64").slice(from, end), all.toString("base64url").slice(from, end)];
}
