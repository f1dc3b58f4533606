/** The manual page agrees with the commands' help, and the formatters accept it. */
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { allCommands, MAN_PAGE, manPage, parseHelp } from "../../scripts/man_page.ts";
import { run } from "../helpers/run.ts";

const PATH = fileURLToPath(MAN_PAGE);
const page = await Deno.readTextFile(PATH);

Deno.test("the manual page agrees with the current commands [cli-man]", async () => {
  assert.equal(page, await manPage(), "run: deno run -A scripts/man_page.ts");
  for (const words of allCommands()) {
    assert.ok(page.includes(`\n.SS svc ${words.join(" ")}\n`.replaceAll("-", "\\-")));
  }
});

Deno.test("the manual page has every variable of docs/configuration.md [cli-man]", async () => {
  const guide = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  const [, table = ""] = /^## Variables\n([^]*?)^## /m.exec(guide) ?? [];
  const [, section = ""] = /^\.SH ENVIRONMENT\n([^]*?)^\.SH /m.exec(page) ?? [];
  const names = [...table.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/[A-Z_]{3,}/g) ?? []
  );
  assert.ok(names.length > 20, names.join(" "));
  assert.deepEqual(names.filter((name) => !section.includes(name)), []);
});

Deno.test("a command's help is parsed with text that continues below its column", () => {
  const text =
    "Usage: svc x [options]\n\nDoes this\nand that.\n\nOptions:\n  -n, --number <n>  how many of\n" +
    "                    them\n  --a-very-long-option-name <value>\n                    what it is\n\nExamples:\n  svc x -n 2\n";
  assert.deepEqual(parseHelp(text), {
    usage: "svc x [options]",
    summary: "Does this and that.",
    terms: [["-n, --number <n>", "how many of them"], ["--a-very-long-option-name <value>", "what it is"]],
    examples: ["svc x -n 2"],
  });
});

Deno.test("examples are read as such also under a longer heading [cli-man]", () => {
  const text = "Usage: svc x\n\nDoes this.\n\nExamples, in a shell:\n  other add svc -- svc x\n";
  const { terms, examples } = parseHelp(text);
  assert.deepEqual([terms, examples], [[], ["other add svc -- svc x"]]);
  assert.doesNotMatch(page, /^See the description\.$/m, "every argument and option has its text");
});

/** The formatters, which print nothing about a valid page. */
const FORMATTERS = {
  man: ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", PATH],
  mandoc: ["mandoc", "-T", "lint", "-W", "warning", PATH],
};

for (const [name, argv] of Object.entries(FORMATTERS)) {
  const isInstalled = (await run(["sh", "-c", `command -v ${name}`])).code === 0;
  const missing = isInstalled ? "" : ` (left out: ${name} is not installed)`;
  Deno.test({
    name: `${name} accepts the manual page${missing} [cli-man]`,
    ignore: !isInstalled,
    async fn() {
      const { code, stdout, stderr } = await run(argv);
      assert.deepEqual([code, stderr], [0, ""]);
      if (name === "mandoc") assert.equal(stdout, "");
    },
  });
}
