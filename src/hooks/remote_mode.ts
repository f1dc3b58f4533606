/** The rule of sticky REMOTE mode (spec, section 1): what follows from an event, and what the model is told. */
import type { RemoteState } from "../home/remote_mode.ts";

export type RemoteEvent =
  /** A prompt was submitted. `matched`: it took a marker, so it came from the phone. */
  | { kind: "prompt"; matched: boolean; fromMachine: boolean; muted: boolean }
  /** The model has lost what it was told. */
  | { kind: "compacted"; muted: boolean }
  | { kind: "ended" };

/** `phone`: the user drives from the phone. `keyboard`: someone is back at the keyboard. `muted`: it is over, by `svc mute`. */
export type Notice = "phone" | "keyboard" | "muted";

export interface RemoteStep {
  state: RemoteState;
  notice: Notice | undefined;
}

export function nextRemote(state: RemoteState, event: RemoteEvent): RemoteStep {
  switch (event.kind) {
    case "prompt":
      return afterPrompt(state, event);
    case "compacted":
      if (state !== "on" || event.muted) return { state, notice: undefined };
      return { state, notice: "phone" };
    case "ended":
      // The conversation may be taken up again, and its history still tells the model otherwise.
      return { state: state === "on" ? "untold" : state, notice: undefined };
  }
}

function afterPrompt(state: RemoteState, event: RemoteEvent & { kind: "prompt" }): RemoteStep {
  if (event.muted) return { state: "off", notice: state === "off" ? undefined : "muted" };
  if (event.matched) return { state: "on", notice: "phone" };
  if (event.fromMachine) return { state, notice: undefined };
  return { state: "off", notice: state === "off" ? undefined : "keyboard" };
}

const WORDS: Record<Notice, string> = {
  phone: [
    "svc REMOTE mode: the user drives this session from their phone and does not see this terminal.",
    "Until you are told otherwise, end every response by calling the MCP tool svc_ask:",
    "put your result into its question, in short, and ask what to do next, with options where they help.",
  ].join(" "),
  keyboard: [
    "svc REMOTE mode has ended: the user is back at the keyboard and reads this terminal.",
    "Answer here as usual, and do not end responses with svc_ask any more.",
  ].join(" "),
  muted: [
    "svc REMOTE mode has ended: the user muted this project.",
    "Answer here as usual, and do not call svc_ask any more.",
  ].join(" "),
};

/** The notice in words, for the model. */
export function noticeWords(notice: Notice): string {
  return WORDS[notice];
}
