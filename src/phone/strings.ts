/** Every text on the page, in one catalog. English is the first language; the others have the same shape. */
import type { Sealing } from "../crypto/mode.ts";
import { LINK_PROBLEMS } from "../client/link_problem.ts";
import { REASONS } from "../protocol/reasons.ts";
import type { PushState, Reason } from "../protocol/receipt.ts";
import type { AgentState } from "../protocol/session.ts";
import type { NotificationType } from "../protocol/push.ts";
import type { AnswerOutcome } from "./inbox.ts";
import type { Group } from "./sessions.ts";
import { HOST_STRINGS, SWAP_STRINGS } from "./strings_manage.ts";
import type { NOTIFICATION_STRINGS } from "./strings_notifications.ts";
import type { CardStrings, SESSION_STRINGS } from "./strings_session.ts";
import type { ADD_HOST_STRINGS, AuditStrings, SETTINGS_STRINGS } from "./strings_settings.ts";

const ENGLISH = {
  /** The language's BCP 47 code. */
  code: "en",
  app: {
    title: "svc",
    longTitle: "svc remote control",
    description: "Send messages to the coding agents in your terminals.",
    needsScript: "This page needs JavaScript.",
    stillLoading: "Still loading. If nothing more appears, check the network and reload the page.",
    restoring: "Loading…",
    language: "Language",
  },
  signIn: {
    heading: "Your agents on your phone",
    lead: "See what your terminal agents are doing, and answer them from here.",
    pairHeading: "Pair with your computer",
    pairLead: "Run this on it, then scan the QR code:",
    keyHeading: "Or sign in with an API key",
    keyLabel: "API key",
    keyHint: "It starts with svc_ and stays on this device.",
    submit: "Sign in",
    checking: "Checking the key…",
    pairing: "Pairing…",
    pairingAgain: "The relay is not answering. Trying again…",
    show: "Show",
    hide: "Hide",
    noKeyHeading: "No key yet?",
    pairCommand: "svc up",
    noKeyMake: "Create one on the host:",
    keyCommand: "svc keys create --name phone --scope push:read,push:send",
    problems: {
      unauthenticated: "The relay does not know this key. Check that you copied all of it.",
      missing_scope: "This key cannot read sessions. Create one with the scopes push:read and push:send.",
      unreachable: "The relay is not answering. Check the network and try again.",
      timeout: "The relay is not answering. Check the network and try again.",
      rate_limited: "Too many attempts. Wait a moment and try again.",
      unknown_pairing: "This pairing code has been used or has expired. Create a new one on the host.",
      page_failed:
        "A part of this page did not load, or this browser cannot store anything. Check the network and try again.",
      damaged_link: "This link is incomplete. Create a new code on the host with svc pair.",
      unproven_host:
        "The relay could not prove that this code comes from your host, so nothing was paired. Create a new code on the host with svc pair. If this happens again, do not trust the relay.",
    } as Partial<Record<string, string>>,
    wordsDiffer: (phone: string) =>
      `The pairing was removed from this phone. On the host, run svc devices revoke ${phone}. Then look at svc devices, and revoke any other device that you do not recognize.`,
  },
  swap: SWAP_STRINGS,
  picker: {
    heading: "Agents",
    summary: (sessions: number, hosts: number) => `${count(sessions, "session")} on ${count(hosts, "host")}`,
    loading: "Loading sessions…",
    groups: {
      waiting: "Waiting for you",
      working: "Working",
      idle: "Idle",
      ended: "Ended",
      offline: "Offline",
    } satisfies Record<Group, string>,
    emptyHeading: "No agent is running",
    emptyText: "Start one in a project on the host, and it appears here:",
    emptyCommand: "svc cc",
    noHostHeading: "No host is connected",
    noHostText: "Start the listener on the machine that runs your agents:",
    noHostCommand: "svc up",
    signOut: "Sign out",
    signOutAsk: (unsent: number) =>
      `Sign out? ${
        unsent ? `${count(unsent, "unsent message")} will be lost. ` : ""
      }To return, pair this phone again, or use a key.`,
  },
  pairing: {
    heading: (host: string) => `Compare with ${host}`,
    compare: (host: string) => `Does ${host} show these six words, in this order?`,
    same: "They match",
    differ: "They don't match",
    failedHeading: "The link did not work",
    understood: "Continue",
  },
  sealing: {
    short: {
      psk: "End-to-end encrypted",
      base: "Host not verified, encrypted",
      off: "Not encrypted",
    } satisfies Record<
      Sealing,
      string
    >,
    plain: "Not encrypted: the relay could have forged it",
  },
  card: {
    attached: "Attached",
    detached: "Detached",
    muted: "Muted",
    lastSeen: (age: string) => `Last seen ${age}`,
    notAddressable: "Cannot take messages right now",
    newerAgent: (version: string, measured: string) =>
      `Agent ${version} is newer than ${measured}, the version svc was tested with`,
    widened: (keys: string) => `Allowed by the host's config: ${keys}`,
  },
  inbox: {
    heading: "Inbox",
    back: "All agents",
    link: "Inbox",
    waiting: (items: number) => `${count(items, "question")} for you`,
    open: "Open questions",
    closed: "Earlier",
    emptyHeading: "Nothing here yet",
    emptyText: "Your agents' questions, notes and finished turns appear here.",
    notReached: "Questions and notes appear when the relay is reached.",
    loading: "Loading…",
    notifications: {
      note: "Note",
      broadcast: "To all devices",
      "agent.stop": "Turn finished",
      "agent.attention": "Waiting at the terminal",
    } satisfies Record<NotificationType, string>,
  },
  question: {
    noSession: "An agent",
    left: (span: string) => `${span} left`,
    leftSoon: "Less than 1 min left",
    late: "No longer waiting",
    lateHint: "The agent has stopped waiting. Your answer will be typed into its session.",
    send: "Send answer",
    ownAnswer: "Answer in your own words",
    answerLabel: "Your answer",
    noChoice: "Choose…",
    optional: "optional",
    yours: "Your answer",
    anothers: "The answer",
    reading: "Loading the answer…",
    sending: "Sending your answer…",
    waitingForLink: "Your answer will be sent when the connection is back",
    notSent: "Your answer was not sent",
    takeBack: "Discard",
    tryAgain: "Try again",
    outcomes: {
      pending: "Being delivered to the agent",
      received: "The agent has received it",
      typed: "The agent had stopped waiting, so it is typed into the session",
      lost: "The session is gone, so it was not delivered",
    } satisfies Record<AnswerOutcome, string>,
    typedState: (state: string) => `In the session: ${state}`,
    closed: {
      withdrawn: "The agent withdrew the question",
      expired: "The question has expired",
    } satisfies Record<"withdrawn" | "expired", string>,
    announce: (open: number) => open === 0 ? "No open questions" : `${count(open, "open question")}`,
  },
  unread: (items: number) => `${items} unread`,
  offline: "Offline",
  states: {
    starting: "Starting",
    working: "Working",
    waiting: "Waiting",
    idle: "Idle",
    exited: "Ended",
  } satisfies Record<AgentState, string>,
  link: {
    live: "Live",
    connecting: "Connecting…",
    down: "Reconnecting…",
    stopped: "Not connected",
    tryNow: "Try now",
    unsent: (count: number) =>
      count === 1 ? "1 message waits to be sent." : `${count} messages wait to be sent.`,
    signInAgain: "Sign in again",
    problems: LINK_PROBLEMS,
  },
  session: {
    back: "All agents",
    messages: "Messages",
    older: "Show earlier messages",
    emptyHeading: "No messages yet",
    emptyText: "What you send is typed into the terminal and submitted.",
    limited: "The agent has reached its usage limit.",
    limitedUntil: (time: string) => `The agent has reached its usage limit, which resets at ${time}.`,
    muted: "This project is muted: messages are refused.",
    loading: "Loading messages…",
    notReached: "Earlier messages appear when the relay is reached.",
  },
  ...HOST_STRINGS,
  bubble: {
    showAll: "Show all",
    showLess: "Show less",
    sendAgain: "Send again",
    sendAnyway: "Send anyway",
    sendAgainIn: (wait: string) => `Send again in ${wait}`,
    discard: "Discard",
    cancel: "Cancel",
    edit: "Edit",
    announce: (state: string, detail: string) => `Message: ${state}. ${detail}`,
  },
  receipt: {
    waitingForLink: "Waiting for the connection",
    sending: "Sending…",
    failed: "Not sent",
    failures: {
      missing_scope: "This key can read but not send. Sign in with a key that has the scope push:send.",
      unknown_device: "The relay no longer knows this host.",
      too_large: "The message is too large for the relay.",
      invalid_push: "The relay does not accept this text. Change it and send it again.",
      ask_closed: "Someone else answered first, or the agent withdrew the question.",
      unknown_push: "The relay no longer knows this question.",
      not_prepared: "This browser could not read or write its storage. Reload the page and send it again.",
      refused_by_proxy:
        "Something between this phone and the relay refuses it. svc keeps trying until you cancel it.",
      not_yet: "It could not be sent yet. svc keeps trying.",
      unsealable: "It must be encrypted, but this phone is no longer paired with the host. Nothing was sent.",
    } as Partial<Record<string, string>>,
    states: {
      queued: "Queued",
      delivered: "Delivered",
      held: "On hold",
      typed: "Typed",
      submitted: "Submitted",
      refused: "Refused",
      expired: "Expired",
      unknown: "Unclear",
      ignored: "Ignored",
      answered: "Answered",
      withdrawn: "Cancelled",
    } satisfies Record<PushState, string>,
    unproven: (claimed: string) =>
      `The relay says “${claimed}”, but the host has not confirmed it. Check the terminal before you send it again.`,
    queuedOffline: (until: string) =>
      `The host is offline. The message is delivered if the host is back by ${until}.`,
    typedFinal:
      "It is in the agent's input line, but svc could not confirm that it was submitted. Check the terminal.",
    cancelled: "Cancelled",
    cancelling: "Cancelling…",
    cancellingOffline: "It may have reached the host, which decides when it is back.",
    scheduled: "Scheduled",
    laterAt: (time: string) => `It is typed at ${time}.`,
    laterWhen: {
      idle: "It is typed when the agent is idle.",
      reset: "It is typed when the agent's usage limit has reset.",
    },
    laterOffline: "The host is offline: it must be back by then.",
    expired: "It could not be typed in time, so nothing was typed.",
    unknown:
      "The listener stopped while typing, so it may have been typed. Check the terminal before you send it again.",
    heldByDialog: "It is typed automatically once the dialog is closed.",
    heldGoesOn: "It will be typed automatically once that is over.",
    heldBriefly: "It waits 10 seconds for that to be over, and is then refused.",
    refusedOther: (reason: string) => `The host refused it: ${reason}.`,
  },
  /** Why a message was refused or is held. */
  reasons: REASONS as Record<Reason, string>,
  /** What to do about a refusal or a hold. */
  advice: {
    shell_in_pane: "Start the agent again on the host with svc.",
    panes_synchronized: "Switch it off on the host.",
    no_such_session: "Pick a session from the list.",
    ambiguous_session: "Rename one of the two sessions on the host.",
    invalid_session_name: "Rename the session on the host.",
    pane_dead: "Check the terminal on the host.",
    rate_limited: "Wait, then send it again.",
    shell_escape: "Start the message with another character.",
    desk_busy: "Sending it anyway types it after the text there, unless that begins with / or !.",
    muted: "Unmute it where it was muted: in the session's menu, or on the host with svc unmute.",
    mute_failed: "Check the listener's log: svc logs.",
    muted_at_computer: "Unmute it there: svc unmute.",
    invalid_body: "Change the text and send it again.",
    sealed_required: "Pair this phone with the host: svc pair.",
    unsealable: "Pair this phone with the host again: svc pair.",
    counter_used: "If this browser's data was restored or copied, pair it with the host again: svc pair.",
    counter_old: "Send it again.",
    answer_taken: "Check the session for the result.",
    counter_missing: "Reload this page and send it again.",
    tmux_failed: "Check the listener's log: svc logs.",
    start_not_allowed: "Allow it on the host: allowAgentStart in config.json.",
    unknown_project: "Start an agent in it once on the host: svc cc.",
    ambiguous_project: "Give the directory as well.",
    unknown_agent: "Update svc on the host.",
    start_failed: "Check the listener's log: svc logs.",
    end_not_allowed: "Allow it on the host: allowAgentEnd in config.json.",
    not_started_by_svc: "End it at the computer.",
    session_changed: "Check the list of sessions.",
    end_failed: "Check the terminal on the host.",
    agent_starting: "If this takes long, check the terminal.",
    agent_working: "On the host, svc setup lets some agents take messages while they work.",
    unknown_screen:
      "Esc often helps. If the input line is visible, this agent version is newer than svc supports.",
    screen_stale: "Check the terminal before you send it again.",
    approval_change: "Do it at the computer, or allow the command on the host: allowCommands in config.json.",
    key_not_allowed: "Use this key at the computer.",
    not_confirmed: "Check the terminal before you send it again.",
    not_submitted: "Send it again.",
    dialog_open: "Send it again when the dialog is closed.",
    hook_muted: "Unmute the hooks at the relay.",
    unknown_type: "Update svc on the host.",
    dialog_not_allowed: "Allow it on the host: allowRemoteApproval in config.json.",
    dialog_gone: "Check the session.",
    answer_unconfirmed: "Check the session.",
    phone_draft:
      "Sending it anyway types it after that, unless that begins with / or !. Live keys can finish it.",
    not_before: "Until then you can edit or cancel it.",
    until_idle: "Until then you can edit or cancel it.",
    until_reset: "Until then you can edit or cancel it.",
    host_files: "Make room on the host's disk.",
    interrupted: "Check the session before you send it again.",
    already_typed: "Check the session for the result.",
    too_late: "Check the session for the result.",
  } satisfies Record<Reason, string>,
  ages: {
    now: "just now",
    minutes: (value: number) => `${value} min`,
    hours: (value: number) => `${value} h`,
    days: (value: number) => count(value, "day"),
    ago: (age: string) => `${age} ago`,
  },
  devices: { iphone: "iPhone", ipad: "iPad", android: "Android phone", browser: "Browser" },
} as const;

/** The same texts and parameters in another language. */
type Translated<T> = T extends string ? string
  : T extends (...values: infer Values) => string ? (...values: Values) => string
  : { readonly [Name in keyof T]: Translated<T[Name]> };

/** The texts of a session's views in any language. */
export type SessionStrings = Translated<typeof SESSION_STRINGS>;

/** The texts of notifications in any language. */
export type NotificationStrings = Translated<typeof NOTIFICATION_STRINGS>;

/** A catalog in any language: a missing text is a compile error. */
export type Strings = Translated<typeof ENGLISH> & {
  /** The English texts of these are loaded with their views. */
  readonly cards?: CardStrings;
  readonly audit?: AuditStrings;
  readonly ofSession?: SessionStrings;
  readonly settings?: Translated<typeof SETTINGS_STRINGS>;
  readonly addHost?: Translated<typeof ADD_HOST_STRINGS>;
  readonly ofNotifications?: NotificationStrings;
  readonly noStorage?: { readonly text: string; readonly reload: string };
};

/** Set once, by `language.ts`, before the modules that read it at their start are loaded. */
export let STRINGS: Strings = ENGLISH;

export function setStrings(strings: Strings): void {
  STRINGS = strings;
}

function count(value: number, noun: string): string {
  return `${value} ${noun}${value === 1 ? "" : "s"}`;
}
