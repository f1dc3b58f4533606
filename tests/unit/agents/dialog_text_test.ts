/** The text of a dialog, from the recorded screens of every agent. */
import assert from "node:assert/strict";
import { DIALOG_MAX_CHARS, dialogText } from "../../../src/agents/screen_texts.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { compiledMarks } from "../../../src/agents/read_screen.ts";
import { agentScreens } from "../../helpers/agent_screens.ts";

const texts = new Map(
  agentScreens().filter(({ expect }) => expect.focus === "dialog").map(({ kind, name, screen }) => [
    `${kind}/${name}`,
    dialogText(screen.lines, compiledMarks(agentProfile(kind).dialog)),
  ]),
);

Deno.test("a permission dialog's text has the request, every answer, and nothing from above [dlg-text]", () => {
  const answers: Record<string, string[]> = {
    cc: ["Bash command", "Remove the build folder", "Do you want to proceed?", "1. Yes", "4. No"],
    codex: ["Would you like to run the following command?", "$ rm -rf build", "1. Yes", "3. No"],
    copilot: ["Remove the build folder", "Do you want to run this command?", "1. Yes", "3. No"],
    gemini: ["Shell", "Allow execution of [Shell]?", "1. Allow once", "3. No"],
    opencode: ["Permission required", "$ rm -rf build", "Allow once", "Reject"],
    echo: ['Allow the command "rm -rf build"?', "1. Yes", "2. No"],
  };
  for (const [kind, parts] of Object.entries(answers)) {
    for (const name of ["permission", "permission_narrow"]) {
      const text = texts.get(`${kind}/${name}`);
      if (text === undefined) continue;
      for (const part of ["rm -rf build", ...parts]) {
        assert.ok(text.replace(/\s+/g, " ").includes(part), `${kind}/${name}: ${part}\n${text}`);
      }
      assert.doesNotMatch(text, /and another thing|[╭╮╰╯┃]|^─{8}/mu, `${kind}/${name}`);
    }
  }
});

Deno.test("a question and a trust dialog are complete, too [dlg-text]", () => {
  assert.match(texts.get("cc/question") ?? "", /Which one\?[^]*1\. Alpha[^]*4\. Chat about this/);
  assert.match(
    texts.get("cc/trust") ?? "",
    /project you created or one you trust\?[^]*Yes, I trust this folder/,
  );
  assert.match(texts.get("codex/trust") ?? "", /Trust this folder\?[^]*1\. Trust and continue/);
  assert.match(texts.get("gemini/trust") ?? "", /Do you trust the files[^]*3\. Don't trust/);
  assert.match(texts.get("copilot/trust") ?? "", /Confirm folder trust[^]*3\. No/);
  for (const [name, text] of texts) assert.notEqual(text.trim(), "", name);
});

Deno.test("a long dialog that is cut in the middle of a character is still a text that the relay accepts [dlg-text]", () => {
  const text = dialogText([`Proceed? ${"🙂".repeat(DIALOG_MAX_CHARS)}x`], { inLines: () => true });
  assert.ok(text.isWellFormed() && text.length === DIALOG_MAX_CHARS, `${text.length}`);
});
