/** A recorded screen keeps its structure and the agent's texts, and loses the user's. */
import assert from "node:assert/strict";
import { profile as codex } from "../../../src/agents/codex/profile.ts";
import { agentProfile } from "../../../src/agents/profiles.ts";
import { parseScreen } from "../../../src/cli/agent_screens.ts";
import { frameWords, redactScreen, redactText } from "../../../src/cli/agents.ts";
import { agentScreens } from "../../helpers/agent_screens.ts";

const KEEP = new Set(["esc", "to", "don't"]);

Deno.test("letters become x and digits 0, each with its width; frames and kept words stay [agents-record]", () => {
  assert.equal(redactText("│ ❯ rm -rf /home/me/v2  ESC to │", KEEP), "│ ❯ xx -xx /xxxx/xx/x0  ESC to │");
  assert.equal(redactText("naïve Größe 日本 don't can't", KEEP), "xxxxx Xxxxx ｘｘ don't xxx'x");
  assert.equal(redactText("e\u0301te\u0301", KEEP), "xxx");
});

Deno.test("the words of an agent's dialogs are its own [agents-record]", () => {
  const words = frameWords(codex);
  assert.deepEqual(["hooks", "trust", "codex", "esc"].filter((word) => !words.has(word)), []);
  assert.equal(words.has("secret"), false);
});

Deno.test("a redacted capture of a composer or a dialog still reads as one [agents-record]", () => {
  const changed = agentScreens().filter(({ kind, screen, expect }) => {
    const profile = agentProfile(kind);
    const { focus } = profile.readScreen(redactScreen(screen, frameWords(profile)));
    return expect.focus !== "menu" && focus !== expect.focus;
  });
  assert.deepEqual(changed.map(({ kind, name }) => `${kind} ${name}`), []);
});

Deno.test("tmux's output becomes a screen without trailing blanks [agents-record]", () => {
  assert.deepEqual(parseScreen("2 1 0 00 my title\none  \n"), {
    lines: ["one", ""],
    title: "my title",
    cursor: { x: 2, y: 1, visible: false },
  });
  assert.equal(parseScreen("0 0 1 11 \n~").applicationKeys, true);
});
