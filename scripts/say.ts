/** Prints lines and text to standard output. */

const utf8 = new TextEncoder();

export function write(text: string): void {
  Deno.stdout.writeSync(utf8.encode(text));
}

export function say(line: string): void {
  write(`${line}\n`);
}
