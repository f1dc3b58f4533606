/** The English texts of cards, which represent agents' dialogs: loaded with their views. */
import type { Decision, UNUSUAL } from "../protocol/ask.ts";
import type { CardOutcome } from "./cards.ts";

export const CARD_STRINGS = {
  permission: "Asks for permission",
  tool: "Tool",
  directory: "Directory",
  request: "The whole request",
  wrap: "Wrap lines",
  unusual: {
    hidden_characters: "It contains hidden characters. Each is shown by its number, such as ⟨U+202E⟩.",
    long_lines: "It has very long lines.",
    outside_project: "It names a path outside the project.",
  } satisfies Record<(typeof UNUSUAL)[number], string>,
  withheld: {
    never_list: "This kind of request can never be allowed from a phone, only at the computer.",
    too_long: "The request is too long to be shown in full, so it cannot be allowed from here.",
  },
  decisions: { once: "Allow once", always: "Always allow", reject: "Reject" } satisfies Record<
    Decision,
    string
  >,
  reason: "Reason for rejecting it",
  readFirst: "To allow it, read the request to its end first.",
  long: {
    load: (characters: string) => `Load all of it (${characters} characters)`,
    loading: "Loading the request",
    loadFirst: "This is its beginning. To allow it, load all of it first, and go to its end.",
    readFirst: "To allow it, go to its end first.",
    size: (lines: string, characters: string) => `${lines} lines, ${characters} characters`,
    share: (percent: number) => `${percent} % of it has been on your screen.`,
    toEnd: "Go to the end",
    beginning: "The beginning of the request",
    failed: {
      lost: "No connection to the host. Load it again.",
      silent: "The host does not answer. Load it again.",
      unpaired: "Pair this phone with the host: svc pair.",
      gone: "The host no longer has it: the dialog was answered, or svc was started again there.",
      changed: "What arrived is not the request of this card, so it cannot be allowed from here.",
    },
  },
  moved: "The card had just moved. Tap again.",
  decided: { once: "Allowed once", always: "Always allowed", reject: "Rejected" } satisfies Record<
    Decision,
    string
  >,
  own: "In your own words",
  closed: {
    withdrawn: "It was answered at the computer, or withdrawn",
    expired: "The agent no longer waits for it here: answer at the computer",
  },
  anothers: "Answer from another phone",
  outcomes: {
    on_host: "On the host",
    applied: "The agent has taken it",
    gone: "It came too late: the dialog was answered or is gone",
    refused: "The host refused it",
    not_taken: "The host did not take it in time. Answer at the computer.",
    unclear: "It is not known whether the agent took it. Check the session.",
    unproven: "The relay reports an outcome that the host has not confirmed. Check the session.",
  } satisfies Record<Exclude<CardOutcome, "pending">, string>,
};

export type CardStrings = typeof CARD_STRINGS;
