/** Recaptures the echo agent's screen fixtures: `deno run -A tests/agents/capture_echo.ts`. */
import { VERSION } from "../../src/protocol/version.ts";
import { type EchoAgent, startEcho } from "../helpers/agents_echo.ts";
import { makeSandbox } from "../helpers/sandbox.ts";
import { capture, drawnScreen, idle, OPEN_DIALOG, type Subject, working } from "./capture.ts";

/** Output that a profile must not mistake for a dialog or an input line. */
const SAYS_A_DIALOG = "Enter to confirm · Esc to cancel\n❯ 1. Yes\necho · working";

async function captureLine({ pane }: EchoAgent, subject: Subject): Promise<void> {
  await capture(subject, "start", idle(""));
  await pane.paste("a half typed thought");
  await capture(subject, "draft", idle("a half typed thought"));
  await pane.press("Enter");
  await pane.paste("first of three\n\nthird of three");
  await capture(subject, "draft_lines", idle("first of three ⏎ … [3 lines]"));
  await pane.press("Enter");
  await capture(subject, "answered", idle(""));
  await pane.paste(SAYS_A_DIALOG);
  await pane.press("Enter");
  await capture(subject, "says_a_dialog", idle(""));
}

async function captureWork({ pane, control }: EchoAgent, subject: Subject): Promise<void> {
  await control({ op: "work", seconds: 600 });
  await capture(subject, "working", working(""));
  await pane.type("and another thing");
  await capture(subject, "working_draft", working("and another thing"));
  await pane.press("Enter");
  await capture(subject, "working_queued", working(""));
  await control({ op: "permit" });
  await capture(subject, "permission", OPEN_DIALOG);
  await pane.press("Down");
  await capture(subject, "permission_no", OPEN_DIALOG);
  await pane.press("Escape");
  await drawnScreen(pane);
  await pane.press("Escape");
  await capture(subject, "interrupted", idle(""));
}

await using sandbox = await makeSandbox();
const agent = await startEcho(sandbox);
const subject = { kind: "echo", version: VERSION, pane: agent.pane };
await captureLine(agent, subject);
await captureWork(agent, subject);
