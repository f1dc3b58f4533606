/** What svc knows of an agent beside its screen: how its hooks speak, and what `svc setup` registers in it. */
import type { AgentState } from "../../protocol/session.ts";

/** What an agent gives its hook on stdin: one JSON object, whose fields no one vouches for. */
export type HookInput = Readonly<Record<string, unknown>>;

/** What the phones are told of an event; the text is still as the agent wrote it. */
export interface HookWords {
  type: "agent.stop" | "agent.attention";
  text: string | undefined;
}

/** A tool call begins, and may open a dialog, or has ended. */
export interface ToolStep {
  step: "before" | "after";
  /** The agent's own, where it has one. */
  id?: string;
  /** Of an agent that this one started: it may go on when this one's turn has ended. */
  subagent?: true;
}

/** What an event means. Nothing set: it says nothing. */
export interface HookMeaning {
  state?: AgentState;
  words?: HookWords;
  tool?: ToolStep;
  /** `compacted`: the model has lost what it was told. `ended`: nobody is there to be told more. */
  session?: "compacted" | "ended";
}

export interface AgentHooks {
  /** The event of a submitted prompt at which text can be given to the model; undefined when the agent has none. */
  promptEvent: string | undefined;
  /** The agent's own id of the conversation. */
  sessionOf(input: HookInput): string | undefined;
  /** Where the agent works, as the input says. */
  directoryOf(input: HookInput): string | undefined;
  /** The prompt as it was typed; undefined when the input has none. */
  promptOf(input: HookInput): string | undefined;
  /** A prompt that the agent itself, a timer or a tool wrote: nobody typed it. */
  isFromMachine(input: HookInput): boolean;
  meaning(event: string, input: HookInput): HookMeaning;
  /** What to print so that the model reads `text`. */
  contextOutput(event: string, text: string): string;
  /** Where the last words will stand when the input of a stop has none. */
  transcript?: Transcript;
}

export interface Transcript {
  pathOf(input: HookInput): string | undefined;
  /** The last words of the turn that ends; undefined while they are not written. */
  lastWords(text: string): string | undefined;
}
