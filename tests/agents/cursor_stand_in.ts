/** Stands in for `cursor-agent`, modeled on published screens: an input line that takes pastes, and a list of submitted texts. */

const [transcript = ""] = Deno.args;
const PASTE = { begins: "\u001b[200~", ends: "\u001b[201~" };
const WIDTH = 74;

let draft = "";
let placeholder = "Plan, search, build anything";
const said: string[] = [];

/** Wraps text into rows of 70 characters, indented below the first. */
function wrapped(text: string): string {
  const rows = text.split("\n").flatMap((line) => line.match(/.{1,70}/gu) ?? [""]);
  return rows.join("\r\n   ");
}

function draw(): void {
  const shown = draft === "" ? placeholder : wrapped(draft);
  const frame = ["▄".repeat(WIDTH), ` → ${shown}`, "▀".repeat(WIDTH), "  stand-in", "  ~/proj"];
  const screen = ["  Cursor Agent", "", ...said.slice(-3), "", ...frame].join("\r\n");
  Deno.stdout.writeSync(new TextEncoder().encode(`\u001b[2J\u001b[H${screen}`));
}

function submit(): void {
  if (draft.trim() === "") return;
  Deno.writeTextFileSync(transcript, `${JSON.stringify(draft.trim())}\n`, { append: true });
  said.push(`  you: ${draft.trim().split("\n")[0]?.slice(0, WIDTH)}`);
  draft = "";
  placeholder = "Add a follow-up";
}

/** Takes one key or one complete paste from the front; an incomplete one stays for the next call. */
function take(input: string): string {
  if (input.startsWith(PASTE.begins)) {
    const end = input.indexOf(PASTE.ends);
    if (end < 0) return input;
    draft += input.slice(PASTE.begins.length, end).replaceAll("\r", "\n");
    return input.slice(end + PASTE.ends.length);
  }
  const [key = ""] = input;
  if (key === "\r") submit();
  else if (key >= " " && key !== "\u007f") draft += key;
  return input.slice(key.length);
}

Deno.stdin.setRaw(true);
Deno.stdout.writeSync(new TextEncoder().encode("\u001b[?2004h"));
draw();
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  rest += text;
  for (let before = ""; rest !== "" && rest !== before;) {
    before = rest;
    rest = take(rest);
  }
  draw();
}
