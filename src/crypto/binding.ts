/** Binds keys and ciphertexts to what they are for. */

/** SHA-256 of the fields, in a form in which no two lists of fields are alike. */
export async function bind(fields: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encodeFields(fields)));
}

/** The UTF-8 of the fields as a JSON array. */
export function encodeFields(fields: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(fields));
}
