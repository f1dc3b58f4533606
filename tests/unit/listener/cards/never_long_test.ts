/** Long requests are compared in parts with the list of forbidden calls: nothing at the borders is missed. */
import assert from "node:assert/strict";
import { isNeverAllowed } from "../../../../src/listener/cards/never_allowed.ts";

const isNever = (request: string): Promise<boolean> =>
  isNeverAllowed(request, { directory: "/work/app", more: [] });
const call = (command: string): string => `Bash\ncommand:\n  ${command}\ndescription:\n  Do it`;

/** How much of a long request is read at once, in characters. */
const PART_CHARS = 32_768;

Deno.test("a long command is read in parts that miss nothing at their borders [card-never]", async () => {
  for (const line of ["echo a b c", "x".repeat(5_000)]) {
    const filling = `${line}\n`.repeat(Math.ceil(4 * PART_CHARS / line.length));
    assert.ok(!await isNever(call(filling)), "nothing of it is on the list");
    for (let at = PART_CHARS - 16; at <= PART_CHARS + 16; at++) {
      for (const part of [0.75, 1, 1.75]) {
        const place = Math.round(at * part);
        const text = `${filling.slice(0, place)}\nsudo ls\n${filling.slice(place)}`;
        assert.ok(await isNever(call(text)), `${at} ${part}`);
      }
    }
  }
  const filling = "echo a b c\n".repeat(PART_CHARS / 4);
  const hidden = [
    `git push \\\n${filling} --force`,
    `mv a \\\n${filling} /etc/x`,
    `f=/etc\n${filling}f=build; rm -r $f`,
    `rm -rf ${"x ".repeat(PART_CHARS)}.`,
    `su${'"'.repeat(PART_CHARS)}do ls`,
    `su${"${x}".repeat(PART_CHARS)}do ls`,
    `git remote ${" ".repeat(PART_CHARS)} add x y`,
  ];
  for (const text of hidden) {
    assert.ok(await isNever(call(text)), `${text.slice(0, 20)} … ${text.slice(-20)}`);
  }
});

Deno.test("everything else continues while a request of maximum length is judged [card-never]", async () => {
  const code = "+ const found = list.filter((one) => one.is(here)); // and more\n".repeat(32_768);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  try {
    assert.ok(!await isNever(`Write\nfile_path:\n  src/a.ts\ncontent:\n  ${code}`));
  } finally {
    clearInterval(timer);
  }
  assert.ok(turns > 0);
});

/** Parts that repeat the beginning of a pattern. */
const HOSTILE = [
  // Each part of the request has whole lines of this length.
  `${`${"curl>".repeat(1_636)}x.html`.padEnd(8_191)}\n`,
  "curl>",
  "curl>a",
  "curl -o",
  "curl> ",
  ">=",
  ">",
  "-o =",
  "curlx>a ",
  "> -o",
  "wget -a",
  "import ",
  "nix run -a ",
  "truncate ",
  "find . -name ",
  "git stash a ",
  "git -c a.",
  "docker -a ",
  '"a": "',
  '[\n    "a"\n  ]',
  '[\n    "a",\n',
];

Deno.test("a long request that repeats the beginning of a pattern is judged at once [card-never]", async () => {
  // A pattern that searches the same text for each beginning takes many seconds, and other work waits.
  for (const part of HOSTILE) {
    await isNever(call(`${part.repeat(Math.ceil(262_144 / part.length))}x.html`));
  }
});
