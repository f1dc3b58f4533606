/** Rejects the dialog that an agent shows, or interrupts the agent, for a phone that saw this very dialog. */
import { dialogText } from "../agents/screen_texts.ts";
import { compiledMarks } from "../agents/read_screen.ts";
import type { Push } from "../protocol/push.ts";
import { TmuxError } from "../tmux/server.ts";
import { type Outcome, paneContext, refused, type TypingContext } from "./inject/context.ts";
import { checkPane, failureOutcome, pressKey } from "./inject/pane_check.ts";
import { dialogActions, type Policy } from "./inject/policy.ts";
import { isSameDialog, type OpenDialog } from "./inventory/session_entry.ts";

/** Neither key approves anything, whatever is on the screen. */
const KEYS = { reject: "Escape", interrupt: "C-c" } as const;

const ANSWER = /^(reject|interrupt) ([0-9a-f-]{36})$/;

/** The body of a `dialog.answer`: what to do, and the id of the dialog. */
function parseAnswer(body: string | undefined): { action: keyof typeof KEYS; dialog: string } | undefined {
  const [, action, dialog = ""] = ANSWER.exec(body ?? "") ?? [];
  return action === "reject" || action === "interrupt" ? { action, dialog } : undefined;
}

export interface DialogContext {
  typing: TypingContext;
  /** The dialog that this session showed last. */
  dialogOf(session: string): OpenDialog | undefined;
}

/** `submitted`: the key was pressed. */
export async function answerDialog(push: Push, { typing, dialogOf }: DialogContext): Promise<Outcome> {
  const answer = parseAnswer(push.body);
  if (answer === undefined) return refused("invalid_body");
  if (!dialogActions(typing.policy).includes(answer.action)) return refused("dialog_not_allowed");
  const session = push.agentSessionName ?? "";
  const resolved = await typing.targets.resolve(session);
  if (resolved.kind === "refused") return refused(resolved.reason);
  const { target } = resolved;
  const context = paneContext(typing, target);
  const outcome = await context.input.alone(async (): Promise<Outcome> => {
    const check = await checkPane(context);
    if (check.kind === "refused") return check.outcome;
    const { pane } = check;
    if (await context.effects.isMuted(pane.directory)) return refused("muted");
    const known = dialogOf(session);
    const shown = dialogText(pane.screen.lines, compiledMarks(target.profile.dialog));
    const isOpen = pane.reading.focus === "dialog" && known?.id === answer.dialog &&
      isSameDialog(known.text, shown);
    if (!isOpen) return refused("dialog_gone");
    try {
      const policy = { ...typing.policy, approval: "once" } satisfies Policy;
      const isPressed = await pressKey({ ...context, policy }, pane, KEYS[answer.action]);
      return isPressed ? { state: "submitted" } : refused("dialog_gone");
    } catch (error) {
      if (error instanceof TmuxError) return error.lost ? { state: "unknown" } : failureOutcome(error);
      throw error;
    }
  });
  typing.typed();
  return { ...outcome, pane: target.pane };
}
