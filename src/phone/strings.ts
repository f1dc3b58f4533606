/** Every text a person reads on the page, in one catalogue (English). */
import type { Sealing } from "../crypto/mode.ts";
import type { AgentState } from "../protocol/session.ts";
import type { PushState, Reason } from "../protocol/receipt.ts";
import type { FormFault } from "./check_input.ts";
import type { AnswerOutcome, NotificationType } from "./inbox.ts";
import type { Group } from "./sessions.ts";
import { TERMINAL_STRINGS } from "./strings_terminal.ts";

export const STRINGS = {
  app: {
    title: "svc",
    longTitle: "svc remote control",
    description: "Send messages to the coding agents in your terminals.",
    needsScript: "This page needs JavaScript.",
    restoring: "Opening…",
  },
  signIn: {
    heading: "Your agents, at hand",
    lead: "Read what your terminal agents are up to, and answer them from here.",
    keyLabel: "API key",
    keyHint: "It starts with svc_ and stays on this device.",
    submit: "Sign in",
    checking: "Checking the key…",
    pairing: "Pairing with the relay…",
    show: "Show",
    hide: "Hide",
    noKeyHeading: "No key yet?",
    noKeyPair: "Scan the QR code that this command prints on the host:",
    pairCommand: "svc up",
    noKeyMake: "Or make a key and paste it here:",
    keyCommand: "svc keys create --name phone --scope push:read,push:send",
    problems: {
      unauthenticated: "The relay does not know this key. Check that all of it was copied.",
      missing_scope: "This key may not read sessions. Make one with the scopes push:read and push:send.",
      unreachable: "The relay does not answer. Check the network, then try again.",
      timeout: "The relay does not answer. Check the network, then try again.",
      rate_limited: "Too many tries. Wait a moment, then try again.",
      unknown_pairing: "This pairing code was used already or is too old. Make a new one on the host.",
      unproven_host:
        "The relay could not prove that it speaks for the host of this code, so nothing was paired. Make a new code on the host with svc pair; if this comes again, do not trust the relay.",
      words_differ:
        "This phone forgot the pairing. On the host, see svc devices and revoke what you do not know.",
    } as Partial<Record<string, string>>,
  },
  /** Before a link changes the account. */
  swap: {
    heading: "Change the account?",
    question: "A link was opened that signs this phone in as somebody else. Change only if you meant to.",
    from: "Signed in now",
    to: "In the link",
    lost: (unsent: number) => {
      const hosts = "This phone forgets what it shares with the hosts of the old account";
      if (unsent === 0) return `${hosts}.`;
      return `${hosts}, and ${unsent === 1 ? "a message" : `${unsent} messages`} that it has not sent.`;
    },
    keep: "Keep this account",
    change: "Change the account",
  },
  picker: {
    heading: "Agents",
    summary: (sessions: number, hosts: number) => `${count(sessions, "session")} on ${count(hosts, "host")}`,
    loading: "Loading sessions…",
    groups: {
      waiting: "Waiting for you",
      working: "Working",
      idle: "Idle",
      offline: "Offline",
    } satisfies Record<Group, string>,
    emptyHeading: "No agent is running",
    emptyText: "Start one in a project on the host. It shows up here by itself.",
    emptyCommand: "svc cc",
    noHostHeading: "No host is connected",
    noHostText: "Start the listener on the machine where your agents run:",
    noHostCommand: "svc up",
    signOut: "Sign out",
    signOutAsk: (unsent: number) => `Sign out? ${count(unsent, "message")} not sent yet will be lost.`,
  },
  pairing: {
    heading: (host: string) => `Compare with ${host}`,
    compare: (host: string) => `Does ${host} show these six words, in this order?`,
    same: "They are the same",
    differ: "They differ",
    failedHeading: "Not paired",
    understood: "Go on",
  },
  sealing: {
    modes: {
      psk: "Sealed end to end: paired",
      base: "Sealed, but a lying relay could read it: pair this phone",
      off: "Not sealed: the relay can read it",
    } satisfies Record<Sealing, string>,
    short: { psk: "Sealed end to end", base: "Sealed, relay unproven", off: "Not sealed" } satisfies Record<
      Sealing,
      string
    >,
    plain: "Not sealed: the relay could have written it",
    elsewhere: "Sealed on another device: only the host could read it.",
    forOthers: "Sealed for the phones that are paired with the host; this one is not.",
  },
  card: {
    attached: "Attached",
    detached: "Detached",
    muted: "Muted",
    lastSeen: (age: string) => `Last seen ${age}`,
    notAddressable: "Takes no messages right now",
    newerAgent: (version: string, measured: string) =>
      `Agent ${version} is newer than ${measured}, which svc was measured on`,
    widened: (keys: string) => `The host allows more: ${keys}`,
  },
  inbox: {
    heading: "Inbox",
    back: "All agents",
    link: "Inbox",
    waiting: (questions: number) => `${count(questions, "question")} for you`,
    open: "For you",
    closed: "Earlier",
    emptyHeading: "Nothing here yet",
    emptyText:
      "Questions of your agents, their notes, and the ends of their turns show up here by themselves.",
    loading: "Loading…",
    notifications: {
      note: "Note",
      broadcast: "To every device",
      "agent.stop": "Turn ended",
      "agent.attention": "Waits at the terminal",
    } satisfies Record<NotificationType, string>,
  },
  question: {
    noSession: "An agent",
    left: (span: string) => `Waits ${span} more`,
    leftSoon: "Waits less than a minute",
    late: "No longer waiting",
    lateHint: "The agent has stopped waiting. Your answer will be typed into its session.",
    options: "Options",
    chooseOne: "Choose one",
    chooseSeveral: "Choose any",
    send: "Send answer",
    ownWords: "Answer in your own words",
    answerLabel: "Your answer",
    noChoice: "Choose…",
    optional: "optional",
    faults: {
      required: "This is needed.",
      number: "This is no number.",
      controls: "The text has control characters.",
      too_long: "All in all this is too long: shorten it.",
    } satisfies Record<FormFault, string>,
    yours: "Your answer",
    anothers: "The answer",
    reading: "Reading the answer…",
    sending: "Sending your answer…",
    waitingForLink: "Your answer waits for the connection",
    notSent: "Your answer was not taken",
    takeBack: "Take back",
    tryAgain: "Try again",
    outcomes: {
      pending: "On its way to the agent",
      received: "The agent has it",
      typed: "The agent had stopped waiting: it is typed into the session",
      lost: "The session is gone, so nobody got it",
    } satisfies Record<AnswerOutcome, string>,
    typedState: (state: string) => `In the session: ${state}`,
    closed: {
      withdrawn: "The agent took the question back",
      expired: "Too old to be answered",
    } satisfies Record<"withdrawn" | "expired", string>,
    toSession: "Open session",
    announce: (open: number) => open === 0 ? "No open questions" : `${count(open, "open question")}`,
  },
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
    signInAgain: "Sign in again",
  },
  session: {
    back: "All agents",
    messages: "Messages",
    older: "Show earlier messages",
    emptyHeading: "No messages yet",
    emptyText: "What you send is typed into the terminal and submitted, as if you sat there.",
    gone: "This session is gone. The messages stay readable.",
    hostOffline: (host: string, age: string) =>
      `${host} is offline, last seen ${age}. Messages wait for it up to an hour.`,
    notAddressable: "The agent is not in front: a message would be refused, so that no shell gets it.",
    loading: "Loading messages…",
  },
  ...TERMINAL_STRINGS,
  composer: {
    label: (session: string) => `Message to ${session}`,
    placeholders: {
      psk: "Sealed message",
      base: "Message",
      off: "Unsealed message",
    } satisfies Record<Sealing, string>,
    send: "Send",
    hint: "Ctrl + Enter sends",
    size: (bytes: string, most: string) => `${bytes} of ${most} bytes`,
    tooLong: (most: string) => `Too long: at most ${most} bytes can be sent at once.`,
    controls: "The text has control characters, which would act as keys in the terminal.",
    badName: "This session's name has characters that cannot be addressed.",
  },
  bubble: {
    showAll: "Show all",
    showLess: "Show less",
    sendAgain: "Send again",
    sendAnyway: "Send anyway",
    sendAgainIn: (seconds: number) => `Send again in ${seconds} s`,
    discard: "Discard",
    announce: (state: string, detail: string) => `Message: ${state}. ${detail}`,
  },
  receipt: {
    waitingForLink: "Waits for the connection",
    sending: "Sending…",
    failed: "Not sent",
    failures: {
      missing_scope: "This key may read but not send. Sign in with a key that has the scope push:send.",
      unknown_device: "The relay does not know this host any more.",
      too_large: "The message is too large for the relay.",
      invalid_push: "The relay does not take this text. Change it and send it again.",
      ask_closed: "It was answered elsewhere first, or the agent asks no more.",
      unknown_push: "The relay does not know this question any more.",
      unsealable:
        "It was to go out sealed, and this phone is not paired with the host any more: nothing was sent.",
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
      withdrawn: "Withdrawn",
    } satisfies Record<PushState, string>,
    unproven: (claimed: string) =>
      `The relay says “${claimed}”, and the host has not proven it. Look at the terminal before you send it again.`,
    queuedOffline: (until: string) =>
      `The host is offline. It goes in when the host is back, until ${until}.`,
    typedFinal:
      "It stands in the agent's input line, but could not be proved submitted. Look at the terminal.",
    expired: "The host did not take it in time, so nothing was typed.",
    unknown:
      "The listener stopped in the middle: it may have been typed. Look at the terminal before you send again.",
    heldGoesOn: "It is typed by itself once that is over.",
    refusedOther: (reason: string) => `The host refused it: ${reason}.`,
  },
  /** What to do about a refusal, or about a hold. */
  advice: {
    shell_in_pane: "Start the agent again on the host, with svc.",
    no_such_session: "Pick a session from the list.",
    ambiguous_session: "Rename one of the two sessions on the host.",
    invalid_session_name: "Rename the session on the host.",
    pane_dead: "Look at the terminal on the host.",
    rate_limited: "Send it again when the wait is over.",
    shell_escape: "Begin the message with another character.",
    desk_busy: "Sent anyway, it is typed behind what stands there.",
    muted: "Unmute the project on the host: svc unmute.",
    invalid_body: "Change the text and send it again.",
    sealed_required: "Pair this phone with the host: svc pair.",
    unsealable: "Pair this phone with the host again: svc pair.",
    counter_used:
      "If this browser's data was restored or copied, pair this phone with the host again: svc pair.",
    counter_old: "Send it again.",
    answer_taken: "See the session for what became of it.",
    counter_missing: "Reload this page, and send it again.",
    tmux_failed: "Look at the listener's log: svc logs.",
    start_not_allowed: "Allow it on the host: allowAgentStart in config.json.",
    unknown_project: "Start an agent there once on the host: svc cc.",
    ambiguous_project: "Name the directory too.",
    unknown_agent: "Bring svc on the host up to date.",
    start_failed: "Look at the listener's log: svc logs.",
    agent_starting: "Look at the terminal when it takes long.",
    agent_working: "On the host, svc setup lets some agents take messages while they work.",
    unknown_screen:
      "Esc often leads back. If the agent does show its input line, the agent is newer than svc knows.",
    screen_stale: "Look at the terminal before you send it again.",
    approval_change: "Do it at the computer, or allow the command on the host: allowCommands in config.json.",
    key_not_allowed: "Use it at the computer.",
    not_confirmed: "Look at the terminal before you send it again.",
    not_submitted: "Send it again.",
    dialog_open: "Answer the dialog at the computer: it cannot be answered from here.",
    hook_muted: "Make the hooks active again at the relay.",
    unknown_type: "Bring svc on the host up to date.",
    too_late: "See the session for what became of it.",
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

function count(value: number, noun: string): string {
  return `${value} ${noun}${value === 1 ? "" : "s"}`;
}
